import OneWayStoreKinds
import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// One value that syncs, reads, exports and remembers, opened with types.
@Suite(.endsInTime) struct FrontDoorTests {
    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        var updatedAt: Int?
        var company: Company?
    }

    struct Company: SyncObject, Equatable {
        var id: Int
        var name: String
    }

    /// Has neither an `id` nor a declared identity.
    struct Note: SyncObject {
        var text: String
        var order: Int
    }

    private static let ada = #"[{"id": 1, "name": "Ada", "updated_at": 2, "company": {"id": 7, "name": "Engines"}}]"#

    @Test func aTypeWithAnIDNeedsNoDeclaration() throws {
        let model = try DataModel(User.self, Note.self)
        #expect(model.entities.map(\.identity) == [["id"], [], ["id"]])
    }

    /// Has an `id`, which identifies nothing.
    private struct Plain: SyncObject, Equatable {
        var id: Int
        var name: String?

        static let declaration = SyncDeclaration<Plain>(.identity())
    }

    private struct Box: SyncObject {
        var id: Int
        var items: [Plain]
    }

    @Test(arguments: StoreKind.all)
    func aTypeThatDeclaresNoIdentityHasNone(kind: StoreKind) async throws {
        let prepared = try DataModel(Box.self).prepared(JSONMapping())
        #expect(try prepared.layout(of: "Plain").identityColumns == [])
        #expect(try prepared.layout(of: "Box").identityColumns == [0])
        try await kind.use { makeStore in
            let store = try await makeStore(prepared)
            for _ in 1...2 {
                try await store.sync(
                    Box.self,
                    .text(
                        #"[{"id":1,"items":[{"id":7,"name":"a"},{"id":7,"name":"b"}]},{"id":2,"items":[{"id":7}]}]"#))
                let items = try await store.all(Plain.self, orderedBy: \.name)
                #expect(items == [Plain(id: 7), Plain(id: 7, name: "a"), Plain(id: 7, name: "b")])
            }
        }
    }

    @Test func everyFormOfJSONIsSynced() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.json")
        try Data(Self.ada.utf8).write(to: file)
        let sources: [JSONSource] = [
            .text(Self.ada), .bytes(Array(Self.ada.utf8)), .bytes(Data(Self.ada.utf8)), .file(file), .file(file.path),
        ]
        let store = try MemoryStore(User.self)
        #expect(try await store.sync(User.self, sources[0]).countsByEntity.mapValues(\.inserted).count == 2)
        for source in sources {
            #expect(try await store.sync(User.self, source).isUnchanged)
        }
    }

    @Test func oneValueSyncsReadsPlansAndExports() async throws {
        let store = try await SQLiteStore(User.self, at: .memory)
        #expect(try await store.plan(User.self, .text(Self.ada)).counts.inserted == 1)
        #expect(try await store.count(User.self) == 0)
        try await store.sync(User.self, .text(Self.ada))
        let users = try await store.all(User.self, where: \.company.name == "Engines", including: \.company)
        #expect(users == [User(id: 1, name: "Ada", updatedAt: 2, company: Company(id: 7, name: "Engines"))])
        let json = try await store.export(User.self, where: \.id == 1)
        #expect(String(decoding: json, as: UTF8.self).contains(#""name":"Engines""#))
        let stale = RemoteChange.objects(.text(#"{"id": 1, "name": "Old", "updated_at": 1}"#))
        #expect(try await store.apply(User.self, [stale], newerBy: \.updatedAt).isUnchanged)
        #expect(try await store.delete(User.self, key: .identity(1)))
        #expect(try await store.insertOrUpdate(User.self, .text(Self.ada)).counts.inserted == 1)
        let engines = try StoreSyncOptions.Parent(Company.self, where: \.id == 7)
        await #expect(throws: StoreSyncError.noRelationship(entity: "Company", destination: "User")) {
            try await store.sync(User.self, .text("[]"), childrenOf: engines)
        }
    }

    @Test func theSameValueReportsWhatASyncChanges() async throws {
        for store in [try MemoryStore(User.self), try await SQLiteStore(User.self, at: .memory)]
            as [any ChangeSet.Source]
        {
            var changes = store.changes().makeAsyncIterator()
            try await store.sync(User.self, .text(Self.ada))
            try await store.insert(User(id: 2, name: "Bo"))
            #expect(await changes.next()?["User"] == ChangeSet.Keys(inserted: [.identity(1)]))
            #expect(await changes.next()?["User"] == ChangeSet.Keys(inserted: [.identity(2)]))
        }
    }

    /// A source that counts how often it is read, and reports itself as unchanged.
    private actor Polled: RemoteSource {
        nonisolated let name = "polled"
        nonisolated let fingerprint = ""
        private(set) var readCount = 0

        func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
            if let bookmark, bookmark.cursor == "same" { return .unchanged(bookmark) }
            readCount += 1
            return .changed(Pass())
        }

        private actor Pass: RemotePass {
            private var page: RemotePage? = RemotePage(.text(ada))

            func next() async throws -> RemotePage? {
                defer { page = nil }
                return page
            }

            func rewind() async throws {
                page = RemotePage(.text(ada))
            }

            func end() async throws -> RemoteEnd {
                RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark(cursor: "same"))
            }
        }
    }

    @Test func aPolledSourceIsReadAgainOnlyIfItHasChanged() async throws {
        for store in [try MemoryStore(User.self), try await SQLiteStore(User.self, at: .memory)] as [any Store] {
            let source = Polled()
            #expect(try await store.sync(User.self, from: source).counts.inserted == 1)
            let second = try await store.sync(User.self, from: source)
            #expect(second.coverage == .unchanged && "\(second)" == "The source reports no changes.")
            #expect(await source.readCount == 1)
        }
    }

    @Test func aHistoryIsAnOptionOfTheStore() async throws {
        let store = try await SQLiteStore(User.self, at: .memory, history: SyncHistory(limit: 2))
        for name in ["a", "b", "c"] { try await store.sync(User.self, .text(#"[{"id": 1, "name": "\#(name)"}]"#)) }
        #expect(try await store.passes(of: User.self).map(\.number) == [3, 2])
        await #expect(throws: ModelError.unknownEntity(entity: "SyncPass")) {
            try await MemoryStore(User.self).passes()
        }
    }

    @Test func theMappingIsAnOptionOfTheStore() async throws {
        let model = try DataModel {
            SyncEntity("User", userInfo: ["identityAttributes": "number"]) {
                SyncAttribute("number", .int64, userInfo: ["JSONKeyPath": "user.id"])
            }
        }
        let store = try MemoryStore(model, mapping: JSONMapping(dialect: .groot))
        #expect(try await store.importObjects("User", .text(#"[{"user": {"id": 4}}]"#)).counts.inserted == 1)
        #expect(try await store.importObjects("User", .text(#"[{"user": {"id": 4}}]"#)).isUnchanged)
    }

    @Test func aWrappedStoreHasTheMappingOfTheStoreInIt() async throws {
        let store = ObservedStore(try MemoryStore(User.self))
        #expect(try await store.sync(User.self, .text(Self.ada)).counts.inserted == 1)
    }

    @Test func aStoreWithoutAMappingSaysHowToOpenIt() async throws {
        let store = MemoryStore(exactly: try DataModel(User.self))
        await #expect(throws: StoreSyncError.differentModels) { try await store.sync(User.self, .text("[]")) }
    }

    @Test func aResultReadsAsSentences() async throws {
        let store = try MemoryStore(User.self)
        let first = try await store.sync(User.self, .text(Self.ada))
        #expect("\(first)" == "Company: 1 inserted; User: 1 inserted (1 page, \(Self.ada.utf8.count) bytes).")
        let second = try await store.sync(User.self, .text(#"[{"id": 2, "name": "Bo", "shoe": 3}, {"name": "?"}]"#))
        let text = "\(second)"
        #expect(text.hasPrefix("User: 1 inserted"))
        #expect(text.contains("Left out: 1 object, first: "))
        #expect(text.contains("The payload differs from the model: User.shoe: unknown key, once"))
    }
}
