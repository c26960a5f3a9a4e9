import BenchmarkSupport
import Foundation
import TestSupport

/// Syncing JSON into stores, against SQLite as bare as it can be used.
@main
enum StoreBenchmark {
    static func main() async throws {
        let options = try BenchmarkOptions()
        var report = BenchmarkReport(options: options)
        let flat = try StoreCases(count: options.isFull ? 1_000_000 : 100_000, runs: 3)
        if options.includes("first") { try await flat.firstSync(&report) }
        if options.includes("again") { try await flat.sameAgain(indexed: false, &report) }
    }
}
