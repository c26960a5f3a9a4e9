public import Foundation
public import JSONMapper
public import SyncModel
public import SyncStore
public import SyncStoreSQL

/// A store in an SQLite database, with natural tables that any SQL tool can read.
///
///     let store = try await SQLiteStore(User.self, at: .file("data.sqlite"))
///
/// One connection writes, on its own thread. Other connections read the last commit in the meantime
/// (write-ahead logging). Several stores, even in different processes, can share a file; writers
/// wait for each other up to the busy timeout. If the file is moved, replaced, overwritten or
/// removed while the store is open, the next transaction throws ``SQLiteError/Code/fileMoved``. If
/// another program changes tables so that they no longer fit the model, it throws
/// ``SQLiteError/Code/schemaChanged``, or `SQLSchemaError.damaged` if it dropped some.
///
/// **Changes of the model.** The store migrates its own tables when it opens:
/// - New entities, attributes and relationships are added.
/// - Renamed ones keep their data; see `SyncEntity.formerName`.
/// - An attribute's values are converted to another type if every one fits it exactly, or by
///   ``Options/conversions``. Otherwise, an `SQLSchemaError.unfitValue` names the object.
/// - An attribute that has become mandatory gives its default to the objects without a value.
/// - Removed ones stay with their data, because a newer version of the program may have added them.
///   Raise ``Options/modelVersion`` to drop them.
///
/// Any other change throws an `SQLSchemaError` and leaves the file unchanged;
/// ``rebuild(_:at:mapping:history:options:filling:)`` then creates the tables again.
///
/// **Tables of other tools.** A table that existed before the store and that ``Options/naming``
/// names is used as it is: the store writes objects to it and adds columns to it, but never
/// rebuilds or drops it. If such a table would change or reject values, the store does not open.
/// Indices, triggers, views, foreign keys and columns that other tools add to the store's own
/// tables survive changes of the model; one that cannot is an
/// `SQLSchemaError.unfitDependentObject`. A trigger that keeps a row from being written, or that
/// deletes further objects, makes the transaction fail.
///
/// NaN is stored as null.
public final class SQLiteStore: CommitSignals.Source, ReportingStore {
    /// The location of the data.
    public enum Location: Hashable, Sendable {
        /// A file, created if it does not exist. While it is open, it has a `-wal` and a `-shm`
        /// file.
        case file(String)
        /// An existing file that is only read. Its tables must match the model.
        ///
        /// If a process was killed in a transaction, the transaction is undone first.
        case readOnlyFile(String)
        /// A private temporary file, in memory if the system has a file system there.
        ///
        /// It is in a folder that only the user can read, and is removed with the store. Files left
        /// by a killed process are removed when the same user's next store in memory opens. On
        /// Linux, it is in `/dev/shm`, which holds 64 MB in a Docker container unless `--shm-size`
        /// sets another size.
        case memory

        /// A file, created if it does not exist.
        public static func file(_ url: URL) -> Location { .file(url.path) }
    }

    /// The options of a store.
    public struct Options: Sendable {
        /// The names of tables and columns; by default, those of the model. Must not change for a
        /// file.
        public var naming = SQLNaming()
        /// Values for columns that the model does not have, by table and column; none by default.
        ///
        /// They are written when a row is inserted. Use them for columns of existing tables that
        /// are `NOT NULL` without a default.
        public var suppliedValues: [String: [String: SQLSuppliedValue]] = [:]
        /// The stored form of dates; ISO 8601 text by default. Must not change for a file.
        public var dates = SQLNaming.DateStorage.iso8601
        /// The time that a transaction waits for other processes before it fails with
        /// ``SQLiteError/Code/busy``; 10 seconds by default.
        public var busyTimeout: Duration = .seconds(10)
        /// The time between two checks for commits of other processes while there are observers;
        /// 100 milliseconds by default.
        ///
        /// Commits of this store are reported immediately.
        public var commitPollInterval: Duration = .milliseconds(100)
        /// The version of the model; 0 by default.
        ///
        /// A store rejects a file with a higher version. If its own version is higher than the
        /// file's, it drops the tables and columns that the model no longer has. If the versions
        /// are equal, it keeps them. Raise the version with each change that does more than add
        /// something, because programs with the older model would undo the change.
        public var modelVersion = 0
        /// Conversions of attributes that the model renames or retypes; none by default.
        ///
        /// Opening the store runs them in the migration's transaction.
        public var conversions: [AttributeConversion] = []
        /// A text that is stored with the tables when they are created or migrated; nil, the
        /// default, keeps an earlier one.
        package var note: String?
        /// The maximum number of pages of the file; nil, the default, for no limit.
        ///
        /// A change beyond it fails with ``SQLiteError/Code/full``.
        public var maximumPageCount: Int?
        /// The size of each connection's page cache in bytes; 4 MiB by default, at least 1 KiB.
        ///
        /// It bounds the memory of a sync. A larger cache makes writing in random order faster,
        /// such as a sync into a large table with several indices.
        public var cacheByteCount = 4 << 20
        /// Whether the file's triggers, views, indexes and constraints may use functions and
        /// virtual tables that SQLite does not regard as harmless; false by default.
        ///
        /// Set it only for a file of your own whose triggers need one: a function that
        /// `sqlite3_auto_extension` adds, or FTS5 if the version of SQLite, such as 3.40, does not
        /// regard it as harmless. Otherwise, a statement that reaches one fails with
        /// "unsafe use". See https://www.sqlite.org/security.html.
        public var trustsSchema = false

        /// Creates options with default values.
        public init() {}
    }

    /// The model of the objects.
    public let model: DataModel
    /// What an administrator should know about the store; empty for nothing.
    ///
    /// There is one warning if ``rebuild(_:at:mapping:history:options:filling:)`` has made the
    /// store and dropped columns that other tools had added to its tables. It names each of them.
    public let warnings: [String]

    private let settings: SQLiteSettings
    /// The path of the database file.
    package var filePath: String { settings.path }
    let sessions: SQLSessions<SQLiteWorker>
    let schema: SQLSchema
    private let watch: SQLiteCommitWatch
    package let changeReporter = ChangeReporter()

    /// Creates a store for the objects of some types and of all types related to them. Opens the
    /// database, and creates or migrates its tables.
    ///
    /// - Parameters:
    ///   - type: A type.
    ///   - others: Types that the first one does not lead to.
    ///   - location: The location of the data.
    ///   - mapping: The rules that map JSON to the objects.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    ///   - options: The options of the store.
    /// - Throws: `SyncDeclarationError`, `ModelError` or `MappingError` if the declarations or the
    ///   mapping cannot be right; `SQLiteError` if the file cannot be opened or is not a database;
    ///   `SQLSchemaError` if its tables cannot match the model.
    public convenience init(
        _ type: any SyncObject.Type, _ others: any SyncObject.Type..., at location: Location,
        mapping: JSONMapping = JSONMapping(), history: SyncHistory? = nil, options: Options = Options()
    ) async throws {
        let model = try DataModel(types: [type] + others)
        try await self.init(model, at: location, mapping: mapping, history: history, options: options)
    }

    /// Creates a store for the objects of a model that is known only at run time. Opens the
    /// database, and creates or migrates its tables.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - location: The location of the data.
    ///   - mapping: The rules that map JSON to the objects. Nil, the default, for those of the
    ///     `RecordMapper` that made the model, or the default rules.
    ///   - history: The settings of the history of syncs; nil, the default, records none.
    ///   - options: The options of the store.
    /// - Throws: As ``init(_:_:at:mapping:history:options:)``.
    public convenience init(
        _ model: DataModel, at location: Location, mapping: JSONMapping? = nil, history: SyncHistory? = nil,
        options: Options = Options()
    ) async throws {
        try await self.init(exactly: try model.prepared(mapping, history), at: location, options: options)
    }

    /// Creates a store of a model's objects, without mapping and bookkeeping.
    package init(
        exactly model: DataModel, at location: Location, options: Options = Options(), warnings: [String] = []
    ) async throws {
        let path: String
        var folder: TransientFolder?
        switch location {
        case .file(let file), .readOnlyFile(let file):
            path = file
        case .memory:
            let made = try TransientFolder()
            path = made.url.appending(path: "store.sqlite").path
            folder = made
        }
        var isReadOnly = false
        if case .readOnlyFile = location { isReadOnly = true }
        self.model = model
        self.warnings = warnings
        let settings = SQLiteSettings(path: path, isReadOnly: isReadOnly, folder: folder, options)
        self.settings = settings
        let schema = SQLSchema(
            model, naming: options.naming, dates: options.dates, suppliedValues: options.suppliedValues,
            dialect: .sqlite)
        self.schema = schema
        let files = SQLiteFiles(of: settings.absolutePath)
        let writer = SQLiteWorker(settings, schema: schema, files: files, label: "SQLiteStore writer")
        let watch = SQLiteCommitWatch(writer, interval: max(options.commitPollInterval, .milliseconds(1)))
        self.watch = watch
        sessions = SQLSessions(model, writer: writer, committed: { watch.report($0) }) {
            SQLiteWorker(settings, schema: schema, files: files, label: "SQLiteStore reader")
        }
        try await writer.prepareSchema()
    }

    /// Runs a body in a transaction and commits its changes; see `Store`.
    ///
    /// Cancelling the task interrupts a running statement and the wait for another process.
    ///
    /// - Throws: As `Store` describes, and `SQLiteError`: ``SQLiteError/Code/busy`` if another
    ///   process writes for longer than the busy timeout, ``SQLiteError/Code/readOnly`` for a
    ///   read-only store, ``SQLiteError/Code/full`` for a full disk,
    ///   ``SQLiteError/Code/fileMoved``, ``SQLiteError/Code/schemaChanged``; `SQLSchemaError` for
    ///   tables that another program changed and that the store can no longer write into.
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        guard !settings.isReadOnly else {
            throw SQLiteError(code: SQLiteError.Code.readOnly, message: "the store was opened read-only")
        }
        return try await commitAndReport(body)
    }

    package func commit<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        let cancellation = SQLiteCancellation()
        return try await withTaskCancellationHandler {
            try await sessions.transaction(begin: { try await $0.beginWriting(cancellation) }, body)
        } onCancel: {
            cancellation.request()
        }
    }

    /// Adds an observer of the transactions that begin from now on; see `ChangeSet.Source`.
    public func changes(capacity: Int) -> ChangeSet.Stream {
        observe(capacity: capacity)
    }

    /// Begins to observe commits, including those of other processes; see `CommitSignals.Source`.
    ///
    /// Commits of other processes are noticed after ``Options/commitPollInterval``.
    public func commits() async throws -> CommitSignals {
        try await watch.signals()
    }

    /// Runs a body that reads one snapshot; see `Store`.
    ///
    /// - Throws: As `Store` describes, and `SQLiteError`; `CancellationError` from a read that was
    ///   interrupted because its task was cancelled.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await read(onThread: false, body)
    }

    private func read<Result: Sendable>(
        onThread: Bool, _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        let cancellation = SQLiteCancellation()
        return try await withTaskCancellationHandler {
            try await sessions.read(onThread: onThread, begin: { try await $0.beginReading(cancellation) }, body)
        } onCancel: {
            cancellation.request()
        }
    }
}

extension SQLiteStore: ThreadedStore {
    package func readOnThread<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await read(onThread: true, body)
    }
}
