import OneWayBenchmarkSupport
import Foundation
import OneWayStoreBenchmarkSupport
import StoreSync
import OneWayTestSupport

/// Syncs of users into stores, each beside its floor: the same rows, already in memory, through one
/// prepared statement.
struct StoreCases {
    let count: Int
    let runs: Int
    private let folder: TemporaryDirectory

    init(count: Int, runs: Int) throws {
        self.count = count
        self.runs = runs
        folder = try TemporaryDirectory()
    }

    /// Into an empty store whose table has secondary indices.
    func firstSyncIndexed(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.flat)
        let rows = try await rows(of: payload)
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("first-indexed-floor", n: count) {
                    try insert([(.users, rows)], indices: StoreUnderTest.indices)
                },
                BenchmarkCase("first-indexed-sqlite", n: count) {
                    try await firstSync(payload, into: indexedStore(emptyFile("store")))
                },
            ])
        report.addRates(of: measured)
    }

    /// Into an empty store.
    func firstSync(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.flat)
        let rows = try await rows(of: payload)
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("first-floor", n: count) { try insert([(.users, rows)]) },
                BenchmarkCase("first-sqlite", n: count) {
                    try await firstSync(payload, into: StoreUnderTest.sqlite(emptyFile("store")))
                },
                BenchmarkCase("first-memory", n: count) {
                    try await firstSync(payload, into: StoreUnderTest.memory())
                },
            ])
        report.addRates(of: measured)
    }

    /// What is stored already, with secondary indices or without.
    func sameAgain(indexed: Bool, _ report: inout BenchmarkReport) async throws {
        let payload = try payload(.flat)
        let rows = try await rows(of: payload)
        let store = try await filledStore(payload, indexed: indexed)
        let floor = try filledFloor(rows, indexed: indexed)
        let name = indexed ? "again-indexed" : "again"
        try FloorDatabase(path: path("filled-store")).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("\(name)-floor", n: count) {
                    let before = floor.changeCount
                    try floor.transaction { try FloorTable.users.synchronize(rows, in: floor) }
                    return floor.changeCount - before
                },
                BenchmarkCase("\(name)-sqlite", n: count) {
                    try await StoreUnderTest.sync(payload, into: store) { $0.unchanged == count && $0.isUnchanged }
                },
            ])
        let log = try FileManager.default.attributesOfItem(atPath: path("filled-store") + "-wal")[.size] as? Int
        report.addRates(of: measured) { $0 == "\(name)-sqlite" ? [("written bytes", .integer(log ?? -1))] : [] }
    }

    /// One user in a hundred changed, one gone, one new; and back again in the next run. It is
    /// compared with a floor that finds everything unchanged; the same work's floor is there to
    /// see.
    func changed(_ report: inout BenchmarkReport) async throws {
        let payloads = [try payload(.flat), try payload(.changed)]
        let rows = [try await rows(of: payloads[0]), try await rows(of: payloads[1])]
        let store = try await filledStore(payloads[0], indexed: false)
        let unchangedFloor = try filledFloor(rows[0], indexed: false, name: "unchanged-floor")
        let floor = try filledFloor(rows[0], indexed: false)
        let part = count / 100
        var floorTurn = 0
        var storeTurn = 0
        let measured = try await measure(
            runs: runs + runs % 2,
            [
                BenchmarkCase("changed-floor-of-unchanged", n: count) {
                    try unchangedFloor.transaction {
                        try FloorTable.users.synchronize(rows[0], in: unchangedFloor)
                    }
                    return unchangedFloor.changeCount
                },
                BenchmarkCase("changed-floor-of-same", n: count) {
                    floorTurn = 1 - floorTurn
                    try floor.transaction { try FloorTable.users.synchronize(rows[floorTurn], in: floor) }
                    return floor.changeCount
                },
                BenchmarkCase("changed-sqlite", n: count) {
                    storeTurn = 1 - storeTurn
                    return try await StoreUnderTest.sync(payloads[storeTurn], into: store) {
                        $0.inserted == part && $0.updated == part && $0.deleted == part
                    }
                },
            ])
        report.addRates(of: measured)
    }

    /// Into an empty store, in an order of no order.
    func shuffled(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.shuffled)
        let rows = try await rows(of: payload)
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("shuffled-floor", n: count) { try insert([(.users, rows)], order: payload.order) },
                BenchmarkCase("shuffled-sqlite", n: count) {
                    try await firstSync(payload, into: StoreUnderTest.sqlite(emptyFile("store")))
                },
            ])
        report.addRates(of: measured)
    }

    /// Users with three notes each, into an empty store. It has an index of what leads to users; a
    /// floor that has one as well is there to see.
    func nested(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.nested)
        let path = try emptyFile("rows")
        _ = try await firstSync(payload, into: StoreUnderTest.sqlite(path, nested: true))
        let database = try FloorDatabase(path: path)
        let tables = try [FloorTable.users, .notes].map { ($0, try database.rows($0.selection)) }
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("notes-floor", n: count) { try insert(tables) },
                BenchmarkCase("notes-floor-with-indices", n: count) {
                    try insert(tables, indices: tables.flatMap { table, _ in table.indices })
                },
                BenchmarkCase("notes-sqlite", n: count) {
                    try await firstSync(payload, into: StoreUnderTest.sqlite(emptyFile("store"), nested: true))
                },
            ])
        report.addRates(of: measured)
    }

    // MARK: Memory

    /// Runs the first sync and the same sync again, in a process of its own. Memory for creating
    /// the file does not count.
    func syncTwice(_ content: Payload.Content, indexed: Bool = false) async throws -> Int {
        let payload = try payload(content).withoutOrder
        MemoryProbe.forgetPeak()
        let path = try emptyFile("store")
        let store =
            indexed ? try await indexedStore(path) : try await StoreUnderTest.sqlite(path, nested: content == .nested)
        _ = try await firstSync(payload, into: store)
        return try await StoreUnderTest.sync(payload, into: store) { $0.unchanged == count && $0.isUnchanged }
    }

    /// Runs the first sync, then a sync in which 1 % of the users are changed, 1 % removed and 1 %
    /// added, in a process of its own.
    func syncChanged() async throws -> Int {
        let store = try await StoreUnderTest.sqlite(emptyFile("store"))
        _ = try await firstSync(payload(.flat), into: store)
        let part = count / 100
        return try await StoreUnderTest.sync(payload(.changed), into: store) {
            $0.inserted == part && $0.updated == part && $0.deleted == part
        }
    }

    // MARK: Parts

    func payload(_ content: Payload.Content) throws -> Payload {
        try Payload(content, count: count, in: folder.url)
    }

    func path(_ name: String) -> String {
        folder.url.appending(path: "\(name).sqlite").path
    }

    /// The path of a database that does not exist, or not any more.
    func emptyFile(_ name: String) throws -> String {
        let path = path(name)
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
        return path
    }

    func firstSync(_ payload: Payload, into store: JSONStore) async throws -> Int {
        try await StoreUnderTest.sync(payload, into: store) { $0.inserted == count && $0.unchanged == 0 }
    }

    /// The users of a payload as a store keeps them.
    func rows(of payload: Payload) async throws -> FloorRows {
        let path = try emptyFile("rows")
        _ = try await StoreUnderTest.sqlite(path).sync(.file(payload.path), into: "User")
        return try FloorDatabase(path: path).rows(FloorTable.users.selection)
    }

    private func filledStore(_ payload: Payload, indexed: Bool) async throws -> JSONStore {
        let path = try emptyFile("filled-store")
        let store = indexed ? try await indexedStore(path) : try await StoreUnderTest.sqlite(path)
        _ = try await firstSync(payload, into: store)
        return store
    }

    /// Makes a store whose table has secondary indices.
    private func indexedStore(_ path: String) async throws -> JSONStore {
        let store = try await StoreUnderTest.sqlite(path)
        let database = try FloorDatabase(path: path)
        for index in StoreUnderTest.indices { try database.execute(index) }
        return store
    }

    private func filledFloor(
        _ rows: FloorRows, indexed: Bool, name: String = "filled-floor"
    ) throws -> FloorDatabase {
        let database = try FloorDatabase(path: emptyFile(name))
        try database.execute(FloorTable.users.creation)
        if indexed {
            for index in StoreUnderTest.indices { try database.execute(index) }
        }
        try database.transaction { try database.run(FloorTable.users.insertion, for: rows) }
        return database
    }

    /// Inserts rows into tables of a new file.
    func insert(
        _ tables: [(FloorTable, FloorRows)], order: [Int]? = nil, indices: [String] = []
    ) throws -> Int {
        let database = try FloorDatabase(path: emptyFile("floor"))
        for (table, _) in tables { try database.execute(table.creation) }
        for index in indices { try database.execute(index) }
        try database.transaction {
            for (table, rows) in tables { try database.run(table.insertion, for: rows, order: order) }
        }
        return database.changeCount
    }
}
