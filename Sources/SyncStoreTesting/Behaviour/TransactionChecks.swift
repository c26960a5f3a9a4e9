import SyncModel
import SyncStore

/// Checks of atomicity, isolation and order.
enum TransactionChecks {
    static let all: [(String, StoreConformance.Check)] = [
        ("what fails leaves nothing behind", rollback),
        ("readers see what was committed", isolation),
        ("transactions of many tasks run one after another", queue),
        ("a transaction within one is refused", nesting),
        ("a task that outlives its transaction can begin another one", outliving),
        ("a cancelled transaction leaves nothing behind", cancellation),
        ("a transaction is of no use once it has ended", ended),
    ]

    private struct Refusal: Error {}

    private static func rollback(_ store: any Store) async throws {
        try await store.transaction { transaction in
            try await transaction.put("Person", ["id": 1, "name": "a"])
            try await transaction.put("Tag", ["name": "x"])
        }
        do {
            try await store.transaction { transaction in
                let row = try await transaction.put("Person", ["id": 1, "name": "b"], ["id": 2]).ids[0]
                let tags = try await transaction.put("Tag", ["name": "x"], ["name": "y"]).ids
                try await transaction.tie("Person", row, "tags", tags)
                try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 2))
                throw Refusal()
            }
        } catch is Refusal {}
        let people = try await store.records(StoreQuery("Person"), with: ["tags"])
        try expect(people.map { $0.record["name"] }, ["a"], "people")
        try expect(people.first?.record[related: "tags"], .many([]), "tags of the one")
        try expect(try await store.count(StoreQuery("Tag")), 1, "tags")
    }

    private static func isolation(_ store: any Store) async throws {
        try await store.transaction { transaction in
            try await transaction.put("Person", ["id": 1])
            try expect(try await store.count(StoreQuery("Person")), 0, "what a reader sees meanwhile")
            try expect(try await transaction.count(StoreQuery("Person")), 1, "what the transaction sees")
        }
        try expect(try await store.count(StoreQuery("Person")), 1, "what a reader sees afterwards")
    }

    private static func queue(_ store: any Store) async throws {
        try await store.transaction { try await $0.put("Person", ["id": 1, "age": 0]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await store.transaction { transaction in
                        guard
                            case .int(let age)? = try await transaction.record("Person", key: .identity(1))?.record[
                                "age"]
                        else { throw ConformanceCheckFailed(description: "the object is gone") }
                        await Task.yield()
                        try await transaction.put("Person", ["id": 1, "age": .int(age + 1)])
                    }
                }
            }
            try await group.waitForAll()
        }
        try expect(
            try await store.record("Person", key: .identity(1))?.record["age"], 20, "what twenty tasks have counted")
    }

    private static func nesting(_ store: any Store) async throws {
        try await expect(.nestedTransaction, "a transaction within one") {
            try await store.transaction { _ in
                try await store.transaction { _ in }
            }
        }
    }

    private static func outliving(_ store: any Store) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let later = try await store.transaction { _ in
            Task {
                for await _ in ended { break }
                // The task inherits the value that marked the transaction, but it no longer has a
                // meaning.
                try await store.transaction { try await $0.put("Person", ["id": 1]) }
                return try await store.count(StoreQuery("Person"))
            }
        }
        // While another transaction runs, it waits for its turn.
        try await store.transaction { transaction in
            end.yield()
            try await transaction.put("Person", ["id": 2])
        }
        try expect(try await later.value, 2, "objects of both")
        try await expect(.nestedTransaction, "a transaction in a task that waits for its own") {
            try await store.transaction { _ in
                try await Task { try await store.transaction { _ in } }.value
            }
        }
    }

    private static func cancellation(_ store: any Store) async throws {
        let task = Task {
            try await store.transaction { transaction in
                try await transaction.put("Person", ["id": 1])
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        do {
            try await task.value
            throw ConformanceCheckFailed(description: "a transaction whose task was cancelled was committed")
        } catch is CancellationError {}
        try expect(try await store.count(StoreQuery("Person")), 0, "objects")
        try await store.transaction { try await $0.put("Person", ["id": 2]) }
        try expect(try await store.count(StoreQuery("Person")), 1, "objects after the next one")
    }

    private static func ended(_ store: any Store) async throws {
        let kept = try await store.transaction { $0 }
        try await expect(.transactionEnded, "a write through it") { try await kept.put("Person", ["id": 1]) }
        try await expect(.transactionEnded, "a read through it") { _ = try await kept.count(StoreQuery("Person")) }
    }
}
