import OneWayTestLimits
import SyncStoreSQL
import Testing

/// The error of rows that were not changed.
@Suite(.endsInTime) struct KeptRowsTests {
    @Test(
        arguments: [
            (["the trigger a"], "the trigger a kept 1 of 2 rows from being written"),
            (
                ["row-level security", "the rule a"],
                "row-level security or the rule a kept 1 of 2 rows from being written"
            ),
            // Such as two rows of one identity.
            ([], "something other than a trigger kept 1 of 2 rows from being written"),
        ] as [([String], String)])
    func theErrorNamesWhatOthersHaveAddedToTheTable(guards: [String], reason: String) {
        let error = SQLKeptRows("1 of 2 rows from being written", in: "t").error(by: guards)
        #expect(error == .unsuitableTable(table: "t", reason: reason))
    }
}
