import Foundation
import OneWayLoopbackServer
import OneWaySyncSQLite
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// The programs of the guide `EverydayPrograms`, compiled and run.
@Suite(.endsInTime) struct EverydayExamples {
    private let folder: TemporaryDirectory
    private let users = #"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]"#

    init() throws {
        folder = try TemporaryDirectory()
    }

    private var file: URL { folder.url.appending(path: "data.sqlite") }

    /// Makes the store before the program does.
    private func fill<Object: SyncObject>(_ type: Object.Type, _ json: String) async throws {
        try await SQLiteStore(type, at: .file(file)).sync(type, .text(json))
    }

    struct City: SyncObject {
        var id: Int
        var name: String
        var population: Int?
    }

    @Test func anArrayInADatabase() async throws {
        let cities = folder.url.appending(path: "cities.json")
        try Data(#"[{"id": 1, "name": "Bern", "population": 134000}, {"id": 2, "name": "Ulm"}]"#.utf8).write(to: cities)

        let store = try await SQLiteStore(City.self, at: .file(file))
        print(try await store.sync(City.self, .file(cities)))
        let large = try await store.all(City.self, where: \.population > 100_000, orderedBy: \.name)
        #expect(large.map(\.name) == ["Bern"])
    }

    @Test func aPagedAPIWithAToken() async throws {
        let token = "secret"
        try await LoopbackHTTPServer.serving({ request in
            guard request.header("authorization") == "Bearer \(token)" else { return .status(401) }
            guard request.path == "/users" else { return .json(#"[{"id": 3, "name": "Cy"}]"#) }
            return .json(#"[{"id": 1, "name": "Ada"}]"#, headers: [("Link", "</more>; rel=\"next\"")])
        }) { server in
            let url = try #require(URL(string: server.baseURL + "/users"))

            let store = try await SQLiteStore(User.self, at: .file(file))
            let result = try await store.sync(
                User.self, from: .url(url, pages: .link, headers: ["Authorization": "Bearer \(token)"]))
            print(result)
            #expect(result.counts.inserted == 2 && result.pageCount >= 2)
        }
    }

    struct Author: SyncObject {
        var id: Int
        var books: [Book]

        static let declaration = SyncDeclaration<Author>(.toMany(\.books, inverse: \.author, deleteRule: .cascade))
    }

    struct Book: SyncObject {
        var id: Int
        var title: String
        var author: Related<Author?>
    }

    @Test func nestedChildrenGoWithTheirParent() async throws {
        let json = #"[{"id": 1, "books": [{"id": 7, "title": "Notes"}, {"id": 8, "title": "Letters"}]}]"#

        let store = try await SQLiteStore(Author.self, at: .file(file))
        try await store.sync(Author.self, .text(json))  // one author and two books
        let author = try await store.first(Author.self, where: \.books.count > 1, including: \.books)
        try await store.sync(Author.self, .text("[]"))  // no author, and no books
        #expect(author?.books.count == 2)
        #expect(try await store.count(Book.self) == 0)
    }

    @Test func keysAndDatesOfOnesOwn() async throws {
        struct Event: SyncObject {
            var id: Int
            var title: String
            var startsAt: Date
            var bookedOn: Date?

            static let declaration = SyncDeclaration<Event>(
                .attribute(\.id, remoteKey: "event_no"), .attribute(\.title, remoteKey: "details.title"),
                .attribute(\.bookedOn) { (text: String) in
                    text.split(separator: ".").reversed().joined(separator: "-")  // 2026-04-03, which is a date
                })
        }

        let events = folder.url.appending(path: "events.json")
        let json = """
            [{"event_no": 7, "details": {"title": "Meetup"}, "starts_at": "2026-05-01T18:00:00Z", "booked_on": "03.04.2026"}]
            """
        try Data(json.utf8).write(to: events)

        let store = try await SQLiteStore(Event.self, at: .file(file))
        try await store.sync(Event.self, .file(events))
        let event = try #require(try await store.first(Event.self))
        #expect(event.id == 7 && event.title == "Meetup")
        #expect(event.startsAt == Date(timeIntervalSince1970: 1_777_658_400))
        #expect(event.bookedOn == Date(timeIntervalSince1970: 1_775_174_400))
    }

    /// In place of Dispatch's, so that no test changes how the process handles a signal.
    private enum DispatchSource {
        static let handler = Locked<(@Sendable () -> Void)?>(nil)

        static func makeSignalSource(signal: Int32, queue: DispatchQueue) -> Self.Type { self }
        static func setEventHandler(_ handle: @escaping @Sendable () -> Void) { handler.withLock { $0 = handle } }
        static func resume() {}
    }

    @Test func pollingReadsOnlyWhatHasChanged() async throws {
        let unchangedCount = Locked(0)
        try await LoopbackHTTPServer.serving({ [users] request in
            if request.header("if-none-match") == "\"1\"" {
                unchangedCount.withLock { $0 += 1 }
                return .status(304)
            }
            return .json(users, headers: [("ETag", "\"1\"")])
        }) { server in
            let url = try #require(URL(string: server.baseURL))
            let results = Locked<[StoreSyncResult]>([])
            @Sendable func print(_ result: StoreSyncResult) { results.withLock { $0.append(result) } }
            @Sendable func signal<Action>(_ number: Int32, _ action: Action) {}
            let file = file

            @Sendable func poll() async throws {
                let store = try await SQLiteStore(City.self, at: .file(file))
                let service = SyncService(schedule: SyncSchedule(interval: .seconds(60))) {
                    print(try await store.sync(City.self, from: .url(url, pages: .link)))
                }
                signal(SIGTERM, SIG_IGN)  // the source below handles it
                let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
                source.setEventHandler { service.requestStop(within: .seconds(10)) }
                source.resume()
                try await service.run()  // until SIGTERM; a running sync gets 10 s to finish
            }

            for count in 1...2 {
                let run = Task { try await poll() }
                while results.withLock(\.count) < count { await Task.yield() }
                DispatchSource.handler.withLock(\.self)?()
                try await run.value
            }
            #expect(results.withLock { $0.map(\.coverage) } == [.everything, .unchanged])
            #expect(unchangedCount.withLock(\.self) > 0)
        }
    }

    @Test func aShortListDeletesNothing() async throws {
        let all = (1...100).map { #"{"id": \#($0), "name": "\#($0)"}"# }.joined(separator: ",")
        try await fill(City.self, "[\(all)]")
        let cities = folder.url.appending(path: "cities.json")
        try Data("[]".utf8).write(to: cities)
        var printed = ""
        func print(_ error: StoreSyncError) { printed = "\(error)" }

        let store = try await SQLiteStore(City.self, at: .file(file))
        let options = StoreSyncOptions(removalLimit: RemovalLimit(fraction: 0.2, atLeast: 10))
        do {
            try await store.sync(City.self, .file(cities), options: options)
        } catch let error as StoreSyncError {
            print(error)  // 100 of 100 City would be deleted; the limit is 20.0% …
        }
        #expect(printed.hasPrefix("100 of 100 City would be deleted; the limit is 20.0%"))
        #expect(try await store.count(City.self) == 100)
    }

    @Test func aLiveQueryFollowsTheStore() async throws {
        try await fill(User.self, users)
        let seen = Locked<[String]>([])
        @Sendable func print(_ line: String) { seen.withLock { $0.append(line) } }
        let file = file
        let watch = Task {
            let store = try await SQLiteStore(User.self, at: .file(file))
            for try await users in store.values(of: User.self, orderedBy: \.name, including: \.company) {
                print(users.map(\.name).joined(separator: ", "))
            }
        }
        while seen.withLock(\.count) < 1 { await Task.yield() }
        try await fill(User.self, #"[{"id": 3, "name": "Cy"}]"#)
        while seen.withLock(\.count) < 2 { await Task.yield() }
        watch.cancel()
        #expect(seen.withLock(\.self) == ["Ada, Bo", "Cy"])
    }

    @Test func objectsAreExported() async throws {
        let output = folder.url.appending(path: "users.json")
        try await fill(User.self, users)

        let store = try await SQLiteStore(User.self, at: .file(file))
        let json = try await store.export(User.self, where: \.name != "Bo", orderedBy: \.name)
        try Data(json).write(to: output)
        let exported = try JSONDecoder().decode([User].self, from: Data(contentsOf: output))
        #expect(exported.map(\.name) == ["Ada"])
    }

    @Test func aRenamedPropertyKeepsItsValues() async throws {
        do {
            struct Person: SyncObject {
                var id: Int
                var name: String?
            }
            try await fill(Person.self, users)
        }

        struct Person: SyncObject {
            var id: Int
            var fullName: String?

            static let declaration = SyncDeclaration<Person>(.attribute(\.fullName, formerName: "name"))
        }

        let store = try await SQLiteStore(Person.self, at: .file(file))
        let people = try await store.all(Person.self, orderedBy: \.id)  // with their former names
        #expect(people.map(\.fullName) == ["Ada", "Bo"])
    }

    @Test func pagesWithoutANetwork() async throws {
        let store = try MemoryStore(User.self)
        let result = try await store.sync(
            User.self, pages: [.text(#"[{"id": 1, "name": "Ada"}]"#), .text(#"[{"id": 2, "name": "Bo"}]"#)])
        #expect(result.counts.inserted == 2 && result.drift.isEmpty)
    }
}
