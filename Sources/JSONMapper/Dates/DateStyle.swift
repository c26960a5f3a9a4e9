import SyncBase
import SyncModel

/// The exact spelling of an attribute's dates in JSON, with which an export writes what was read.
///
/// A style has a layout, the digits after the second, and a time zone that is the same in all
/// texts. It is stored as the annotation `sync.dateFormat`, a pattern such as
/// `yyyy-MM-dd'T'HH:mm:ss.SSS'+02:00'`:
///
/// - The letters are those of UTS #35, part 4.
/// - `[.SSS]` means no, three or six digits, as many as the date needs; `[.SSSSSS]` means none or
///   six; `[.S*]` means none to six without a zero at the end.
/// - The time zone is literal text in quotes, such as `'Z'`, `' GMT'` or `'+0000'`. Without one,
///   times are in UTC.
/// - `epochSeconds`, `epochSeconds.0` and `epochMilliseconds` are numbers.
package struct DateStyle: Hashable, Sendable {
    /// The arrangement of a date's parts.
    enum Layout: String, CaseIterable, Sendable {
        case day = "yyyy-MM-dd"
        case slashedDay = "yyyy/MM/dd"
        case iso = "yyyy-MM-dd'T'HH:mm:ss"
        case spaced = "yyyy-MM-dd HH:mm:ss"
        case isoMinutes = "yyyy-MM-dd'T'HH:mm"
        case spacedMinutes = "yyyy-MM-dd HH:mm"
        /// RFC 2822, section 3.3, with a day of two digits or as few as needed.
        case mail = "EEE, dd MMM yyyy HH:mm:ss"
        case shortMail = "EEE, d MMM yyyy HH:mm:ss"
        /// `Sun Aug 31 00:29:15 +0000 2014`: the time zone is before the year.
        case unix = "EEE MMM dd HH:mm:ss"
        case seconds = "epochSeconds"
        case wholeSeconds = "epochSeconds.0"
        case milliseconds = "epochMilliseconds"

        /// Whether the dates are numbers.
        var isNumber: Bool {
            switch self {
            case .seconds, .wholeSeconds, .milliseconds: true
            default: false
            }
        }

        /// Whether digits may follow the second.
        var hasFraction: Bool { hasTime && self != .isoMinutes && self != .spacedMinutes }

        fileprivate var hasTime: Bool { self != .day && self != .slashedDay && !isNumber }
    }

    /// The digits after the second.
    enum Fraction: Hashable, Sendable {
        case none
        case digits(Int)
        /// No, three or six digits, as many as needed.
        case shortest
        /// No digits, or six.
        case optionalSix
        /// No to six digits, without a zero at the end.
        case trimmed

        fileprivate var pattern: String {
            switch self {
            case .none: ""
            case .digits(let count): "." + String(repeating: "S", count: count)
            case .shortest: "[.SSS]"
            case .optionalSix: "[.SSSSSS]"
            case .trimmed: "[.S*]"
            }
        }

        /// All styles of fractions, the preferred ones first.
        static let all: [Fraction] =
            [.shortest, .none, .digits(3), .digits(6)] + [1, 2, 4, 5].map { .digits($0) } + [.optionalSix, .trimmed]

        /// Returns whether a written fraction is of this style.
        ///
        /// - Parameters:
        ///   - digitCount: The number of digits; 0 for no fraction.
        ///   - microseconds: The value of the fraction.
        func holds(digitCount: Int, microseconds: Int) -> Bool {
            switch self {
            case .none: digitCount == 0
            case .digits(let count): digitCount == count
            case .shortest: digitCount == (microseconds == 0 ? 0 : microseconds % 1000 == 0 ? 3 : 6)
            case .optionalSix: digitCount == (microseconds == 0 ? 0 : 6)
            case .trimmed: digitCount == Self.trimmedDigitCount(microseconds)
            }
        }

        fileprivate func digitCount(_ microseconds: Int) -> Int {
            switch self {
            case .none: 0
            case .digits(let count): count
            case .shortest: microseconds == 0 ? 0 : microseconds % 1000 == 0 ? 3 : 6
            case .optionalSix: microseconds == 0 ? 0 : 6
            case .trimmed: Self.trimmedDigitCount(microseconds)
            }
        }

        private static func trimmedDigitCount(_ microseconds: Int) -> Int {
            guard microseconds != 0 else { return 0 }
            var (count, rest) = (6, microseconds)
            while rest % 10 == 0 { (count, rest) = (count - 1, rest / 10) }
            return count
        }
    }

    let layout: Layout
    let fraction: Fraction
    /// The text of the time zone; empty for none.
    let zone: String
    /// The offset of the time zone in seconds, positive east of UTC.
    private let offset: Int

    /// Creates a style.
    init(_ layout: Layout, _ fraction: Fraction = .none, zone: String = "") {
        self.layout = layout
        self.fraction = fraction
        self.zone = zone
        offset = Array(zone.utf8).withUnsafeBufferPointer { DateReading.offset($0) } ?? 0
    }

    /// Creates a style from its pattern; nil if it is not one.
    package init?(pattern: String) {
        if let number = Layout(rawValue: pattern), number.isNumber {
            self.init(number)
            return
        }
        for layout in Layout.allCases.sorted(by: { $0.rawValue.count > $1.rawValue.count })
        where pattern.hasPrefix(layout.rawValue) {
            var rest = pattern.dropFirst(layout.rawValue.count)
            if layout == .unix {
                guard rest.hasSuffix(" yyyy") else { return nil }
                rest = rest.dropLast(5)
            }
            let fractions = Fraction.all.sorted { $0.pattern.count > $1.pattern.count }
            guard let fraction = fractions.first(where: { rest.hasPrefix($0.pattern) }) else { return nil }
            rest = rest.dropFirst(fraction.pattern.count)
            var zone = ""
            if !rest.isEmpty {
                guard rest.count > 2, rest.first == "'", rest.last == "'" else { return nil }
                zone = String(rest.dropFirst().dropLast())
            }
            let isZone = Array(zone.utf8).withUnsafeBufferPointer { DateReading.offset($0) } != nil
            guard isZone, layout.hasTime || zone.isEmpty, layout.hasFraction || fraction == .none else { return nil }
            self.init(layout, fraction, zone: zone)
            return
        }
        return nil
    }

    /// The pattern of the style.
    package var pattern: String {
        let zone = zone.isEmpty ? "" : "'\(zone)'"
        return layout.rawValue + fraction.pattern + zone + (layout == .unix ? " yyyy" : "")
    }

    /// Returns the date that a text of this style represents, in microseconds since 1970; nil for
    /// any other text.
    func microseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let reading = DateReading(text), reading.isWritten(in: layout),
            fraction.holds(digitCount: reading.digitCount, microseconds: reading.fraction),
            reading.zone(in: text).elementsEqual(zone.utf8)
        else { return nil }
        return reading.microseconds
    }

    /// Returns the date that a number of this style represents, in microseconds since 1970; nil for
    /// any other number.
    func microseconds(_ number: JSONNumber) -> Int64? {
        guard layout.isNumber, number.isInteger != (layout == .wholeSeconds), let value = number.int64 else {
            return nil
        }
        let (result, isOverflowing) = value.multipliedReportingOverflow(by: layout == .milliseconds ? 1000 : 1_000_000)
        return isOverflowing || !DateText.range.contains(result) ? nil : result
    }

    /// The bytes of a date in this style, without quotes; nil if its year in the style's time zone
    /// is outside 0000 to 9999, unless the style is a number.
    func text(_ microseconds: Int64) -> [UInt8]? {
        switch layout {
        case .seconds: return Array(String(Self.floor(microseconds, 1_000_000)).utf8)
        case .wholeSeconds: return Array("\(Self.floor(microseconds, 1_000_000)).0".utf8)
        case .milliseconds: return Array(String(Self.floor(microseconds, 1000)).utf8)
        default: break
        }
        let (moment, isOverflowing) = microseconds.addingReportingOverflow(Int64(offset) * 1_000_000)
        guard !isOverflowing, DateText.hasText(moment) else { return nil }
        let days = Self.floor(moment, 86_400_000_000)
        let date = CivilDate(daysSince1970: Int(days))
        let rest = moment - days * 86_400_000_000
        var text: [UInt8] = []
        text.reserveCapacity(40)
        func put(_ number: Int, width: Int) {
            var power = 1
            for _ in 1..<width { power *= 10 }
            while power > 0 {
                text.append(0x30 &+ UInt8(truncatingIfNeeded: number / power % 10))
                power /= 10
            }
        }
        func put(_ word: String) { text += word.utf8 }
        func day(_ separator: String) {
            put(date.year, width: 4)
            put(separator)
            put(date.month, width: 2)
            put(separator)
            put(date.day, width: 2)
        }
        func time(hasSeconds: Bool) {
            let seconds = Int(rest / 1_000_000)
            put(seconds / 3600, width: 2)
            put(":")
            put(seconds / 60 % 60, width: 2)
            guard hasSeconds else { return }
            put(":")
            put(seconds % 60, width: 2)
            let fraction = Int(rest % 1_000_000)
            let count = self.fraction.digitCount(fraction)
            guard count > 0 else { return }
            put(".")
            var divisor = 1_000_000
            for _ in 0..<count {
                divisor /= 10
                put(fraction / divisor % 10, width: 1)
            }
        }
        let weekday: String = Self.weekdays[((Int(days) + 4) % 7 + 7) % 7]
        let month = Self.months[date.month - 1]
        switch layout {
        case .day: day("-")
        case .slashedDay: day("/")
        case .iso, .spaced, .isoMinutes, .spacedMinutes:
            day("-")
            put(layout == .iso || layout == .isoMinutes ? "T" : " ")
            time(hasSeconds: layout == .iso || layout == .spaced)
            put(zone)
        case .mail, .shortMail:
            put("\(weekday), ")
            put(date.day, width: layout == .shortMail && date.day < 10 ? 1 : 2)
            put(" \(month) ")
            put(date.year, width: 4)
            put(" ")
            time(hasSeconds: true)
            put(zone)
        case .unix:
            put("\(weekday) \(month) ")
            put(date.day, width: 2)
            put(" ")
            time(hasSeconds: true)
            put("\(zone) ")
            put(date.year, width: 4)
        case .seconds, .wholeSeconds, .milliseconds: break
        }
        return text
    }

    /// Divides and rounds down.
    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }

    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension DateStyle {
    /// Whether an export writes dates in this style without an annotation.
    package var isDefault: Bool {
        layout == .iso && fraction == .shortest && zone == "Z"
    }
}
