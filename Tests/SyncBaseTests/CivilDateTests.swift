import OneWayTestLimits
import SyncBase
import Testing

/// Days of the Gregorian calendar.
@Suite(.endsInTime) struct CivilDateTests {
    @Test(arguments: [
        (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (1900, 2, 28, -25_509),
        (1900, 3, 1, -25_508), (1, 1, 1, -719_162), (0, 3, 1, -719_468), (0, 1, 1, -719_528), (-400, 3, 1, -865_565),
        (9999, 12, 31, 2_932_896),
    ]) func aDateHasANumber(year: Int, month: Int, day: Int, number: Int) {
        let date = CivilDate(year: year, month: month, day: day)
        #expect(date.daysSince1970 == number && CivilDate(daysSince1970: number) == date && date.isValid)
    }

    /// Every day of eight years around the end of a century.
    @Test(arguments: [1800, 1900, 2000, 2100]) func everyDayFollowsTheOneBefore(century: Int) {
        var date = CivilDate(year: century - 5, month: 12, day: 31)
        let start = date.daysSince1970
        for offset in 1...3_000 {
            var next = CivilDate(year: date.year, month: date.month, day: date.day + 1)
            if !next.isValid { next = CivilDate(year: date.year, month: date.month + 1, day: 1) }
            if !next.isValid { next = CivilDate(year: date.year + 1, month: 1, day: 1) }
            date = next
            guard CivilDate(daysSince1970: start + offset) != date || date.daysSince1970 != start + offset else {
                continue
            }
            Issue.record("\(date) is day \(date.daysSince1970)")
            return
        }
    }

    @Test(arguments: [
        (2023, [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]),
        (2024, [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]),
        (1900, [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]),
        (2000, [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]),
    ]) func aMonthHasItsDays(year: Int, counts: [Int]) {
        for (index, count) in counts.enumerated() {
            let valid = (-1...33).filter { CivilDate(year: year, month: index + 1, day: $0).isValid }
            #expect(valid == Array(1...count), "\(index + 1)")
        }
        for month in [-1, 0, 13] { #expect(!CivilDate(year: year, month: month, day: 1).isValid) }
    }
}
