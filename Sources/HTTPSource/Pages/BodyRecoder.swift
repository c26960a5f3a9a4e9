/// Turns bodies of other formats into an array of objects, a piece at a time.
struct BodyRecoder: Sendable {
    private enum Mode {
        /// Newline-delimited JSON.
        case lines
        /// An object of objects, whose keys become a field of each.
        case keyed(field: String)
        /// Server-sent events of some types; all for an empty set.
        case events(types: Set<String>)
    }

    /// The maximum number of bytes of an event.
    private static let eventByteCount = 64 << 20

    private enum State {
        case start
        /// Between two values or keys.
        case between
        case key
        /// Behind a key, before its value.
        case beforeValue
        /// Right behind the brace of a value.
        case afterBrace
        case value
        case end
    }

    private let mode: Mode
    private var state = State.start
    private var events = EventParser(limit: eventByteCount)
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The key at hand as JSON, quotes included.
    private var key: [UInt8] = []
    private var count = 0
    /// Whether the value at hand is not an object, and is wrapped in one.
    private var isWrapped = false

    /// Creates a recoder; nil for a format that needs none.
    init?(_ format: HTTPJSONSource.Format) {
        switch format {
        case .array: return nil
        case .lines: mode = .lines
        case .keyed(let field): mode = .keyed(field: field)
        case .events(let types): mode = .events(types: types)
        }
    }

    /// Returns the next bytes of the array.
    mutating func recode(_ bytes: [UInt8]) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count + 64)
        switch mode {
        case .lines: for byte in bytes { line(byte, &written) }
        case .keyed(let field): for byte in bytes { keyed(byte, field, &written) }
        case .events(let types): event(bytes, types, &written)
        }
        return written
    }

    /// Returns the last bytes of the array. A document that is incomplete stays so.
    mutating func finish() -> [UInt8] {
        switch mode {
        case .lines: return state == .start ? Array("[]".utf8) : Array("]".utf8)
        case .events:
            // An event without its blank line, or too large, leaves the array open.
            if state == .end || events.isInEvent { return [] }
            return state == .start ? Array("[]".utf8) : Array("]".utf8)
        case .keyed: return []
        }
    }

    private mutating func line(_ byte: UInt8, _ written: inout [UInt8]) {
        let isNewline = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        if state == .value {
            if isNewline { state = .between } else { written.append(byte) }
            return
        }
        guard !isNewline, byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") else { return }
        written.append(state == .start ? UInt8(ascii: "[") : UInt8(ascii: ","))
        written.append(byte)
        state = .value
    }

    private mutating func event(_ bytes: [UInt8], _ types: Set<String>, _ written: inout [UInt8]) {
        guard state != .end else { return }
        do {
            for item in try events.append(bytes) {
                switch item {
                case .event(let event) where types.isEmpty || types.contains(event.type):
                    guard event.data.contains(where: { $0 > 0x20 }) else { continue }
                    written.append(state == .start ? UInt8(ascii: "[") : UInt8(ascii: ","))
                    written += event.data
                    state = .between
                case .event, .retry: break
                case .tooLarge: throw EventParser.TooLarge()
                }
            }
        } catch {
            if state == .start { written.append(UInt8(ascii: "[")) }
            state = .end
        }
    }

    private mutating func keyed(_ byte: UInt8, _ field: String, _ written: inout [UInt8]) {
        let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
        switch state {
        case .start:
            if isSpace { return }
            if byte == UInt8(ascii: "{") {
                written.append(UInt8(ascii: "["))
                state = .between
            } else {
                // Null stands for an empty collection. Anything else is left to the mapper.
                written.append(byte)
                state = .end
            }
        case .between:
            if byte == UInt8(ascii: "\"") {
                key = [byte]
                state = .key
            } else if byte == UInt8(ascii: "}") {
                written.append(UInt8(ascii: "]"))
                state = .end
            }
        case .key:
            key.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                state = .beforeValue
            }
        case .beforeValue:
            if isSpace || byte == UInt8(ascii: ":") { return }
            if count > 0 { written.append(UInt8(ascii: ",")) }
            count += 1
            written += Array("{\"\(field)\":".utf8) + key
            isWrapped = byte != UInt8(ascii: "{")
            isInString = byte == UInt8(ascii: "\"")
            depth = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") ? 1 : 0
            if isWrapped {
                written += Array(",\"value\":".utf8) + [byte]
                state = .value
            } else {
                state = .afterBrace
            }
        case .afterBrace:
            if isSpace { return }
            if byte == UInt8(ascii: "}") {
                written.append(byte)
                state = .between
            } else {
                written.append(UInt8(ascii: ","))
                state = .value
                value(byte, &written)
            }
        case .value: value(byte, &written)
        case .end: written.append(byte)
        }
    }

    private mutating func value(_ byte: UInt8, _ written: inout [UInt8]) {
        if isInString {
            written.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
                if isWrapped, depth == 0 { endWrapped(&written) }
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 0 {
                // The end of the collection ends a bare number or word.
                endWrapped(&written)
                written.append(UInt8(ascii: "]"))
                state = .end
                return
            }
            depth -= 1
            written.append(byte)
            if depth == 0 {
                if isWrapped { endWrapped(&written) } else { state = .between }
            }
            return
        case UInt8(ascii: ","):
            if depth == 0 { return endWrapped(&written) }
        default: break
        }
        written.append(byte)
    }

    private mutating func endWrapped(_ written: inout [UInt8]) {
        written.append(UInt8(ascii: "}"))
        isWrapped = false
        state = .between
    }
}
