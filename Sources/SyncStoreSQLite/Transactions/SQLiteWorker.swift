import Foundation
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQL

/// Runs all operations of one connection on a thread of its own.
actor SQLiteWorker: SQLWorker {
    nonisolated let executor: BlockingExecutor
    let schema: SQLSchema
    let settings: SQLiteSettings
    private let queries: SQLQueries
    private var connection: SQLiteConnection?
    /// The additions of other tools to the database; only the writer needs them.
    private var others = SQLiteMigration.Others()
    /// The version of the database's schema when the tables were last verified; nil if they never
    /// were.
    private var verifiedVersion: Int64?
    private var merges: [Int: SQLiteMerge] = [:]
    private var cursors: [Int: SQLiteCursor] = [:]
    private var selections: [Int: SQLiteSelection] = [:]
    private var lastCursor = 0
    /// The values that objects of the transaction wait for.
    private var waiting = SQLWaitingValues()
    /// The links that the transaction has removed, in columns that do not accept null.
    var keptLinks = SQLKeptLinks()
    /// The tables that the transaction fills.
    private var fillings = SQLiteFillings()
    /// The links that the last merge read.
    var knownLinks = SQLiteKnownLinks()
    private let files: SQLiteFiles
    /// The last property, so that it is released after everything that has a file open in it.
    private let folder: TransientFolder?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Large enough that switches to the writer's thread do not matter, and small enough for
    /// several batches to be in memory.
    nonisolated var batchRowCount: Int { 3000 }

    /// Creates a worker that opens its connection when first needed.
    ///
    /// - Parameter files: The files, shared by all workers of a store; nil for a worker on its own.
    init(_ settings: SQLiteSettings, schema: SQLSchema, files: SQLiteFiles? = nil, label: String) {
        self.files = files ?? SQLiteFiles(of: settings.absolutePath)
        executor = BlockingExecutor(label: label)
        self.settings = settings
        self.schema = schema
        folder = settings.folder
        queries = SQLQueries(schema)
    }

    func opened() throws -> SQLiteConnection {
        if let connection { return connection }
        let new = try settings.open()
        connection = new
        return new
    }

    /// Opens the connection, and creates or migrates the tables of the schema.
    func prepareSchema() throws {
        let connection = try settings.openUnchanged()
        do {
            // Read before, so that a change by others meanwhile is noticed later.
            let version = try schemaVersion(connection)
            others = try SQLiteMigration(connection, schema: schema, settings: settings).run()
            verifiedVersion = version
        } catch let error as SQLiteError {
            throw settings.place.explained(error)
        }
        // Only now, so that a rejected file stays unchanged.
        try settings.keepLog(of: connection)
        self.connection = connection
        try files.open(connection)
        if !settings.isReadOnly { files.shrinkLog(after: connection) }
    }

    /// Verifies that the store's tables can be replaced.
    func checkReplacement() throws {
        try SQLiteMigration(try opened(), schema: schema, settings: settings).checkReplacement()
    }

    /// Finds the missing parts of the recorded tables.
    func defects() throws -> [SQLSchemaError.Defect] {
        try SQLiteMigration(try opened(), schema: schema, settings: settings).defects()
    }

    /// Creates the missing parts of the recorded tables again.
    func repair() throws -> [SQLSchemaError.Defect] {
        try SQLiteMigration(try opened(), schema: schema, settings: settings).repair()
    }

    /// Replaces the store's tables with those of another file, in one transaction.
    ///
    /// - Returns: The dropped columns that were not the store's.
    func replaceTables(by file: String) throws -> [String] {
        try SQLiteMigration(try opened(), schema: schema, settings: settings).replaceTables(by: file)
    }

    // MARK: Transactions

    /// Begins a writing transaction as soon as no other process writes.
    ///
    /// - Parameter cancellation: Interrupts the wait, and every statement until the transaction
    ///   ends.
    func beginWriting(_ cancellation: SQLiteCancellation) throws {
        let connection = try opened()
        connection.interruption.cancellation = cancellation
        do {
            try interruptible { try connection.execute("BEGIN IMMEDIATE") }
            connection.transactionDate.value = schema.binding(.date(Timestamp(Date())))
            try files.check(connection)
            try interruptible { try verifyTables(try schemaVersion(connection), isWriting: true, connection) }
        } catch {
            rollback()
            throw error
        }
    }

    /// Begins a reading transaction on the last commit.
    ///
    /// - Parameter cancellation: Interrupts every statement until the transaction ends.
    func beginReading(_ cancellation: SQLiteCancellation) throws {
        let connection = try opened()
        connection.interruption.cancellation = cancellation
        do {
            let version = try interruptible {
                try connection.run("BEGIN")
                // The first read determines the snapshot.
                return try schemaVersion(connection)
            }
            try files.check(connection)
            try interruptible { try verifyTables(version, isWriting: false, connection) }
        } catch {
            rollback()
            throw error
        }
    }

    /// A number that changes with each change of tables, indices, triggers and views.
    private func schemaVersion(_ connection: SQLiteConnection) throws -> Int64? {
        try connection.integer("PRAGMA schema_version")
    }

    /// Verifies that the tables still fit the model if another program changed some.
    private func verifyTables(_ version: Int64?, isWriting: Bool, _ connection: SQLiteConnection) throws {
        guard version != verifiedVersion else { return }
        others = try SQLiteMigration(connection, schema: schema, settings: settings).verify(isWriting: isWriting)
        merges.removeAll()
        verifiedVersion = version
    }

    /// Runs a body, and converts errors caused by a cancellation to `CancellationError`.
    func interruptible<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLiteError where connection?.interruption.caused(error) == true {
            throw CancellationError()
        }
    }

    /// Commits the transaction, without interruption. If the commit fails, the changes are rolled
    /// back.
    func commit(changing roots: Set<Int>) throws {
        let connection = try opened()
        do { try fillings.end(connection) } catch {
            rollback()
            throw error
        }
        let version = fillings.schemaVersion
        endTransaction()
        connection.interruption.cancellation = nil
        do {
            // A commit to a file that is no longer in its place would be lost.
            try files.check(connection)
            try connection.execute("COMMIT")
        } catch {
            let explained = connection.explainedCommit(error, schema)
            rollback()
            throw explained
        }
        if let version { verifiedVersion = version }
        files.shrinkLog(after: connection)
        files.note(connection)
    }

    /// The connection, with all indices.
    func indexed() throws -> SQLiteConnection {
        let connection = try opened()
        try fillings.end(connection)
        return connection
    }

    /// A number that changes with each commit of another connection, including other processes.
    func dataVersion() throws -> Int64 {
        try opened().integer("PRAGMA data_version") ?? 0
    }

    /// Rolls the transaction back.
    func rollback() {
        endTransaction()
        connection?.interruption.cancellation = nil
        guard let connection, connection.isInTransaction else { return }
        // Fails only if SQLite has rolled back already.
        try? connection.run("ROLLBACK")
        files.shrinkLog(afterReading: connection)
    }

    // MARK: Reading

    /// Opens a cursor for the objects of a query.
    ///
    /// - Returns: The number of the cursor.
    func openCursor(_ query: StoreQuery) throws -> Int {
        lastCursor += 1
        cursors[lastCursor] = try interruptible {
            try SQLiteCursor(query, queries: queries, connection: try indexed())
        }
        return lastCursor
    }

    /// Reads the next objects of a cursor; empty after the last.
    func next(_ cursor: Int, count: Int) throws -> [StoredRecord] {
        guard let found = cursors[cursor] else { throw StoreError.transactionEnded }
        return try interruptible { try found.next(count) }
    }

    func openSelection(_ selection: BoundSelection, count: Int) throws -> (RecordBatch, cursor: Int?) {
        try interruptible {
            let opened = try SQLiteSelection(selection, queries: queries, connection: try indexed())
            let first: RecordBatch
            do { first = try opened.next(count) } catch let error as SQLiteError {
                guard selection.isGrouped, error.message == SQLiteConnection.overflowMessage else { throw error }
                throw StoreError.sumOverflow(entity: selection.entity.name)
            }
            guard !opened.isDone else { return (first, nil) }
            lastCursor += 1
            selections[lastCursor] = opened
            return (first, lastCursor)
        }
    }

    func nextRows(_ cursor: Int, count: Int) throws -> RecordBatch {
        guard let found = selections[cursor] else { throw StoreError.transactionEnded }
        return try interruptible { try found.next(count) }
    }

    /// Closes a cursor.
    func closeCursor(_ cursor: Int) {
        cursors[cursor] = nil
        selections[cursor] = nil
    }

    private func endTransaction() {
        waiting = SQLWaitingValues()
        keptLinks = SQLKeptLinks()
        knownLinks = SQLiteKnownLinks()
        fillings = SQLiteFillings()
        cursors.removeAll()
        selections.removeAll()
    }

    func counts(of queries: [StoreQuery]) throws -> [Int] {
        return try interruptible {
            let connection = try indexed()
            return try queries.map { query in
                try connection.withObjectSet(of: query) { objectSet in
                    let statement = try self.queries.count(query, objectSet: objectSet)
                    return Int(try connection.integer(statement.text, statement.bindings) ?? 0)
                }
            }
        }
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) throws -> [LinkBatch.Link] {
        try schema.model.check(relationship)
        return try interruptible {
            var links: [LinkBatch.Link] = []
            try forEachLink(relationship, of: sources, isReading: true, try opened()) { links.append($0) }
            return links
        }
    }

    func targets(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) throws -> [ObjectID: [ObjectID]] {
        try schema.model.check(relationship)
        return try interruptible {
            try targets(relationship, of: sources, isReading: true, try opened())
        }
    }

    private func targets(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], isReading: Bool,
        _ connection: SQLiteConnection
    ) throws -> [ObjectID: [ObjectID]] {
        var targets = LinkedTargets()
        try forEachLink(relationship, of: sources, isReading: isReading, connection) { targets.add($0) }
        return targets.take()
    }

    /// Reads the links of a relationship, grouped by source and in order: those that the last merge
    /// read, or stored ones.
    ///
    /// - Parameter isReading: Whether to leave out targets of entities that the model lacks.
    private func forEachLink(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], isReading: Bool,
        _ connection: SQLiteConnection, _ body: (LinkBatch.Link) -> Void
    ) throws {
        let readsEntity = isReading && schema.entityCondition(relationship.destination, alias: "k") != nil
        let known = readsEntity ? nil : knownLinks.links(relationship, of: sources, connection)
        guard known != nil || !keptLinks.isEmpty else {
            return try connection.forEachLink(relationship, of: sources, queries, isReading: isReading, body)
        }
        let links = try known ?? connection.links(relationship, of: sources, queries, isReading: isReading)
        for link in keptLinks.visible(links, of: relationship, schema) { body(link) }
    }

    /// The rows of a user's statement, which must only read.
    func rows(_ text: String, _ values: [AttributeValue]) throws -> [[String: AttributeValue]] {
        try interruptible {
            let statement = try indexed().prepare(text)
            guard statement.isSelection else {
                throw SQLiteError(
                    code: SQLiteError.Code.readOnly, message: "only one statement that reads can run here",
                    statement: text)
            }
            if let name = statement.repeatedColumn {
                throw SQLiteError(
                    code: SQLiteError.Code.misuse, message: "several columns are called \(name); rename them with AS",
                    statement: text)
            }
            guard statement.parameterCount == values.count || statement.isExplanation else {
                throw SQLiteError(
                    code: SQLiteError.Code.misuse,
                    message: "the statement has \(statement.parameterCount) parameters, not \(values.count)",
                    statement: text)
            }
            statement.bind(values.map(schema.binding))
            var rows: [[String: AttributeValue]] = []
            while try statement.step() { rows.append(statement.values()) }
            return rows
        }
    }

    // MARK: Writing

    func find(_ records: RecordBatch) throws -> [ObjectID?] {
        let merge = merge(into: try schema.model.layout(of: records))
        return try interruptible { try merge.find(records, connection: try indexed()) }
    }

    func merge(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) throws -> MergeRequest.Result {
        let layout = try schema.model.layout(of: request)
        let merge = merge(into: layout)
        return try interruptible {
            let connection = try opened()
            let isReading = !cursors.isEmpty || !selections.isEmpty
            let isFilling = try fillings.fills(request, merge, isReading: isReading, connection)
            return try connection.watchingDeletions(
                others, of: layout, schema, gain: { $0.rows.count { $0?.change == .inserted } },
                {
                    // Taken out during the merge: a second reference would copy all of it.
                    var values: SQLWaitingValues? = waiting
                    waiting = SQLWaitingValues()
                    var result = try merge.run(
                        request, links, &values, &knownLinks, isFilling: isFilling, connection: connection)
                    waiting = values ?? SQLWaitingValues()
                    // A removed link may still be in its column.
                    if !keptLinks.isEmpty { result.noteLinked(result.isLinked.count) }
                    return result
                })
        }
    }

    func settleValues() throws -> [StoreError.Refusal] {
        try interruptible { _ = try indexed() }
        guard !waiting.isEmpty || !keptLinks.isEmpty else { return [] }
        return try interruptible {
            let connection = try opened()
            var refused: [StoreError.Refusal] = []
            for (relationship, objects) in keptLinks.take(schema) {
                refused += try connection.refusals(of: objects, by: relationship, queries)
            }
            for request in waiting.takeRequests(in: schema.model, rowCount: 1000) {
                let layout = try schema.model.layout(of: request)
                var none: SQLWaitingValues?
                let result = try connection.watchingDeletions(others, of: layout, schema, gain: { _ in 0 }) {
                    try merge(into: layout).run(request, [], &none, &knownLinks, connection: connection)
                }
                refused += result.refused
            }
            try SQLUniqueColumns.check(refused, in: schema.model) { try connection.uniqueColumns(of: $0, schema) }
            return refused
        }
    }

    private func merge(into layout: EntityLayout) -> SQLiteMerge {
        let merge =
            merges[layout.index]
            ?? SQLiteMerge(
                layout.index, schema: schema, existing: others.tables[schema.table(of: layout.index)],
                hasTriggers: others.hasTriggers)
        merges[layout.index] = merge
        return merge
    }

    func link(_ batch: LinkBatch) throws -> LinkBatch.Result {
        try schema.model.check(batch.relationship)
        return try interruptible {
            let connection = try opened()
            let relationship = batch.relationship
            let origins = SQLLinkPlan.origins(of: batch, schema: schema)
            var comparison = LinkComparison(batch)
            if !batch.hasNewSources {
                try forEachLink(relationship, of: batch.sources, isReading: false, connection) { comparison.add($0) }
            }
            guard var links = comparison.difference() else { return LinkBatch.Result() }
            if origins.count > batch.sources.count {
                links = try targets(relationship, of: origins, isReading: false, connection)
            }
            return try connection.watchingDeletions(
                others, of: schema.model.layouts[relationship.source], schema, gain: { _ in 0 },
                {
                    var linking = try SQLiteLinking(
                        batch, links: links, queries: queries, connection: connection, verifies: others.hasTriggers)
                    return try linking.run(keeping: &keptLinks)
                })
        }
    }

    func changeEntity(of objects: [StoredRecord], from former: EntityLayout, to layout: EntityLayout) throws {
        let change = SQLEntityChange(from: former, to: layout, schema: schema)
        try interruptible {
            let connection = try indexed()
            try connection.watchingDeletions(others, of: former, schema, gain: { _ in 0 }) {
                try connection.run(change, of: objects) { try merge(into: layout).find($0, connection: connection) }
            }
        }
        waiting.change(objects, by: change)
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) throws -> RemovalResult {
        try interruptible {
            let connection = try indexed()
            return try connection.remove(query, reportsKeys: reportsKeys, others: others, queries) {
                try merge(into: $0).find($1, connection: connection)
            }
        }
    }
}
