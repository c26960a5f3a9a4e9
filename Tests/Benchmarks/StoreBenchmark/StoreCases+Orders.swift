import OneWayBenchmarkSupport
import OneWayStoreBenchmarkSupport
import StoreSync

/// Syncs of orders with customers, lines and products, nested four levels deep.
extension StoreCases {
    private static let tables = [FloorTable.orders, .customers, .lines, .products]

    /// Into an empty store. Its tables have indices of what leads to other tables, as the floor's
    /// have; a floor without any index is there to see.
    func firstSyncOrders(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.orders)
        let tables = try await orderTables(payload)
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("orders-floor", n: count) {
                    try insert(tables, indices: Self.tables.flatMap(\.indices))
                },
                BenchmarkCase("orders-floor-without-indices", n: count) { try insert(tables) },
                BenchmarkCase("orders-sqlite", n: count) {
                    try await firstSync(payload, into: StoreUnderTest.sqliteOrders(emptyFile("store")))
                },
            ])
        report.addRates(of: measured)
    }

    /// What is stored already.
    func sameOrdersAgain(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.orders)
        let tables = try await orderTables(payload)
        let store = try await StoreUnderTest.sqliteOrders(emptyFile("filled-store"))
        _ = try await firstSync(payload, into: store)
        let floor = try FloorDatabase(path: emptyFile("filled-floor"))
        for (table, _) in tables {
            for statement in [table.creation] + table.indices { try floor.execute(statement) }
        }
        try floor.transaction {
            for (table, rows) in tables { try floor.run(table.insertion, for: rows) }
        }
        let measured = try await measure(
            runs: runs,
            [
                BenchmarkCase("orders-again-floor", n: count) {
                    let before = floor.changeCount
                    try floor.transaction {
                        for (table, rows) in tables { try table.synchronize(rows, in: floor) }
                    }
                    return floor.changeCount - before
                },
                BenchmarkCase("orders-again-sqlite", n: count) {
                    try await StoreUnderTest.sync(payload, into: store) { $0.unchanged == count && $0.isUnchanged }
                },
            ])
        report.addRates(of: measured)
    }

    /// Syncs the orders twice, for a process that measures memory.
    func syncOrdersTwice() async throws -> Int {
        let payload = try payload(.orders)
        MemoryProbe.forgetPeak()
        let store = try await StoreUnderTest.sqliteOrders(emptyFile("store"))
        _ = try await firstSync(payload, into: store)
        return try await StoreUnderTest.sync(payload, into: store) { $0.unchanged == count && $0.isUnchanged }
    }

    /// The rows that a store has of the payload.
    private func orderTables(_ payload: Payload) async throws -> [(FloorTable, FloorRows)] {
        let path = try emptyFile("rows")
        _ = try await firstSync(payload, into: StoreUnderTest.sqliteOrders(path))
        let database = try FloorDatabase(path: path)
        return try Self.tables.map { ($0, try database.rows($0.selection)) }
    }
}
