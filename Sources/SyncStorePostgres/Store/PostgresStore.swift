#if Postgres
import OneWayPostgresClient
public import SyncModel
public import SyncStore
public import SyncStoreSQL

/// A store in a PostgreSQL database, with a natural table per family of entities.
///
///     let store = try await PostgresStore(model, at: "postgres://app@db.example.com/app")
///
/// Requires PostgreSQL 15 or later. One connection writes; others read the last commit meanwhile.
/// Each has a thread of its own. Cancelling the task of a call cancels its statement on the server.
/// Any number of stores, on any number of hosts, can share a schema: their writing transactions
/// wait for each other until they are cancelled or ``Options/lockTimeout`` passes. A connection
/// that the server closed between two transactions is opened again.
///
/// **Migration.** Opening a store adapts an existing schema to the model. New entities, attributes
/// and relationships are added. Renamed ones (`SyncEntity.formerName`) keep their data, and wider
/// types keep the values of narrower ones. What the model no longer has stays with its data; raise
/// ``Options/modelVersion`` to drop it. A removed table or column whose name something else needs
/// gets the suffix `_removed` and is never dropped. Indices and triggers of others stay, except on
/// tables that are dropped. Any other change is an error and changes nothing, and so is a change of
/// a table that has views.
///
/// **Tables of others.** A table that is there before the store is adopted: it gets columns and
/// indices that it lacks, and is never rebuilt or dropped. A table that would lose or change values
/// is refused with `SQLSchemaError.unsuitableTable`, which says why. Its rows need numbers in a
/// column of integers, `SQLNaming.rowColumn`, which is `NOT NULL` and unique. Triggers, policies
/// and other programs that keep a row from being written, or that delete further objects, make the
/// transaction fail.
///
/// **Types.** `smallint`, `integer`, `bigint`, `double precision`, `real`, `numeric`, `boolean`,
/// `timestamptz`, `bytea`, `uuid`, and `text` with collation `C`, which compares bytes. NaN is
/// stored as null, as in SQLite. PostgreSQL has no U+0000 in texts: it is stored as two U+0001, and
/// U+0001 as U+0001 U+0002. Dates before 4714 BC are refused.
///
/// **Identities.** Texts and blobs of an identity can have any length. An identity of more than
/// 2,000 bytes is indexed by its SHA-256. A statement of your own that looks a text identity up
/// repeats the condition of the index: `WHERE url = 'x' AND octet_length(url) <= 2000`.
///
/// Names are cut to 63 bytes, the limit of PostgreSQL.
public final class PostgresStore: CommitObservable {
    /// Options of a store.
    public struct Options: Sendable {
        /// The schema of the tables, created if missing; `public` by default.
        public var schema = "public"
        /// The names of tables and columns; those of the model by default. Must stay the same for a
        /// schema.
        public var naming = SQLNaming()
        /// The version of the model, to be raised with each change that does more than add
        /// something; 0 by default.
        ///
        /// A program with an older version refuses a schema of a newer one, also if the tables were
        /// changed while it has them open. With the same version,
        /// tables that have all that the model has, and more, stay as they are: during a rolling
        /// deployment, an older program does not drop what a newer one added.
        public var modelVersion = 0
        /// A text to keep with the tables, in the transaction that creates or adapts them; nil, the
        /// default, to leave an earlier one.
        package var note: String?
        /// How long a transaction waits for a lock before it fails with `55P03`; nil, the default,
        /// for no limit. The setting `lock_timeout` of a role or a database does not count.
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
        /// The least number of rows that are copied directly into an empty table; for fewer it is
        /// not worth asking whether it is empty.
        package var fillMinimum = 256

        /// Creates options with default values.
        public init() {}
    }

    /// The model of the objects.
    public let model: DataModel

    let writer: PostgresWorker
    let settings: PostgresSettings
    private let sessions: SQLSessions<PostgresWorker>
    private let readBudget: ReadBudget
    private let watch: PostgresCommitWatch

    /// Connects, and creates or adapts the tables.
    ///
    /// - Parameters:
    ///   - model: The model with its identities, such as `RecordMapper.model`.
    ///   - connectionString: A URI or a list of keywords and values, by libpq's rules
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). Missing
    ///     values come from the environment (`PGHOST`, `PGPASSWORD` …), the service file and the
    ///     password file.
    ///   - options: The options of the store.
    /// - Throws: `PostgresError` of class `08` without a server, `28P01` for a wrong password,
    ///   `42501` without a privilege, `0A000` behind a pooler; `SQLSchemaError` if the tables
    ///   cannot match.
    public init(_ model: DataModel, at connectionString: String, options: Options = Options()) async throws {
        self.model = model
        let settings = PostgresSettings(
            address: PostgresAddress(connectionString), schemaName: options.schema, isReadOnly: options.isReadOnly,
            lockTimeout: options.lockTimeout, modelVersion: options.modelVersion, note: options.note,
            silenceLimit: max(options.silenceLimit, .seconds(1)),
            isBehindSessionPooler: options.isBehindSessionPooler, fillMinimum: options.fillMinimum)
        self.settings = settings
        watch = PostgresCommitWatch(settings, model: model)
        readBudget = ReadBudget(options.maximumReaderCount)
        let schema = SQLSchema(model, naming: options.naming, dialect: .postgres)
        let writer = PostgresWorker(settings, schema: schema, label: "PostgresStore writer", writes: true)
        self.writer = writer
        // A batch costs a round trip.
        sessions = SQLSessions(model, batchRowCount: 8000, writer: writer) {
            PostgresWorker(settings, schema: schema, label: "PostgresStore reader")
        }
        try await writer.prepareSchema()
    }

    /// Runs a writing transaction; see `Store`.
    ///
    /// - Throws: What `Store` documents, and `PostgresError`: of class `08` if the connection is
    ///   lost, with code `08007` if it is unknown whether the server committed, `55P03` after the
    ///   lock timeout, `53100` for a full disk.
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

    /// Begins to observe commits of all stores of the schema; see `CommitObservable`.
    ///
    /// A connection of its own listens as long as there are observers.
    ///
    /// - Throws: `PostgresError` if it cannot be opened.
    public func commits() async throws -> CommitSignals {
        try await watch.signals()
    }

    /// Reads the last commit; see `Store`.
    ///
    /// - Throws: What `Store` documents, and `PostgresError`.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await read(onThread: false, body)
    }

    private func read<Result: Sendable>(
        onThread: Bool, _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await readBudget.run {
            try await sessions.read(onThread: onThread, begin: { try await $0.beginReading() }, body)
        }
    }
}

extension PostgresStore: ThreadedStore {
    package func readOnThread<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await read(onThread: true, body)
    }
}
#endif
