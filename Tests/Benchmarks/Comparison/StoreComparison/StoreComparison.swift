import ComparisonSupport

/// The first sync of a file of users, by a store and by what one would write with `JSONDecoder` and
/// GRDB.
@main
enum StoreComparison {
    static func main() async throws {
        let counts = [100_000, 1_000_000]
        var cases: [String: @Sendable () async throws -> Int] = [:]
        for count in counts {
            cases["memory-store-\(count)"] = { try await Users(count: count).sync() }
            cases["memory-grdb-\(count)"] = { try Users(count: count).insertByHand() }
        }
        let memory = MemoryProbe(cases)
        if try await memory.runIfChild() { return }

        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        let count = counts[options.isFull ? 1 : 0]
        if options.includes("first") {
            try await firstSync(Users(count: count), count: count, isFull: options.isFull, &report)
        }
        if options.includes("memory") {
            for name in ["memory-store", "memory-grdb"] { report.add(memory.row(of: "\(name)-\(count)", n: count)) }
        }
    }

    /// Off the main actor, where `main` is.
    private static nonisolated func firstSync(
        _ users: Users, count: Int, isFull: Bool, _ report: inout BenchmarkReport
    ) async throws {
        let measured = try await measure(
            runs: isFull ? 1 : 3, warmup: isFull ? 0 : 1,
            [
                BenchmarkCase("first-store", n: count) { try await users.sync() },
                BenchmarkCase("first-grdb", n: count) { try users.insertByHand() },
            ])
        report.add(measured, against: "first-store") { [("rows/s", .number(Double($0.n) / $0.seconds))] }
    }
}
