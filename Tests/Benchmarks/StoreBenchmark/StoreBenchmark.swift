import OneWayBenchmarkSupport
import OneWayStoreBenchmarkSupport

/// Syncing JSON into stores, against SQLite as bare as it can be used.
@main
enum StoreBenchmark {
    static func main() async throws {
        let memory = MemoryProbe([
            "memory-flat-100000": { try await StoreCases(count: 100_000, runs: 1).syncTwice(.flat) },
            "memory-flat-1000000": { try await StoreCases(count: 1_000_000, runs: 1).syncTwice(.flat) },
            "memory-changed-100000": { try await StoreCases(count: 100_000, runs: 1).syncChanged() },
            "memory-changed-1000000": { try await StoreCases(count: 1_000_000, runs: 1).syncChanged() },
            "memory-shuffled-100000": { try await StoreCases(count: 100_000, runs: 1).syncTwice(.shuffled) },
            "memory-shuffled-1000000": { try await StoreCases(count: 1_000_000, runs: 1).syncTwice(.shuffled) },
            "memory-indexed-100000": { try await StoreCases(count: 100_000, runs: 1).syncTwice(.flat, indexed: true) },
            "memory-indexed-1000000": {
                try await StoreCases(count: 1_000_000, runs: 1).syncTwice(.flat, indexed: true)
            },
            "memory-notes-20000": { try await StoreCases(count: 20_000, runs: 1).syncTwice(.nested) },
            "memory-notes-200000": { try await StoreCases(count: 200_000, runs: 1).syncTwice(.nested) },
            "memory-orders-10000": { try await StoreCases(count: 10_000, runs: 1).syncOrdersTwice() },
            "memory-orders-100000": { try await StoreCases(count: 100_000, runs: 1).syncOrdersTwice() },
        ])
        if try await memory.runIfChild() { return }

        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        let flat = try StoreCases(count: options.isFull ? 1_000_000 : 100_000, runs: 3)
        let nested = try StoreCases(count: options.isFull ? 200_000 : 20_000, runs: 3)
        if options.includes("first") { try await flat.firstSync(&report) }
        if options.includes("first-indexed") { try await flat.firstSyncIndexed(&report) }
        if options.includes("again") { try await flat.sameAgain(indexed: false, &report) }
        if options.includes("again-indexed") { try await flat.sameAgain(indexed: true, &report) }
        if options.includes("changed") { try await flat.changed(&report) }
        if options.includes("shuffled") { try await flat.shuffled(&report) }
        if options.includes("row-numbers") { try await flat.rowNumbers(&report) }
        if options.includes("notes") { try await nested.nested(&report) }
        let orders = try StoreCases(count: options.isFull ? 100_000 : 10_000, runs: 3)
        if options.includes("orders") { try await orders.firstSyncOrders(&report) }
        if options.includes("orders-again") { try await orders.sameOrdersAgain(&report) }
        if options.includes("changes") { try await flat.changes(&report) }
        if options.includes("changes-nested") {
            try await StoreCases(count: options.isFull ? 100_000 : 20_000, runs: 3).nestedChanges(&report)
        }
        if options.includes("removals") { try await flat.removals(&report) }
        if options.includes("memory") {
            measureMemory(memory, "memory-flat", options.isFull ? [100_000, 1_000_000] : [100_000], &report)
            measureMemory(memory, "memory-changed", options.isFull ? [100_000, 1_000_000] : [100_000], &report)
            measureMemory(memory, "memory-shuffled", options.isFull ? [100_000, 1_000_000] : [100_000], &report)
            measureMemory(memory, "memory-indexed", options.isFull ? [100_000, 1_000_000] : [100_000], &report)
            measureMemory(memory, "memory-notes", options.isFull ? [20_000, 200_000] : [20_000], &report)
            measureMemory(memory, "memory-orders", options.isFull ? [10_000, 100_000] : [10_000], &report)
        }
    }

    /// Adds a row for each size, each run in a process of its own.
    private static func measureMemory(
        _ memory: MemoryProbe, _ name: String, _ counts: [Int], _ report: inout BenchmarkReport
    ) {
        for count in counts {
            let start = ContinuousClock.now
            let peak = memory.peakBytes(of: "\(name)-\(count)")
            let elapsed = start.duration(to: .now) / .seconds(1)
            report.add(BenchmarkReport.Row(name: name, n: count, seconds: elapsed, peakMemoryBytes: peak))
        }
    }
}
