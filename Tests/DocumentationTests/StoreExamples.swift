import Foundation
import HTTPSource
import OneWayLoopbackServer
import OneWaySyncSQLite
import OneWayTestLimits
import OneWayTestSupport
import Testing

struct User: SyncObject {
    var id: Int
    var name: String
    var email: String?
    var company: Company?
}

struct Company: SyncObject {
    var id: Int
    var name: String
}

struct Issue: SyncObject {
    var id: Int
}

/// The guides about JSON and APIs in a store.
@Suite(.endsInTime) struct StoreExamples {
    private static let users = """
        [{"id": 1, "name": "Ada", "email": "ada@example.com", "company": {"id": 7, "name": "Analytical Engines"}},
         {"id": 2, "name": "Grace", "shoe_size": 38}]
        """

    private func withAPI(_ body: (URL) async throws -> Void) async throws {
        try await LoopbackHTTPServer.serving({ _ in .json(Self.users) }) { server in
            try await body(try #require(URL(string: server.baseURL)))
        }
    }

    private func withStore(_ body: (SQLiteStore, String) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.sqlite").path
        try await body(try await SQLiteStore(User.self, at: .file(file)), file)
    }

    @Test func gettingStarted() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.sqlite")
        try await withAPI { url in
            let store = try await SQLiteStore(User.self, at: .file(file))
            let result = try await store.sync(User.self, from: .url(url, pages: .link))
            print(result)  // Company: 1 inserted; User: 2 inserted (1 page, 152 bytes).

            let users = try await store.all(
                User.self, where: \.company.name == "Apple", orderedBy: \.name, limit: 50, including: \.company)
            #expect(users.isEmpty)
            #expect("\(result)".hasPrefix("Company: 1 inserted; User: 2 inserted (1 page, 152 bytes).\n"))
            #expect("\(result)".contains("User.shoe_size: unknown key, once"))
            #expect(try await store.sync(User.self, from: .url(url, pages: .link)).isUnchanged)
        }
    }

    @Test func aStoreInMemory() async throws {
        try await withAPI { url in
            let store = try MemoryStore(User.self)
            let result = try await store.sync(User.self, from: .url(url, pages: .link))
            #expect(result.counts.inserted == 2)
        }
    }

    @Test func aFile() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "users.json")
        try Data(Self.users.utf8).write(to: file)
        let store = try MemoryStore(User.self)
        let result = try await store.sync(User.self, .file(file))
        print(result)
        #expect(result.counts.inserted == 2)
    }

    @Test func anAPIByName() async throws {
        let store = try MemoryStore(Issue.self)
        let token = "secret"
        try await withAPI { url in
            let issues = HTTPJSONSource(url, api: .github) { ["Authorization": "Bearer \(token)"] }
            let result = try await store.sync(Issue.self, from: issues)
            #expect(result.counts.inserted == 2)
        }
    }

    @Test func pagesOfAllKinds() {
        let pages = [
            HTTPAPI.Pages.link,  // Link: <…>; rel="next"
            HTTPAPI.Pages.linkField(keyPath: "links.next"),  // an address in the body
            HTTPAPI.Pages.cursor(keyPath: "meta.next", parameter: "after"),
            HTTPAPI.Pages.links(keyPath: "links"),  // [{"rel": "next", "href": …}]
            HTTPAPI.Pages.cursor(header: "x-token", parameter: "token"),
            HTTPAPI.Pages.page(parameter: "page").ending(.shortPage),
            HTTPAPI.Pages.offset(parameter: "skip").ending(.total(keyPath: "total")),
            HTTPAPI.Pages.lastElement(keyPath: "id", parameter: "after_id"),
            HTTPAPI.Pages.automatic,  // by the usual signs, if one way leads on
        ]
        #expect(pages.count == 9)
    }

    @Test func aServiceSyncs() async throws {
        try await withAPI { url in
            try await withStore { store, file in
                let users = HTTPJSONSource(url, api: HTTPAPI(pages: .link))
                let run = Task {
                    let service = SyncService(
                        schedule: SyncSchedule(interval: .seconds(60)), lease: SQLiteLease(for: file)
                    ) {
                        try await store.sync(User.self, from: users)
                    }
                    try await service.run()
                }
                while try await store.count(User.self) == 0 { await Task.yield() }
                run.cancel()
                await #expect(throws: CancellationError.self) { try await run.value }
            }
        }
    }

    @Test func aServiceReadsAFile() async throws {
        let folder = try TemporaryDirectory()
        let users = folder.url.appending(path: "users.json")
        try Data(Self.users.utf8).write(to: users)
        try await withStore { store, file in
            let service = SyncService(schedule: SyncSchedule(interval: .seconds(60)), lease: SQLiteLease(for: file)) {
                try await store.sync(User.self, .file(users))
            }
            let run = Task { try await service.run() }
            while service.health.lastSuccess == nil { await Task.yield() }
            service.requestStop()
            try await run.value
            #expect(service.health.lastReport?.counts.inserted == 2)
        }
    }

    @Test func aLeaseIsHeld() async throws {
        try await withAPI { url in
            try await withStore { store, file in
                let users = HTTPJSONSource(url, api: HTTPAPI(pages: .link))
                let lease = SQLiteLease(for: file)
                try await lease.withLease(waiting: .upTo(.seconds(30))) {
                    try await store.sync(User.self, from: users)
                }
                #expect(try await store.count(User.self) == 2)
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
        let mapping = JSONMapping(dialect: .groot, transformers: transformers)
        let store = try MemoryStore(model, mapping: mapping)
        #expect(try await store.importObjects("User", .text(#"[{"user_id": 4}]"#)).counts.inserted == 1)
    }

    @Test func aDatabaseIsFilledAndRead() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "data.sqlite").path
        let users = folder.url.appending(path: "users.json")
        try Data(#"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#.utf8).write(to: users)
        let store = try await SQLiteStore(User.self, at: .file(path))  // data.sqlite
        try await store.sync(User.self, .file(users))
        let names = try await store.sql { reader in
            try await reader.rows("SELECT name FROM User WHERE name LIKE ?", "A%")
        }
        #expect(names.count == 1)

        let lease = SQLiteLease(for: path)
        try await lease.withLease(waiting: .forever) { try await store.sync(User.self, .file(users)) }
        #expect(try await store.count(User.self) == 2)
    }

    /// Compiled only: a stream of events never ends by itself.
    private func follow(_ store: SQLiteStore, _ listURL: URL, _ eventsURL: URL) async throws {
        let users = HTTPJSONSource(listURL, api: HTTPAPI(pages: .link))
        let events = HTTPEventStream(
            eventsURL, reading: HTTPEventStream.Event.objects(types: ["user.changed"], removals: ["user.deleted"]))
        let live = try LiveSync(
            store, User.self, from: users, feed: events, schedule: SyncSchedule(interval: .seconds(3600)))
        try await live.service.run()
    }

    /// Compiled only.
    private func followStaff(
        _ store: SQLiteStore, _ users: HTTPJSONSource, _ companies: HTTPJSONSource, _ eventsURL: URL
    ) async throws {
        let changedUsers = HTTPEventStream.Event.objects(of: "User", types: ["user.changed"], removals: ["user.gone"])
        let changedCompanies = HTTPEventStream.Event.objects(of: "Company", types: ["company.changed"])
        let staff = try LiveSync(
            store,
            [
                LiveSync.List(Company.self, from: companies),
                LiveSync.List(User.self, from: users),
            ],
            feed: HTTPEventStream(eventsURL, reading: { try changedUsers($0) ?? changedCompanies($0) }),
            schedule: SyncSchedule(interval: .seconds(3600)))
        try await staff.service.run()
    }

    private struct Pod: SyncObject {
        static let declaration = SyncDeclaration<Pod>(.attribute(\.id, remoteKey: "metadata.uid"))
        var id: String
    }

    /// Compiled only: a watch never ends by itself.
    private func watch(_ store: SQLiteStore, token: String) async throws {
        let url = try #require(URL(string: "https://cluster.example/api/v1/namespaces/default/pods"))
        let headers: @Sendable () async throws -> HTTPHeaders = { ["Authorization": "Bearer \(token)"] }
        let pods = HTTPJSONSource(url, api: .kubernetes, headers: headers)
        let watch = HTTPLineStream.kubernetes(url, headers: headers)
        let live = try LiveSync(
            store, Pod.self, from: pods, feed: watch, schedule: SyncSchedule(interval: .seconds(3600)))
        try await live.service.run()
    }

    private struct WebRequest {
        var headers: [String: String]
    }

    /// Compiled only: a sync accepts webhooks while it runs.
    private func receive(_ request: WebRequest, webhook body: [UInt8], secret: String, live: LiveSync) async throws {
        let verifier = WebhookVerifier(.stripe, secrets: [secret])
        let answer = await verifier.answer(body, header: { request.headers[$0] }) {
            try await live.apply([.objects(.bytes(body), keyPath: "data.object")])
        }
        print(answer.status)
    }

    @Test func anAddressOfAUserIsPublic() async throws {
        let store = try MemoryStore(User.self)
        try await withAPI { url in
            await #expect(throws: HTTPError.self) {
                let client = HTTPClient(destinations: .publicAddresses)
                let result = try await store.sync(User.self, from: .url(url, pages: .link, client: client))
                print(result)
            }
        }
    }
}
