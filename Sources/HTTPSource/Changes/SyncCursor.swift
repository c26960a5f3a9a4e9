import Foundation
import JSONMapper
import SyncModel

/// A value that tells how far what has changed is known: a time, a number or a text, in the
/// server's own words.
struct SyncCursor: Sendable, Hashable {
    private enum Order: Sendable, Hashable {
        /// A date as text; microseconds since 1970.
        case time(Int64)
        case number(Double)
        case text
    }

    let text: String
    private let order: Order

    /// Nil where the value is none: null, empty, true, an array or an object.
    init?(_ value: JSONValue) {
        guard let text = value.token else { return nil }
        switch value {
        case .integer, .unsigned, .double, .decimal:
            self.init(text, .number(Double(text) ?? 0))
        default: self.init(text: text)
        }
    }

    /// Makes a cursor of what was kept of one.
    init(text: String) {
        if let number = Double(text) {
            self.init(text, .number(number))
        } else if let time = DateText.microseconds(text) {
            self.init(text, .time(time))
        } else {
            self.init(text, .text)
        }
    }

    private init(_ text: String, _ order: Order) {
        self.text = text
        self.order = order
    }

    /// Whether one is certain to be later than the other; cursors of different kinds are compared
    /// as texts.
    static func < (one: SyncCursor, other: SyncCursor) -> Bool {
        switch (one.order, other.order) {
        case (.time(let one), .time(let other)): one < other
        case (.number(let one), .number(let other)): one < other
        default: one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
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

    /// The cursor of an earlier time: of a date, or of seconds, milliseconds or microseconds since
    /// 1970. Other cursors stay as they are.
    func earlier(by duration: Duration) -> SyncCursor {
        let microseconds = Int64(duration / .microseconds(1))
        guard microseconds > 0, let time else { return self }
        return at(time - microseconds)
    }

    /// The cursor, but no later than a date: an object with a date far in the future must not keep
    /// others from being seen.
    func limited(to date: Date) -> SyncCursor {
        let latest = Timestamp(date).microseconds
        guard let time, time > latest else { return self }
        return at(latest)
    }

    /// Microseconds since 1970; nil for a cursor that is no time.
    private var time: Int64? {
        switch order {
        case .time(let time): time
        case .number(let number): unit.map { Int64($0 > 1e6 ? number / ($0 / 1e6) : number * (1e6 / $0)) }
        case .text: nil
        }
    }

    /// How many of a number's units a second has: numbers that mean a time after 1990 and before
    /// 2100 can be told apart.
    private var unit: Double? {
        guard case .number(let number) = order else { return nil }
        return [1, 1e3, 1e6, 1e9].first { (6.3e8...4.1e9).contains(number / $0) }
    }

    /// The cursor of another time, written in the same way.
    private func at(_ time: Int64) -> SyncCursor {
        if let unit {
            if text.contains(".") { return SyncCursor(text: "\(Double(time) / 1_000_000 * unit)") }
            // The time is after 1970, so that a division rounds down.
            return SyncCursor(text: String(unit > 1e6 ? time * Int64(unit / 1e6) : time / Int64(1e6 / unit)))
        }
        var written = DateText.text(time, fraction: .shortest)
        if text.count <= 10 { return SyncCursor(text: String(written.prefix(10))) }
        if let dot = written.firstIndex(of: "."), !text.contains(".") { written = written[..<dot] + "Z" }
        if !text.hasSuffix("Z"), !text.dropFirst(10).contains(where: { "+-".contains($0) }) { written.removeLast() }
        return SyncCursor(text: text.contains(" ") ? written.replacing("T", with: " ") : written)
    }
}

/// How far the objects of a run's pages reach.
struct CursorReach: Sendable {
    /// The latest cursor.
    var latest: SyncCursor?
    /// The latest on the first page.
    private(set) var latestOfFirstPage: SyncCursor?
    /// Whether each page goes on where the one before it ended: no object comes after one with a
    /// later cursor, but on the same page.
    private(set) var isAscending = true

    /// Takes the objects of the next page in.
    mutating func extend(by cursors: PageFacts.Cursors?, isFirstPage: Bool) {
        guard let cursors else { return }
        if isFirstPage { latestOfFirstPage = cursors.latest }
        if let latest, cursors.earliest < latest { isAscending = false }
        latest = latest.map { .later($0, cursors.latest) } ?? cursors.latest
    }
}
