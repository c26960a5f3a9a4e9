import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// The chunks of an export are its text, and are read only when they are wanted.
@Suite(.endsInTime) struct ExportedBytesTests {
    struct Item: SyncObject {
        var id: Int
        var text: String
        static let declaration = SyncDeclaration<Item>(.identity(\.id))
    }

    private func store(itemCount: Int) async throws -> JSONStore {
        let mapper = try RecordMapper(try DataModel(Item.self))
        let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        let text = String(repeating: "x", count: 500)
        try await store.store.insert((1...itemCount).map { Item(id: $0, text: text) })
        return store
    }

    @Test func chunksAreTheWholeText() async throws {
        let store = try await store(itemCount: 1000)
        var bytes: [UInt8] = []
        var count = 0
        for try await chunk in store.store.exportChunks(ObjectQuery<Item>(where: \.id > 10)) {
            #expect(!chunk.isEmpty)
            bytes += chunk
            count += 1
        }
        #expect(count > 4)
        let whole: [UInt8] = try await store.export(StoreQuery("Item", where: PropertyPath("id") > 10))
        #expect(bytes == whole)
    }

    @Test func aConsumerThatStopsEndsTheRead() async throws {
        let store = try await store(itemCount: 1000)
        for try await _ in store.store.exportChunks(StoreQuery("Item")) { break }
        // An error reaches the consumer, and ends the sequence.
        var chunks = store.store.exportChunks(StoreQuery("Thing")).makeAsyncIterator()
        await #expect(throws: ModelError.unknownEntity(entity: "Thing")) { _ = try await chunks.next() }
    }

    /// Nothing leads on from the objects, so that only their number makes the export long.
    @Test func anExportOfManyObjectsCanBeCancelled() async throws {
        let store = try await store(itemCount: 1000)
        let count = Locked(0)
        let export = Task {
            try await store.export(StoreQuery("Item")) { _ in
                count.withLock { $0 += 1 }
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await export.value }
        #expect(count.withLock { $0 } == 1)
    }

    /// Counts the questions for links, and cancels the task that asks the first one.
    private struct CancelsAtLinks: StoreHook {
        let count = Locked(0)

        func willMake(_ call: StoreCall) {
            guard call == .links else { return }
            count.withLock { $0 += 1 }
            withUnsafeCurrentTask { $0?.cancel() }
        }
    }

    /// Objects may lead to many others.
    @Test func anExportOfOneObjectCanBeCancelled() async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("manager", toOne: "Person")
            }
        }
        let world = try SyncWorld(model: model)
        try await world.sync(#"[{"id":1,"manager":{"id":2,"manager":{"id":3}}}]"#, into: "Person")
        let hook = CancelsAtLinks()
        let store = try JSONStore(HookedStore(world.store, hook), mapper: world.json.mapper)
        let export = Task { try await store.export("Person", key: .identity(1)) }
        await #expect(throws: CancellationError.self) { _ = try await export.value }
        #expect(hook.count.withLock { $0 } == 1)
    }
}
