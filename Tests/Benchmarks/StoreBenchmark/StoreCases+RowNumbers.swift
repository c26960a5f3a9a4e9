import OneWayBenchmarkSupport
import OneWayStoreBenchmarkSupport

extension StoreCases {
    /// The floor's users, whose keys are the row numbers, beside the same ones with numbers of
    /// their own and an index of the keys, as a store has them.
    func rowNumbers(_ report: inout BenchmarkReport) async throws {
        let payload = try payload(.shuffled)
        let rows = try await rows(of: payload)
        let tables = [("identity", FloorTable.users), ("own", FloorTable.numberedUsers)]
        let floors = try tables.map { name, table in
            let database = try FloorDatabase(path: emptyFile("row-numbers-\(name)"))
            try database.execute(table.creation)
            try database.transaction { try database.run(table.insertion, for: rows) }
            return database
        }
        for (action, order) in [("first", nil), ("first-shuffled", payload.order)] {
            let measured = try await measure(
                runs: runs,
                tables.map { name, table in
                    BenchmarkCase("row-numbers-\(name)-\(action)", n: count) {
                        try insert([(table, rows)], order: order)
                    }
                })
            report.addRates(of: measured)
        }
        for (action, order) in [("again", nil), ("again-shuffled", payload.order)] {
            let measured = try await measure(
                runs: runs,
                zip(tables, floors).map { table, floor in
                    BenchmarkCase("row-numbers-\(table.0)-\(action)", n: count) {
                        try floor.transaction { try floor.run(table.1.upsertWhere, for: rows, order: order) }
                        return floor.changeCount
                    }
                })
            report.addRates(of: measured)
        }
    }
}
