import Foundation
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// A file of format 1 is read by this version and all later ones.
@Suite(.endsInTime) struct FileFormatTests {
    /// A file that ``fill(_:)`` made before the first release. It is never made anew.
    private static let original = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/format-1.sqlite")

    private static let json = """
        [{"id":1,"int16":-3,"int32":70000,"int64":9007199254740993,"double":0.5,"float":0.25,\
        "decimal":12345678901234567890.5,"string":"a \\u0000 é","bool":true,"date":"2026-11-25T01:02:03.000Z",\
        "binary":"AAH/","uuid":"11111111-2222-3333-4444-555555555555","uri":"https://example.com/a?b=c",\
        "json":{"a":[1,null]},"author":{"id":7},"parts":[{"id":"b"},{"id":"a"}],"tags":[{"name":"x"},{"name":"y"}]},\
        {"id":2,"type":"Book","isbn":"978","author_id":8,"parts":[],"tags":[{"name":"x"}]}]
        """

    private let folder: TemporaryDirectory
    private let model: DataModel

    init() throws {
        folder = try TemporaryDirectory()
        let types: [AttributeType] = [
            .int16, .int32, .int64, .double, .float, .decimal, .string, .bool, .date, .binary, .uuid, .uri, .json,
        ]
        model = try DataModel {
            SyncEntity("Work", identity: "id") {
                SyncAttribute("id", .int64)
                for type in types { SyncAttribute(type.rawValue, type) }
                SyncRelationship("author", toOne: "Person", inverse: "works")
                SyncRelationship("parts", toOrdered: "Part", inverse: "work", deleteRule: .cascade)
                SyncRelationship("tags", toMany: "Tag", inverse: "works")
            }
            SyncEntity("Book", parent: "Work") { SyncAttribute("isbn", .string) }
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("works", toMany: "Work", inverse: "author", userInfo: ["sync.unmapped": "YES"])
            }
            SyncEntity("Part", identity: "id") {
                SyncAttribute("id", .string)
                SyncRelationship("work", toOne: "Work", inverse: "parts", userInfo: ["sync.unmapped": "YES"])
            }
            SyncEntity("Tag", identity: "name") {
                SyncAttribute("name", .string)
                SyncRelationship("works", toMany: "Work", inverse: "tags", userInfo: ["sync.unmapped": "YES"])
            }
        }
    }

    private func path(_ name: String) -> String {
        folder.url.appending(path: name).path
    }

    private func open(_ path: String) async throws -> SQLiteStore {
        var options = SQLiteStore.Options()
        options.note = "a note"
        return try await SQLiteStore(model, at: .file(path), history: SyncHistory(), options: options)
    }

    /// Writes something of everything: a pass of the history, a pending link and a bookmark, too.
    private func fill(_ store: SQLiteStore) async throws {
        #expect(try await store.sync("Work", .text(Self.json)).counts.inserted == 2)
        var bookmark = Record(of: try store.model.layout(of: SyncEntity.bookmark.name))
        bookmark["name"] = "works"
        bookmark["cursor"] = "5"
        bookmark["lastFullPass"] = .date(Timestamp(microseconds: 1_000_000_000_000_000))
        let row = bookmark
        _ = try await store.transaction { try await $0.insert(row) }
    }

    private func texts(_ sql: String, at path: String) throws -> [String] {
        try SQLiteConnection.texts(sql, at: path)
    }

    @Test func aFileOfFormatOneIsReadAndSyncedWithoutAChange() async throws {
        try FileManager.default.copyItem(at: Self.original, to: URL(filePath: path("copy.sqlite")))
        let store = try await open(path("copy.sqlite"))
        let fresh = try await open(path("fresh.sqlite"))
        try await fill(fresh)
        for entity in ["Work", "Person", "Part", "Tag"] {
            let exported = try await store.export(StoreQuery(entity))
            #expect(String(decoding: exported, as: UTF8.self).count > 2)
            #expect(try await fresh.export(StoreQuery(entity)) == exported, "\(entity)")
        }
        #expect(try await store.sync("Work", .text(Self.json)).isUnchanged)
        #expect(try await store.passes().map(\.number) == [2, 1])
        #expect(try await store.count(StoreQuery(SyncEntity.pendingLink.name)) == 1)
        #expect(try await store.count(StoreQuery(SyncEntity.bookmark.name)) == 1)
    }

    @Test func aNewFileHasTheTablesOfFormatOne() async throws {
        let store = try await open(path("fresh.sqlite"))
        try await fill(store)
        let original = path("original.sqlite")
        try FileManager.default.copyItem(at: Self.original, to: URL(filePath: original))
        for sql in [
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name",
            "SELECT format || ' ' || model_version || description || note FROM _sync_schema",
            "SELECT relationship || object || objectKey || position || identifier FROM _sync_pending_links",
        ] {
            #expect(try texts(sql, at: path("fresh.sqlite")) == texts(sql, at: original), "\(sql)")
        }
    }
}
