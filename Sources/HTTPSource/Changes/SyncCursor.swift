import Foundation
import JSONMapper
import SyncModel

/// A position in the server's changes: a time, a number or a text, as the server writes it.
struct SyncCursor: Sendable, Hashable {
    /// What a cursor is. Cursors of different kinds have no order in the list of a server.
    enum Kind: Int, Sendable, Hashable {
        case text, number, time
    }

    private enum Order: Sendable, Hashable {
        /// A date as text; microseconds since 1970.
        case time(Int64)
        case number(Double)
        case text
    }

    let text: String
    private let order: Order

    var kind: Kind {
        switch order {
        case .text: .text
        case .number: .number
        case .time: .time
        }
    }

    /// Nil for a value that is not a cursor: null, empty, true, an array or an object.
    init?(_ value: JSONValue) {
        guard let text = value.token else { return nil }
        switch value {
        case .integer, .unsigned, .double, .decimal:
            self.init(text, .number(Double(text) ?? 0))
        default: self.init(text: text)
        }
    }

    /// Creates a cursor from a stored text.
    init(text: String) {
        if let number = Double(text), number.isFinite {
            self.init(text, .number(number))
        } else if text.dropFirst(4).first == "-", let time = DateText.microseconds(text) {
            // Another time of the basic format, `20140102T124008Z`, could not be written like it.
            self.init(text, .time(time))
        } else {
            self.init(text, .text)
        }
    }

    private init(_ text: String, _ order: Order) {
        self.text = text
        self.order = order
    }

    /// Whether one cursor is later than another. Texts come before numbers, and these before times.
    static func < (one: SyncCursor, other: SyncCursor) -> Bool {
        switch (one.order, other.order) {
        case (.time(let one), .time(let other)): one < other
        case (.number(let one), .number(let other)): one < other
        case (.text, .text): one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
        default: one.kind.rawValue < other.kind.rawValue
        }
    }

    /// The earlier of two cursors.
    static func earlier(_ one: SyncCursor, _ other: SyncCursor) -> SyncCursor {
        other < one ? other : one
    }

    /// The later of two cursors.
    static func later(_ one: SyncCursor, _ other: SyncCursor) -> SyncCursor {
        one < other ? other : one
    }

    /// The cursor of an earlier time, for a date, or for seconds, milliseconds, microseconds or
    /// nanoseconds since 1970. Other cursors are unchanged.
    func earlier(by duration: Duration) -> SyncCursor {
        let microseconds = Int64(duration / .microseconds(1))
        guard microseconds > 0, let time else { return self }
        return at(time - microseconds)
    }

    /// The cursor, but no later than a date.
    ///
    /// This way, an object dated far in the future does not hide others.
    func limited(to date: Date) -> SyncCursor {
        let latest = Timestamp(date).microseconds
        guard let time, time > latest else { return self }
        return at(latest)
    }

    /// Microseconds since 1970; nil for a cursor that is not a time.
    private var time: Int64? {
        switch order {
        case .time(let time): time
        case .number(let number): unit.map { Int64($0 > 1e6 ? number / ($0 / 1e6) : number * (1e6 / $0)) }
        case .text: nil
        }
    }

    /// The number of the cursor's units in a second. Numbers that are times between 1990 and 2100
    /// have distinct ranges.
    private var unit: Double? {
        guard case .number(let number) = order else { return nil }
        return [1, 1e3, 1e6, 1e9].first { (6.3e8...4.1e9).contains(number / $0) }
    }

    /// The cursor of another time, written in the same style.
    private func at(_ time: Int64) -> SyncCursor {
        if let unit {
            if text.contains(".") { return SyncCursor(text: "\(Double(time) / 1_000_000 * unit)") }
            // The time is after 1970, so a division rounds down.
            return SyncCursor(text: String(unit > 1e6 ? time * Int64(unit / 1e6) : time / Int64(1e6 / unit)))
        }
        return SyncCursor(text: date(at: time))
    }

    /// The text of a time with the separator, the digits and the offset from UTC of this date. Time
    /// that its digits cannot show is left out, so that the text is never later.
    private func date(at time: Int64) -> String {
        func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
        let clock = text.dropFirst(11).prefix { isDigit($0) || $0 == ":" }
        var offset = text.dropFirst(11 + clock.count)
        var fraction = Substring()
        if let point = offset.first, point == "." || point == "," {
            fraction = offset.prefix(1) + offset.dropFirst().prefix(while: isDigit)
            offset = offset.dropFirst(fraction.count)
        }
        // The same digits without an offset are a time in UTC.
        let local = DateText.microseconds(String(text.dropLast(offset.count)))
        guard let original = self.time, let local, DateText.hasText(time + local - original) else {
            return DateText.text(time, fraction: .shortest)
        }
        let written = DateText.text(time + local - original, fraction: .microseconds)
        let digits = written.dropFirst(20).prefix(6).prefix(max(fraction.count - 1, 0))
        let zeros = String(repeating: "0", count: max(fraction.count - 1 - digits.count, 0))
        return written.prefix(10) + text.dropFirst(10).prefix(1) + written.dropFirst(11).prefix(clock.count)
            + fraction.prefix(1) + digits + zeros + offset
    }
}

/// The cursors that a pass reaches: those of its objects, or the one that the server states.
///
/// Only cursors of one kind count, because an object with a text such as `unknown` in place of a
/// time says nothing about the others: those of the kind that was requested, or else of the kind
/// that most objects have. Texts do not count beside times.
struct CursorReach: Sendable {
    /// How far the cursors of one kind reach.
    private struct Part: Sendable {
        var count = 0
        var latest: SyncCursor
        var latestOfFirstPage: SyncCursor?
        var isAscending = true
    }

    /// The kind of the cursors that count; nil if the objects decide.
    private let kind: SyncCursor.Kind?
    private var parts: [SyncCursor.Kind: Part] = [:]
    /// The cursor that the server states for the whole list; nil if it states none.
    var stated: SyncCursor?

    /// - Parameter since: The cursor after which changes were requested; nil, the default, if all
    ///   objects were.
    init(since: String? = nil) {
        let kind = since.map { SyncCursor(text: $0).kind }
        // A text may be left from a list that had no better cursor.
        self.kind = kind == .text ? nil : kind
    }

    /// The latest cursor.
    var latest: SyncCursor? { stated ?? main?.latest }
    /// The latest cursor on the first page.
    var latestOfFirstPage: SyncCursor? { main?.latestOfFirstPage }
    /// Whether each page continues where the previous one ended.
    ///
    /// Only objects on the same page can then follow an object with a later cursor.
    var isAscending: Bool { main?.isAscending ?? true }

    /// The cursors that count; nil if there are none.
    private var main: Part? {
        if let kind { return parts[kind] }
        let ranked = parts.filter { $0.key != .text || parts[.time] == nil }
        return ranked.max { ($0.value.count, $0.key.rawValue) < ($1.value.count, $1.key.rawValue) }?.value
    }

    /// Adds the objects of the next page.
    mutating func extend(by cursors: [PageFacts.Cursors], isFirstPage: Bool) {
        for found in cursors {
            var part = parts[found.latest.kind] ?? Part(latest: found.latest)
            if isFirstPage { part.latestOfFirstPage = found.latest }
            if part.count > 0, found.earliest < part.latest { part.isAscending = false }
            part.latest = .later(part.latest, found.latest)
            part.count += found.count
            parts[found.latest.kind] = part
        }
    }
}
