import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// The chunks of an export are its text, and are read only when they are wanted.
@Suite struct ExportedBytesTests {
    struct Item: SyncObject {
        var id: Int
        var text: String
        static let declaration = SyncDeclaration<Item>(.identity(\.id))
    }

    private func store(itemCount: Int) async throws -> JSONStore {
        let mapper = try RecordMapper(try DataModel(Item.self))
        let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
        let text = String(repeating: "x", count: 500)
        try await store.store.insert((1...itemCount).map { Item(id: $0, text: text) })
        return store
    }

    @Test func chunksAreTheWholeText() async throws {
        let store = try await store(itemCount: 1000)
        var bytes: [UInt8] = []
        var count = 0
        for try await chunk in store.export(ObjectQuery<Item>(where: \.id > 10)) {
            #expect(!chunk.isEmpty)
            bytes += chunk
            count += 1
        }
        #expect(count > 4)
        let whole: [UInt8] = try await store.export(StoreQuery("Item", where: PropertyPath("id") > 10))
        #expect(bytes == whole)
    }

    @Test(.timeLimit(.minutes(10))) func aConsumerThatStopsEndsTheRead() async throws {
        let store = try await store(itemCount: 1000)
        for try await _ in store.export(StoreQuery("Item")) { break }
        // An error reaches the consumer, and ends the sequence.
        var chunks = store.export(StoreQuery("Thing")).makeAsyncIterator()
        await #expect(throws: ModelError.unknownEntity(entity: "Thing")) { _ = try await chunks.next() }
    }
}
