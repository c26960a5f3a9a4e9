#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// Merges batches of one entity's records.
///
/// A batch is written into a temporary table and joined with the stored rows. Only new and
/// different rows are written to the entity's table; an upsert would lock, and therefore write,
/// every row. A merge takes one message to the server and one answer, and one more of each if the
/// batch is too large for `PostgresLiterals`. Empty tables are filled; see `PostgresFilling`.
struct PostgresMerge {
    /// The maximum number of attempts for a statement that conflicts with other transactions.
    static let attemptLimit = 5

    let schema: SQLSchema
    let layout: EntityLayout
    let statements: PostgresMergeStatements
    let batch: PostgresBatch

    /// Creates a merge for an entity.
    ///
    /// - Parameters:
    ///   - nextRow: The expression for the number of a new row of the table.
    ///   - forms: The columns of the table that hold only some values or have a default, by name.
    init(_ entity: Int, schema: SQLSchema, nextRow: String, forms: [String: PostgresColumnForm]) {
        self.schema = schema
        layout = schema.model.layouts[entity]
        batch = PostgresBatch(layout)
        statements = PostgresMergeStatements(schema: schema, batch: batch, nextRow: nextRow, forms: forms)
    }

    func find(
        _ records: RecordBatch, _ connection: PostgresConnection, _ buffer: PostgresCopyBuffer
    ) throws -> [ObjectID?] {
        let request = MergeRequest(records, policy: MergeRequest.Policy(inserts: false, updates: false))
        var waiting: SQLWaitingValues?
        var ahead = PostgresReadAhead()
        return try run(request, [], filling: nil, &waiting, &ahead, connection, buffer, hasTriggers: false).objects
    }

    /// Merges the records of a request.
    ///
    /// - Parameters:
    ///   - filling: The tables that the transaction fills; nil in a transaction that only reads.
    ///   - waiting: Receives the values that unique indexes refuse. Nil to refuse such rows.
    ///   - ahead: Receives what the request announces, if it was read.
    ///   - hasTriggers: Whether the model's tables have triggers of other tools. Asked when the
    ///     transaction has begun.
    func run(
        _ request: MergeRequest, _ links: [MergeRequest.InitialLinks],
        filling: PostgresFilling?, _ waiting: inout SQLWaitingValues?, _ ahead: inout PostgresReadAhead,
        _ connection: PostgresConnection, _ buffer: PostgresCopyBuffer, hasTriggers: @autoclosure () -> Bool
    ) throws -> MergeRequest.Result {
        // A batch table has one target per row.
        let links = links.first
        let positions = links.flatMap { statements.link($0.relationship)?.position == nil ? nil : $0.positions }
        let (records, policy) = (request.records, request.policy)
        var result = MergeRequest.Result(Array(repeating: nil, count: records.count))
        if links != nil { result.isLinked = [Array(repeating: false, count: records.count)] }
        // Objects of an abstract entity can be found but not inserted.
        let inserts = policy.inserts && !layout.isAbstract
        // The time that a message takes matters for a small batch.
        let isSmall = records.byteCount <= PostgresLiterals.byteLimit(isFar: connection.isFar)
        try records.withReader { reader in
            let order = PostgresMergeRounds(
                reader, layout, request, longColumns: schema.longColumns(of: layout.index),
                longLimit: schema.dialect.longKeys?.limit ?? .max)
            if order.repeatsIdentity { throw StoreError.repeatedObject(entity: layout.name) }
            for (place, round) in order.rounds.enumerated() {
                ahead = PostgresReadAhead()
                if place == 0, inserts, !(isSmall && connection.isFar), let filling,
                    let numbers = try fill(reader, round, links, positions, filling, connection, buffer)
                {
                    for (row, number) in zip(round.rows.sorted(), numbers) {
                        result.rows[row] = MergeRequest.Result.Row(number, .inserted)
                        if links != nil { result.isLinked[0][row] = true }
                    }
                    continue
                }
                let presence = batch.presence(reader, round.rows)
                let extras = PostgresBatch.Extras(
                    objects: round.isByObject ? order.objects : nil,
                    targets: inserts && !round.isByObject ? links?.targets : nil,
                    positions: inserts && !round.isByObject ? positions : nil,
                    hasMarks: presence.contains(.sometimes))
                var task = PostgresMergeStatements.Task(
                    isByObject: round.isByObject, isLong: round.isLong, inserts: inserts && !round.isByObject,
                    updates: policy.updates, presence: presence, hasMarks: extras.hasMarks,
                    linked: extras.targets == nil ? nil : links?.relationship)
                if let waiting, !waiting.isEmpty { task.waiting = waiting.objects(of: layout) }
                do {
                    let selections = isSmall ? try PostgresReadAhead.statements(for: request, schema) : []
                    let answers = try send(
                        [statements.merge(task)] + selections, reader, round.rows, extras, connection,
                        isSmall ? nil : buffer)
                    try take(answers.merge, round, policy, connection, into: &result)
                    if isSmall { ahead = PostgresReadAhead(request, answers.selections) }
                } catch let refusal as Refusal {
                    try connection.check(refusal.cause, of: schema.table(of: layout.index), schema)
                    var refused = PostgresRefusedRows(
                        merge: self, reader: reader, round: round, task: task, request: request,
                        objects: order.objects, waiting: waiting, result: result, connection: connection)
                    try refused.merge(after: refusal.cause)
                    (waiting, result) = (refused.waiting, refused.result)
                }
                if hasTriggers() { try verify(round, &result, connection) }
            }
            if waiting?.isEmpty == false, policy.updates {
                waiting?.restate(reader, &result.rows, layout)
            }
            if !order.objects.isEmpty, policy.writes, result.repeatsObject {
                throw StoreError.repeatedObject(entity: layout.name)
            }
        }
        return result
    }

    // MARK: Sending

    /// The merge failed because of a row or the set-up of its table, and is rolled back.
    private struct Refusal: Error {
        let cause: PostgresError
    }

    /// Writes rows into the batch's table, and merges them. After a deadlock or a serialization
    /// failure, only the merge is rolled back and tried again; the written rows stay.
    ///
    /// - Parameters:
    ///   - selections: The statement that merges, and those that read what the caller needs next.
    ///   - buffer: The buffer for a COPY; nil to send the rows with the statements.
    /// - Returns: The answer of the merge, and the results of the other selections.
    /// - Throws: ``Refusal``; any other error ends the transaction.
    private func send(
        _ selections: [String], _ reader: RecordBatch.Reader, _ rows: [Int], _ extras: PostgresBatch.Extras,
        _ connection: PostgresConnection, _ buffer: PostgresCopyBuffer?
    ) throws -> (merge: Answer, selections: ArraySlice<PostgresResult>) {
        let before =
            "\(PostgresMergeStatements.plansLookups.joined(separator: "; ")); \(batch.preparation); "
        let rest = selections.joined(separator: "; ")
        let after = "; SAVEPOINT sync_merge; \(rest)"
        var results: [PostgresResult] = []
        var failure: PostgresError?
        do {
            if let buffer {
                try connection.copyIn(before + batch.copying(extras) + after, each: { results.append($0) }) { writer in
                    try buffer.send(to: writer) { try batch.write(reader, rows, extras, to: buffer, endRow: $0) }
                }
            } else {
                let literals = PostgresLiterals()
                try batch.write(reader, rows, extras, to: literals)
                try connection.execute(
                    before + batch.inserting(literals.list, extras) + after,
                    shown: before + batch.inserting("…", extras) + after
                ) { results.append($0) }
            }
        } catch let error as PostgresError {
            guard !connection.isBeginning, error.isConflict || error.isRefusalOfMerge else { throw error }
            failure = error
        }
        var attempt = 0
        while true {
            attempt += 1
            let isLast = attempt >= Self.attemptLimit
            if failure == nil {
                let answer = Answer(results[0])
                if isLast || answer.unwrittenCount == 0 {
                    connection.executeLater(
                        ["RELEASE SAVEPOINT sync_merge"] + PostgresMergeStatements.plansAnything)
                    return (answer, results.dropFirst())
                }
            }
            // What failed before the merge, such as a table that the role may not create, has no
            // savepoint.
            do { try connection.execute("ROLLBACK TO SAVEPOINT sync_merge") } catch let lost as PostgresError
                where lost.code == .noSavepoint
            { throw failure ?? lost }
            if let error = failure, isLast || !error.isConflict {
                guard error.isRefusalOfMerge else { throw error }
                throw Refusal(cause: error)
            }
            (results, failure) = ([], nil)
            do { try connection.execute(rest) { results.append($0) } } catch let error as PostgresError {
                failure = error
            }
        }
    }

    /// The name of the entity of an object.
    func entity(of object: ObjectID?, _ connection: PostgresConnection) throws -> String? {
        guard let object, let text = statements.entity else { return nil }
        let found = try connection.query(text, [.integer(object)])
        return found.rowCount > 0 ? found.text(0, 0) : nil
    }

    // MARK: Results

    /// What a statement answers about a row: its object, what became of it, and whether it has the
    /// link that the batch has for it. 0 for a row without an object.
    struct Code {
        let object: ObjectID
        let change: MergeRequest.Result.Change?
        let isLinked: Bool

        init(_ number: Int64) {
            object = number >> 3
            change = MergeRequest.Result.Change(rawValue: UInt8(truncatingIfNeeded: number & 3))
            isLinked = number & 4 != 0
        }

        /// The SQL expression for a number.
        static func term(object: String, change: MergeRequest.Result.Change, isLinked: String) -> String {
            "\(object) * 8 + \(isLinked)::integer * 4 + \(change.rawValue)"
        }
    }

    /// The result of the statement that merges.
    struct Answer {
        /// One for each row, in order.
        let codes: [Code]
        private let result: PostgresResult

        init(_ result: PostgresResult) {
            self.result = result
            codes = result.integers(0, 0).map(Code.init)
        }

        /// The number of written rows, and the exclusive or of their numbers; nil if the statement
        /// writes none.
        var inserted: (count: Int64?, numbers: Int64) { (result.integer(0, 1), result.integer(0, 2) ?? 0) }
        var updatedCount: Int64? { result.integer(0, 3) }
        /// Whether inserted rows have other targets than the batch.
        var hasOtherTargets: Bool { result.boolean(0, 4) == true }

        /// The number of rows that were found and then not updated: another program has deleted
        /// them, or changed their identities, since the statement began, or a trigger has kept
        /// them.
        var unwrittenCount: Int {
            updatedCount.map { codes.count { $0.change == .updated } - Int($0) } ?? 0
        }
    }

    /// Reads the results of a round.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable` if the rows that the server wrote differ from
    ///   those that it was to write; `PostgresError` if other programs have changed these rows
    ///   again and again.
    func take(
        _ answer: Answer, _ round: PostgresMergeRounds.Round, _ policy: MergeRequest.Policy,
        _ connection: PostgresConnection, into result: inout MergeRequest.Result
    ) throws {
        let codes = answer.codes
        let table = schema.table(of: layout.index)
        try check(
            written: answer.inserted.count, of: codes.count { $0.change == .inserted },
            isSame: codes.reduce(into: 0) { if $1.change == .inserted { $0 ^= $1.object } } == answer.inserted.numbers,
            connection)
        if answer.unwrittenCount != 0 {
            let guards = try connection.guards(of: table, schema)
            let rows = "\(answer.unwrittenCount) of \(codes.count { $0.change == .updated }) rows"
            guard guards.isEmpty else { throw SQLKeptRows("\(rows) from being written", in: table).error(by: guards) }
            throw PostgresError(
                code: .serializationFailure,
                message: "another program deleted \(rows) of \(layout.name) in the table \(table), or changed their "
                    + "identities, while they were written")
        }
        if answer.hasOtherTargets {
            throw SQLKeptRows("links from being written", in: table).error(by: try connection.guards(of: table, schema))
        }
        for (row, code) in zip(round.rows.sorted(), codes) {
            result.rows[row] = code.change.map { MergeRequest.Result.Row(code.object, $0) }
            if code.isLinked { result.isLinked[0][row] = true }
            if code.change == nil, policy.inserts, !round.isByObject {
                throw StoreError.abstractEntity(entity: layout.name)
            }
        }
    }

    /// Fails if a trigger has changed the identities of written rows, also after they were written.
    /// Their links are compared again when they are stated.
    private func verify(
        _ round: PostgresMergeRounds.Round, _ result: inout MergeRequest.Result, _ connection: PostgresConnection
    ) throws {
        let waiting = Set(result.waitingRows)
        let written = round.rows.filter { row in
            result.rows[row].map { $0.change != .unchanged } ?? false && !waiting.contains(row)
        }
        guard !written.isEmpty else { return }
        for links in result.isLinked.indices {
            for row in written { result.isLinked[links][row] = false }
        }
        guard let text = statements.changedIdentities else { return }
        let places: SQLBinding = .objects(written.map(Int64.init))
        let objects: SQLBinding = .objects(written.compactMap { result.rows[$0]?.object })
        let found = try connection.run(text, [places, objects])
        guard let count = found.integer(0, 0), count > 0 else { return }
        let table = schema.table(of: layout.index)
        let columns = layout.identityColumns.enumerated().filter { found.boolean(0, $0.offset + 1) == true }
            .map { schema.columns[layout.index][$0.element] }
        throw SQLSchemaError.changedIdentity(
            columns, of: "\(count) of \(written.count) rows", in: table,
            by: try connection.guards(of: table, schema))
    }

    /// Fails if a trigger or another tool kept rows from being written, or changed their numbers.
    ///
    /// - Parameter count: The number of written rows; nil if there were none to write.
    private func check(
        written count: Int64?, of expected: Int, isSame: Bool, _ connection: PostgresConnection
    ) throws {
        guard let count, count != expected || !isSame else { return }
        let table = schema.table(of: layout.index)
        let guards = try connection.guards(of: table, schema)
        guard count == expected else {
            throw SQLKeptRows("\(Int64(expected) - count) of \(expected) rows from being written", in: table)
                .error(by: guards)
        }
        throw SQLSchemaError.unsuitableTable(
            table: table, reason: "\(SQLKeptRows.cause(guards)) gives new rows other numbers than the store")
    }
}

extension PostgresConnection {
    /// Retries statements of a transaction after a deadlock or a serialization failure. Earlier
    /// statements keep their effects.
    ///
    /// - Parameter plansLookups: Whether the statements look up few rows of large tables; false by
    ///   default.
    func retrying<Result>(plansLookups: Bool = false, _ body: () throws -> Result) throws -> Result {
        var attempt = 1
        while true {
            executeLater((plansLookups ? PostgresMergeStatements.plansLookups : []) + ["SAVEPOINT sync_attempt"])
            do {
                let result = try body()
                executeLater(
                    ["RELEASE SAVEPOINT sync_attempt"] + (plansLookups ? PostgresMergeStatements.plansAnything : []))
                return result
            } catch let error as PostgresError
                where error.isConflict && attempt < PostgresMerge.attemptLimit && !isBeginning
            {
                attempt += 1
                try execute("ROLLBACK TO SAVEPOINT sync_attempt")
            }
        }
    }
}
#endif
