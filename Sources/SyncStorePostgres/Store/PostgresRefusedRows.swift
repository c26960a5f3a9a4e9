#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// Merges the rows of a round whose statement an index or a constraint refused.
///
/// The rows are still in the batch's table. If a unique index or an exclusion constraint refused
/// them, they are merged without their unique values, which wait. Other refused rows are found by
/// halving.
struct PostgresRefusedRows {
    let merge: PostgresMerge
    let reader: RecordBatch.Reader
    let round: PostgresMergeRounds.Round
    let task: PostgresMergeStatements.Task
    let request: MergeRequest
    /// The object that each row names by number; empty if no row names one.
    let objects: [ObjectID?]
    /// The values that unique indexes refuse; nil if such rows are refused.
    var waiting: SQLWaitingValues?
    var result: MergeRequest.Result
    let connection: PostgresConnection
    var contents: [Int: SQLUniqueColumns.Content]?

    /// Merges the rows of the round, in a transaction at the savepoint before the merge.
    mutating func merge(after error: PostgresError) throws {
        let rows = round.rows.sorted()[...]
        if try canSucceedNow(after: error) {
            do { try attempt(rows) } catch let next as PostgresError where next.isRefusalOfMerge {
                try merge(rows, after: next)
            }
        } else {
            try merge(rows, after: error)
        }
        try connection.execute(
            (["RELEASE SAVEPOINT sync_merge"] + PostgresMergeStatements.plansAnything).joined(separator: "; "))
    }

    /// Whether the same statement can succeed now: another program has inserted the objects of new
    /// rows since the statement began, or new rows got the numbers of existing ones, and now get
    /// higher ones.
    private func canSucceedNow(after error: PostgresError) throws -> Bool {
        guard error.code == .uniqueViolation else { return false }
        let table = merge.schema.relation(merge.schema.table(of: merge.layout.index))
        let constraint = error.constraint ?? ""
        let columns = try connection.run(PostgresMerge.indexColumns, [.text(table), .text(constraint)]).texts(0)
        let identity = merge.layout.identityColumns.map { merge.schema.columns[merge.layout.index][$0] }
        if !round.isByObject, !identity.isEmpty, Set(columns).isSuperset(of: identity) { return true }
        guard columns == [merge.schema.naming.rowColumn] else { return false }
        let sequence = "pg_catalog.pg_get_serial_sequence(\(SQLText.literal(table)), \(SQLText.literal(columns[0])))"
        return try connection.execute(merge.schema.numbersAboveRows(of: table, from: sequence)).rowCount > 0
    }

    private mutating func merge(_ rows: ArraySlice<Int>, after error: PostgresError) throws {
        var error = error
        if [.uniqueViolation, .exclusionViolation].contains(error.code), waiting != nil {
            let contents = try self.contents ?? connection.uniqueColumns(of: merge.layout, merge.schema).contents
            self.contents = contents
            if !contents.isEmpty {
                do {
                    try attempt(rows, emptied: contents)
                    return wait(rows, contents.keys.sorted())
                } catch let next as PostgresError where next.isRefusalOfMerge { error = next }
            }
        }
        guard rows.count > 1 else { return try refuse(rows[rows.startIndex], error) }
        let middle = rows.startIndex + rows.count / 2
        for half in [rows[..<middle], rows[middle...]] {
            do { try attempt(half) } catch let next as PostgresError where next.isRefusalOfMerge {
                try merge(half, after: next)
            }
        }
    }

    /// Merges rows. If they are refused, nothing changes.
    private mutating func attempt(_ rows: ArraySlice<Int>, emptied: [Int: SQLUniqueColumns.Content] = [:]) throws {
        guard let first = rows.first, let last = rows.last else { return }
        var task = task
        task.places = first...last
        task.emptied = emptied
        let text = merge.statements.merge(task)
        var part = round
        part.rows = Array(rows)
        let answer: PostgresMerge.Answer
        var attempt = 0
        do {
            answer = try connection.retrying {
                let answer = PostgresMerge.Answer(try connection.execute(text))
                attempt += 1
                guard answer.unwrittenCount == 0 || attempt >= PostgresMerge.attemptLimit else {
                    throw PostgresError(code: .serializationFailure, message: "another program has changed the rows")
                }
                return answer
            }
        } catch let error as PostgresError where error.isRefusalOfMerge {
            try connection.execute("ROLLBACK TO SAVEPOINT sync_attempt; RELEASE SAVEPOINT sync_attempt")
            throw error
        }
        try merge.take(answer, part, request.policy, connection, into: &result)
    }

    private mutating func wait(_ rows: ArraySlice<Int>, _ columns: [Int]) {
        guard var values = waiting else { return }
        waiting = nil
        for row in rows {
            guard let merged = result.rows[row],
                merged.change != .unchanged
            else { continue }
            values.add(
                reader, row: row, of: merged.object, columns: columns, merge.layout, isNew: merged.change == .inserted)
            result.waitingRows.append(row)
        }
        waiting = values
    }

    /// Reports a refused row, or fails.
    private mutating func refuse(_ row: Int, _ error: PostgresError) throws {
        let refusal = try merge.refusal(
            error, reader, row: row, object: objects.isEmpty ? nil : objects[row], connection)
        guard !request.setsRefusedAside else {
            result.refused.append(refusal)
            return
        }
        let identity = merge.layout.identityColumns.map { merge.layout.attributes[$0].name }
        if round.isByObject, error.code == .uniqueViolation, Set(refusal.attributes) == Set(identity) {
            throw StoreError.identityTaken(
                entity: try merge.entity(of: objects[row], connection) ?? merge.layout.name)
        }
        throw StoreError.refused(refusal)
    }
}

extension PostgresMerge {
    /// Describes a refused row.
    ///
    /// - Parameter object: The object that the row names by number; nil for none.
    fileprivate func refusal(
        _ error: PostgresError, _ reader: RecordBatch.Reader, row: Int, object: ObjectID?,
        _ connection: PostgresConnection
    ) throws -> StoreError.Refusal {
        var refusal = StoreError.Refusal(
            entity: layout.name, reason: .check, constraint: error.constraint, index: row, object: object,
            databaseError: error.debugDescription)
        let identity = Record.Key(layout.identityColumns.map { reader.value(row: row, column: $0) ?? .null })
        refusal.key = try identity ?? object.flatMap { try key(of: $0, connection) }
        let name: SQLBinding = .text(error.constraint ?? "")
        let table: SQLBinding = .text(schema.relation(schema.table(of: layout.index)))
        switch error.code {
        case .uniqueViolation, .exclusionViolation:
            let columns = try connection.run(Self.indexColumns, [table, name]).texts(0)
            refusal.attributes =
                schema.attributes(ofUniqueIndex: error.constraint ?? "", entity: layout.index)
                ?? attributes(of: columns)
            refusal.reason = .taken(by: try holder(of: name, table, reader, row: row, object: object, connection))
        case .notNullViolation:
            refusal.attributes = attributes(of: [error.column].compactMap(\.self))
            refusal.reason = .null
            if refusal.attributes.isEmpty { refusal.constraint = error.column }
        case .stringTooLong, .numberOutOfRange, .dateOutOfRange, .invalidText:
            refusal.attributes = try unheld(row: row, connection)
            refusal.reason = .unfit
        case .foreignKeyViolation, .restrictViolation:
            let other = error.table ?? schema.table(of: layout.index)
            let referred = try connection.run(Self.referredColumns, [table, name, .text(other)]).texts(0)
            guard referred.isEmpty else {
                let identity = Set(layout.identityColumns.map { layout.attributes[$0].name })
                refusal.attributes = attributes(of: referred).filter { !identity.contains($0) }
                refusal.reason = .referred(by: other)
                break
            }
            refusal.attributes = try constrained(by: name, table, connection)
            refusal.reason = .missingReference(from: other)
        case .insufficientPrivilege: refusal.constraint = "row-level security"
        default: refusal.attributes = try constrained(by: name, table, connection)
        }
        return refusal
    }

    /// The attributes whose columns a constraint of the table is about.
    private func constrained(
        by constraint: SQLBinding, _ table: SQLBinding, _ connection: PostgresConnection
    ) throws -> [String] {
        attributes(of: try connection.run(Self.constraintColumns, [table, constraint]).texts(0))
    }

    private func attributes(of columns: [String]) -> [String] {
        layout.attributes.indices.filter { columns.contains(schema.columns[layout.index][$0]) }
            .map { layout.attributes[$0].name }
    }

    /// Selects the columns of an index of a table.
    fileprivate static let indexColumns = """
        SELECT a.attname::text FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::smallint[]) \
        WHERE i.indrelid = to_regclass($1::text) AND c.relname::text = $2::text
        """
    /// Selects the columns of a constraint of a table.
    private static let constraintColumns = """
        SELECT a.attname::text FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a \
        ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) \
        WHERE c.conrelid = to_regclass($1::text) AND c.conname::text = $2::text
        """

    /// Selects the columns of a table to which a foreign key of another table refers.
    private static let referredColumns = """
        SELECT a.attname::text FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.conrelid \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = ANY (f.confkey) \
        WHERE f.confrelid = to_regclass($1::text) AND f.conname::text = $2::text AND c.relname::text = $3::text \
        AND f.conrelid <> f.confrelid
        """

    /// The attributes whose columns do not hold the values of a row.
    private func unheld(row: Int, _ connection: PostgresConnection) throws -> [String] {
        let family = schema.familyIndex[layout.index]
        let table = try PostgresExistingTable(schema.families[family].table, in: schema, on: connection)
        let forms = table.forms(family: family, of: schema)
        let limited = layout.attributes.indices.compactMap { column in
            forms[schema.columns[layout.index][column]].map { (column: column, form: $0) }
        }
        guard !limited.isEmpty else { return [] }
        let terms = limited.map { "(\($0.form.holds(PostgresBatch.cell($0.column)))) IS FALSE" }
        let found = try connection.execute(
            "SELECT \(terms.joined(separator: ", ")) FROM \(batch.name) WHERE \(PostgresBatch.place) = \(row)")
        guard found.rowCount > 0 else { return [] }
        return limited.indices.filter { found.boolean(0, $0) == true }.map {
            layout.attributes[limited[$0].column].name
        }
    }

    /// The identity of the object that has the values of a unique index.
    private func holder(
        of index: SQLBinding, _ table: SQLBinding, _ reader: RecordBatch.Reader, row: Int, object: ObjectID?,
        _ connection: PostgresConnection
    ) throws -> Record.Key? {
        let found = try connection.run(
            """
            SELECT pg_catalog.pg_get_indexdef(i.indexrelid, k::integer, TRUE), \
            pg_catalog.pg_get_expr(i.indpred, i.indrelid) \
            FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid \
            CROSS JOIN pg_catalog.generate_series(1, i.indnkeyatts::integer) k \
            WHERE i.indrelid = to_regclass($1::text) AND c.relname::text = $2::text \
            AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indrelid \
            AND a.attgenerated::text <> ''::text AND (a.attnum = ANY (i.indkey::smallint[]) OR EXISTS (\
            SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass \
            AND d.objid = i.indexrelid AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum)))
            """, [table, index])
        // A row of the batch has no generated columns.
        guard found.rowCount > 0 else { return nil }
        let terms = found.texts(0).map { "(\($0))" }.joined(separator: ", ")
        let condition = found.text(0, 1).map { " AND (\($0))" } ?? ""
        // The terms name columns without a table: those of the stored rows, then those of the
        // refused one, which leaves the stored value where it lacks a cell.
        let relation = schema.relation(schema.table(of: layout.index))
        let cells = layout.attributes.indices.map { column in
            let name = SQLText.name(schema.columns[layout.index][column])
            guard let object, reader.kind(row: row, column: column) == .absent else {
                return "\(PostgresBatch.cell(column)) AS \(name)"
            }
            return "(SELECT o.\(name) FROM \(relation) o WHERE o.\(schema.rowColumn) = \(object)) AS \(name)"
        }
        let other = object.map { " AND \(schema.rowColumn) <> \($0)" } ?? ""
        let holders = try? connection.retrying {
            try connection.execute(
                "SELECT \(schema.rowColumn)::bigint FROM \(relation) "
                    + "WHERE (\(terms)) = (SELECT \(terms) FROM (SELECT \(cells.joined(separator: ", ")) "
                    + "FROM \(batch.name) WHERE \(PostgresBatch.place) = \(row)) b)\(condition)\(other) LIMIT 1")
        }
        guard let holders else {
            try connection.execute("ROLLBACK TO SAVEPOINT sync_attempt; RELEASE SAVEPOINT sync_attempt")
            return nil
        }
        guard holders.rowCount > 0, let number = holders.integer(0, 0) else { return nil }
        return try key(of: number, connection)
    }

    /// The identity of an object.
    private func key(of object: ObjectID, _ connection: PostgresConnection) throws -> Record.Key? {
        guard layout.hasIdentity else { return .object(object) }
        let names = layout.identityColumns.map { column in
            schema.dialect.selected(
                SQLText.name(schema.columns[layout.index][column]), as: layout.attributes[column].type)
        }
        let found = try connection.query(
            "SELECT \(names.joined(separator: ", ")) FROM \(schema.relation(schema.table(of: layout.index))) "
                + "WHERE \(schema.rowColumn) = $1::bigint", [.integer(object)], binaryResult: true)
        guard found.rowCount > 0 else { return nil }
        let values = layout.identityColumns.enumerated().map { place, column in
            found.value(0, place, as: layout.attributes[column].type)
        }
        return Record.Key(values) ?? .object(object)
    }
}

extension PostgresConnection {
    /// The columns that a row of an entity leaves empty while values of unique indexes wait.
    func uniqueColumns(of layout: EntityLayout, _ schema: SQLSchema) throws -> SQLUniqueColumns {
        // An index depends on the columns of its expressions and of its condition, and a generated
        // column on those of its expression. Only a newer server knows the last column of the
        // selection.
        let found = try run(
            """
            SELECT c.relname::text, a.attname::text, a.attnotnull OR e.attnotnull OR EXISTS (\
            SELECT 1 FROM pg_catalog.pg_constraint f WHERE f.contype::text = 'f'::text \
            AND f.confupdtype::text = 'c'::text AND f.confrelid = e.attrelid \
            AND (a.attnum = ANY (f.confkey) OR e.attnum = ANY (f.confkey))), i.indexprs IS NOT NULL \
            OR e.attnum = ANY ((i.indkey::smallint[])[0:i.indnkeyatts - 1]), \
            coalesce(pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct'::text, ''::text) = 'true'::text \
            FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid \
            JOIN pg_catalog.pg_attribute e ON e.attrelid = i.indrelid AND e.attnum > 0 \
            AND (e.attnum = ANY ((i.indkey::smallint[])[0:i.indnkeyatts - 1]) OR EXISTS (\
            SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass \
            AND d.objid = i.indexrelid AND d.refobjid = i.indrelid AND d.refobjsubid = e.attnum)) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = e.attrelid AND (a.attnum = e.attnum OR EXISTS (\
            SELECT 1 FROM pg_catalog.pg_attrdef f JOIN pg_catalog.pg_depend d \
            ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid \
            WHERE f.adrelid = e.attrelid AND f.adnum = e.attnum AND e.attgenerated::text <> ''::text \
            AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum)) \
            WHERE i.indrelid = to_regclass($1::text) AND (i.indisunique OR i.indisexclusion)
            """, [.text(schema.relation(schema.table(of: layout.index)))])
        var indexes: [String: SQLUniqueColumns.Index] = [:]
        var mandatory: Set<String> = []
        for row in 0..<found.rowCount {
            guard let name = found.text(row, 0), let column = found.text(row, 1) else { continue }
            var index = indexes[name] ?? SQLUniqueColumns.Index(keys: [])
            if found.boolean(row, 3) == true { index.keys.insert(column) } else { index.conditions.insert(column) }
            if found.boolean(row, 4) == true { index.separatesNulls = false }
            if found.boolean(row, 2) == true { mandatory.insert(column) }
            indexes[name] = index
        }
        return SQLUniqueColumns(Array(indexes.values), of: layout, in: schema, mandatory: mandatory)
    }
}
#endif
