import JSONMapper
import StoreSync

/// Converts bodies to what the mapper reads, piece by piece: open-ended formats to a value on each
/// line, and others to an array of objects.
struct BodyRecoder: Sendable {
    private enum Mode {
        /// Newline-delimited JSON whose last line may be the sign of the end.
        case lines
        /// An object of objects, whose keys become a field of each. An array is read as an object
        /// whose keys are the indices, without null elements.
        case keyed(field: String)
        /// Server-sent events of some types; all for an empty set.
        case events(types: Set<String>)
        /// A document of JSON:API.
        case jsonAPI
    }

    /// The maximum number of bytes of an event, and of a part of the body that is held back. The
    /// mapper refuses an element of this size.
    static let maximumByteCount = JSONReader.Options().maximumElementByteCount
    /// The type of events with which servers report errors.
    private static let errorType = "error"

    private enum State {
        case start
        /// Between two values or keys.
        case between
        case key
        /// After a key, before its value.
        case beforeValue
        /// In a word without quotes, which takes the place of a collection or of an array's
        /// element.
        case word
        /// Directly after the opening brace of a value.
        case afterBrace
        case value
        case end
    }

    private let mode: Mode
    private let endSign: HTTPAPI.EndSign?
    /// The last line, which is held back until the next one begins, because it may be the sign of
    /// the end.
    private var held: [UInt8] = []
    /// Whether the line that is held back is complete.
    private var isLineComplete = false
    /// Whether the body ended with the sign of its end.
    private(set) var hasEndSign = false
    private var state = State.start
    private var events: EventParser
    private let limit: Int
    /// The data of the event that reports an error; nil if there is none.
    private(set) var failure: [UInt8]?
    /// The rest of a byte order mark at the beginning of the body.
    private var mark: ArraySlice<UInt8> = [0xEF, 0xBB, 0xBF]
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The current key as JSON, including quotes.
    private var key: [UInt8] = []
    /// Whether a key of the current object may begin.
    private var isBeforeMember = false
    /// The current member key of the current object; nil elsewhere.
    private var member: [UInt8]?
    /// The text after the key of a member that has the name of the field; nil elsewhere.
    private var own: [UInt8]?
    /// The index of the current value, if the collection is an array.
    private var index: Int?
    /// The current word.
    private var word: [UInt8] = []
    private var count = 0
    /// Whether the current value is not an object, and is wrapped in one.
    private var isWrapped = false
    /// The document of JSON:API so far, whose end may have what its beginning refers to.
    private var document: [UInt8] = []

    /// Creates a recoder; nil for a format that needs none.
    ///
    /// - Parameters:
    ///   - endSign: The element that is no object, and ends the body; nil for none.
    ///   - limit: The maximum number of bytes that are held back. More are passed on, so that the
    ///     mapper reports an element that is too large.
    init?(
        _ format: HTTPAPI.Format, endSign: HTTPAPI.EndSign? = nil,
        limit: Int = BodyRecoder.maximumByteCount
    ) {
        self.endSign = endSign
        self.limit = limit
        events = EventParser(limit: limit)
        switch format {
        case .array: return nil
        case .lines:
            // The mapper reads lines as they are.
            guard case .line = endSign else { return nil }
            mode = .lines
        case .keyed(let field): mode = .keyed(field: field)
        case .events(let types): mode = .events(types: types)
        case .jsonAPI: mode = .jsonAPI
        }
    }

    /// Returns the next bytes for the mapper.
    mutating func recode(_ bytes: [UInt8]) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count + 64)
        switch mode {
        case .lines: lines(bytes, &written)
        case .keyed(let field): for byte in withoutMark(bytes) { keyed(byte, field, &written) }
        case .events(let types): event(bytes, types, &written)
        case .jsonAPI: document += bytes
        }
        return written
    }

    /// Returns the last bytes for the mapper. An incomplete document remains incomplete.
    mutating func finish() -> [UInt8] {
        switch mode {
        case .lines:
            hasEndSign = isEndSign(held)
            return hasEndSign ? [] : held
        case .events:
            if state == .end { return [] }
            // An event without its blank line may be incomplete.
            if events.isInEvent { return Self.unfinished }
            // The mapper reports anything other than a stream, which may be JSON.
            return state == .start ? events.foreignLine.map { [UInt8(ascii: "]")] + $0 } ?? [] : []
        case .keyed:
            // Null means an empty collection.
            return state == .word && index == nil ? word == Self.null ? Array("[]".utf8) : word : []
        case .jsonAPI:
            // The mapper reports a document that is not valid.
            // The limits of elements do not apply to the document; the client limits it.
            var options = JSONReader.Options()
            (options.maximumElementByteCount, options.maximumDepth) = (.max, .max)
            guard let value = try? JSONValue(parsing: document, options: options, exactDecimals: true) else {
                return document
            }
            var writer = JSONWriter()
            do { try writer.value(JSONAPIDocument.flattened(value)) } catch { return document }
            document = []
            return writer.bytes
        }
    }

    private static let null = Array("null".utf8)
    /// A value without an end, which the mapper reports as a body that was cut off.
    private static let unfinished = Array("{".utf8)

    /// The bytes without a byte order mark at the beginning of the body.
    private mutating func withoutMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while let expected = mark.first, let byte = rest.first {
            guard byte == expected else {
                mark = []
                break
            }
            mark.removeFirst()
            rest.removeFirst()
        }
        return rest
    }

    private mutating func lines(_ bytes: [UInt8], _ written: inout [UInt8]) {
        if let last = bytes.lastIndex(where: { $0 > 0x20 }) {
            var begin = bytes.startIndex
            if let newline = bytes[..<last].lastIndex(of: UInt8(ascii: "\n")) {
                begin = newline + 1
                written = held + bytes[..<begin]
                held = []
            } else if isLineComplete {
                written = held
                held = []
            }
            held += bytes[begin...]
            isLineComplete = bytes[last...].contains(UInt8(ascii: "\n"))
        } else if !isLineComplete {
            held += bytes
            isLineComplete = bytes.contains(UInt8(ascii: "\n"))
        }
        guard held.count > limit else { return }
        written += held
        held = []
    }

    /// Whether a line is the sign of the end.
    private func isEndSign(_ line: [UInt8]) -> Bool {
        guard case .line(let keyPath) = endSign, let value = try? JSONValue(parsing: line) else { return false }
        return JSONKeyPath.keys(of: keyPath).reduce(value as JSONValue?) { $0?[$1] }?.isSet ?? false
    }

    private func isEndSign(_ event: HTTPEventStream.Event) -> Bool {
        if case .event(let type) = endSign { event.type == type } else { false }
    }

    /// Whether a byte of a string ends it: a quotation mark that is not escaped.
    private mutating func endsString(_ byte: UInt8) -> Bool {
        guard !isEscaped else {
            isEscaped = false
            return false
        }
        isEscaped = byte == UInt8(ascii: "\\")
        return byte == UInt8(ascii: "\"")
    }

    private static func isRow(_ event: HTTPEventStream.Event, _ types: Set<String>) -> Bool {
        types.contains(event.type) || types.isEmpty && event.type != errorType
    }

    private mutating func event(_ bytes: [UInt8], _ types: Set<String>, _ written: inout [UInt8]) {
        guard state != .end else { return }
        do {
            for item in try events.append(bytes) {
                switch item {
                case .event(let event) where isEndSign(event): hasEndSign = true
                case .event(let event) where Self.isRow(event, types):
                    guard event.data.contains(where: { $0 > 0x20 }) else { continue }
                    written += event.data + [UInt8(ascii: "\n")]
                    (state, hasEndSign) = (.between, false)
                case .event(let event) where event.type == Self.errorType:
                    failure = event.data
                    return end(&written)
                case .event, .retry: break
                case .tooLarge: return end(&written)
                }
            }
        } catch {
            end(&written)
        }
    }

    /// Ends a stream that is not complete.
    private mutating func end(_ written: inout [UInt8]) {
        written += Self.unfinished
        state = .end
    }

    private mutating func keyed(_ byte: UInt8, _ field: String, _ written: inout [UInt8]) {
        let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
        switch state {
        case .start:
            if isSpace { return }
            switch byte {
            case UInt8(ascii: "{"): state = .between
            case UInt8(ascii: "["): (state, index) = (.beforeValue, 0)
            default:
                (state, word) = (.word, [byte])
                return
            }
            written.append(UInt8(ascii: "["))
        case .between:
            if let last = index {
                if isSpace { return }
                if byte == UInt8(ascii: ",") {
                    (state, index) = (.beforeValue, last + 1)
                } else {
                    // The end, or an error that the mapper reports.
                    written.append(byte)
                    state = .end
                }
            } else if byte == UInt8(ascii: "\"") {
                key = [byte]
                state = .key
            } else if byte == UInt8(ascii: "}") {
                written.append(UInt8(ascii: "]"))
                state = .end
            }
        case .key:
            key.append(byte)
            if endsString(byte) { state = .beforeValue }
            if key.count > limit {
                // The mapper reports a text of this size.
                written += key
                (key, state) = ([], .end)
            }
        case .beforeValue:
            if isSpace || index == nil && byte == UInt8(ascii: ":") { return }
            if let index {
                if index == 0, byte == UInt8(ascii: "]") {
                    written.append(byte)
                    state = .end
                    return
                }
                if byte == Self.null[0] {
                    (state, word) = (.word, [byte])
                    return
                }
                key = Array("\"\(index)\"".utf8)
            }
            beginValue(byte, field, &written)
        case .word:
            if index == nil {
                // The mapper reports any word other than null.
                if !isSpace { word.append(byte) }
                if word.count > Self.null.count { endWord(&written) }
            } else if isSpace || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
                if word == Self.null { state = .between } else { endWord(&written) }
                keyed(byte, field, &written)
            } else {
                word.append(byte)
                if word.count > Self.null.count { endWord(&written) }
            }
        case .afterBrace:
            if isSpace { return }
            if byte == UInt8(ascii: "}") {
                written.append(byte)
                state = .between
            } else {
                written.append(UInt8(ascii: ","))
                state = .value
                isBeforeMember = true
                value(byte, field, &written)
            }
        case .value: value(byte, field, &written)
        case .end: written.append(byte)
        }
    }

    /// Passes a word other than null to the mapper.
    private mutating func endWord(_ written: inout [UInt8]) {
        written += word
        state = .end
    }

    private mutating func beginValue(_ byte: UInt8, _ field: String, _ written: inout [UInt8]) {
        if count > 0 { written.append(UInt8(ascii: ",")) }
        count += 1
        written += Array("{\"\(field)\":".utf8) + key
        isWrapped = byte != UInt8(ascii: "{")
        isInString = byte == UInt8(ascii: "\"")
        depth = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") ? 1 : 0
        if isWrapped { written += Array(",\"value\":".utf8) + [byte] }
        state = isWrapped ? .value : .afterBrace
    }

    private mutating func value(_ byte: UInt8, _ field: String, _ written: inout [UInt8]) {
        if isInString {
            write(byte, &written)
            guard endsString(byte) else { return }
            isInString = false
            if member != nil { endMember(field, &written) }
            if isWrapped, depth == 0 { endWrapped(&written) }
            return
        }
        let isInObject = depth == 1 && !isWrapped
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            if isInObject, isBeforeMember { (member, isBeforeMember) = ([], false) }
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 0 {
                // The end of the collection ends a bare number or word.
                endWrapped(&written)
                written.append(UInt8(ascii: "]"))
                state = .end
                return
            }
            if isInObject { endOwn(field, &written) }
            depth -= 1
            write(byte, &written)
            if depth == 0 {
                if isWrapped { endWrapped(&written) } else { state = .between }
            }
            return
        case UInt8(ascii: ","):
            if depth == 0 {
                endWrapped(&written)
                if let index { (state, self.index) = (.beforeValue, index + 1) }
                return
            }
            if isInObject {
                endOwn(field, &written)
                isBeforeMember = true
            }
        default: break
        }
        write(byte, &written)
    }

    private mutating func write(_ byte: UInt8, _ written: inout [UInt8]) {
        if member != nil {
            member?.append(byte)
        } else if own != nil {
            own?.append(byte)
        } else {
            written.append(byte)
        }
        guard (member?.count ?? own?.count ?? 0) > limit else { return }
        written += member ?? own ?? []
        (member, own) = (nil, nil)
    }

    /// Ends the key of a member. A key equal to the field's name waits for its value.
    private mutating func endMember(_ field: String, _ written: inout [UInt8]) {
        let isOwn = member.map { $0.elementsEqual("\"\(field)\"".utf8) } ?? false
        if isOwn { own = [] } else { written += member ?? [] }
        member = nil
    }

    /// Ends a member that has the name of the field. It keeps the name only if it repeats the key.
    private mutating func endOwn(_ field: String, _ written: inout [UInt8]) {
        guard let own else { return }
        let isRepetition = Self.bare(own[...]).elementsEqual(Self.bare(key[...]))
        written += isRepetition ? Array("\"\(field)\":".utf8) + key : Array("\"own_\(field)\"".utf8) + own
        self.own = nil
    }

    /// A value without the characters around its text or number.
    private static func bare(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isAround(_ byte: UInt8) -> Bool { Array(" \t\r\n:\"".utf8).contains(byte) }
        let rest = value.drop(while: isAround)
        guard let last = rest.lastIndex(where: { !isAround($0) }) else { return [] }
        return rest[...last]
    }

    private mutating func endWrapped(_ written: inout [UInt8]) {
        written.append(UInt8(ascii: "}"))
        isWrapped = false
        state = .between
    }
}
