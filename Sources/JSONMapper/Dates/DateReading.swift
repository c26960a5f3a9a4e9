import SyncBase
import SyncModel

/// A date in one of the layouts of ``DateStyle``, with everything that its spelling shows.
///
/// A text is rejected if no style writes it in the same way: an impossible day, a wrong day of the
/// week, second 60, hour 24, or more than six digits after the second.
struct DateReading {
    /// The layout that writes the text in the same way.
    let layout: DateStyle.Layout
    /// Another layout that does; nil for none.
    let otherLayout: DateStyle.Layout?
    let microseconds: Int64
    /// The number of digits after the second; 0 for no fraction.
    private(set) var digitCount = 0
    /// The fraction of the second in microseconds.
    private(set) var fraction = 0
    private let zoneRange: Range<Int>

    /// Reads a text; nil if it is not a date.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard text.count >= 10 else { return nil }
        let layout: DateStyle.Layout
        var other: DateStyle.Layout?
        var date = CivilDate(year: 0, month: 0, day: 0)
        var weekday: Int?
        var time: Time?
        if text[4] == UInt8(ascii: "-") || text[4] == UInt8(ascii: "/") {
            guard let century = Self.pair(text, 0), let year = Self.pair(text, 2), let month = Self.pair(text, 5),
                let day = Self.pair(text, 8), text[7] == text[4]
            else { return nil }
            date = CivilDate(year: century * 100 + year, month: month, day: day)
            let isSlashed = text[4] == UInt8(ascii: "/")
            if text.count == 10 {
                layout = isSlashed ? .slashedDay : .day
            } else {
                let separator = text[10]
                guard !isSlashed, separator == UInt8(ascii: "T") || separator == ASCII.space,
                    let found = Time(text, at: 11)
                else { return nil }
                time = found
                switch (separator == ASCII.space, found.hasSeconds) {
                case (false, true): layout = .iso
                case (false, false): layout = .isoMinutes
                case (true, true): layout = .spaced
                case (true, false): layout = .spacedMinutes
                }
            }
        } else {
            guard text.count >= 20, let day = Self.index(of: DateStyle.weekdays, in: text, at: 0) else { return nil }
            weekday = day
            if text[3] == ASCII.comma {
                let isShort = text[6] == ASCII.space
                guard text[4] == ASCII.space, let day = isShort ? Self.digit(text, 5) : Self.pair(text, 5) else {
                    return nil
                }
                let next = isShort ? 6 : 7
                guard text.count > next + 11, text[next] == ASCII.space,
                    let month = Self.index(of: DateStyle.months, in: text, at: next + 1), text[next + 4] == ASCII.space,
                    let century = Self.pair(text, next + 5), let year = Self.pair(text, next + 7),
                    text[next + 9] == ASCII.space, let found = Time(text, at: next + 10), found.hasSeconds
                else { return nil }
                date = CivilDate(year: century * 100 + year, month: month + 1, day: day)
                time = found
                layout = isShort ? .shortMail : .mail
                if !isShort, date.day >= 10 { other = .shortMail }
            } else {
                let end = text.count - 5
                guard text[3] == ASCII.space, let month = Self.index(of: DateStyle.months, in: text, at: 4),
                    text[7] == ASCII.space, let day = Self.pair(text, 8), text[10] == ASCII.space,
                    text[end] == ASCII.space, let century = Self.pair(text, end + 1),
                    let year = Self.pair(text, end + 3),
                    let found = Time(UnsafeBufferPointer(rebasing: text[..<end]), at: 11), found.hasSeconds
                else { return nil }
                date = CivilDate(year: century * 100 + year, month: month + 1, day: day)
                time = found
                layout = .unix
            }
        }
        guard date.isValid else { return nil }
        let days = date.daysSince1970
        if let weekday, ((days + 4) % 7 + 7) % 7 != weekday { return nil }
        self.layout = layout
        otherLayout = other
        var microseconds = Int64(days) * 86_400_000_000
        if let time {
            zoneRange = time.end..<(layout == .unix ? text.count - 5 : text.count)
            guard let offset = Self.offset(UnsafeBufferPointer(rebasing: text[zoneRange])) else { return nil }
            microseconds += Int64(time.seconds - offset) * 1_000_000 + Int64(time.fraction)
            digitCount = time.digitCount
            fraction = time.fraction
        } else {
            zoneRange = text.count..<text.count
        }
        guard DateText.range.contains(microseconds) else { return nil }
        self.microseconds = microseconds
    }

    /// Whether a layout writes the text in the same way.
    func isWritten(in layout: DateStyle.Layout) -> Bool {
        layout == self.layout || layout == otherLayout
    }

    /// The bytes of the time zone in the text that was read.
    func zone(in text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: text[zoneRange])
    }

    /// A time of day, such as `12:40` or `12:40:08.123`.
    private struct Time {
        var seconds: Int
        var hasSeconds = false
        var digitCount = 0
        var fraction = 0
        /// The index after the last byte.
        var end: Int

        init?(_ text: UnsafeBufferPointer<UInt8>, at start: Int) {
            guard text.count >= start + 5, let hour = DateReading.pair(text, start), hour < 24,
                text[start + 2] == ASCII.colon, let minute = DateReading.pair(text, start + 3), minute < 60
            else { return nil }
            seconds = hour * 3600 + minute * 60
            end = start + 5
            guard text.count >= end + 3, text[end] == ASCII.colon else { return }
            guard let second = DateReading.pair(text, end + 1), second < 60 else { return nil }
            seconds += second
            hasSeconds = true
            end += 3
            guard text.count > end, text[end] == ASCII.dot else { return }
            var place = end + 1
            var scale = 100_000
            while place < text.count, let digit = DateReading.digit(text, place) {
                guard scale > 0 else { return nil }
                fraction += digit * scale
                scale /= 10
                place += 1
            }
            digitCount = place - end - 1
            guard digitCount > 0 else { return nil }
            end = place
        }
    }

    /// The offset of a time zone in seconds, positive east of UTC; nil if the text is not one.
    ///
    /// No text, `Z`, `GMT` and `UTC` are UTC. A space may precede the text.
    static func offset(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard !text.isEmpty else { return 0 }
        let start = text[0] == ASCII.space ? 1 : 0
        let rest = UnsafeBufferPointer(rebasing: text[start...])
        if rest.elementsEqual("Z".utf8) || rest.elementsEqual("GMT".utf8) || rest.elementsEqual("UTC".utf8) {
            return 0
        }
        guard rest.count == 5 || rest.count == 6 || rest.count == 3,
            rest[0] == ASCII.plus || rest[0] == ASCII.minus, let hours = pair(rest, 1), hours < 24
        else { return nil }
        var minutes = 0
        if rest.count > 3 {
            guard rest.count == 5 || rest[3] == ASCII.colon, let value = pair(rest, rest.count - 2), value < 60 else {
                return nil
            }
            minutes = value
        }
        let seconds = hours * 3600 + minutes * 60
        return rest[0] == ASCII.minus ? -seconds : seconds
    }

    private static func digit(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        guard index < text.count, ASCII.isDigit(text[index]) else { return nil }
        return Int(text[index] &- ASCII.zero)
    }

    private static func pair(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        guard index + 1 < text.count, let tens = digit(text, index), let ones = digit(text, index + 1) else {
            return nil
        }
        return tens * 10 + ones
    }

    /// The index of the three-letter word at a position of a text; nil for none.
    private static func index(of words: [String], in text: UnsafeBufferPointer<UInt8>, at place: Int) -> Int? {
        guard text.count >= place + 3 else { return nil }
        return words.firstIndex { $0.utf8.elementsEqual(text[place..<(place + 3)]) }
    }
}
