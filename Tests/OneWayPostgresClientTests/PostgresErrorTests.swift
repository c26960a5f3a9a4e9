#if Postgres
import OneWayPostgresClient
import OneWayTestLimits
import SyncBase
import Testing

/// What the code of an error means for another attempt.
@Suite(.endsInTime)
struct PostgresErrorTests {
    @Test(arguments: [
        ("08006", nil, true), ("57P01", "SELECT 1", true), ("53300", nil, true), ("55P03", "SELECT 1", true),
        ("40001", "SELECT 1", true), ("40P01", "SELECT 1", true), ("42601", "SELECT 1", false), ("42601", nil, false),
        // From a server that has become a standby, and from a store that never writes.
        ("25006", "SELECT 1", true), ("25006", nil, false),
    ])
    func anErrorIsRetriedByItsCode(code: String, statement: String?, isRetryable: Bool) {
        let error = PostgresError(code: PostgresError.Code(rawValue: code), message: "", statement: statement)
        #expect(error.isRetryable == isRetryable)
    }
}
#endif
