#if Postgres
import OneWayPostgresClient
public import SyncModel
public import SyncStore
public import SyncStoreSQL

/// A store in a PostgreSQL database, with a natural table per family of entities that any SQL tool
/// can read; of version 15 on.
///
///     let store = try await PostgresStore(model, at: "postgres://app@db.example.com/app")
///
/// One connection writes; others read what was committed last while it does. Each is driven by a
/// thread of its own, and what it does ends when the task that asked for it is cancelled, on the
/// server too. Any number of stores, on any number of hosts, can share a schema: those that write
/// wait for one another, as long as they are cancelled or ``Options/lockTimeout`` passes. A
/// connection that the server closed between two transactions is opened anew.
///
/// An existing schema is adapted to the model when it is opened: new entities, attributes and
/// relationships are added, those that are gone are dropped, renamed ones (see
/// `SyncEntity.formerName`) keep their data, and wider types take over what narrower ones held.
/// Indices and triggers that others have added stay, but for those of tables that are gone or have
/// another name. Any other change is an error, and leaves all as it was; so is one of a table that
/// others have made a view of.
///
/// **Types.** `smallint`, `integer`, `bigint`, `double precision`, `real`, `numeric`, `boolean`,
/// `timestamptz`, `bytea`, `uuid`, and `text` that is compared by its bytes (collation `C`). A
/// floating point number that is no number is kept as null, as in SQLite. A text with U+0000, which
/// PostgreSQL does not have, is kept with U+0001 twice in its place, and U+0001 itself as U+0001
/// and U+0002. Moments before the year 4714 before Christ are refused.
///
/// Names of more than 63 bytes are cut, as PostgreSQL would.
public final class PostgresStore: Store {
    /// Options of a store.
    public struct Options: Sendable {
        /// The schema of the tables, created if missing; `public` by default.
        public var schema = "public"
        /// The names of tables and columns; those of the model by default. Must stay the same for a
        /// schema.
        public var naming = SQLNaming()
        /// The version of the model, to be raised with each change; 0 by default.
        ///
        /// A program with an older version refuses a schema of a newer one. With the same version,
        /// tables that have all that the model has, and more, stay as they are: during a rolling
        /// deployment, an older program does not drop what a newer one added.
        public var modelVersion = 0
        /// How long a transaction waits for a lock before it fails with `55P03`; nil, the default,
        /// for no limit.
        public var lockTimeout: Duration?
        /// Whether nothing may be written; then the tables must already fit the model. False by
        /// default.
        public var isReadOnly = false
        /// How long the server, the network or this process may be silent; 10 seconds by default,
        /// at least 1.
        ///
        /// A connection that is silent for longer is checked through another one, and dropped if it
        /// is dead. The server ends a transaction of a process that is frozen or unreachable for
        /// longer.
        public var silenceLimit: Duration = .seconds(10)
        /// Whether connections go through a pooler that gives each client a session of its own;
        /// false by default.
        ///
        /// Poolers are refused otherwise. A pooler that shares sessions among clients, such as
        /// PgBouncer with `pool_mode = transaction`, must never be used: a store needs settings and
        /// locks of its session.
        public var isBehindSessionPooler = false
        /// How many connections reads may use at a time; 8 by default, at least 1. Further reads
        /// wait.
        ///
        /// A read inside of another read or of a transaction does not wait, since it would wait for
        /// itself.
        public var maximumReaderCount = 8

        /// Creates options with default values.
        public init() {}
    }

    /// What the objects are of.
    public let model: DataModel

    let writer: PostgresWorker
    let settings: PostgresSettings
    private let sessions: SQLSessions<PostgresWorker>
    private let readBudget: ReadBudget

    /// Connects, and makes or adapts the tables.
    ///
    /// - Parameters:
    ///   - model: The model, with the identities that are to be unique; `RecordMapper.model` is
    ///     one.
    ///   - connectionString: Where the database is: a URI or keywords and values, by libpq's rules
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). What it
    ///     leaves out, perhaps everything, is taken from the environment (`PGHOST`, `PGPASSWORD`
    ///     …), the service file and the password file.
    ///   - options: How the store behaves.
    /// - Throws: `PostgresError`: of class `08` where there is no server, `28P01` for a wrong
    ///   password, `42501` for missing rights; `SQLSchemaError` where the tables do not fit.
    public init(_ model: DataModel, at connectionString: String, options: Options = Options()) async throws {
        self.model = model
        let settings = PostgresSettings(
            address: PostgresAddress(connectionString), schemaName: options.schema, isReadOnly: options.isReadOnly,
            lockTimeout: options.lockTimeout, modelVersion: options.modelVersion,
            silenceLimit: max(options.silenceLimit, .seconds(1)),
            isBehindSessionPooler: options.isBehindSessionPooler)
        self.settings = settings
        readBudget = ReadBudget(options.maximumReaderCount)
        let schema = SQLSchema(model, naming: options.naming, dialect: .postgres)
        let writer = PostgresWorker(settings, schema: schema, label: "PostgresStore writer", writes: true)
        self.writer = writer
        // A batch costs a round trip to the server.
        sessions = SQLSessions(model, batchRowCount: 8000, writer: writer) {
            PostgresWorker(settings, schema: schema, label: "PostgresStore reader")
        }
        try await writer.prepareSchema()
    }

    /// Changes the store, all or nothing; see `Store`.
    ///
    /// - Throws: Besides what `Store` says, `PostgresError`: of class `08` or `57P01` to `57P03`
    ///   where the connection is lost, `55P03` where others hold something for longer than the lock
    ///   timeout, `53100` for a full disk.
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        guard !settings.isReadOnly else {
            throw PostgresError(
                code: .readOnlyTransaction, message: "the store was opened read only")
        }
        return try await readBudget.exempting {
            try await sessions.transaction(begin: { try await $0.beginWriting() }, body)
        }
    }

    /// Reads what was committed last; see `Store`.
    ///
    /// - Throws: Besides what `Store` says, `PostgresError`.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await readBudget.run {
            try await sessions.read(begin: { try await $0.beginReading() }, body)
        }
    }
}
#endif
