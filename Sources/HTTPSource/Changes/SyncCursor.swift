import Foundation
import JSONMapper
import SyncModel

/// A position in the server's changes: a time, a number or a text, as the server writes it.
struct SyncCursor: Sendable, Hashable {
    private enum Order: Sendable, Hashable {
        /// A date as text; microseconds since 1970.
        case time(Int64)
        case number(Double)
        case text
    }

    let text: String
    private let order: Order

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

    /// Whether one cursor is later than another; cursors of different kinds are compared as texts.
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
        var written = DateText.text(time, fraction: .shortest)
        if text.count <= 10 { return SyncCursor(text: String(written.prefix(10))) }
        if let dot = written.firstIndex(of: "."), !text.contains(".") { written = written[..<dot] + "Z" }
        if !text.hasSuffix("Z"), !text.dropFirst(10).contains(where: { "+-".contains($0) }) { written.removeLast() }
        return SyncCursor(text: text.contains(" ") ? written.replacing("T", with: " ") : written)
    }
}

/// The cursors that the objects of a pass reach.
struct CursorReach: Sendable {
    /// The latest cursor.
    var latest: SyncCursor?
    /// The latest cursor on the first page.
    private(set) var latestOfFirstPage: SyncCursor?
    /// Whether each page continues where the previous one ended.
    ///
    /// Only objects on the same page can then follow an object with a later cursor.
    private(set) var isAscending = true

    /// Adds the objects of the next page.
    mutating func extend(by cursors: PageFacts.Cursors?, isFirstPage: Bool) {
        guard let cursors else { return }
        if isFirstPage { latestOfFirstPage = cursors.latest }
        if let latest, cursors.earliest < latest { isAscending = false }
        latest = latest.map { .later($0, cursors.latest) } ?? cursors.latest
    }
}
