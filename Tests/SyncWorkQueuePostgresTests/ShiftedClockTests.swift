#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncWorkQueuePostgres
import Testing

/// The program that starts others with clocks of their own.
private enum TimeNamespace {
    static let unshare = URL(filePath: "/usr/bin/unshare")

    /// Whether this process may use it.
    static var isAvailable: Bool {
        get async {
            let process = try? ChildProcess(
                unshare, ["--time", "--monotonic", "1", "true"], errors: ChildOutput())
            return (try? await process?.end())?.code == 0
        }
    }
}

/// Workers whose clocks differ by hours. The wall clock of a client is not read.
@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"),
    .enabled("unshare cannot make a time namespace") { await TimeNamespace.isAvailable }, .endsInTime)
struct ShiftedClockTests {
    @Test func clocksThatDifferByHoursChangeNothing() async throws {
        try await SharedPostgres.withDatabase { database in
            let output = ChildOutput(isShared: true)
            let workers = try [0, 36_000, 360_000].map { seconds in
                try ChildProcess(
                    TimeNamespace.unshare,
                    [
                        "--time", "--monotonic", "\(seconds)", "--boottime", "\(seconds)",
                        ChildProcess.product("TestChild").path, "work", database.url, "name", "4", "6000", "2",
                        "w\(seconds)",
                    ], output: output)
            }
            let queue = PostgresWorkQueue(
                "name", at: database.url, options: PostgresWorkQueue.Options(visibilityTimeout: .seconds(6)))
            let items = (0..<600).map { TestItem("\($0)") }
            let report = try await Synchronizer(
                processor: queue.sharing(ScriptedProcessor(source: items)), options: SyncOptions(concurrency: 100)
            ).sync()
            for worker in workers { await worker.close() }
            #expect(report.inserted == 600)
            let begun = output.lines.filter { $0.hasPrefix("+") }
            // Nothing was taken from a worker whose time seemed to be over.
            #expect(begun.count == 600)
            for seconds in [0, 36_000, 360_000] { #expect(begun.contains { $0.hasPrefix("+ w\(seconds) ") }) }
        }
    }
}
#endif
