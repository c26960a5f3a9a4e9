#if Postgres
import Foundation
import OneWaySynchronizer
import SyncStorePostgres
import SyncWorkQueuePostgres

/// Takes a lease again and again: `postgres-lease URL NAME MILLISECONDS LABEL`, until its standard
/// input ends.
///
/// It says `+ LABEL` when it has it, and `- LABEL` just before it gives it back, at the next line
/// of its input.
enum PostgresLeaseRole {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 4, let milliseconds = Int64(arguments[2]) else { throw UsageError() }
        let lease = PostgresLease(arguments[1], at: arguments[0], duration: .milliseconds(milliseconds))
        let label = arguments[3]
        // The end of the input is the end of the tests.
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(0)
        }
        while true {
            try await lease.withLease(waiting: .forever) {
                TestChild.say("+ \(label)")
                try await Task.sleep(for: .milliseconds(20))
                TestChild.say("- \(label)")
            }
        }
    }
}

/// Downloads a queue's items: `work URL QUEUE CONCURRENCY VISIBILITY-MILLISECONDS ITEM-MILLISECONDS
/// LABEL`, until its standard input ends.
///
/// It says `+ LABEL KEY` when it begins an item and `- LABEL KEY` when it has done it; those whose
/// keys end in `!` fail.
enum WorkRole {
    struct Item: SyncItem, Codable {
        var owsPrimaryKey: String
    }

    /// Takes as long as it is told; does what a worker does alone.
    struct Downloads: SyncProcessor {
        var label: String
        var duration: Duration

        func owsFetchSourceList() async throws -> SourceList<Item> { [] }
        func owsGetLocalKeys() async throws -> Set<String> { [] }
        func owsRemoveLocalItems(for keys: Set<String>) async throws {}

        func owsDownloadItem(for item: Item) async throws {
            TestChild.say("+ \(label) \(item.owsPrimaryKey)")
            try await Task.sleep(for: duration)
            if item.owsPrimaryKey.hasSuffix("!") { throw UsageError() }
            TestChild.say("- \(label) \(item.owsPrimaryKey)")
        }
    }

    static func run(_ arguments: [String]) async throws {
        let numbers = arguments.dropFirst(2).prefix(3).compactMap { Int64($0) }
        guard arguments.count == 6, numbers.count == 3 else { throw UsageError() }
        let options = PostgresWorkQueue.Options(visibilityTimeout: .milliseconds(numbers[1]))
        let queue = PostgresWorkQueue(arguments[1], at: arguments[0], options: options)
        let downloads = Downloads(label: arguments[5], duration: .milliseconds(numbers[2]))
        let worker = queue.worker(with: downloads, concurrency: Int(numbers[0]))
        // The end of the input is the end of the tests.
        Thread.detachNewThread {
            while readLine() != nil {}
            worker.stop()
        }
        try await worker.run()
    }
}
#endif
