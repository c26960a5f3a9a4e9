#if Postgres
import Foundation
import Dispatch
import OneWaySynchronizer
import SyncModel
import SyncStore
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

/// The first line of the standard input, which any number of tasks can wait for.
private let firstLine = Task {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            _ = readLine()
            continuation.resume()
        }
    }
}

/// Holds a transaction: `postgres-hold URL SILENCE-MILLISECONDS`, and commits at the next line of
/// its standard input.
///
/// It says `held`, then `committed` or `failed` with the error.
enum PostgresHoldRole {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, let milliseconds = Int64(arguments[1]) else { throw UsageError() }
        await hold(arguments[0], silenceMilliseconds: milliseconds) {}
    }

    /// Commits one user, after a line and what `confirm` does.
    ///
    /// - Parameter schema: The schema of the store, whose name comes before what is said; nil for
    ///   `public`.
    static func hold(
        _ url: String, silenceMilliseconds: Int64, schema: String? = nil,
        confirm: @escaping @Sendable () async throws -> Void
    ) async {
        let label = schema.map { "\($0) " } ?? ""
        do {
            let model = try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncRelationship("boss", toOne: "User", inverse: "staff")
                    SyncRelationship("staff", toMany: "User", inverse: "boss")
                }
            }
            var options = PostgresStore.Options()
            options.silenceLimit = .milliseconds(silenceMilliseconds)
            if let schema { options.schema = schema }
            let store = try await PostgresStore(exactly: model, at: url, options: options)
            var batch = RecordBatch(of: try model.layout(of: "User"))
            batch.beginRecord()
            batch.setInt(1, at: 0)
            batch.endRecord()
            let records = batch
            try await store.transaction { transaction in
                _ = try await transaction.merge(MergeRequest(records))
                TestChild.say("\(label)held")
                await firstLine.value
                try await confirm()
            }
            TestChild.say("\(label)committed")
        } catch {
            TestChild.say("\(label)failed \(error)".replacing("\n", with: " "))
        }
    }
}

/// The same under a lease: `postgres-lease-hold URL NAME LEASE-MILLISECONDS SILENCE-MILLISECONDS
/// [SCHEMA]`; and in another schema without the lease.
enum PostgresLeaseHoldRole {
    static func run(_ arguments: [String]) async throws {
        let numbers = arguments.dropFirst(2).compactMap { Int64($0) }
        guard (4...5).contains(arguments.count), numbers.count == 2 else { throw UsageError() }
        async let other: Void = holdOther(arguments, numbers[1])
        let lease = PostgresLease(arguments[1], at: arguments[0], duration: .milliseconds(numbers[0]))
        try? await lease.withLease {
            await PostgresHoldRole.hold(arguments[0], silenceMilliseconds: numbers[1]) {
                try await SyncLeaseScope.confirm()
            }
        }
        await other
    }

    private static func holdOther(_ arguments: [String], _ silenceMilliseconds: Int64) async {
        guard arguments.count == 5 else { return }
        await PostgresHoldRole.hold(
            arguments[0], silenceMilliseconds: silenceMilliseconds, schema: arguments[4]
        ) {}
    }
}

/// Downloads a queue's items: `work URL QUEUE CONCURRENCY VISIBILITY-MILLISECONDS ITEM-MILLISECONDS
/// LABEL`, until its standard input ends.
///
/// It says `+ LABEL KEY` when it begins an item and `- LABEL KEY` when it has done it; those whose
/// keys end in `!` fail, those in `x` kill the process, and those in `b` block their thread until
/// the standard input has ended.
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
            if item.owsPrimaryKey.hasSuffix("x") { abort() }
            if item.owsPrimaryKey.hasSuffix("b") { WorkRole.inputHasEnded.wait() }
            try await Task.sleep(for: duration)
            if item.owsPrimaryKey.hasSuffix("!") { throw UsageError() }
            TestChild.say("- \(label) \(item.owsPrimaryKey)")
        }
    }

    /// Signalled once for each thread that may wait for it.
    fileprivate static let inputHasEnded = DispatchSemaphore(value: 0)

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
            for _ in 0..<1000 { inputHasEnded.signal() }
            worker.stop()
        }
        try await worker.run()
    }
}
#endif
