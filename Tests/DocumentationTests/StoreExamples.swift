import Foundation
import HTTPSource
import OneWayLoopbackServer
import OneWaySyncSQLite
import OneWayTestSupport
import Testing

struct User: SyncObject {
    var id: Int
    var name: String
    var email: String?
    var company: Company?

    static let declaration = SyncDeclaration<User>(.identity(\.id))
}

struct Company: SyncObject {
    var id: Int
    var name: String

    static let declaration = SyncDeclaration<Company>(.identity(\.id))
}

/// The guides about JSON and APIs in a store.
@Suite struct StoreExamples {
    private static let users = """
        [{"id": 1, "name": "Ada", "email": "ada@example.com", "company": {"id": 7, "name": "Analytical Engines"}},
         {"id": 2, "name": "Grace", "shoe_size": 38}]
        """

    private func withAPI(_ body: (URL) async throws -> Void) async throws {
        try await LoopbackHTTPServer.serving({ _ in .json(Self.users) }) { server in
            try await body(try #require(URL(string: server.baseURL)))
        }
    }

    private func withStore(_ body: (JSONStore, String) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.sqlite").path
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
            }
        }
        let mapper = try RecordMapper(model)
        try await body(try JSONStore(try await SQLiteStore(mapper.model, at: .file(file)), mapper: mapper), file)
    }

    @Test func gettingStarted() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.sqlite").path
        try await withAPI { url in
            let mapper = try RecordMapper(DataModel(User.self).adding([SyncBookmark.entity]))
            let database = try await SQLiteStore(mapper.model, at: .file(file))
            let store = try JSONStore(database, mapper: mapper)
            let sync = try await store.sync(from: HTTPJSONSource(url, pages: .link), into: "User")
            print(sync.result.counts.inserted, sync.result.drift)

            let users = try await database.all(
                User.self, where: \.company.name == "Apple", orderedBy: \.name, limit: 50, including: \.company)
            #expect(users.isEmpty)
            #expect(sync.result.countsByEntity.mapValues(\.inserted) == ["User": 2, "Company": 1])
            #expect(sync.result.drift.count(of: .unknownKey) == 1)
            #expect(try await store.sync(from: HTTPJSONSource(url, pages: .link), into: "User").result.isUnchanged)
        }
    }

    @Test func aStoreInMemory() async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
            }
        }
        try await withAPI { url in
            let mapper = try RecordMapper(model.adding([SyncBookmark.entity]))
            let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
            let users = HTTPJSONSource(url, pages: .link)
            let result = try await store.sync(from: users, into: "User")
            #expect(result.result.counts.inserted == 2)
        }
    }

    @Test func aStoreInADatabase() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "users.sqlite").path
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
            }
        }
        try await withAPI { url in
            let mapper = try RecordMapper(model.adding([SyncBookmark.entity]))
            let store = try JSONStore(try await SQLiteStore(mapper.model, at: .file(path)), mapper: mapper)
            let users = HTTPJSONSource(url, pages: .link)
            let result = try await store.sync(from: users, into: "User")
            #expect(result.result.counts.inserted == 2)
        }
    }

    @Test func aFile() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.json").path
        try Data(Self.users.utf8).write(to: URL(filePath: file))
        try await withStore { sqlite, _ in
            let mapper = sqlite.mapper
            let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
            let result = try await store.sync(.file(file), into: "User")
            print(result.counts.inserted)
            #expect(result.counts.inserted == 2)
        }
    }

    @Test func anAPIByName() async throws {
        let model = try DataModel {
            SyncEntity("Issue", identity: "id") { SyncAttribute("id", .int64, optional: false) }
        }
        let mapper = try RecordMapper(model)
        let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
        let token = "secret"
        try await withAPI { url in
            let issues = HTTPJSONSource(url, api: .github) { ["Authorization": "Bearer \(token)"] }
            let result = try await store.sync(from: issues, into: "Issue")
            #expect(result.result.counts.inserted == 2)
        }
    }

    @Test func pagesOfAllKinds() {
        let pages = [
            HTTPPages.link,  // Link: <…>; rel="next"
            HTTPPages.linkField(keyPath: "links.next"),  // an address in the body
            HTTPPages.cursor(keyPath: "meta.next", parameter: "after"),
            HTTPPages.page(parameter: "page").ending(.shortPage),
            HTTPPages.offset(parameter: "skip").ending(.total(keyPath: "total")),
            HTTPPages.lastElement(keyPath: "id", parameter: "after_id"),
        ]
        #expect(pages.count == 6)
    }

    @Test func aServiceSyncs() async throws {
        try await withAPI { url in
            try await withStore { store, file in
                let users = HTTPJSONSource(url, pages: .link)
                let run = Task {
                    let service = SyncService(
                        schedule: SyncSchedule(interval: .seconds(60)), lease: SQLiteLease(for: file)
                    ) {
                        try await store.sync(from: users, into: "User")
                    }
                    try await service.run()
                }
                while try await store.store.count(StoreQuery("User")) == 0 { await Task.yield() }
                run.cancel()
                await #expect(throws: CancellationError.self) { try await run.value }
            }
        }
    }

    @Test func aLeaseIsHeld() async throws {
        try await withAPI { url in
            try await withStore { store, file in
                let users = HTTPJSONSource(url, pages: .link)
                let lease = SQLiteLease(for: file)
                try await lease.withLease(waiting: .upTo(.seconds(30))) {
                    try await store.sync(from: users, into: "User")
                }
                #expect(try await store.store.count(StoreQuery("User")) == 2)
            }
        }
    }

    @Test func grootsAnnotationsWork() async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id", userInfo: ["identityAttributes": "id"]) {
                SyncAttribute("id", .int64, optional: false, userInfo: ["JSONKeyPath": "user_id"])
            }
        }
        let transformers = RecordMapper.Transformers()
        let mapper = try RecordMapper(model, dialect: .groot, transformers: transformers)
        let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
        #expect(
            try await store.importObjects(.bytes(Array(#"[{"user_id": 4}]"#.utf8)), into: "User").counts.inserted == 1)
    }

    @Test func aDatabaseIsFilledAndRead() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "data.sqlite").path
        let users = folder.url.appending(path: "users.json").path
        try Data(#"[{"id": 1, "name": "Ada", "age": 36}, {"id": 2, "name": "Bo", "age": 3}]"#.utf8)
            .write(to: URL(filePath: users))
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncAttribute("age", .int64)
            }
        }
        let mapper = try RecordMapper(model)
        let store = try await SQLiteStore(mapper.model, at: .file(path))  // data.sqlite
        try await JSONStore(store, mapper: mapper).sync(.file(users), into: "User")
        let adults = try await store.sql { reader in
            try await reader.rows("SELECT name FROM User WHERE age >= ?", 18)
        }
        #expect(adults.count == 1)

        let json = try JSONStore(store, mapper: mapper)
        let lease = SQLiteLease(for: path)
        try await lease.withLease(waiting: .forever) { try await json.sync(.file(users), into: "User") }
        #expect(try await store.count(StoreQuery("User")) == 2)
    }

    /// Compiled only: a stream of events never ends by itself.
    private func follow(_ store: JSONStore, _ listURL: URL, _ eventsURL: URL, webhook body: [UInt8]) async throws {
        let users = HTTPJSONSource(listURL, pages: .link)
        let events = HTTPEventStream(
            eventsURL, reading: HTTPEventStream.Event.objects(types: ["user.changed"], removals: ["user.deleted"]))
        let live = LiveSync(
            store, from: users, into: "User", feed: events, schedule: SyncSchedule(interval: .seconds(3600)))
        try await live.service.run()
        try await live.apply([.objects(.bytes(body), keyPath: "data.object")])
    }
}
