import Foundation
public import SyncModel
public import SyncStore
public import SyncStoreSQL

/// A store in an SQLite database, with a natural table per family of entities that any SQL tool can read.
///
///     let store = try await SQLiteStore(model, at: .file("data.sqlite"))
///
/// One connection writes, on a thread of its own; others read what was committed last while it does (write-ahead logging). Several stores, of
/// several processes as well, can share a file: they wait for one another as long as the busy timeout says.
///
/// An existing file is adapted to the model when it is opened: new entities, attributes and relationships are added, those that are gone are
/// dropped, renamed ones (see `SyncEntity.formerName`) keep their data, and wider types take over what narrower ones held. Indices, triggers and
/// views that others have added stay, but for those of tables that are gone or have another name. Any other change is an error, and leaves
/// the file as it was.
///
/// A floating point number that is no number is kept as null, since SQLite knows none.
public final class SQLiteStore: Store {
    /// Where the data is.
    public enum Location: Hashable, Sendable {
        /// In a file, which is made where there is none; a `-wal` and a `-shm` file beside it belong to it while it is open.
        case file(String)
        /// In a file that must exist and is not changed; its tables must fit the model as they are.
        case readOnlyFile(String)
        /// In nothing that lasts: a private file, in memory where the system has a file system there, that goes with the store; that of a process
        /// that was killed goes when the next one is made.
        case memory
    }

    /// How a store behaves.
    public struct Options: Sendable {
        /// What tables and columns are called; after the model where it is not said. Must stay the same for a file.
        public var naming = SQLNaming()
        /// How dates are kept; as ISO 8601 text where it is not said. Must stay the same for a file.
        public var dates = DateStorage.iso8601
        /// How long a transaction waits for other processes before it fails with code 5; 10 seconds where it is not said.
        public var busyTimeout: Duration = .seconds(10)
        /// A number to raise with each change of the model, so that an older version of a program refuses a file of a newer one instead of
        /// dropping what it does not know; 0 where it is not said.
        public var modelVersion = 0
        /// How many pages the file may grow to, which SQLite answers with code 13; nil, for no such limit, where it is not said.
        public var maximumPageCount: Int?
        /// How many bytes of pages each connection keeps in memory, by which what a sync takes is bounded; 4 MiB where it is not said, and
        /// no less than 1 KiB. More makes writing in random order faster, which a first sync of a large table with several indices does.
        public var cacheByteCount = 4 << 20

        /// Makes options with all values as they are where nothing is said.
        public init() {}
    }

    /// What the objects are of.
    public let model: DataModel

    /// Enough for the way to the writer's thread and back not to matter, and little enough for several batches to be in memory.
    private static let batchRowCount = 3000

    private let settings: SQLiteSettings
    let sessions: SQLSessions<SQLiteWorker>
    let schema: SQLSchema
    private let folder: TransientFolder?

    /// Opens a store, and makes or adapts its tables.
    ///
    /// - Parameters:
    ///   - model: The model, with the identities that are to be unique; `RecordMapper.model` is one.
    ///   - location: Where the data is.
    ///   - options: How the store behaves.
    /// - Throws: `SQLiteError` where the file cannot be opened or is no database; `SQLSchemaError` where its tables do not fit.
    public init(_ model: DataModel, at location: Location, options: Options = Options()) async throws {
        let path: String
        switch location {
        case .file(let file), .readOnlyFile(let file):
            path = file
            folder = nil
        case .memory:
            let made = try TransientFolder()
            path = made.url.appending(path: "store.sqlite").path
            folder = made
        }
        var isReadOnly = false
        if case .readOnlyFile = location { isReadOnly = true }
        self.model = model
        let settings = SQLiteSettings(path: path, isReadOnly: isReadOnly, isTransient: folder != nil, options)
        self.settings = settings
        let schema = SQLSchema(model, naming: options.naming, dates: options.dates, dialect: .sqlite)
        self.schema = schema
        let writer = SQLiteWorker(settings, schema: schema, label: "SQLiteStore writer")
        sessions = SQLSessions(model, batchRowCount: Self.batchRowCount, writer: writer) {
            SQLiteWorker(settings, schema: schema, label: "SQLiteStore reader")
        }
        try await writer.prepareSchema()
    }

    /// Changes the store, all or nothing; see `Store`. A cancellation breaks off the statement that runs, and the wait for another process.
    ///
    /// - Throws: Besides what `Store` says, `SQLiteError`: code 5 where another process writes for longer than the busy timeout, 8 for a store
    ///   that was opened read-only, 13 for a full disk.
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        guard !settings.isReadOnly else {
            throw SQLiteError(code: SQLiteError.Code.readOnly, message: "the store was opened read-only")
        }
        let cancellation = SQLiteCancellation()
        return try await withTaskCancellationHandler {
            try await sessions.transaction(begin: { try await $0.beginWriting(cancellation) }, body)
        } onCancel: {
            cancellation.request()
        }
    }

    /// Reads what was committed last; see `Store`. A cancellation breaks off the statement that runs.
    ///
    /// - Throws: Besides what `Store` says, `SQLiteError`, and `CancellationError` from a read that was broken off.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        let cancellation = SQLiteCancellation()
        return try await withTaskCancellationHandler {
            try await sessions.read(begin: { try await $0.beginReading(cancellation) }, body)
        } onCancel: {
            cancellation.request()
        }
    }
}
