import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

@Suite struct TransactionTaskTests {
    private static func store() throws -> MemoryStore {
        MemoryStore(
            try DataModel {
                SyncEntity("Thing", identity: "id") { SyncAttribute("id", .int64) }
            })
    }

    @Test func aTaskThatOutlivesATransactionCanBeginOne() async throws {
        let store = try Self.store()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let later = try await store.transaction { _ in
            Task {
                for await _ in ended { break }
                return try await store.transaction { try await $0.count(StoreQuery("Thing")) }
            }
        }
        end.yield()
        #expect(try await later.value == 0)
        await #expect(throws: StoreError.nestedTransaction) {
            try await store.transaction { _ in try await store.transaction { _ in } }
        }
    }

    @Test func theGreatestLimitHasRoomForAnOffset() async throws {
        let store = try Self.store()
        #expect(try await store.records(StoreQuery("Thing", limit: .max, offset: 1)).isEmpty)
        #expect(try await store.count(StoreQuery("Thing", limit: .max, offset: .max)) == 0)
    }

    @Test func aNumberThatIsUsedAgainIsNoUpdate() {
        var changes = ChangeSet(["Thing": .init(deleted: [.object(5), .identity(1)])])
        changes.add(ChangeSet(["Thing": .init(inserted: [.object(5), .identity(1)])]))
        #expect(changes["Thing"] == .init(inserted: [.object(5)], updated: [.identity(1)], deleted: [.object(5)]))
        #expect(
            ChangeSet(["Thing": .init(inserted: [.object(5)], deleted: [.object(5)])])["Thing"].updated.isEmpty)
    }
}
