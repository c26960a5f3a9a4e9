#if Postgres
public import JSONMapper
import OneWayPostgresClient
public import SyncModel
public import SyncStore
public import SyncStoreSQL

/// A store in a PostgreSQL database, with natural tables that any SQL tool can read.
///
///     let store = try await PostgresStore(User.self, at: "postgres://app@db.example.com/app")
///
/// Requires PostgreSQL 15 or later. One connection writes; other connections read the last commit
/// in the meantime. Each connection has its own thread. Cancelling the task of a call cancels its
/// statement on the server. Any number of stores, on any number of hosts, can share a schema. Their
/// writing transactions wait for each other until they are cancelled or ``Options/lockTimeout`` has
/// passed. A connection that the server closed between two transactions is opened again.
///
/// **Migration.** Opening a store migrates an existing schema to the model:
/// - New entities, attributes and relationships are added.
/// - Renamed ones keep their data; see `SyncEntity.formerName`.
/// - An attribute's values are converted to another type if every one fits it exactly, or by
///   ``Options/conversions``. Otherwise, an `SQLSchemaError.unfitValue` names the object.
/// - An attribute that has become mandatory gives its default to the objects without a value.
/// - Removed ones stay with their data; raise ``Options/modelVersion`` to drop them. If the name of
///   a removed table or column is needed, it gets the suffix `_removed` and is never dropped.
///
/// Indices and triggers of other tools stay, except on tables that are dropped. Any other change,
/// or a change of a table that has views, throws an error and changes nothing.
///
/// **Tables of other tools.** A table that existed before the store is used as it is: missing
/// columns and indices are added, and it is never rebuilt or dropped. A table that would lose or
/// change values is rejected with `SQLSchemaError.unsuitableTable`, which contains the reason. Its
/// rows need numbers in an integer column, `SQLNaming.rowColumn`, which is `NOT NULL` and unique. A
/// trigger, a policy or another program that keeps a row from being written, or that deletes
/// further objects, makes the transaction fail.
///
/// **Types.** `smallint`, `integer`, `bigint`, `double precision`, `real`, `numeric`, `boolean`,
/// `timestamptz`, `bytea`, `uuid`, and `text` with collation `C`, which compares bytes. NaN is
/// stored as null, as in SQLite. PostgreSQL has no U+0000 in texts: it is stored as two U+0001, and
/// U+0001 as U+0001 U+0002. Dates before 4714 BC are rejected.
///
/// **Identities.** Texts and blobs of an identity can have any length. An identity of more than
/// 2,000 bytes is indexed by its SHA-256. To look up a text identity with your own statement,
/// repeat the condition of the index: `WHERE url = 'x' AND octet_length(url) <= 2000`.
///
/// Names are cut to PostgreSQL's limit of 63 bytes.
public final class PostgresStore: CommitSignals.Source, ReportingStore {
    /// Options of a store.
    public struct Options: Sendable {
        /// The schema of the tables, created if missing; `public` by default.
        public var schema = "public"
        /// The names of tables and columns; by default, those of the model. Must not change for a
        /// schema.
        public var naming = SQLNaming()
        /// Values for columns that the model does not have, by table and column; none by default.
        ///
        /// They are written when a row is inserted. Use them for columns of existing tables that
        /// are `NOT NULL` without a default.
        public var suppliedValues: [String: [String: SQLSuppliedValue]] = [:]
        /// The version of the model; 0 by default. Raise it with each change that does more than
        /// add something.
        ///
        /// A program with an older version rejects a schema of a newer one, even if the tables
        /// change while the program has them open. If the versions are equal, the store keeps
        /// everything that the model lacks: during a rolling deployment, an older program does not
        /// drop what a newer one added.
        public var modelVersion = 0
        /// Conversions of attributes that the model renames or retypes; none by default.
        ///
        /// Opening the store runs them in the migration's transaction.
        public var conversions: [AttributeConversion] = []
        /// A text that is stored with the tables when they are created or migrated; nil, the
        /// default, keeps an earlier one.
        package var note: String?
        /// The time that a transaction waits for a lock before it fails with `55P03`; nil, the
        /// default, for no limit. Overrides `lock_timeout` of the role and the database.
        public var lockTimeout: Duration?
        /// The time in which a migration must get the locks of the tables that it changes; one
        /// minute by default. After it, opening the store fails with `55P03`.
        ///
        /// A migration waits for a lock for 200 milliseconds at a time, with pauses, so that other
        /// sessions can read the tables meanwhile.
        public var migrationTimeout: Duration = .seconds(60)
        /// Whether the store only reads; false by default. If true, the tables must already match
        /// the model.
        public var isReadOnly = false
        /// How long the server, the network or this process may be silent; 10 seconds by default,
        /// at least 1.
        ///
        /// A connection that is silent for longer is checked through another connection, and closed
        /// if it is dead. The server ends a transaction of a process that is frozen or unreachable
        /// for longer.
        public var silenceLimit: Duration = .seconds(10)
        /// Whether connections go through a pooler that gives each client its own session; false by
        /// default.
        ///
        /// If false, poolers are rejected. A pooler that shares sessions among clients, such as
        /// PgBouncer with `pool_mode = transaction`, cannot be used, because a store needs the
        /// settings of its session. If true, each transaction checks that it still has its session,
        /// and fails with `0A000` before it reads or writes anything if it does not.
        public var isBehindSessionPooler = false
        /// The maximum number of connections for concurrent reads; 8 by default, at least 1.
        /// Further reads wait, for ``connectionWait`` at most.
        ///
        /// A read inside another read or a transaction does not wait, because it could wait for
        /// itself.
        public var maximumReaderCount = 8
        /// How long a call waits for a free connection, of the store or of the server, before it
        /// fails with `53300`; 30 seconds by default.
        public var connectionWait: Duration = .seconds(30)
        /// The minimum number of rows to copy directly into an empty table. For fewer rows,
        /// checking whether the table is empty costs too much.
        package var fillMinimum = 256
        /// The shortest time for an answer of a server that is far. Fewer messages are sent to it,
        /// for which it does more.
        package var farRoundTrip: Duration = .milliseconds(4)

        /// Creates options with default values.
        public init() {}
    }

    /// The model of the objects.
    public let model: DataModel
    /// What an administrator should change, as found when the store was opened; empty for nothing.
    ///
    /// There is one warning if other roles can create objects in the schema. The store does not
    /// call their functions, but it would use a table that such a role creates under the name of
    /// a missing table.
    public let warnings: [String]

    let writer: PostgresWorker
    let settings: PostgresSettings
    private let sessions: SQLSessions<PostgresWorker>
    private let readBudget: ReadBudget
    private let watch: PostgresCommitWatch
    package let changeReporter = ChangeReporter()

    /// Creates a store for the objects of some types and of all types related to them. Connects,
    /// and creates or migrates the tables.
    ///
    /// - Parameters:
    ///   - type: A type.
    ///   - others: Types that the first one does not lead to.
    ///   - connectionString: A URI or a list of keywords and values, in libpq's format
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). Missing
    ///     values come from the environment (`PGHOST`, `PGPASSWORD` …), the service file and the
    ///     password file.
    ///   - mapping: The rules that map JSON to the objects.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    ///   - options: The options of the store.
    /// - Throws: `PostgresError` of class `08` if no server can be reached, `28P01` for a wrong
    ///   password, `42501` for a missing privilege, `0A000` behind a pooler; `SQLSchemaError` if
    ///   the tables cannot match the model;
    ///   `SyncDeclarationError`, `ModelError` or `MappingError` if the declarations or the mapping
    ///   cannot be right.
    public convenience init(
        _ type: any SyncObject.Type, _ others: any SyncObject.Type..., at connectionString: String,
        mapping: JSONMapping = JSONMapping(), history: SyncHistory? = nil, options: Options = Options()
    ) async throws {
        let model = try DataModel(types: [type] + others)
        try await self.init(model, at: connectionString, mapping: mapping, history: history, options: options)
    }

    /// Creates a store for the objects of a model that is known only at run time. Connects, and
    /// creates or migrates the tables.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - connectionString: As in ``init(_:_:at:mapping:history:options:)``.
    ///   - mapping: The rules that map JSON to the objects. Nil, the default, for those of the
    ///     `RecordMapper` that made the model, or the default rules.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    ///   - options: The options of the store.
    /// - Throws: As ``init(_:_:at:mapping:history:options:)``.
    public convenience init(
        _ model: DataModel, at connectionString: String, mapping: JSONMapping? = nil, history: SyncHistory? = nil,
        options: Options = Options()
    ) async throws {
        try await self.init(exactly: try model.prepared(mapping, history), at: connectionString, options: options)
    }

    /// Creates a store of a model's objects, without mapping and bookkeeping.
    package init(exactly model: DataModel, at connectionString: String, options: Options = Options()) async throws {
        self.model = model
        let settings = PostgresSettings(connectionString, options)
        self.settings = settings
        watch = PostgresCommitWatch(settings, model: model)
        readBudget = ReadBudget(options.maximumReaderCount, waitingFor: options.connectionWait)
        let schema = SQLSchema(
            model, naming: options.naming, suppliedValues: options.suppliedValues,
            dialect: .postgres(schema: options.schema))
        let writer = PostgresWorker(settings, schema: schema, label: "PostgresStore writer", writes: true)
        self.writer = writer
        sessions = SQLSessions(model, writer: writer) {
            PostgresWorker(settings, schema: schema, label: "PostgresStore reader")
        }
        warnings = try await writer.prepareSchema()
    }

    /// Runs a writing transaction; see `Store`.
    ///
    /// - Throws: As `Store` describes, and `PostgresError`: class `08` if the connection is lost,
    ///   `08007` if it is unknown whether the server committed, `55P03` after the lock timeout,
    ///   `53100` for a full disk.
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        guard !settings.options.isReadOnly else {
            throw PostgresError(
                code: .readOnlyTransaction, message: "the store was opened read only")
        }
        return try await commitAndReport(body)
    }

    package func commit<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await readBudget.exempting {
            try await sessions.transaction(begin: { try await $0.beginWriting() }, body)
        }
    }

    /// Adds an observer of the transactions that begin from now on; see `ChangeSet.Source`.
    public func changes(capacity: Int) -> ChangeSet.Stream {
        observe(capacity: capacity)
    }

    /// Begins to observe the commits of all stores of the schema; see `CommitSignals.Source`.
    ///
    /// A separate connection listens while there are observers.
    ///
    /// - Throws: `PostgresError` if this connection cannot be opened.
    public func commits() async throws -> CommitSignals {
        try await watch.signals()
    }

    /// Reads the last commit; see `Store`.
    ///
    /// - Throws: As `Store` describes, and `PostgresError`.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await read(onThread: false, body)
    }

    private func read<Result: Sendable>(
        onThread: Bool, _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await readBudget.run {
            try await sessions.read(onThread: onThread, begin: { try await $0.beginReading(mayWait: onThread) }, body)
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
