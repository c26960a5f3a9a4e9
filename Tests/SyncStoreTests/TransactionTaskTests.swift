import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct TransactionTaskTests {
    private static func store() throws -> MemoryStore {
        MemoryStore(
            exactly:
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

    @Test func aTaskThatOutlivesATransactionWaitsForTheNextOne() async throws {
        let store = try Self.store()
        let (begun, inside, done) = (Gate(), Gate(), Gate())
        let later = try await store.transaction { _ in
            Task {
                try await begun.pass()
                try await store.transaction { _ = try await $0.count(StoreQuery("Thing")) }
                done.open()
            }
        }
        let next = Task {
            try await store.transaction { _ in
                begun.open()
                try await inside.pass()
            }
        }
        try await inside.waitForArrivals(orEndOf: next)
        for _ in 0..<100 { await Task.yield() }
        #expect(!done.isOpen)
        inside.open()
        try await next.value
        try await later.value
        #expect(done.isOpen)
    }

    @Test func aCancelledTaskBeginsNoTransaction() async throws {
        let store = try Self.store()
        let begun = Locked(false)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.transaction { _ in begun.withLock { $0 = true } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!begun.withLock { $0 })
        // It keeps no other one back.
        try await store.transaction { _ in begun.withLock { $0 = true } }
        #expect(begun.withLock { $0 })
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

    @Test(arguments: [
        (ChangeSet.Keys(), ChangeSet.Keys(inserted: [.object(5)], deleted: [.object(5)])),
        (.init(inserted: [.object(5)]), .init(inserted: [.object(5)])),
        (.init(updated: [.object(5)]), .init(inserted: [.object(5)], deleted: [.object(5)])),
    ])
    func aNumberThatOneTransactionUsesAgainIsAnotherObject(before: ChangeSet.Keys, expected: ChangeSet.Keys) {
        var changes = ChangeSet(["Thing": before])
        changes.add(ChangeSet(["Thing": .init(inserted: [.object(5)], deleted: [.object(5)])]))
        #expect(changes["Thing"] == expected)
    }

    /// A store that notes whether its transactions may wait for their first call.
    private struct Beginnings: Store {
        let base: MemoryStore
        let mayWait = Locked<[Bool]>([])
        var model: DataModel { base.model }

        func transaction<Result: Sendable>(
            _ body: @Sendable (any StoreTransaction) async throws -> Result
        ) async throws -> Result {
            mayWait.withLock { $0.append(TransactionBeginning.mayWait) }
            return try await base.transaction(body)
        }

        func read<Result: Sendable>(
            _ body: @Sendable (any StoreReader) async throws -> Result
        ) async throws -> Result {
            try await base.read(body)
        }
    }

    @Test func onlyATransactionWhoseChangesAreAtHandMayWait() async throws {
        let store = Beginnings(base: try Self.store())
        for isAtHand in [false, true] {
            // What the body begins is another matter.
            #expect(try await store.transaction(isAtHand: isAtHand) { _ in TransactionBeginning.mayWait } == false)
        }
        #expect(store.mayWait.value == [false, true] && !TransactionBeginning.mayWait)
    }
}
