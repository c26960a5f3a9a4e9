#if Postgres
public import SyncModel
public import SyncStore
public import SyncStoreSQL

/// A store in a PostgreSQL database, with a natural table per family of entities that any SQL tool can read; of version 15 on.
///
///     let store = try await PostgresStore(model, at: "postgres://app@db.example.com/app")
///
/// One connection writes; others read what was committed last while it does. Each is driven by a thread of its own, and what it does ends when
/// the task that asked for it is cancelled, on the server too. Any number of stores, on any number of hosts, can share a schema: those that
/// write wait for one another, as long as they are cancelled or ``Options/lockTimeout`` passes. A connection that the server closed between
/// two transactions is opened anew.
///
/// An existing schema is adapted to the model when it is opened: new entities, attributes and relationships are added, those that are gone are
/// dropped, renamed ones (see `SyncEntity.formerName`) keep their data, and wider types take over what narrower ones held. Indices and triggers
/// that others have added stay, but for those of tables that are gone or have another name. Any other change is an error, and leaves all as
/// it was; so is one of a table that others have made a view of.
///
/// **Types.** `smallint`, `integer`, `bigint`, `double precision`, `real`, `numeric`, `boolean`, `timestamptz`, `bytea`, `uuid`, and `text`
/// that is compared by its bytes (collation `C`). A floating point number that is no number is kept as null, as in SQLite. A text with U+0000, which PostgreSQL does not
/// have, is kept with U+0001 twice in its place, and U+0001 itself as U+0001 and U+0002. Moments before the year 4714 before Christ are refused.
///
/// Names of more than 63 bytes are cut, as PostgreSQL would.
public final class PostgresStore: Store {
    /// How a store behaves.
    public struct Options: Sendable {
        /// The schema that has the tables, and is made where there is none; `public` where it is not said.
        public var schema = "public"
        /// What tables and columns are called; after the model where it is not said. Must stay the same for a schema.
        public var naming = SQLNaming()
        /// A number to raise with each change of the model, so that an older version of a program refuses a schema of a newer one instead of
        /// dropping what it does not know; 0 where it is not said.
        public var modelVersion = 0
        /// How long a transaction waits for what others hold before it fails with `55P03`; nil, for as long as it takes, where it is not said.
        public var lockTimeout: Duration?
        /// Whether nothing may be written; then the tables must fit the model as they are. False where it is not said.
        public var isReadOnly = false

        /// Makes options with all values as they are where nothing is said.
        public init() {}
    }

    /// What the objects are of.
    public let model: DataModel

    let writer: PostgresWorker
    private let settings: PostgresSettings
    private let sessions: SQLSessions<PostgresWorker>

    /// Connects, and makes or adapts the tables.
    ///
    /// - Parameters:
    ///   - model: The model, with the identities that are to be unique; `RecordMapper.model` is one.
    ///   - connectionString: Where the database is: a URI or keywords and values, by libpq's rules
    ///     (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). What it leaves out, perhaps everything, is taken from
    ///     the environment (`PGHOST`, `PGPASSWORD` …), the service file and the password file.
    ///   - options: How the store behaves.
    /// - Throws: `PostgresError`: of class `08` where there is no server, `28P01` for a wrong password, `42501` for missing rights;
    ///   `SQLSchemaError` where the tables do not fit.
    public init(_ model: DataModel, at connectionString: String, options: Options = Options()) async throws {
        self.model = model
        let settings = PostgresSettings(
            connectionString: connectionString, schemaName: options.schema, isReadOnly: options.isReadOnly,
            lockTimeout: options.lockTimeout, modelVersion: options.modelVersion)
        self.settings = settings
        let schema = SQLSchema(model, naming: options.naming, dialect: .postgres)
        let writer = PostgresWorker(settings, schema: schema, label: "PostgresStore writer")
        self.writer = writer
        // A batch costs a round trip to the server.
        sessions = SQLSessions(model, batchRowCount: 8000, writer: writer) {
            PostgresWorker(settings, schema: schema, label: "PostgresStore reader")
        }
        try await writer.prepareSchema()
    }

    /// Changes the store, all or nothing; see `Store`.
    ///
    /// - Throws: Besides what `Store` says, `PostgresError`: of class `08` or `57P01` to `57P03` where the connection is lost, `55P03` where
    ///   others hold something for longer than the lock timeout, `53100` for a full disk.
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        guard !settings.isReadOnly else {
            throw PostgresError(
                code: PostgresError.readOnlyTransaction, message: "the store was opened for reading alone")
        }
        return try await sessions.transaction(begin: { try await $0.beginWriting() }, body)
    }

    /// Reads what was committed last; see `Store`.
    ///
    /// - Throws: Besides what `Store` says, `PostgresError`.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await sessions.read(begin: { try await $0.beginReading() }, body)
    }
}
#endif
