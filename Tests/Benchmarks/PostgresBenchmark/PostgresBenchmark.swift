import OneWayBenchmarkSupport
#if Postgres
import OneWayPostgresTestSupport
#endif

/// Syncing JSON into PostgreSQL, against the same rows by `COPY` and a handful of statements.
@main
enum PostgresBenchmark {
    #if Postgres
    static func main() async throws {
        let memory = MemoryProbe([
            "memory-flat-100000": { try await PostgresCases.peak(count: 100_000) { try await $0.syncTwice() } },
            "memory-flat-1000000": { try await PostgresCases.peak(count: 1_000_000) { try await $0.syncTwice() } },
            "memory-changed-100000": { try await PostgresCases.peak(count: 100_000) { try await $0.syncChanged() } },
            "memory-changed-1000000": { try await PostgresCases.peak(count: 1_000_000) { try await $0.syncChanged() } },
        ])
        if try await memory.runIfChild() { return }

        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        let server = try await PostgresServer(PostgresServer.Settings(fsync: true))
        for isLinked in [false, true] {
            let cases = try PostgresCases(
                url: server.url(), count: options.isFull ? 1_000_000 : 200_000, runs: 3, isLinked: isLinked)
            if options.includes(cases.name("first")) { try await cases.firstSync(&report) }
            if options.includes(cases.name("again")) { try await cases.sameAgain(&report) }
            if options.includes(cases.name("changed")) { try await cases.changed(&report) }
        }
        if options.includes("memory") {
            for name in ["memory-flat", "memory-changed"] {
                for count in options.isFull ? [100_000, 1_000_000] : [100_000] {
                    report.add(memory.row(of: "\(name)-\(count)", n: count))
                }
            }
        }
        await server.close()
    }
    #else
    static func main() {
        print("built without PostgreSQL: swift run -c release --traits Postgres PostgresBenchmark")
    }
    #endif
}
