#if Postgres
import SyncModel
import SyncStore
import SyncStorePostgres

/// What tests of stores in PostgreSQL are about: users with a name, and their friends.
enum PostgresWorld {
    static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "User", inverse: "staff")
                SyncRelationship("staff", toMany: "User", inverse: "boss")
            }
        }
    }

    static func store(
        at url: String, _ change: (inout PostgresStore.Options) -> Void = { _ in }
    ) async throws -> PostgresStore {
        var options = PostgresStore.Options()
        // A slow machine makes no server far.
        options.farRoundTrip = .seconds(600)
        change(&options)
        return try await PostgresStore(exactly: try model(), at: url, options: options)
    }

    /// A batch of users of one name.
    ///
    /// - Parameter model: Their model; nil, the default, for ``model()``.
    static func batch(_ ids: some Sequence<Int>, name: String, model: DataModel? = nil) throws -> RecordBatch {
        var batch = RecordBatch(of: try (model ?? self.model()).layout(of: "User"))
        for id in ids {
            batch.beginRecord()
            batch.setInt(Int64(id), at: 0)
            batch.setValue(.string(name), at: 1)
            batch.endRecord()
        }
        return batch
    }
}

extension Store {
    /// Merges users in a transaction of their own.
    @discardableResult
    func put(_ ids: some Sequence<Int>, name: String = "a", isAtHand: Bool = false) async throws -> MergeRequest.Result
    {
        let batch = try PostgresWorld.batch(ids, name: name)
        return try await transaction(isAtHand: isAtHand) {
            try await $0.merge(MergeRequest(batch))
        }
    }

    /// The names of all users, by their ids.
    func names() async throws -> [String] {
        try await records(StoreQuery("User", orderedBy: [Ordering("id")])).map { "\($0.record["name"])" }
    }
}
#endif
