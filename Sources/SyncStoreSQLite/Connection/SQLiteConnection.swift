import COneWaySQLite
import Foundation
import SyncStore
import SyncStoreSQL

/// A connection to a database, and the only owner of its handle.
///
/// It is used by one thread at a time, because it never leaves the actor that created it.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]
    private let objectSets = ObjectSets()
    /// The date at which the transaction began; null before a store has set it.
    let transactionDate = SQLiteTransactionDate()
    /// Interrupts statements and waits when the transaction is cancelled.
    let interruption: SQLiteInterruption
    private var batchTables: [Int: SQLiteBatchTable] = [:]
    /// How dates are stored as numbers; nil if they are texts.
    private let dates: SQLiteDateCount?
    /// The maximum number of cached statements.
    private static let statementLimit = 200

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isReadOnly: Whether the file must exist and is not changed.
    ///   - busyTimeout: The time to wait for locks of other connections, in milliseconds.
    ///   - dates: The stored form of dates.
    init(
        path: String, isReadOnly: Bool, busyTimeout: Int32, dates: SQLNaming.DateStorage = .iso8601
    ) throws(SQLiteError) {
        var opened: OpaquePointer?
        let flags =
            (isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened else { throw SQLiteError(code: code, message: "out of memory") }
        guard code == SQLITE_OK else {
            let error = SQLiteError(opened, code: code, statement: nil)
            sqlite3_close_v2(opened)
            throw error
        }
        // If SQLite cannot open a file for writing, it opens it read-only.
        guard isReadOnly || sqlite3_db_readonly(opened, "main") != 1 else {
            sqlite3_close_v2(opened)
            throw SQLiteError(code: SQLiteError.Code.readOnly, message: "the file cannot be written")
        }
        handle = opened
        self.dates = SQLiteDateCount(dates)
        interruption = SQLiteInterruption(busyTimeout: busyTimeout)
        interruption.install(on: opened)
        Self.addFunctions(to: handle, objectSets, transactionDate)
        // The file may come from elsewhere; see https://www.sqlite.org/security.html.
        oneway_sqlite3_set_defensive(handle, 1)
        oneway_sqlite3_set_trusted_schema(handle, 0)
    }

    deinit {
        // Statements are finalized by their owners. The handle is closed with the last of them, so
        // its callbacks are removed now.
        sqlite3_progress_handler(handle, 0, nil, nil)
        sqlite3_busy_handler(handle, nil, nil)
        sqlite3_close_v2(handle)
    }

    /// Lets triggers, views and indexes of the file call any function.
    func trustSchema() {
        oneway_sqlite3_set_trusted_schema(handle, 1)
    }

    /// Runs statements without parameters, in order.
    func execute(_ text: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, statement: text) }
    }

    /// Runs a cached statement without parameters.
    func run(_ text: String) throws(SQLiteError) {
        try cached(text).run()
    }

    /// Prepares a new statement.
    func prepare(_ text: String, _ bindings: [SQLBinding] = []) throws(SQLiteError) -> SQLiteStatement {
        let statement = try SQLiteStatement(text, connection: handle, dates: dates)
        statement.bind(bindings)
        return statement
    }

    /// The texts in the first column of a statement's rows.
    func texts(_ text: String, _ bindings: [SQLBinding] = []) throws(SQLiteError) -> [String] {
        let statement = try prepare(text, bindings)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(at: 0)) }
        return texts
    }

    /// A cached statement. Before it is requested again, it must have run to its end or be reset.
    func cached(_ text: String) throws(SQLiteError) -> SQLiteStatement {
        if let known = statements[text] { return known }
        if statements.count >= Self.statementLimit { statements.removeAll() }
        let statement = try prepare(text)
        statements[text] = statement
        return statement
    }

    /// Takes a cached or new statement for use over several calls; see ``giveBack(_:)``.
    func take(_ text: String) throws(SQLiteError) -> SQLiteStatement {
        if let known = statements.removeValue(forKey: text) { return known }
        return try prepare(text)
    }

    /// Returns a statement to the cache.
    func giveBack(_ statement: SQLiteStatement) {
        statement.reset()
        if statements.count >= Self.statementLimit { statements.removeAll() }
        statements[statement.text] = statement
    }

    /// Empties the cache of statements.
    func removeCachedStatements() {
        statements.removeAll()
    }

    /// The first column of a statement's first row; nil without a row or for null.
    func integer(_ text: String, _ bindings: [SQLBinding] = []) throws(SQLiteError) -> Int64? {
        let statement = try cached(text)
        statement.bind(bindings)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(at: 0) : nil
    }

    /// The number of rows that the last writing statement changed.
    var changeCount: Int {
        Int(sqlite3_changes64(handle))
    }

    /// The number of rows that all statements have changed, those of triggers and foreign keys
    /// included.
    var totalChangeCount: Int {
        Int(sqlite3_total_changes(handle))
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool {
        sqlite3_get_autocommit(handle) == 0
    }

    /// Whether the file is no longer in its place: removed, renamed, or replaced by another.
    var hasFileMoved: Bool {
        var answer: Int32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
        return code == SQLITE_OK && answer != 0
    }

    /// The path of the open file, without symbolic links.
    var filePath: String? {
        sqlite3_db_filename(handle, "main").map { String(cString: $0) }
    }

    /// Whether the file has a write-ahead log.
    private(set) lazy var hasLog =
        (try? prepare("PRAGMA journal_mode")).map { statement in
            defer { statement.reset() }
            return (try? statement.step()) == true && statement.text(at: 0) == "wal"
        } ?? false

    /// Switches the file to a write-ahead log.
    ///
    /// SQLite does not wait for locks here: it has read the file already, so two such connections
    /// could wait for each other.
    func keepLog(waitingAtMost limit: Duration) throws(SQLiteError) {
        let start = ContinuousClock.now
        var count: Int32 = 0
        while true {
            do { return try execute("PRAGMA journal_mode = WAL") } catch {
                guard error.primaryCode == SQLiteError.Code.busy, ContinuousClock.now - start < limit,
                    interruption.wait(count)
                else { throw error }
                count += 1
            }
        }
    }

    /// How much of the write-ahead log has been copied into the file; nil if unknown.
    ///
    /// Read from the wal-index, which is mapped since the first transaction; see
    /// https://www.sqlite.org/walformat.html#the_wal_index_file_format.
    var checkpoint: SQLiteCheckpoint? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard hasLog, sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap
        else { return nil }
        var index: UnsafeMutableRawPointer?
        guard map(file, 0, SQLiteCheckpoint.indexByteCount, 0, &index) == SQLITE_OK, let index else { return nil }
        return SQLiteCheckpoint(index: index)
    }

    /// Empties the write-ahead log unless a reader still needs it; see
    /// https://www.sqlite.org/c3ref/wal_checkpoint_v2.html.
    ///
    /// - Returns: Whether the log is empty.
    func truncateLog() -> Bool {
        interruption.isPatient = false
        defer { interruption.isPatient = true }
        return sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }

    /// Decides whether a statement may have texts in double quotes. If so, SQLite reads an unknown
    /// name as a text. See https://www.sqlite.org/quirks.html#dblquote.
    func takesUnknownNamesForTexts(_ isAllowed: Bool) {
        oneway_sqlite3_set_double_quoted_texts(handle, isAllowed ? 1 : 0)
    }

    /// The collation of a column; nil if there is no such column.
    func collation(of column: String, in table: String) -> String? {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(handle, "main", table, column, nil, &collation, nil, nil, nil)
        return code == SQLITE_OK ? collation.map { String(cString: $0) } : nil
    }

    /// The virtual table for batches with a given number of cells per row.
    func batchTable(columnCount: Int) throws(SQLiteError) -> SQLiteBatchTable {
        if let known = batchTables[columnCount] { return known }
        let table = SQLiteBatchTable(columnCount: columnCount, dates: dates)
        let code = table.register(handle)
        guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, statement: nil) }
        batchTables[columnCount] = table
        return table
    }

    // MARK: Object sets

    /// Registers the objects that a query excludes for its statement, until the result is released;
    /// nil if it excludes none.
    func register(_ objects: StoreQuery.Objects) -> ObjectSets.Registration? {
        guard case .except(let excluded) = objects else { return nil }
        return objectSets.register(excluded)
    }
}

extension SQLiteError {
    /// Creates the error of a connection's last call.
    init(_ connection: OpaquePointer, code: Int32, statement: String?, boundStatement: String? = nil) {
        let extended = sqlite3_extended_errcode(connection)
        var message = String(cString: sqlite3_errmsg(connection))
        // SQLite's own text is "unable to open database file" or "disk I/O error" for all of them.
        if [Code.cannotOpen, Code.inputOutput].contains(code & 0xFF) {
            let systemCode = sqlite3_system_errno(connection)
            if systemCode != 0 { message += ": \(String(cString: strerror(systemCode)))" }
        }
        // What is wrong is the file, not what was to be done with it.
        if [Code.busy, Code.inputOutput, Code.corrupt, Code.full, Code.notADatabase].contains(code & 0xFF),
            let path = sqlite3_db_filename(connection, nil), path.pointee != 0
        {
            message = "\(String(cString: path)): \(message)"
        }
        self.init(
            code: extended & 0xFF == code & 0xFF ? extended : code, message: message, statement: statement,
            boundStatement: boundStatement)
    }
}
