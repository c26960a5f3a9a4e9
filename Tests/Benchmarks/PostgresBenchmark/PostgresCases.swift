#if Postgres
import OneWayBenchmarkSupport
import Foundation
import JSONMapper
import OneWayPostgresTestSupport
import OneWayStoreBenchmarkSupport
import StoreSync
import SyncStorePostgres
import OneWayTestSupport

/// Syncs of users into a server, each beside its floor: the same rows, already in memory.
struct PostgresCases {
    let url: String
    let count: Int
    let runs: Int
    /// Whether each user has a company, which a hundred users share.
    let isLinked: Bool
    private let folder: TemporaryDirectory

    init(url: String, count: Int, runs: Int, isLinked: Bool = false) throws {
        self.url = url
        self.count = count
        self.runs = runs
        self.isLinked = isLinked
        folder = try TemporaryDirectory()
    }

    /// Runs a case with a server of its own, for a process of its own.
    static func peak(count: Int, _ body: (PostgresCases) async throws -> Int) async throws -> Int {
        let server = try await PostgresServer(PostgresServer.Settings(fsync: true))
        let result = try await body(PostgresCases(url: server.url(), count: count, runs: 1))
        await server.close()
        return result
    }

    /// Into an empty store.
    func firstSync(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.flat)
        let floor = try await floor()
        let rows = try await rows(of: payload, floor)
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase(name("first-floor"), n: count) {
                    try await floor.reset()
                    try await floor.synchronize(rows)
                    return count
                },
                BenchmarkCase(name("first-postgres"), n: count) {
                    try await firstSync(payload, into: emptyStore("first"))
                },
            ])
        report.addRates(of: measured)
    }

    /// What is stored already.
    func sameAgain(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.flat)
        let floor = try await floor()
        let rows = try await rows(of: payload, floor)
        let store = try await emptyStore("again")
        _ = try await firstSync(payload, into: store)
        try await floor.reset()
        try await floor.synchronize(rows)
        // What a first reading and a checkpoint write is not part of it.
        try await settle()
        var used = ServerUse(url)
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase(name("again-floor"), n: count) {
                    try await used.measure(name("again-floor")) {
                        try await floor.synchronize(rows)
                        return count
                    }
                },
                BenchmarkCase(name("again-postgres"), n: count) {
                    try await used.measure(name("again-postgres")) {
                        try await StoreUnderTest.sync(payload, into: store) {
                            $0.unchanged == count && $0.isUnchanged
                        }
                    }
                },
            ])
        report.addRates(of: measured, extra: used.fields)
    }

    /// One user in a hundred changed, one gone, one new; and back again in the next run.
    func changed(_ report: inout BenchmarkReport) async throws {
        let payloads = [try payload(.flat), try payload(.changed)]
        let floor = try await floor()
        let rows = [try await rows(of: payloads[0], floor), try await rows(of: payloads[1], floor)]
        let store = try await emptyStore("changed")
        _ = try await firstSync(payloads[0], into: store)
        try await floor.reset()
        try await floor.synchronize(rows[0])
        try await settle()
        let part = count / 100
        var used = ServerUse(url)
        var floorTurn = 0
        var storeTurn = 0
        let measured = try await measure(
            runs: runs + runs % 2,
            [
                BenchmarkCase(name("changed-floor"), n: count) {
                    floorTurn = 1 - floorTurn
                    return try await used.measure(name("changed-floor")) {
                        try await floor.synchronize(rows[floorTurn])
                        return count
                    }
                },
                BenchmarkCase(name("changed-postgres"), n: count) {
                    storeTurn = 1 - storeTurn
                    return try await used.measure(name("changed-postgres")) {
                        try await StoreUnderTest.sync(payloads[storeTurn], into: store) {
                            $0.inserted == part && $0.updated == part && $0.deleted == part
                        }
                    }
                },
            ])
        report.addRates(of: measured, extra: used.fields)
    }

    // MARK: Memory

    /// The first sync, and the same again.
    func syncTwice() async throws -> Int {
        let payload = try payload(.flat)
        let store = try await emptyStore("memory")
        _ = try await firstSync(payload, into: store)
        return try await StoreUnderTest.sync(payload, into: store) { $0.unchanged == count && $0.isUnchanged }
    }

    /// The first sync, and then one user in a hundred changed, one gone, one new.
    func syncChanged() async throws -> Int {
        let store = try await emptyStore("memory")
        _ = try await firstSync(payload(.flat), into: store)
        let part = count / 100
        return try await StoreUnderTest.sync(payload(.changed), into: store) {
            $0.inserted == part && $0.updated == part && $0.deleted == part
        }
    }

    // MARK: Parts

    /// The name of a case.
    func name(_ name: String) -> String { isLinked ? "linked-\(name)" : name }

    private func payload(_ content: Payload.Content) throws -> Payload {
        try Payload(content, count: count, in: folder.url, isLinked: isLinked)
    }

    private func floor() async throws -> PostgresFloor {
        PostgresFloor(
            session: try await PostgresSession(url),
            tables: isLinked ? [.companies, .linkedUsers] : [.users])
    }

    /// A store in a schema that has nothing else.
    private func emptyStore(_ schema: String) async throws -> JSONStore {
        try await PostgresSession.run(
            url, "SET client_min_messages TO warning; DROP SCHEMA IF EXISTS \(schema) CASCADE")
        var options = PostgresStore.Options()
        options.schema = schema
        let mapper = try isLinked ? StoreUnderTest.linkedMapper() : StoreUnderTest.mapper()
        return try JSONStore(try await PostgresStore(exactly: mapper.model, at: url, options: options), mapper: mapper)
    }

    private func firstSync(_ payload: Payload, into store: JSONStore) async throws -> Int {
        try await StoreUnderTest.sync(payload, into: store) { $0.inserted == count && $0.unchanged == 0 }
    }

    /// The rows of a payload as a store keeps them, by table of the floor.
    private func rows(of payload: Payload, _ floor: PostgresFloor) async throws -> [FloorRows] {
        let store = try await emptyStore("rows")
        _ = try await store.sync(.file(payload.path), into: "User")
        let rows = try await floor.rows(ofSchema: "rows")
        try await PostgresSession.run(url, "DROP SCHEMA rows CASCADE")
        return rows
    }

    /// Lets the server do what it has put off.
    private func settle() async throws {
        try await PostgresSession.run(url, "VACUUM ANALYZE")
        try await PostgresSession.run(url, "CHECKPOINT")
    }
}
#endif
