import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Copies of a store's database.
@Suite(.endsInTime) struct StoreCopyTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func path(_ name: String) -> String { folder.url.appending(path: name).path }

    private func insert(_ id: Int64, into store: SQLiteStore) async throws {
        var record = Record(of: try store.model.layout(of: "Person"))
        record["id"] = .int(id)
        let person = record
        _ = try await store.transaction { try await $0.insert(person) }
    }

    @Test func aCopyHasWhatWasCommitted() async throws {
        let store = try await SQLiteStore(exactly: .people(), at: .file(path("store.sqlite")))
        try await insert(1, into: store)
        try await SQLiteStore.copy(path("store.sqlite"), to: path("copy.sqlite"))
        try await insert(2, into: store)
        let copy = try await SQLiteStore(exactly: .people(), at: .file(path("copy.sqlite")))
        #expect(try await copy.records(StoreQuery("Person")).map(\.key) == [.identity(1)])
        #expect(try await store.count(StoreQuery("Person")) == 2)
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore.copy(path("store.sqlite"), to: path("copy.sqlite"))
        }
        #expect(error?.message == "output file already exists")
    }

    @Test func nothingIsCopiedFromNowhere() async throws {
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore.copy(path("nothing.sqlite"), to: path("copy.sqlite"))
        }
        #expect(error?.primaryCode == SQLiteError.Code.cannotOpen)
        #expect(error?.message.hasPrefix("there is no file \(path("nothing.sqlite")) (") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }
}
