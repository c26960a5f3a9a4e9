#if Postgres
import SyncBase
import SyncStore
package import SyncStorePostgres
import SyncStoreSQL

/// Schemas of a test in a database that tests share, which is much faster than a database each.
package final class TestSchemas: Sendable {
    /// The shared database, as a connection string.
    package let url: String
    private let names = Locked<[String]>([])

    init(url: String) {
        self.url = url
    }

    /// What opens an empty store, which fills its tables however few rows there are.
    package func emptyStore() -> PostgresStore.Options {
        var options = PostgresStore.Options.patient
        options.fillMinimum = 1
        options.schema = "ows_test_\(UInt64.random(in: .min ... .max))"
        names.withLock { $0.append(options.schema) }
        return options
    }

    /// Runs statements in a schema, in a connection of their own.
    ///
    /// - Returns: The rows of the last one, as texts; null is nil.
    @discardableResult
    package func run(_ text: String, in options: PostgresStore.Options) async throws -> [[String?]] {
        try await PostgresSession.run(url, "SET search_path TO \(SQLText.name(options.schema)); \(text)")
    }

    fileprivate func drop() async throws {
        for name in names.withLock({ $0 }) {
            try await PostgresSession.run(
                url, "SET client_min_messages TO warning; DROP SCHEMA IF EXISTS \(SQLText.name(name)) CASCADE")
        }
    }
}

/// Lets a few tests at a time have connections, because a server has only a few.
private actor Permits {
    private var left = 8
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard left == 0 else {
            left -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
        if waiting.isEmpty { left += 1 } else { waiting.removeFirst().resume() }
    }
}

extension SharedPostgres {
    private static let permits = Permits()

    /// Whether the task has a permit. A test that uses schemas while it uses others waits for no
    /// second one: as many tests as there are permits would wait for each other.
    @TaskLocal private static var hasPermit = false

    /// Runs a function with schemas of its own, which are dropped afterwards.
    package static func withSchemas<Result: Sendable>(
        _ body: @Sendable (TestSchemas) async throws -> Result
    ) async throws -> Result {
        guard !hasPermit else { return try await withDroppedSchemas(body) }
        await permits.take()
        do {
            let result = try await $hasPermit.withValue(true) { try await withDroppedSchemas(body) }
            await permits.giveBack()
            return result
        } catch {
            await permits.giveBack()
            throw error
        }
    }

    private static func withDroppedSchemas<Result: Sendable>(
        _ body: @Sendable (TestSchemas) async throws -> Result
    ) async throws -> Result {
        let schemas = TestSchemas(url: try await maintenanceURL())
        let result = try await body(schemas)
        try await schemas.drop()
        return result
    }
}
#endif
