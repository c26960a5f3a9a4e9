import JSONMapper
import OneWayTestLimits
import OneWayStoreTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Lists from a server that is behind the changes that were applied.
@Suite(.endsInTime) struct ListVersionsTests {
    private struct Batches: StoreHook {
        let batchRowCount: Int?
    }

    private let options = StoreSyncOptions(newerBy: "version")

    private func model() throws -> DataModel {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("version", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        return try RecordMapper(model).model
    }

    private func withStores(_ body: (any Store) async throws -> Void) async throws {
        try await body(MemoryStore(exactly: model()))
        try await body(SQLiteStore(exactly: model(), at: .memory))
    }

    private func user(_ id: Int, _ name: String, _ version: Int?, notes: String? = nil) -> String {
        let version = version.map { #","version":\#($0)"# } ?? ""
        return #"{"id":\#(id),"name":"\#(name)"\#(version)\#(notes.map { #","notes":\#($0)"# } ?? "")}"#
    }

    private func list(_ users: String...) -> JSONSource { .text("[\(users.joined(separator: ","))]") }

    private func names(_ store: any Store) async throws -> [String] {
        try await store.records(StoreQuery("User", orderedBy: [Ordering("id")])).map { stored in
            if case .string(let name) = stored.record["name"] { name } else { "" }
        }
    }

    @Test func anOlderObjectOfAListIsIgnoredWithWhatItContains() async throws {
        try await withStores { store in
            try await store.sync("User", list(user(1, "a", 3, notes: #"[{"id":1}]"#), user(2, "b", 3)))
            let lagging = list(user(1, "old", 2, notes: #"[{"id":9}]"#), user(2, "c", 4, notes: "[]"))
            let result = try await store.sync("User", lagging, options: options)
            #expect(try await names(store) == ["a", "c"])
            #expect(try await store.records(StoreQuery("Note")).map { $0.record["id"] } == [1])
            #expect(result.warnings == ["1 of the objects were older than the stored ones, and ignored"])
            #expect(result.counts.updated == 1 && result.counts.unchanged == 1)
        }
    }

    @Test func anObjectThatTheListDoesNotKnowYetIsKept() async throws {
        try await withStores { store in
            try await store.sync("User", list(user(1, "a", 1), user(2, "b", 2), user(3, "gone", 3)))
            try await store.apply("User", [.objects(.text(user(4, "new", 9)))], options: options)
            let result = try await store.sync("User", list(user(1, "a", 1), user(2, "c", 5)), options: options)
            #expect(try await names(store) == ["a", "c", "new"])
            #expect(result.counts.deleted == 1 && result.counts.kept == 1)
            #expect(
                result.warnings == ["1 of the absent objects were newer than the whole list, and kept"])
            // A list that is as new proves its absence.
            let newer = try await store.sync("User", list(user(1, "a", 1), user(2, "d", 9)), options: options)
            #expect(try await names(store) == ["a", "d"])
            #expect(newer.counts.deleted == 1 && newer.warnings == [])
        }
    }

    @Test func anObjectWithoutAVersionIsNotCompared() async throws {
        try await withStores { store in
            try await store.sync("User", list(user(1, "a", 3), user(2, "b", nil), user(3, "x", nil)))
            try await store.sync("User", list(user(1, "c", nil), user(2, "d", 1)), options: options)
            #expect(try await names(store) == ["c", "d"])
        }
    }

    /// The later of two elements of a list counts, whatever the size of batches.
    @Test(arguments: [1, 2, 1000]) func elementsOfOneListAreNotCompared(rowCount: Int?) async throws {
        let store = HookedStore(MemoryStore(exactly: try model()), Batches(batchRowCount: rowCount))
        try await store.sync("User", list(user(1, "a", 1)))
        let twice = list(user(1, "b", 5), user(2, "x", 1), user(1, "c", 4))
        try await store.sync("User", twice, options: options)
        #expect(try await names(store) == ["c", "x"])
    }

    @Test func anUnknownAttributeIsAnError() async throws {
        let store = MemoryStore(exactly: try model())
        await #expect(throws: StoreSyncError.unknownVersion(entity: "User", attribute: "no")) {
            try await store.sync("User", .text("[]"), options: StoreSyncOptions(newerBy: "no"))
        }
    }
}
