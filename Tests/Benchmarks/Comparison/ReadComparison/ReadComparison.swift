import ComparisonSupport
import GRDB
import ReadComparisonSupport
import SyncModel
import SyncStore
import SyncStoreSQLite

/// Reads of one file by a store and by GRDB, in turns.
@main
enum ReadComparison {
    static func main() async throws {
        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        try await run(options, &report)
    }

    /// Off the main actor, where `main` is.
    private static nonisolated func run(_ options: BenchmarkOptions, _ report: inout BenchmarkReport) async throws {
        let file = try await ReadFile(count: 100_000)
        let store = try await file.open()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -4096") }
        let database = try DatabasePool(path: file.path, configuration: configuration)
        let count = file.count
        guard let hand = HandReader(path: file.path) else { throw WrongCount(0) }

        if options.includes("all") {
            try await compare(
                "all", n: count, runs: 7, &report,
                store: { try await store.all(User.self).count },
                grdb: { try await database.read { try GRDBUser.fetchAll($0).count } })
        }
        if options.includes("hand") {
            let measured = try await measure(
                runs: 7,
                [
                    BenchmarkCase("hand", n: count) { hand.users(joined: false).count },
                    BenchmarkCase("all-beside-hand", n: count) { try await store.all(User.self).count },
                ])
            report.add(measured, against: "hand")
        }
        if options.includes("company") {
            try await compare(
                "company", n: count, runs: 7, &report,
                store: { try await store.all(Employee.self, including: \.company).count },
                grdb: {
                    try await database.read { database in
                        try GRDBUser.including(optional: GRDBUser.company).asRequest(of: GRDBEmployee.self)
                            .fetchAll(database).count
                    }
                })
        }
        if options.includes("where") {
            try await compare(
                "where-company-order-page", n: 50, runs: 500, &report,
                store: {
                    try await store.all(
                        User.self, where: \.age > 30 && \.company.name == "Company 7", orderedBy: \.name, limit: 50
                    ).count
                },
                grdb: {
                    try await database.read { database in
                        try GRDBUser.filter(Column("age") > 30)
                            .joining(required: GRDBUser.company.filter(Column("name") == "Company 7"))
                            .order(Column("name")).limit(50).fetchAll(database).count
                    }
                },
                hand: { hand.users(ofCompany: "Company 7").count })
        }
        if options.includes("page") {
            try await compare(
                "page-join", n: 50, runs: 50, &report,
                store: {
                    try await store.all(Employee.self, orderedBy: \.name, limit: 50, including: \.company).count
                },
                grdb: {
                    try await database.read { database in
                        try GRDBUser.including(optional: GRDBUser.company).order(Column("name")).limit(50)
                            .asRequest(of: GRDBEmployee.self).fetchAll(database).count
                    }
                })
        }
        if options.includes("notes") {
            try await compare(
                "notes", n: count, runs: 3, &report,
                store: { try await store.all(User.self, including: \.notes).count },
                grdb: {
                    try await database.read { database in
                        try GRDBUser.including(all: GRDBUser.notes).asRequest(of: GRDBAuthor.self)
                            .fetchAll(database).count
                    }
                })
        }
    }

    private static nonisolated func compare(
        _ name: String, n: Int, runs: Int, _ report: inout BenchmarkReport,
        store: @escaping @Sendable () async throws -> Int, grdb: @escaping @Sendable () async throws -> Int,
        hand: (() -> Int)? = nil
    ) async throws {
        let counts = (try await store(), try await grdb())
        guard counts.0 == counts.1 else { throw WrongCount(counts.0) }
        var cases = [BenchmarkCase("\(name)-grdb", n: n, body: grdb), BenchmarkCase(name, n: n, body: store)]
        if let hand { cases.append(BenchmarkCase("\(name)-hand", n: n, body: hand)) }
        let measured = try await measure(runs: runs, cases)
        report.add(measured, against: "\(name)-grdb")
    }
}
