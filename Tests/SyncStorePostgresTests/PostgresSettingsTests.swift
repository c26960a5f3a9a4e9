#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncModel
import SyncStore
@testable import SyncStorePostgres
import SyncStoreTesting
import Testing

/// Settings of roles and databases that change what statements mean.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresSettingsTests {
    /// Gives every later session of a database other settings.
    private func set(_ settings: [String], in database: TestDatabase) async throws {
        let name = try await database.run("SELECT quote_ident(current_database())")[0][0] ?? ""
        try await database.run(settings.map { "ALTER DATABASE \(name) SET \($0)" }.joined(separator: "; "))
    }

    private static let settings = [
        "datestyle = 'German, DMY'", "intervalstyle = sql_standard", "extra_float_digits = -15",
        "timezone = 'America/St_Johns'", "bytea_output = escape", "standard_conforming_strings = off",
        "backslash_quote = on", "default_transaction_isolation = serializable", "default_transaction_read_only = on",
        "search_path = pg_temp", "quote_all_identifiers = on",
        "transform_null_equals = on", "array_nulls = off", "client_encoding = LATIN1", "row_security = off",
        "plan_cache_mode = force_generic_plan", "check_function_bodies = off",
        "xmloption = document",
    ]

    @Test func aStoreDoesNotDependOnSettings() async throws {
        try await SharedPostgres.withDatabase { database in
            try await set(Self.settings, in: database)
            try await StoreConformance.check { model in
                var options = PostgresStore.Options()
                options.schema = "s\(UInt64.random(in: .min ... .max))"
                return try await PostgresStore(exactly: model, at: database.url, options: options)
            }
        }
    }

    @Test func aReadThatFindsNoFreeConnectionFailsInTime() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url) {
                $0.maximumReaderCount = 1
                $0.connectionWait = .seconds(1)
            }
            let gate = Gate()
            let long = Task {
                try await store.read { reader in
                    try await gate.pass()
                    return try await reader.count(StoreQuery("User"))
                }
            }
            try await gate.waitForArrivals(orEndOf: long)
            let error = await #expect(throws: PostgresError.self) {
                try await store.read { try await $0.count(StoreQuery("User")) }
            }
            #expect(error?.code == .tooManyConnections && error?.message.contains("maximumReaderCount") == true)
            gate.open()
            #expect(try await long.value == 0)
            #expect(try await store.read { try await $0.count(StoreQuery("User")) } == 0)
        }
    }

    /// By default, reads would wait until no serializable transaction is open.
    @Test func aStoreDoesNotWaitForSerializableTransactionsOfOthers() async throws {
        try await SharedPostgres.withDatabase { database in
            let other = try await PostgresSession(database.url)
            try await other.use { connection in
                let begin = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
                _ = try connection.execute("\(begin); SELECT count(*) FROM pg_class")
            }
            try await set(
                [
                    "default_transaction_isolation = serializable", "default_transaction_read_only = on",
                    "default_transaction_deferrable = on",
                ], in: database)
            let store = try await PostgresWorld.store(at: database.url) { $0.silenceLimit = .seconds(1) }
            try await store.put([1])
            #expect(try await store.count(StoreQuery("User")) == 1)
            try await other.use { _ = try $0.execute("COMMIT") }
        }
    }

    @Test func aLeaseDoesNotDependOnSettings() async throws {
        try await SharedPostgres.withDatabase { database in
            try await set(Self.settings, in: database)
            let lease = PostgresLease("name", at: database.url)
            // Many ask at the same moment.
            let grants = try await withThrowingTaskGroup(of: (any SyncLeaseGrant)?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        guard case .granted(let grant) = try await lease.tryAcquire(for: SyncLeaseHolder()) else {
                            return nil
                        }
                        return grant
                    }
                }
                return try await group.reduce(into: [any SyncLeaseGrant]()) { if let grant = $1 { $0.append(grant) } }
            }
            #expect(grants.count == 1)
            try await grants.first?.renew()
            await grants.first?.release()
        }
    }

    /// A shorter one would end what only pauses.
    @Test(
        arguments: [
            (.zero, .seconds(1)), (.milliseconds(999), .seconds(1)), (.seconds(1), .seconds(1)),
            (.seconds(2), .seconds(2)),
        ] as [(Duration, Duration)])
    func theSilenceLimitIsASecondAtLeast(limit: Duration, used: Duration) {
        var options = PostgresStore.Options()
        options.silenceLimit = limit
        #expect(PostgresSettings("", options).options.silenceLimit == used)
    }

    /// `lockTimeout` decides how long a transaction waits.
    @Test func aTransactionWaitsForALockAsLongAsItsOptionsSay() async throws {
        try await SharedPostgres.withDatabase { database in
            try await set(["lock_timeout = '1ms'"], in: database)
            let store = try await PostgresWorld.store(at: database.url)
            let other = try await PostgresWorld.store(at: database.url)
            let hasEnded = Locked(false)
            let waiting = try await store.transaction { transaction in
                let waiting = Task {
                    defer { hasEnded.withLock { $0 = true } }
                    try await other.put([2])
                }
                // Longer than the limit of the database.
                let waiter = """
                    SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory' \
                    AND waitstart < clock_timestamp() - interval '30 ms'
                    """
                while !hasEnded.withLock({ $0 }), try await database.run(waiter).isEmpty {}
                _ = try await transaction.merge(MergeRequest(PostgresWorld.batch([1], name: "a")))
                return waiting
            }
            try await waiting.value
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }
}
#endif
