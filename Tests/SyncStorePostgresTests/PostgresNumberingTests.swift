#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Sequences that are behind the numbers of the rows, as on a logical replica that takes over.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresNumberingTests {
    @Test(arguments: [1, 500])
    func newRowsGetHigherNumbersThanExistingOnes(addedCount: Int64) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) }
        }
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresStore(exactly: model, at: database.url)
            func merge(_ count: Int64) async throws -> Set<ObjectID> {
                try await store.transaction { transaction in
                    var batch = RecordBatch(of: try transaction.model.layout(of: "User"))
                    for id in 0..<count {
                        batch.beginRecord()
                        batch.setInt(id, at: 0)
                        batch.endRecord()
                    }
                    return Set(try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self))
                }
            }
            let first = try await merge(300)
            try await database.run(#"SELECT setval('"User__id_seq"', 1, false)"#)
            let all = try await merge(300 + addedCount)
            #expect(all.count == 300 + Int(addedCount) && all.isSuperset(of: first))
            #expect(try await merge(301 + addedCount).isSuperset(of: all))
        }
    }
}
#endif
