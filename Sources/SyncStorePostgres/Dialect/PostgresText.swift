import SyncModel
import SyncStoreSQL

/// Values as PostgreSQL keeps them where its types have less than a model's.
package enum PostgresText {
    /// What the mark is: the lowest character that a text of PostgreSQL can have.
    private static let mark: UInt8 = 1

    /// Whether a text must be kept in another form: PostgreSQL's have no U+0000.
    package static func isSpecial(_ byte: UInt8) -> Bool {
        byte <= mark
    }

    /// The form in which a text is kept: U+0000 as two U+0001, and U+0001 as U+0001 and U+0002.
    /// Texts in this form sort as they do themselves.
    package static func kept(_ text: String) -> String {
        guard text.utf8.contains(where: isSpecial) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 { append(byte, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a byte of a text in the form in which it is kept.
    package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        guard isSpecial(byte) else { return bytes.append(byte) }
        bytes.append(mark)
        bytes.append(byte + 1)
    }

    /// The text that is kept in a form that ``kept(_:)`` gives; any other text is itself.
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

    /// A regular expression that finds a text within kept ones, for a text whose kept form could
    /// also be found across the middle of a mark and what belongs to it; nil for all others
    /// (https://www.postgresql.org/docs/current/functions-matching.html#FUNCTIONS-POSIX-REGEXP).
    static func pattern(for text: String, isAtEnd: Bool) -> String? {
        guard let first = text.utf8.first, first <= mark + 1 else { return nil }
        let letters = kept(text).unicodeScalars.map { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        return "^(?:\\u0001[\\u0001\\u0002]|[^\\u0001])*" + letters.joined() + (isAtEnd ? "$" : "")
    }

    // MARK: Moments

    /// The microseconds from 1970 to 2000, from where PostgreSQL counts.
    package static let epoch: Int64 = 946_684_800_000_000
    /// The first moment that a `timestamptz` can be, in the year 4714 before Christ: microseconds
    /// from 2000.
    package static let firstMoment: Int64 = -211_813_488_000_000_000

    /// A moment as a `timestamptz` reads it; what comes before the first one is before all that it
    /// can be.
    static func moment(_ moment: Timestamp) -> String {
        guard moment.microseconds >= firstMoment + epoch else { return "-infinity" }
        // The calendar repeats every 400 years, and `DateText` knows those of four digits.
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
