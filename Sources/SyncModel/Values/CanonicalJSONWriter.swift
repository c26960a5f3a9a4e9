/// A converter of JSON text to the canonical form that `CanonicalJSON` describes.
///
/// It reads the text once and appends canonical tokens. At the end of an object whose keys are not
/// in order, it sorts the members that it has appended. It keeps open containers on its own stack,
/// so that deep nesting does not grow the call stack.
package struct CanonicalJSONWriter {
    /// The maximum depth of arrays and objects, the default of SQLite's JSON functions.
    static let maximumDepth = 1000

    /// How a text was read.
    package enum Reading {
        /// The text is not a JSON value within the limits.
        case failed
        /// Everything in the text is in the canonical form.
        case complete
        /// An object has a key twice; only the last value is in the canonical form.
        case withoutRepeatedKeys
    }

    /// An open array or object.
    private struct Container {
        let isObject: Bool
        /// The number of members before those of this object.
        let firstMember: Int
    }

    /// A member of an open object, as offsets of the output.
    private struct Member {
        /// The first byte of the key, its quotation mark.
        let start: Int
        /// The byte after the key's closing quotation mark.
        let keyEnd: Int
        /// The byte after the value.
        var end = 0
    }

    private enum Expectation {
        case value, valueOrEnd, key, keyOrEnd, separatorOrEnd
    }

    private let text: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var output: [UInt8]
    private var containers: [Container] = []
    private var members: [Member] = []
    private var hasRepeatedKeys = false

    /// Appends the canonical form of a JSON value.
    ///
    /// - Parameters:
    ///   - text: One JSON value, with white space around it at most. A lone surrogate becomes
    ///     U+FFFD.
    ///   - bytes: The bytes to append to.
    /// - Returns: How the text was read; if that failed, nothing is appended.
    package static func append(canonical text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Reading {
        let start = bytes.count
        var writer = CanonicalJSONWriter(text: text, output: bytes)
        // Only the writer refers to the bytes now, so that it appends to them in place.
        bytes = []
        let isWhole = writer.write()
        bytes = writer.output
        guard isWhole else {
            bytes.removeLast(bytes.count - start)
            return .failed
        }
        return writer.hasRepeatedKeys ? .withoutRepeatedKeys : .complete
    }

    private init(text: UnsafeBufferPointer<UInt8>, output: [UInt8]) {
        self.text = text
        self.output = output
    }

    // MARK: Structure

    private mutating func write() -> Bool {
        var expected = Expectation.value
        while true {
            skipSpace()
            guard index < text.count else { return false }
            let byte = text[index]
            switch expected {
            case .value, .valueOrEnd:
                if byte == UInt8(ascii: "]"), expected == .valueOrEnd {
                    close()
                } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                    guard containers.count < Self.maximumDepth else { return false }
                    let isObject = byte == UInt8(ascii: "{")
                    containers.append(Container(isObject: isObject, firstMember: members.count))
                    output.append(byte)
                    index += 1
                    expected = isObject ? .keyOrEnd : .valueOrEnd
                    continue
                } else {
                    guard writeScalar(byte) else { return false }
                }
            case .key, .keyOrEnd:
                if byte == UInt8(ascii: "}"), expected == .keyOrEnd {
                    close()
                } else {
                    let start = output.count
                    guard byte == UInt8(ascii: "\""), writeString() else { return false }
                    members.append(Member(start: start, keyEnd: output.count))
                    skipSpace()
                    guard index < text.count, text[index] == UInt8(ascii: ":") else { return false }
                    index += 1
                    output.append(UInt8(ascii: ":"))
                    expected = .value
                    continue
                }
            case .separatorOrEnd:
                guard let container = containers.last else { return false }
                if byte == UInt8(ascii: ",") {
                    index += 1
                    output.append(byte)
                    expected = container.isObject ? .key : .value
                    continue
                }
                guard byte == UInt8(ascii: container.isObject ? "}" : "]") else { return false }
                close()
            }
            // A value has ended.
            if let container = containers.last {
                if container.isObject { members[members.count - 1].end = output.count }
                expected = .separatorOrEnd
            } else {
                skipSpace()
                return index == text.count
            }
        }
    }

    private mutating func close() {
        index += 1
        let container = containers.removeLast()
        if container.isObject {
            sortMembers(from: container.firstMember)
            members.removeLast(members.count - container.firstMember)
        }
        output.append(UInt8(ascii: container.isObject ? "}" : "]"))
    }

    /// Puts the members of the innermost object in the order of their keys. Of members with the
    /// same key, the last remains.
    private mutating func sortMembers(from first: Int) {
        guard members.count > first + 1 else { return }
        let isInOrder = (first + 1..<members.count).allSatisfy { order(members[$0 - 1], members[$0]) < 0 }
        guard !isInOrder else { return }
        let sorted = (first..<members.count).sorted { one, other in
            let order = order(members[one], members[other])
            return order == 0 ? one < other : order < 0
        }
        var content: [UInt8] = []
        for (place, index) in sorted.enumerated() {
            let member = members[index]
            guard place + 1 == sorted.count || order(member, members[sorted[place + 1]]) != 0 else {
                hasRepeatedKeys = true
                continue
            }
            if !content.isEmpty { content.append(UInt8(ascii: ",")) }
            content += output[member.start..<member.end]
        }
        output.removeLast(output.count - members[first].start)
        output += content
    }

    /// Compares two keys by their bytes.
    private func order(_ one: Member, _ other: Member) -> Int {
        let key = output[(one.start + 1)..<(one.keyEnd - 1)]
        let otherKey = output[(other.start + 1)..<(other.keyEnd - 1)]
        if key.elementsEqual(otherKey) { return 0 }
        return key.lexicographicallyPrecedes(otherKey) ? -1 : 1
    }

    private mutating func skipSpace() {
        while index < text.count {
            switch text[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    // MARK: Scalars

    private mutating func writeScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""): writeString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): writeNumber()
        case UInt8(ascii: "t"): writeWord("true")
        case UInt8(ascii: "f"): writeWord("false")
        case UInt8(ascii: "n"): writeWord("null")
        default: false
        }
    }

    private mutating func writeWord(_ word: StaticString) -> Bool {
        let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard text[index...].starts(with: bytes) else { return false }
        output += bytes
        index += bytes.count
        return true
    }

    private mutating func writeNumber() -> Bool {
        let start = index
        if text[index] == UInt8(ascii: "-") { index += 1 }
        let whole = index
        guard skipDigits() else { return false }
        guard text[whole] != UInt8(ascii: "0") || index == whole + 1 else { return false }
        var isInteger = true
        if index < text.count, text[index] == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            guard skipDigits() else { return false }
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") { index += 1 }
            guard skipDigits() else { return false }
        }
        let number = UnsafeBufferPointer(rebasing: text[start..<index])
        if isInteger, index - whole <= 20, text[whole] != UInt8(ascii: "0") {
            output += number
            return true
        }
        return DecimalText.append(canonicalJSON: number, to: &output)
    }

    private mutating func skipDigits() -> Bool {
        let start = index
        while index < text.count, text[index] >= UInt8(ascii: "0"), text[index] <= UInt8(ascii: "9") { index += 1 }
        return index > start
    }

    // MARK: Strings

    private mutating func writeString() -> Bool {
        output.append(UInt8(ascii: "\""))
        index += 1
        var unwritten = index
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                output += text[unwritten..<index]
                return true
            }
            guard byte >= 0x20 else { return false }
            guard byte == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            output += text[unwritten..<index]
            guard writeEscape() else { return false }
            unwritten = index
        }
        return false
    }

    /// Writes the character of the escape that comes next.
    private mutating func writeEscape() -> Bool {
        guard index + 1 < text.count else { return false }
        let letter = text[index + 1]
        index += 2
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), letter]
        case UInt8(ascii: "/"): output.append(letter)
        case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            output += [UInt8(ascii: "\\"), letter]
        case UInt8(ascii: "u"):
            guard let unit = readUnit() else { return false }
            write(scalar: scalar(startingWith: unit))
        default: return false
        }
        return true
    }

    /// Completes a surrogate pair; a lone surrogate is U+FFFD.
    private mutating func scalar(startingWith unit: UInt32) -> Unicode.Scalar {
        let replacement: Unicode.Scalar = "\u{FFFD}"
        guard unit & 0xFC00 == 0xD800 else { return Unicode.Scalar(unit) ?? replacement }
        let start = index
        guard text[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return replacement }
        index += 2
        guard let low = readUnit(), low & 0xFC00 == 0xDC00 else {
            index = start
            return replacement
        }
        return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF) ?? replacement
    }

    private mutating func readUnit() -> UInt32? {
        guard index + 4 <= text.count else { return nil }
        var unit: UInt32 = 0
        for byte in text[index..<(index + 4)] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        index += 4
        return unit
    }

    private mutating func write(scalar: Unicode.Scalar) {
        let escapes: [Unicode.Scalar: Character] = [
            "\"": "\"", "\\": "\\", "\u{8}": "b", "\u{C}": "f", "\n": "n", "\r": "r", "\t": "t",
        ]
        if let letter = escapes[scalar] {
            output += "\\\(letter)".utf8
        } else if scalar.value < 0x20 {
            output += "\\u00\(scalar.value < 0x10 ? "0" : "")\(String(scalar.value, radix: 16))".utf8
        } else {
            output += String(scalar).utf8
        }
    }
}
