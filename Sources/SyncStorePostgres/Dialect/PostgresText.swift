import SyncBase
import SyncModel
import SyncStoreSQL

/// The stored forms of values that PostgreSQL's types cannot represent.
package enum PostgresText {
    /// The mark: the lowest character that a PostgreSQL text can contain.
    private static let mark: UInt8 = 1

    /// Whether a byte has another stored form, because PostgreSQL cannot store U+0000.
    package static func isSpecial(_ byte: UInt8) -> Bool {
        byte <= mark
    }

    /// Returns the stored form of a text: U+0000 becomes two U+0001, and U+0001 becomes U+0001
    /// U+0002. Stored forms sort like the texts.
    package static func kept(_ text: String) -> String {
        guard text.utf8.contains(where: isSpecial) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 { append(byte, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the stored form of a byte.
    package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        guard isSpecial(byte) else { return bytes.append(byte) }
        bytes.append(mark)
        bytes.append(byte + 1)
    }

    /// Returns the text of a stored form, see ``kept(_:)``; other texts are unchanged.
    package static func text(_ kept: UnsafeBufferPointer<UInt8>) -> String {
        guard kept.contains(mark) else { return String(decoding: kept, as: UTF8.self) }
        var bytes: [UInt8] = []
        var index = 0
        while index < kept.count {
            let byte = kept[index]
            index += 1
            if byte == mark, index < kept.count, kept[index] == mark || kept[index] == mark + 1 {
                bytes.append(kept[index] - 1)
                index += 1
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Arrays

    /// Returns values as a literal of an array of texts. Source:
    /// https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
    static func array(_ values: [SQLBinding]) -> String {
        "{\(values.map(element).joined(separator: ","))}"
    }

    private static func element(_ value: SQLBinding) -> String {
        let text: String
        switch value {
        case .null, .objects, .blobs: return "NULL"
        case .integer(let number): text = String(number)
        case .real(let number): text = number.description
        case .text(let content), .typed(let content, _): text = content
        case .blob(let data): text = "\\x\(SQLText.hexadecimal(data))"
        }
        // By bytes: a combining character makes one `Character` of a quote and itself.
        let escaped = text.replacing(byte: UInt8(ascii: "\\"), with: "\\\\")
            .replacing(byte: UInt8(ascii: "\""), with: "\\\"")
        return "\"\(escaped)\""
    }

    // MARK: JSON

    /// The mark as an escape in JSON text.
    private static let escapedMark = Array(#"\u0001"#.utf8)
    /// U+0000 as an escape in JSON text, which `jsonb` does not accept.
    private static let escapedZero = Array(#"\u0000"#.utf8)

    /// Returns the stored form of a JSON value, with all strings in stored form; see ``kept(_:)``.
    static func kept(json: CanonicalJSON) -> String {
        var text = json.text
        return text.withUTF8 { withKept(json: $0) { String(decoding: $0, as: UTF8.self) } }
    }

    /// Calls a closure with the stored form of canonical JSON text.
    static func withKept<R>(json text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        guard text.contains(UInt8(ascii: "\\")) else { return body(text) }
        return replacing(in: text) { rest in
            if rest.starts(with: escapedZero) { return (6, escapedMark + escapedMark) }
            if rest.starts(with: escapedMark) { return (6, escapedMark + Array(#"\u0002"#.utf8)) }
            return nil
        }.withUnsafeBufferPointer(body)
    }

    /// Returns the JSON value of a stored form; nil if the text exceeds a limit.
    static func json(_ kept: UnsafeBufferPointer<UInt8>) -> CanonicalJSON? {
        guard kept.contains(UInt8(ascii: "\\")), let json = CanonicalJSON(utf8: kept) else {
            return CanonicalJSON(utf8: kept)
        }
        var text = json.text
        return text.withUTF8 { text in
            replacing(in: text) { rest in
                guard rest.starts(with: escapedMark) else { return nil }
                let second = rest.dropFirst(6)
                if second.starts(with: escapedMark) { return (12, escapedZero) }
                return second.starts(with: #"\u0002"#.utf8) ? (12, escapedMark) : nil
            }.withUnsafeBufferPointer { CanonicalJSON(utf8: $0) }
        }
    }

    /// Replaces escapes in JSON text.
    ///
    /// - Parameter replacement: Receives the text from an escape on. Returns the number of bytes to
    ///   replace and their replacement; nil to keep the escape.
    private static func replacing(
        in text: UnsafeBufferPointer<UInt8>,
        _ replacement: (Slice<UnsafeBufferPointer<UInt8>>) -> (count: Int, bytes: [UInt8])?
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "\\"), index + 1 < text.count else {
                bytes.append(text[index])
                index += 1
                continue
            }
            if let (count, replaced) = replacement(text[index...]) {
                bytes += replaced
                index += count
            } else {
                // The second byte may be a backslash, which does not begin another escape.
                bytes += text[index..<(index + 2)]
                index += 2
            }
        }
        return bytes
    }

    /// Returns a regular expression that finds a text within stored forms. Nil if a search for its
    /// stored form is enough.
    ///
    /// The stored form of some texts could also match in the middle of an escaped character.
    /// Source:
    /// https://www.postgresql.org/docs/current/functions-matching.html#FUNCTIONS-POSIX-REGEXP
    static func pattern(for text: String, isAtEnd: Bool) -> String? {
        guard let first = text.utf8.first, first <= mark + 1 else { return nil }
        return "^" + anyScalar + "*" + letters(kept(text)) + (isAtEnd ? "$" : "")
    }

    /// Returns a regular expression for the stored forms of the texts that match a pattern of
    /// `PropertyPath.like(_:)`.
    static func expression(forPattern pattern: String) -> String {
        var expression = "^"
        var scalars = pattern.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "%": expression += anyScalar + "*"
            case "_": expression += anyScalar
            case "\\": expression += letters(kept(String(scalars.popFirst() ?? scalar)))
            default: expression += letters(kept(String(scalar)))
            }
        }
        return expression + "$"
    }

    /// A regular expression that matches the stored form of one Unicode scalar.
    private static let anyScalar = "(?:\\u0001[\\u0001\\u0002]|[^\\u0001])"

    /// A regular expression that matches only the given text.
    private static func letters(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    // MARK: Moments

    /// The microseconds from 1970 to 2000, the epoch of PostgreSQL.
    package static let epoch: Int64 = 946_684_800_000_000
    /// The first moment of a `timestamptz`, in 4714 BC, in microseconds since 2000.
    package static let firstMoment: Int64 = -211_813_488_000_000_000

    /// Whether a `timestamptz` holds a moment.
    static func holds(_ moment: Timestamp) -> Bool {
        moment.microseconds >= firstMoment + epoch || moment.microseconds == .min
    }

    /// Returns a moment as microseconds since 2000. The last and the first one are `infinity` and
    /// `-infinity`.
    static func microseconds(_ moment: Timestamp) -> Int64 {
        switch moment.microseconds {
        case .min, .max: moment.microseconds
        default: moment.microseconds - epoch
        }
    }

    /// Returns a moment from microseconds since 2000, the inverse of ``microseconds(_:)``.
    static func moment(_ sinceEpoch: Int64) -> Timestamp {
        switch sinceEpoch {
        case .min, .max: Timestamp(microseconds: sinceEpoch)
        default: Timestamp(microseconds: sinceEpoch &+ epoch)
        }
    }

    /// Returns a moment as text for a `timestamptz`; `-infinity` for moments before the first one,
    /// `infinity` for the last one.
    static func moment(_ moment: Timestamp) -> String {
        guard moment.microseconds < .max else { return "infinity" }
        guard moment.microseconds >= firstMoment + epoch else { return "-infinity" }
        // The calendar repeats every 400 years, and `DateText` supports only years with four
        // digits.
        let cycle: Int64 = 146_097 * 86_400_000_000
        let (count, rest) = (moment.microseconds - epoch).quotientAndRemainder(dividingBy: cycle)
        let cycles = rest < 0 ? count - 1 : count
        let shifted = Timestamp(microseconds: (rest < 0 ? rest + cycle : rest) + epoch)
        let text = DateText.text(sortable: shifted) ?? ""
        let year = Int64(text.prefix(4)).map { $0 + cycles * 400 } ?? 0
        let number = String(year > 0 ? year : 1 - year)
        let padded = String(repeating: "0", count: max(0, 4 - number.count)) + number
        // Such as `0044-03-15 00:00:00.000000+00 BC`.
        return padded + text.dropFirst(4).dropLast().replacing("T", with: " ") + "+00" + (year > 0 ? "" : " BC")
    }
}
