#if Postgres
import OneWayPostgresClient
import OneWayTestLimits
import Testing

/// How far a server is.
@Suite(.endsInTime)
struct PostgresDistanceTests {
    @Test func anUnknownDistanceIsNotFar() {
        #expect(!PostgresDistance().isAtLeast(.zero))
    }

    @Test func theWorkOfTheServerIsNoDistance() {
        var distance = PostgresDistance()
        distance.note(.milliseconds(50), working: .milliseconds(47))
        #expect(distance.isAtLeast(.milliseconds(3)))
        #expect(!distance.isAtLeast(.milliseconds(4)))
    }

    @Test func theShortestAnswerCounts() {
        var distance = PostgresDistance()
        for time in [9, 5, 7] { distance.note(.milliseconds(time), working: .zero) }
        #expect(distance.isAtLeast(.milliseconds(5)))
        #expect(!distance.isAtLeast(.milliseconds(6)))
    }

    @Test func clocksThatDifferMakeNoNegativeDistance() {
        var distance = PostgresDistance()
        distance.note(.milliseconds(1), working: .milliseconds(2))
        #expect(distance.isAtLeast(.zero))
        #expect(!distance.isAtLeast(.microseconds(1)))
    }
}
#endif
