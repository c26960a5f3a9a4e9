import OneWayBenchmarkSupport
import OneWayReadBenchmarkSupport
import SyncModel
import SyncStore
import SyncStoreSQLite

/// Typed reads of a file, beside the same columns read by hand.
@main
enum ReadBenchmark {
    static func main() async throws {
        let memory = MemoryProbe([
            "stream-100000": { try await stream(count: 100_000) },
            "stream-1000000": { try await stream(count: 1_000_000) },
        ])
        if try await memory.runIfChild() { return }
        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        try await run(options, &report)
        if options.includes("memory") {
            for count in options.isFull ? [100_000, 1_000_000] : [100_000] {
                report.add(memory.row(of: "stream-\(count)", n: count))
            }
        }
    }

    /// Off the main actor, where `main` is.
    private static nonisolated func run(_ options: BenchmarkOptions, _ report: inout BenchmarkReport) async throws {
        let file = try await ReadFile(count: options.isFull ? 1_000_000 : 100_000)
        let store = try await file.open()
        guard let hand = HandReader(path: file.path) else { throw WrongCount(0) }
        if options.includes("all") {
            let measured = try await measure(
                runs: 20,
                [
                    BenchmarkCase("all-hand", n: file.count) { hand.users(joined: false).count },
                    BenchmarkCase("all", n: file.count) { try await store.all(User.self).count },
                ])
            report.add(measured, against: "all-hand") { [("rows/s", .number(Double($0.n) / $0.seconds))] }
        }
        if options.includes("company") {
            let measured = try await measure(
                runs: 20,
                [
                    BenchmarkCase("company-hand", n: file.count) { hand.users(joined: true).count },
                    BenchmarkCase("company", n: file.count) {
                        try await store.all(Employee.self, including: \.company).count
                    },
                ])
            report.add(measured, against: "company-hand")
        }
        if options.includes("page") {
            let measured = try await measure(
                runs: 20,
                [
                    BenchmarkCase("page", n: 50) { try await store.all(User.self, orderedBy: \.name, limit: 50).count },
                    BenchmarkCase("page-company", n: 50) {
                        try await store.all(Employee.self, orderedBy: \.name, limit: 50, including: \.company).count
                    },
                    BenchmarkCase("page-where-company", n: 50) {
                        try await store.all(
                            User.self, where: \.age > 30 && \.company.name == "Company 7", orderedBy: \.name, limit: 50
                        ).count
                    },
                    BenchmarkCase("page-where-company-hand", n: 50) { hand.users(ofCompany: "Company 7").count },
                ])
            report.add(measured, against: "page")
        }
        if options.includes("notes") {
            let measured = try await measure(
                runs: 3,
                [BenchmarkCase("notes", n: file.count) { try await store.all(User.self, including: \.notes).count }])
            report.add(measured, against: "notes")
        }
    }

    /// Reads all users in batches.
    private static nonisolated func stream(count: Int) async throws -> Int {
        let file = try await ReadFile(count: count)
        let store = try await file.open()
        return try await store.read { reader in
            var found = 0
            try await reader.batches(of: ObjectQuery<Employee>(including: \.company)) { found += $0.count }
            return found
        }
    }
}
