import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Changes of several entities in one call, which are one sync.
@Suite(.endsInTime) struct ChangeRunsTests {
    private static func model() throws -> DataModel {
        var user = SyncEntity(
            "User", identity: ["id"],
            attributes: [
                SyncAttribute("id", .int64), SyncAttribute("email", .string), SyncAttribute("team", .string),
                SyncAttribute("number", .int64), SyncAttribute("name", .string),
            ], relationships: [])
        user.indexes = [SyncEntity.Index(["email"], unique: true)]
        return try DataModel {
            user
            SyncEntity("Company", identity: "id") { SyncAttribute("id", .int64) }
        }
    }

    private static let company = RemoteChange.objects(.text(#"{"id":7}"#), of: "Company")

    private static func user(_ id: Int, _ email: String) -> RemoteChange {
        .objects(.text(#"{"id":\#(id),"email":\#(email)}"#))
    }

    private func store(_ store: any Store, history: SyncHistory? = nil) throws -> JSONStore {
        try JSONStore(store, mapper: RecordMapper(store.model), history: history)
    }

    /// Whatever stands between the object that takes a value and the one that gives it up.
    @Test(arguments: UniqueDatabase.all, [true, false])
    func uniqueValuesMoveInOneCall(kind: UniqueDatabase.Kind, setsAside: Bool) async throws {
        try await kind.use { database in
            let json = try store(try await database.open(try Self.model()))
            try await json.apply([Self.user(1, #""x""#)], into: "User")
            var options = StoreSyncOptions()
            options.setsRefusedAside = setsAside
            try await json.apply(
                [Self.user(2, #""x""#), Self.company, Self.user(1, #""y""#)], into: "User", options: options)
            let found = try await json.store.records(StoreQuery("User", orderedBy: [Ordering("id")]))
            #expect(found.map { $0.record["email"] } == [.string("y"), .string("x")])
        }
    }

    @Test(arguments: UniqueDatabase.all)
    func whatStaysTakenIsToldAtTheEnd(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            let json = try store(try await database.open(try Self.model()))
            try await json.apply([Self.user(1, #""x""#)], into: "User")
            let changes = [Self.user(2, #""x""#), Self.company, Self.user(3, #""z""#)]
            await #expect(throws: StoreError.self) { try await json.apply(changes, into: "User") }
            #expect(try await json.store.count(StoreQuery("User")) == 1)
            var options = StoreSyncOptions()
            options.setsRefusedAside = true
            let result = try await json.apply(changes, into: "User", options: options)
            #expect(result.rejectedCount == 1)
            let found = try await json.store.records(StoreQuery("User", orderedBy: [Ordering("id")]))
            #expect(found.map { $0.record["id"] } == [.int(1), .int(3)])
        }
    }

    @Test func theRemovalLimitHoldsForTheWholeCall() async throws {
        let json = try store(MemoryStore(exactly: RecordMapper(Self.model()).model))
        try await json.apply((1...4).map { Self.user($0, "null") }, into: "User")
        let removals = (1...4).flatMap { [RemoteChange.removals(.text("\($0)")), Self.company] }
        let options = StoreSyncOptions(removalLimit: RemovalLimit(count: 1))
        await #expect(throws: StoreSyncError.self) { try await json.apply(removals, into: "User", options: options) }
        #expect(try await json.store.count(StoreQuery("User")) == 4)
        // Half of the four that there were, not of those that are left.
        let half = StoreSyncOptions(removalLimit: RemovalLimit(fraction: 0.5, action: .keep))
        try await json.apply(removals, into: "User", options: half)
        #expect(try await json.store.count(StoreQuery("User")) == 2)
    }

    @Test func theHistoryHasOnePassOfEachEntity() async throws {
        let model = try Self.model().adding([SyncEntity.pass])
        let json = try store(MemoryStore(exactly: RecordMapper(model).model), history: SyncHistory())
        let changes = (1...20).flatMap { [Self.user($0, "null"), Self.company] }
        var options = StoreSyncOptions()
        options.reportsKeys = true
        let result = try await json.apply(changes, into: "User", options: options)
        #expect(result.keys == nil && result.counts.inserted == 21)
        #expect(try await json.store.passes().map(\.name) == ["Company from push", "User from push"])
        #expect(try await json.store.passes(of: "User").first?.counts.inserted == 20)
        let wrong = [Self.user(1, "null"), RemoteChange.objects(.text("{"), of: "Company")]
        await #expect(throws: JSONError.self) { try await json.apply(wrong, into: "User") }
        let last = try #require(try await json.store.passes().first)
        #expect(last.entity == "Company" && last.status == .failed)
    }
}
