#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Places in an ordered list that the objects of the other end enter.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresPlaceTests {
    private static func insert(
        _ count: Int64, _ entity: String, _ transaction: any StoreTransaction
    ) async throws -> [ObjectID] {
        var batch = RecordBatch(of: try transaction.model.layout(of: entity))
        for id in 0..<count {
            batch.beginRecord()
            batch.setInt(id, at: 0)
            batch.endRecord()
        }
        return try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
    }

    /// The table is not scanned for each of them.
    @Test func theLastPlaceIsLookedUpOnceForEachTarget() async throws {
        try await SharedPostgres.withDatabase { database in
            let model = try DataModel {
                SyncEntity("Hub", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("spokes", toOrdered: "Spoke", inverse: "hub")
                }
                SyncEntity("Spoke", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("hub", toOne: "Hub", inverse: "spokes")
                }
            }
            do {
                let store = try await PostgresStore(exactly: model, at: database.url)
                try await store.transaction { transaction in
                    let hub = try await Self.insert(1, "Hub", transaction)
                    let spokes = try await Self.insert(300, "Spoke", transaction)
                    var batch = LinkBatch(
                        try #require(transaction.model.layout(of: "Spoke").relationship("hub")), mode: .replace)
                    for spoke in spokes { batch.append(spoke, to: hub) }
                    _ = try await transaction.link(batch)
                }
            }
            // A session that ends reports its numbers.
            try await database.waitForRow(
                """
                SELECT 1 WHERE NOT EXISTS (
                    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
                        AND backend_type = 'client backend')
                """)
            let scans = try await database.run(
                "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'Spoke_hub'")
            let sequential = try await database.run("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'Spoke'")
            #expect(Int(scans[0][0] ?? "") ?? 1000 < 20)
            #expect(Int(sequential[0][0] ?? "") ?? 1000 < 20)
        }
    }
}
#endif
