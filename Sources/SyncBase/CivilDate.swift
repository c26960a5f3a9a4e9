/// A day of the proleptic Gregorian calendar, the calendar of ISO 8601.
@frozen
package struct CivilDate: Equatable, Sendable {
    /// The year; year 0 precedes year 1.
    package var year: Int
    /// The month, from 1 to 12.
    package var month: Int
    /// The day of the month, from 1.
    package var day: Int

    /// Creates a date, which need not exist in the calendar.
    @inlinable @inline(__always)
    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the date a number of days after 1970-01-01, from March of year -400 on.
    @inlinable @inline(__always)
    package init(daysSince1970: Int) {
        let shifted = daysSince1970 + 719_468 + 146_097
        let cycle = shifted / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfCycle + cycle * 400 - 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days from 1970-01-01 to this date, from March of year -400 on.
    ///
    /// Years are counted from March, which makes the leap day the last day of a year. 400 years
    /// always have 146,097 days, and the months from March on repeat 31, 30, 31, 30, 31 days.
    @inlinable
    package var daysSince1970: Int {
        @inline(__always) get {
            // Shifted by one cycle of 400 years, so that year 0 needs no negative division.
            let marchYear = (month <= 2 ? year - 1 : year) + 400
            let marchMonth = month > 2 ? month - 3 : month + 9
            let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
            return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
                - 146_097
        }
    }

    /// Whether the calendar has this day.
    @inlinable
    package var isValid: Bool {
        @inline(__always) get {
            guard month >= 1, month <= 12, day >= 1 else { return false }
            if day <= 28 { return true }
            if month == 2 { return day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
            return day <= (month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31)
        }
    }
}
