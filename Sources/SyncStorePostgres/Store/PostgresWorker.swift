#if Postgres
import OneWayPostgresClient
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQL

/// Runs the statements of one connection on a thread of its own.
///
/// Cancelling a task cancels its running statement on the server, but not the end of a transaction.
actor PostgresWorker: SQLWorker {
    nonisolated let executor: BlockingExecutor
    let settings: PostgresSettings
    let schema: SQLSchema
    let queries: SQLQueries
    var connection: PostgresConnection?
    /// The expression for the number of a new row, by family.
    private var numbering: [String] = []
    /// The additions of other tools to the database.
    private var others = PostgresMigration.Others()
    private var merges: [Int: PostgresMerge] = [:]
    private let buffer = PostgresCopyBuffer()
    private var filling: PostgresFilling
    private var cursors: [Int: PostgresCursor] = [:]
    private var selections: [Int: PostgresSelection] = [:]
    private var lastCursor = 0
    /// The values that objects of the transaction wait for.
    private var waiting = SQLWaitingValues()
    /// The number of the transaction; nil if it had changed nothing when it was last asked for.
    var transactionNumber: String?
    /// The statements that begin the transaction, if its first call may send them; nil once they
    /// were sent.
    var beginning: PostgresSettings.Beginning?
    /// What the last merge read for the calls after it.
    var ahead = PostgresReadAhead()
    /// The links that the transaction has removed, in columns that do not accept null.
    var keptLinks = SQLKeptLinks()
    /// The last links, which the next call or the commit writes; nil for none.
    var waitingLinks: PostgresLinking?
    /// The rows that the transaction has inserted.
    var growth = PostgresGrowth()
    /// Sends signs of life to the server while a transaction is open.
    private var signs: Task<Void, any Error>?
    private let writes: Bool
    /// The number of deleted rows that the transaction has reported, from which the server counts;
    /// nil if no trigger of others can delete further ones.
    var reportedDeletions: Int?
    /// Whether triggers of others can change what a statement of the transaction has written. False
    /// until the transaction has begun.
    var hasTriggers: Bool { reportedDeletions != nil }
    /// Selects ``reportedDeletions`` when a transaction begins.
    private let watchedRowCount: String
    /// The process identifier of the connection's server process; 0 before the first connection.
    nonisolated let process = Locked<Int32>(0)
    /// Whether the server of the connection is far.
    private nonisolated let isFar = Locked(false)
    /// The number of records of a batch for a near server. Large, because each batch costs a round
    /// trip.
    static let nearRowCount = 16_000

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// More for a far server, whose round trips cost more than the memory for larger batches.
    nonisolated var batchRowCount: Int { Self.nearRowCount * (isFar.withLock(\.self) ? 2 : 1) }

    /// Creates a worker that connects when first needed.
    init(_ settings: PostgresSettings, schema: SQLSchema, label: String, writes: Bool = false) {
        self.writes = writes
        executor = BlockingExecutor(label: label)
        self.settings = settings
        self.schema = schema
        queries = SQLQueries(schema)
        watchedRowCount = writes ? schema.watchedRowCount : "NULL::bigint"
        filling = PostgresFilling(schema, rowMinimum: settings.options.fillMinimum, existing: [])
    }

    /// Connects, and creates or migrates the tables.
    ///
    /// - Returns: What an administrator should change.
    func prepareSchema() async throws -> [String] {
        let connection = try await opened()
        let warnings: [String]
        (numbering, others, warnings) = try await connection.interruptible {
            let migration = PostgresMigration(connection, schema: schema, settings: settings)
            let (numbering, others) = try migration.run()
            return (numbering, others, try migration.warnings())
        }
        filling = PostgresFilling(schema, rowMinimum: settings.options.fillMinimum, existing: others.existing)
        isFar.withLock { $0 = connection.isFar }
        return warnings
    }

    // MARK: Connection

    private func opened() async throws -> PostgresConnection {
        if let connection, !connection.isClosed { return connection }
        connection = nil
        let new = try await settings.open(writes && !settings.options.isReadOnly ? .primary : .preferPrimary)
        connection = new
        process.withLock { $0 = new.serverProcess }
        isFar.withLock { $0 = new.isFar }
        return new
    }

    /// Runs a function with the connection, and opens the connection first if necessary.
    func connected<Result>(_ body: (PostgresConnection) throws -> Result) async throws -> Result {
        let connection = try await opened()
        return try await connection.interruptible { try body(connection) }
    }

    /// The connection of the open transaction.
    func current() throws -> PostgresConnection {
        guard let connection else { throw StoreError.transactionEnded }
        return connection
    }

    /// Runs a function in the transaction, which is begun if it has not been. Cancels the function
    /// with its task.
    func perform<Result>(_ body: (PostgresConnection) throws -> Result) async throws -> Result {
        guard let beginning else {
            let connection = try current()
            return try await connection.interruptible {
                try writeWaitingLinks(connection)
                return try body(connection)
            }
        }
        self.beginning = nil
        let wasOpen = connection != nil
        do { return try await begin(beginning, with: body) } catch let error as PostgresError
            where wasOpen && error.isConnectionFailure && connection?.isBeginning == true
        {
            // The server has closed an idle connection, which is noticed only now.
            connection = nil
            return try await begin(beginning, with: body)
        }
    }

    /// Begins a transaction together with the first statement of a function.
    private func begin<Result>(
        _ beginning: PostgresSettings.Beginning, with body: (PostgresConnection) throws -> Result
    ) async throws -> Result {
        let connection = try await opened()
        connection.beginLater(
            beginning.statements, lock: beginning.lock, selection: settings.tableVersion(and: watchedRowCount)
        ) { try self.noteBeginning($0, connection) }
        sendSignsOfLife()
        do { return try await connection.interruptible { try body(connection) } } catch {
            if connection.isBeginning, !connection.isClosed, !connection.isInTransaction {
                // Nothing was sent.
                connection.dropBeginning()
                self.beginning = beginning
            }
            throw error
        }
    }

    // MARK: Transactions

    /// Begins a writing transaction when no other store of the schema writes. If it may begin later
    /// (`TransactionBeginning`), its first call begins it.
    func beginWriting() async throws {
        try await begin(settings.beginning(), mayWait: TransactionBeginning.mayWait)
    }

    /// Begins a reading transaction on the last commit.
    ///
    /// - Parameter mayWait: Whether the first call may begin it.
    func beginReading(mayWait: Bool) async throws {
        try await begin(PostgresSettings.readingBeginning, mayWait: mayWait)
    }

    private func begin(_ beginning: PostgresSettings.Beginning, mayWait: Bool) async throws {
        self.beginning = beginning
        guard !mayWait else { return }
        do { try await perform { _ = try $0.execute("") } } catch {
            rollback()
            throw error
        }
    }

    private func sendSignsOfLife() {
        signs?.cancel()
        let interval = settings.options.silenceLimit / 3
        signs = Task { [weak self] in
            while true {
                try await Task.sleep(for: interval)
                guard let self else { return }
                await self.sendSignOfLife()
            }
        }
    }

    /// - Parameter found: What `PostgresSettings.tableVersion(and:)` has selected.
    /// - Throws: `SQLSchemaError.newer` if a newer program has changed the tables since they were
    ///   opened, because names may have another meaning now.
    private func noteBeginning(_ found: PostgresResult, _ connection: PostgresConnection) throws {
        try connection.checkSession(found)
        reportedDeletions = found.integer(0, 1).map(Int.init)
        guard let version = found.integer(0, 0), version > settings.options.modelVersion else { return }
        throw SQLSchemaError.newer(found: Int(version), known: settings.options.modelVersion)
    }

    /// Keeps the server from ending a transaction that waits for its source.
    private func sendSignOfLife() {
        guard let connection, connection.isInTransaction, !connection.isClosed else { return }
        // In a failed transaction, the server answers with an error. The next statement notices a
        // lost connection.
        _ = try? connection.execute("SELECT 1")
    }

    /// Rolls the transaction back.
    func rollback() {
        endTransaction()
        if writes { connection?.rollback() } else { connection?.endWithoutChanges() }
        // The primary may be available again for the next transaction.
        if connection?.isClosed == true || connection?.isSubstitute == true { connection = nil }
    }

    func endTransaction() {
        beginning = nil
        transactionNumber = nil
        cursors.removeAll()
        selections.removeAll()
        filling.end()
        waiting = SQLWaitingValues()
        ahead = PostgresReadAhead()
        keptLinks = SQLKeptLinks()
        waitingLinks = nil
        growth = PostgresGrowth()
        signs?.cancel()
        signs = nil
    }

    // MARK: Reading

    func openCursor(_ query: StoreQuery) throws -> Int {
        lastCursor += 1
        let number = lastCursor
        cursors[number] = try PostgresCursor(query, number: number, queries: queries)
        return number
    }

    func next(_ cursor: Int, count: Int) async throws -> [StoredRecord] {
        guard cursors[cursor] != nil else { throw StoreError.transactionEnded }
        return try await perform { try cursors[cursor]?.next(count, connection: $0) ?? [] }
    }

    func openSelection(_ selection: BoundSelection, count: Int) async throws -> (RecordBatch, cursor: Int?) {
        lastCursor += 1
        let number = lastCursor
        return try await perform { connection in
            let opened = try PostgresSelection(
                selection, count: count, number: number, queries: queries, connection: connection)
            if opened.isDone { return (opened.first, nil) }
            selections[number] = opened
            return (opened.first, number)
        }
    }

    func nextRows(_ cursor: Int, count: Int) async throws -> RecordBatch {
        guard selections[cursor] != nil else { throw StoreError.transactionEnded }
        return try await perform {
            try selections[cursor]?.next(count, connection: $0) ?? RecordBatch(columnCount: 0)
        }
    }

    func closeCursor(_ cursor: Int) {
        guard let connection else { return }
        selections[cursor]?.close(connection: connection)
        selections[cursor] = nil
        cursors[cursor]?.close(connection: connection)
        cursors[cursor] = nil
    }

    func counts(of queries: [StoreQuery]) async throws -> [Int] {
        if let known = ahead.counts(of: queries) {
            transactionNumber = ahead.transactionNumber
            return known
        }
        var statement = try self.queries.counts(of: queries)
        // A sync counts last, and the commit needs the number.
        if writes { statement.text += ", \(PostgresReadAhead.transactionNumber)" }
        let result = try await perform { try $0.run(statement) }
        if writes { transactionNumber = result.text(0, queries.count) }
        return queries.indices.map { Int(result.integer(0, $0) ?? 0) }
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        try schema.model.check(relationship)
        return try await perform {
            keptLinks.visible(
                try $0.links(relationship, of: sources, queries, isReading: true), of: relationship, schema)
        }
    }

    // MARK: Writing

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        let merge = merge(into: try schema.model.layout(of: records))
        return try await perform { try merge.find(records, $0, buffer) }
    }

    func merge(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result {
        let merge = merge(into: try schema.model.layout(of: request))
        return try await perform { try run(merge, request, links, $0) }
    }

    private func run(
        _ merge: PostgresMerge, _ request: MergeRequest, _ links: [MergeRequest.InitialLinks],
        _ connection: PostgresConnection
    ) throws -> MergeRequest.Result {
        // Taken out during the merge: a second reference would copy all of it.
        var values: SQLWaitingValues? = waiting
        waiting = SQLWaitingValues()
        ahead = PostgresReadAhead()
        var result = try merge.run(
            request, links, filling: filling, &values, &ahead, connection, buffer, hasTriggers: hasTriggers)
        waiting = values ?? SQLWaitingValues()
        growth.add(result.rows.count { $0?.change == .inserted }, to: schema.table(of: merge.layout.index))
        // A removed link may still be in its column.
        if !keptLinks.isEmpty { result.noteLinked(result.isLinked.count) }
        return result
    }

    func settleValues() async throws -> [StoreError.Refusal] {
        guard !waiting.isEmpty || !keptLinks.isEmpty else { return [] }
        return try await perform { connection in
            var refused: [StoreError.Refusal] = []
            for (relationship, objects) in keptLinks.take(schema) {
                refused += try connection.refusals(of: objects, by: relationship, queries)
            }
            for request in waiting.takeRequests(in: schema.model, rowCount: batchRowCount) {
                let merge = merge(into: try schema.model.layout(of: request))
                var none: SQLWaitingValues?
                refused += try merge.run(
                    request, [], filling: nil, &none, &ahead, connection, buffer, hasTriggers: hasTriggers
                ).refused
            }
            try SQLUniqueColumns.check(refused, in: schema.model) { try connection.uniqueColumns(of: $0, schema) }
            return refused
        }
    }

    private func merge(into layout: EntityLayout) -> PostgresMerge {
        let merge =
            merges[layout.index]
            ?? PostgresMerge(
                layout.index, schema: schema, nextRow: numbering[schema.familyIndex[layout.index]],
                forms: others.forms[schema.table(of: layout.index)] ?? [:])
        merges[layout.index] = merge
        return merge
    }

    func changeEntity(of objects: [StoredRecord], from former: EntityLayout, to layout: EntityLayout) async throws {
        let change = SQLEntityChange(from: former, to: layout, schema: schema)
        try await perform { connection in
            ahead = PostgresReadAhead()
            try connection.run(change, of: objects, schema) { try merge(into: layout).find($0, connection, buffer) }
        }
        waiting.change(objects, by: change)
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try await perform { connection in
            ahead = PostgresReadAhead()
            var counts = PostgresConnection.DeletedRowCounts()
            // A copy, because a lookup reads the additions too.
            var others = others
            defer { self.others = others }
            let result = try connection.retrying {
                try connection.remove(query, reportsKeys: reportsKeys, others: &others, counting: &counts, queries) {
                    try merge(into: $0).find($1, connection, buffer)
                } verify: {
                    try PostgresMigration(connection, schema: schema, settings: settings).checkForeignKeys(since: $0)
                }
            }
            if let reported = reportedDeletions, let before = counts.before {
                reportedDeletions = reported + counts.after - before
            }
            return result
        }
    }
}
#endif
