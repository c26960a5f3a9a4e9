#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Stores see the commits of other stores of their schema through `LISTEN`.
@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresCommitTests {
    struct Person: SyncObject, Equatable {
        var id: Int
        var name: String
        static let declaration = SyncDeclaration<Person>(.identity(\.id))
    }

    struct Place: SyncObject, Equatable {
        var id: Int
        static let declaration = SyncDeclaration<Place>(.identity(\.id))
    }

    private func store(at url: String, schema: String = "public") async throws -> PostgresStore {
        var options = PostgresStore.Options()
        options.schema = schema
        return try await PostgresStore(exactly: DataModel(Person.self, Place.self), at: url, options: options)
    }

    /// The indices of the root entities with some names.
    private func roots(_ names: [String], in store: PostgresStore) throws -> Set<Int> {
        Set(try names.map { try store.model.layout(of: $0).root })
    }

    /// Ends the sessions that listen to commits.
    private func endListeners(of database: TestDatabase) async throws -> Int {
        try await database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'LISTEN%'
            """
        ).count
    }

    @Test func aLiveQueryFollowsTheCommitsOfAnotherStore() async throws {
        try await SharedPostgres.withDatabase { database in
            let one = try await store(at: database.url)
            let other = try await store(at: database.url)
            var states = one.values(of: Person.self, where: \.name != "Eve", orderedBy: \.id).makeAsyncIterator()
            #expect(try await states.next() == [])
            for id in 1...3 {
                try await other.insert(Person(id: id, name: "Ada"))
                #expect(try await states.next()?.map(\.id) == Array(1...id))
            }
            // Commits that change nothing in the result cause no state.
            try await other.insert(Person(id: 4, name: "Eve"))
            try await other.insert(Place(id: 1))
            try await other.insert(Person(id: 1, name: "Bob"))
            #expect(try await states.next()?.map(\.name) == ["Bob", "Ada", "Ada"])
            try await other.transaction { _ = try await $0.remove(StoreQuery("Person", where: PropertyPath("id") < 3)) }
            #expect(try await states.next() == [Person(id: 3, name: "Ada")])
        }
    }

    @Test func aNoticeNamesWhatChangedAndComesForNothingElse() async throws {
        try await SharedPostgres.withDatabase { database in
            let one = try await store(at: database.url)
            let other = try await store(at: database.url)
            let elsewhere = try await store(at: database.url, schema: "elsewhere")
            let signals = try await one.commits()
            try await other.insert(Person(id: 1, name: "Ada"))
            #expect(await signals.next()?.roots == (try roots(["Person"], in: one)))
            // Transactions that change nothing or fail, and other schemas, are not reported.
            try await other.insert(Person(id: 1, name: "Ada"))
            try await elsewhere.insert(Person(id: 1, name: "Ada"))
            await #expect(throws: CancellationError.self) {
                try await other.transaction { transaction in
                    _ = try await transaction.remove(StoreQuery("Person"))
                    throw CancellationError()
                }
            }
            try await one.insert(Place(id: 1))
            #expect(await signals.next()?.roots == (try roots(["Place"], in: one)))
        }
    }

    /// A notification has room for fewer than 8,000 bytes.
    @Test(arguments: [(6_996, true), (6_997, false)])
    func aListOfEntitiesThatIsTooLongCountsAsAnyCommit(length: Int, isNamed: Bool) async throws {
        let name = String(repeating: "N", count: length)
        let model = try DataModel { SyncEntity(name, identity: "id") { SyncAttribute("id", .int64) } }
        var record = Record(of: try model.layout(of: name))
        record["id"] = .int(1)
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresStore(exactly: model, at: database.url)
            let signals = try await store.commits()
            try await store.transaction { [record] in _ = try await $0.insert(record) }
            #expect(await signals.next() == CommitSignals.Signal(roots: isNamed ? [0] : nil))
        }
    }

    @Test func observersThatBeginTogetherMissNoCommit() async throws {
        try await SharedPostgres.withDatabase { database in
            let other = try await store(at: database.url)
            for round in 0..<5 {
                let one = try await store(at: database.url)
                let first = try await withThrowingTaskGroup(of: CommitSignals.self) { group in
                    for _ in 0..<4 { group.addTask { try await one.commits() } }
                    // Whoever is ready first need not be the one that opens the connection.
                    let first = try await group.next()
                    try await other.insert(Place(id: round))
                    return first
                }
                #expect(await first?.next()?.roots == (try roots(["Place"], in: one)))
            }
        }
    }

    @Test func aLostConnectionIsReplacedAndCountsAsAnyCommit() async throws {
        try await SharedPostgres.withDatabase { database in
            let one = try await store(at: database.url)
            let other = try await store(at: database.url)
            let signals = try await one.commits()
            #expect(try await endListeners(of: database) == 1)
            // Commits may have been missed.
            #expect(await signals.next() == CommitSignals.Signal(roots: nil))
            try await other.insert(Person(id: 1, name: "Ada"))
            #expect(await signals.next()?.roots == (try roots(["Person"], in: one)))
        }
    }

    @Test func aServerThatIsDownIsAnErrorAndTheNextObserverTriesAgain() async throws {
        guard PostgresServer.isInstalled else { return }
        let server = try await PostgresServer()
        let store = try await store(at: server.url())
        try await server.stop()
        await #expect(throws: PostgresError.self) { _ = try await store.commits() }
        try await server.start()
        let signals = try await store.commits()
        try await store.insert(Place(id: 1))
        #expect(await signals.next()?.roots == (try roots(["Place"], in: store)))
        await server.close()
    }
}
#endif
