import Foundation
import JSONMapper
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Files that somebody moves, and places where no file can be.
@Suite struct MovedFileTests {
    private let folder: TemporaryDirectory
    private let url: URL

    init() throws {
        folder = try TemporaryDirectory()
        url = folder.url.appending(path: "store.sqlite")
    }

    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
            }
        }
    }

    private func open() async throws -> JSONStore {
        let mapper = try RecordMapper(try Self.model())
        return try JSONStore(try await SQLiteStore(mapper.model, at: .file(url.path)), mapper: mapper)
    }

    @Test(arguments: ["removed", "moved", "replaced"])
    func aFileThatIsGoneIsNoticedByTheNextTransaction(how: String) async throws {
        let store = try await open()
        try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        _ = try await store.store.count(StoreQuery("User"))
        let away = folder.url.appending(path: "away.sqlite")
        if how == "removed" {
            try FileManager.default.removeItem(at: url)
        } else {
            try FileManager.default.moveItem(at: url, to: away)
            if how == "replaced" { try FileManager.default.copyItem(at: away, to: url) }
        }
        let error = await #expect(throws: SQLiteError.self) {
            try await store.sync(.bytes(Array(#"[{"id":2}]"#.utf8)), into: "User")
        }
        #expect(error?.code == SQLiteError.Code.fileMoved)
        let other = await #expect(throws: SQLiteError.self) { try await store.store.count(StoreQuery("User")) }
        #expect(other?.code == SQLiteError.Code.fileMoved)
    }

    @Test func aPlaceWithoutAFileIsExplained() async throws {
        let cases = [
            (folder.url.path, "is a folder"), (url.path + "/none/store.sqlite", "there is no folder"),
            (":memory:", "SQLiteStore.Location.memory"), ("", "SQLiteStore.Location.memory"),
        ]
        for (path, words) in cases {
            let error = await #expect(throws: SQLiteError.self) {
                try await SQLiteStore(try Self.model(), at: .file(path))
            }
            #expect(error?.description.contains(words) == true, "\(path)")
        }
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore(try Self.model(), at: .readOnlyFile(url.path))
        }
        #expect(error?.description.contains("there is no file") == true)
    }

    @Test func theLogShrinksWhileTheStoreStaysOpen() async throws {
        let store = try await open()
        let text = String(repeating: "x", count: 1000)
        let objects = (0..<24_000).map { #"{"id":\#($0),"text":"\#(text)"}"# }
        try await store.sync(.bytes(Array("[\(objects.joined(separator: ","))]".utf8)), into: "User")
        let size = try FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int
        #expect(try #require(size) == 0)
        #expect(try await store.store.count(StoreQuery("User")) == 24_000)
    }
}
