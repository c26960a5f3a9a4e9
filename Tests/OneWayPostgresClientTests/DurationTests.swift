#if Postgres
import OneWayPostgresClient
import OneWayTestLimits
import Testing

/// Durations as the server takes them.
@Suite(.endsInTime)
struct DurationTests {
    /// In seconds.
    static let century: Int64 = 100 * 365 * 86_400

    static let durations: [(Duration, Int64)] = [
        (Duration.zero, 0), (Duration.microseconds(1999), 1), (Duration.milliseconds(-1500), -1500),
        (Duration.seconds(century) - Duration.milliseconds(1), century * 1000 - 1),
        (Duration.seconds(century) + Duration.milliseconds(1), century * 1000),
        (Duration.seconds(Int64.max), century * 1000),
        (Duration.seconds(-century) - Duration.milliseconds(1), -century * 1000),
    ]

    @Test(arguments: durations)
    func aDurationThatMeansNeverHasACentury(duration: Duration, milliseconds: Int64) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
#endif
