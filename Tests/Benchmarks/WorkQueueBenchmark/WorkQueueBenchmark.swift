import OneWayBenchmarkSupport
#if Postgres
import Foundation
import OneWaySynchronizer
import OneWayPostgresTestSupport
import SyncWorkQueuePostgres
import OneWayTestSupport
#endif

/// Passes whose items, of 20 ms or 2 ms, are downloaded by 1, 2 and 4 processes, each of them 4 at
/// a time.
@main
enum WorkQueueBenchmark {
    #if Postgres
    /// The first argument of the processes that download.
    private static let workerRole = "worker"

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, arguments[1] == workerRole, let milliseconds = Int(arguments[4]) {
            return try await work(url: arguments[2], queue: arguments[3], milliseconds)
        }
        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        let server = try await PostgresServer(PostgresServer.Settings(fsync: true))
        for (name, milliseconds) in [("workers", 20), ("short-workers", 2)] {
            let count = (options.isFull ? 10_000 : 2_000) * (milliseconds < 10 ? 5 : 1)
            var alone: Double?
            for workerCount in [1, 2, 4] where options.includes("\(name)-\(workerCount)") {
                var runs: [Double] = []
                for run in 0..<3 {
                    let queue = "\(name) \(workerCount) \(run)"
                    runs.append(try await pass(server.url(), queue, workerCount, milliseconds, count: count))
                }
                let seconds = runs.sorted()[1]
                alone = alone ?? (workerCount == 1 ? seconds : nil)
                report.add(
                    BenchmarkReport.Row(
                        name: "\(name)-\(workerCount)", n: count, seconds: seconds, ratio: alone.map { seconds / $0 },
                        against: alone == nil ? nil : "\(name)-1",
                        extra: [("times_as_fast", .number(alone.map { $0 / seconds } ?? 1))]))
            }
        }
        await server.close()
    }

    /// How long a pass takes, its workers being there already.
    private static func pass(
        _ url: String, _ name: String, _ workerCount: Int, _ milliseconds: Int, count: Int
    ) async throws -> Double {
        let workers = try (0..<workerCount).map { _ in
            try ChildProcess(ChildProcess.product("WorkQueueBenchmark"), [workerRole, url, name, "\(milliseconds)"])
        }
        for worker in workers { try await worker.output.wait { $0.contains("ready") } }
        let queue = PostgresWorkQueue(name, at: url)
        let holder = Items(keys: (0..<count).map { "\($0)" }, milliseconds: milliseconds)
        let start = ContinuousClock.now
        try await Synchronizer(processor: queue.sharing(holder), options: SyncOptions(concurrency: 256)).sync()
        let seconds = start.duration(to: .now) / .seconds(1)
        for worker in workers { await worker.close() }
        return seconds
    }

    /// Downloads until the standard input ends.
    private static func work(url: String, queue name: String, _ milliseconds: Int) async throws {
        let queue = PostgresWorkQueue(name, at: url)
        let worker = queue.worker(with: Items(keys: [], milliseconds: milliseconds), concurrency: 4)
        // The tables are there once this has been answered.
        _ = try await queue.itemsSetAside()
        Thread.detachNewThread {
            print("ready")
            fflush(nil)
            while readLine() != nil {}
            worker.stop()
        }
        try await worker.run()
    }

    private struct Item: SyncItem, Codable {
        var owsPrimaryKey: String
    }

    /// Items that take a number of milliseconds each.
    private struct Items: SyncProcessor {
        var keys: [String]
        var milliseconds: Int

        func owsFetchSourceList() async throws -> SourceList<Item> {
            SourceList(keys.map { Item(owsPrimaryKey: $0) })
        }
        func owsGetLocalKeys() async throws -> Set<String> { [] }
        func owsRemoveLocalItems(for keys: Set<String>) async throws {}
        func owsDownloadItem(for item: Item) async throws {
            try await Task.sleep(for: .milliseconds(milliseconds))
        }
    }
    #else
    static func main() {
        print("built without PostgreSQL: swift run -c release --traits Postgres WorkQueueBenchmark")
    }
    #endif
}
