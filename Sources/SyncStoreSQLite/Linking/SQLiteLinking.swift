import SyncModel
import SyncStore
import SyncStoreSQL

/// Links the objects of one batch: reads the stored links and writes the differences with a fixed
/// number of statements.
///
/// As in a merge, a failed statement does not undo its own changes (OR FAIL), because the whole
/// transaction is rolled back.
struct SQLiteLinking: SQLLinkWriter {
    let queries: SQLQueries
    let batch: LinkBatch
    let connection: SQLiteConnection
    var plan: SQLLinkPlan
    /// The rows to write: two objects, and the position among the links of the first one.
    private let table: SQLiteBatchTable
    /// Whether to verify what was written, which triggers can keep out or change.
    private let verifies: Bool
    private static let columnCount = 3
    /// The maximum number of rows of a statement that can be divided.
    private static let partCount = 8192
    private static let tableName = SQLiteBatchTable.name(columnCount: columnCount)

    /// Plans the changes.
    ///
    /// - Parameters:
    ///   - links: The targets of the batch's ``SQLLinkPlan/origins(of:schema:)``.
    ///   - verifies: Whether triggers can keep links out or change them.
    init(
        _ batch: LinkBatch, links: [ObjectID: [ObjectID]], queries: SQLQueries, connection: SQLiteConnection,
        verifies: Bool
    ) throws(SQLiteError) {
        self.verifies = verifies
        self.queries = queries
        self.batch = batch
        self.connection = connection
        table = try connection.batchTable(columnCount: Self.columnCount)
        plan = try SQLLinkPlan(batch, schema: queries.schema, links: links) { entity, objects throws(SQLiteError) in
            try connection.objects(queries.existing(entity), among: objects)
        }
    }

    func isNull(_ error: any Error, refusedBy link: SQLSchema.ColumnLink) -> Bool {
        let column = (error as? SQLiteError)?.subject(after: "NOT NULL constraint failed: ")
        return column?.lowercased() == "\(link.table).\(link.column)".lowercased()
    }

    func describe(_ error: any Error, of table: String, in refusal: inout StoreError.Refusal) -> Bool {
        guard let error = error as? SQLiteError, error.isRefusal else { return false }
        refusal.databaseError = error.debugDescription
        if error.isForeignKey {
            refusal.reason = .missingReference(from: table)
            return true
        }
        refusal.constraint = error.message
        if error.subject(after: "UNIQUE constraint failed: ") != nil {
            refusal.reason = .taken(by: nil)
        } else if error.subject(after: "NOT NULL constraint failed: ") != nil {
            refusal.reason = .null
        }
        return true
    }

    /// Does nothing: a failed statement leaves the transaction usable.
    func recover() {}

    func isRefused(_ write: () throws -> Void) throws -> Bool {
        // A trigger can have rolled the transaction back.
        guard connection.isInTransaction else { return true }
        try connection.execute("SAVEPOINT sync_attempt")
        defer { try? connection.execute("ROLLBACK TO sync_attempt; RELEASE sync_attempt") }
        do { try write() } catch let error as SQLiteError where error.isRefusal { return true }
        return false
    }

    /// Runs a statement for pairs of objects with positions; does nothing without pairs.
    ///
    /// - Parameters:
    ///   - name: The name of the table that the statement changes.
    ///   - failing: Finds a pair that should have been written but was not.
    private func run(
        _ text: String, on name: String, failing query: String, _ rows: [(ObjectID, ObjectID?, Int64)]
    ) throws {
        guard !rows.isEmpty else { return }
        var carrier = RecordBatch(columnCount: Self.columnCount)
        carrier.reserveCapacity(rowCount: rows.count, byteCount: 0)
        for (one, other, position) in rows {
            carrier.beginRecord()
            carrier.setInt(one, at: 0)
            if let other {
                carrier.setInt(other, at: 1)
                carrier.setInt(position, at: 2)
            }
            carrier.endRecord()
        }
        let statement = try connection.cached(text)
        let isWritten = try carrier.withReader { reader throws(SQLiteError) in
            let content = SQLiteBatchTable.Content(reader: reader, rows: Array(0..<reader.count))
            return try table.lend(content) { () throws(SQLiteError) in
                try statement.run()
                guard verifies else { return true }
                return try connection.integer("SELECT EXISTS (SELECT 1 FROM \(query))") == 0
            }
        }
        guard !isWritten else { return }
        throw SQLKeptRows("links from being written", in: name).error(by: try connection.triggers(of: name))
    }

    /// Runs a statement for pairs of objects in parts, because one object can have any number of
    /// links.
    private func runInParts(
        _ text: String, on name: String, failing query: String, count: Int,
        _ rows: (Range<Int>) -> [(ObjectID, ObjectID?, Int64)]
    ) throws {
        for start in stride(from: 0, to: count, by: Self.partCount) {
            try run(text, on: name, failing: query, rows(start..<min(start + Self.partCount, count)))
        }
    }

    // MARK: Columns

    func release(_ link: SQLSchema.ColumnLink) throws {
        guard !plan.released.isEmpty else { return }
        let column = SQLText.name(link.column)
        let table = SQLText.name(link.table)
        // Objects that the batch assigns anyway may keep their values.
        let condition =
            "WHERE \(column) IN (SELECT c0 FROM \(Self.tableName) WHERE c1 IS NULL) "
            + "AND \(schema.rowColumn) NOT IN (SELECT c0 FROM \(Self.tableName) WHERE c1 IS NOT NULL)"
        try run(
            "UPDATE OR FAIL \(table) SET \(column) = NULL \(condition)", on: link.table,
            failing: "\(table) \(condition)",
            plan.released.map { ($0, nil, 0) } + plan.assignments.map { ($0.object, $0.object, 0) })
    }

    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws {
        let table = SQLText.name(link.table)
        let column = SQLText.name(link.column)
        var batch = "\(Self.tableName) b"
        var assigned = "\(column) = b.c1"
        var differs = "t.\(column) IS NOT b.c1"
        if let name = link.position.map(SQLText.name), position != .none {
            switch position {
            case .none: break
            case .given:
                assigned += ", \(name) = b.c2"
                differs += " OR t.\(name) IS NOT b.c2"
            case .atEnd:
                batch += Self.lastPlaces(of: name, in: table, by: column)
                assigned += ", \(name) = CASE WHEN b.c1 IS NOT NULL THEN \(Self.placeAtEnd) END"
            }
        }
        try runInParts(
            "UPDATE OR FAIL \(table) AS t SET \(assigned) FROM \(batch) WHERE t.\(schema.rowColumn) = b.c0 AND (\(differs))",
            on: link.table,
            failing: "\(Self.tableName) b CROSS JOIN \(table) t "
                + "WHERE t.\(schema.rowColumn) = b.c0 AND t.\(column) IS NOT b.c1",
            count: plan.assignments.count
        ) { range in
            plan.assignments.rows(from: range.lowerBound).prefix(range.count).map { ($0.object, $0.other, $0.position) }
        }
    }

    // MARK: Join tables

    /// The pairs of a batch that a table has.
    private func pairs(in link: SQLSchema.JoinLink) -> String {
        "\(SQLText.name(link.table)) WHERE (\(SQLText.names([link.source, link.target]))) "
            + "IN (SELECT c0, c1 FROM \(Self.tableName))"
    }

    func remove(_ link: SQLSchema.JoinLink) throws {
        let pairs = pairs(in: link)
        try runInParts("DELETE FROM \(pairs)", on: link.table, failing: pairs, count: plan.removed.count) {
            plan.removed[$0].map { ($0.source, $0.target, 0) }
        }
    }

    func add(_ link: SQLSchema.JoinLink) throws {
        let table = SQLText.name(link.table)
        var names = [link.source, link.target].map(SQLText.name)
        var values = ["b.c0", "b.c1"]
        var batch = "\(Self.tableName) b"
        var conflict = "DO NOTHING"
        if let position = link.position.map(SQLText.name) {
            conflict =
                "(\(names.joined(separator: ", "))) DO UPDATE SET \(position) = excluded.\(position) "
                + "WHERE \(position) IS NOT excluded.\(position)"
            names.append(position)
            values.append("b.c2")
        }
        if let position = link.inversePosition.map(SQLText.name) {
            batch += Self.lastPlaces(of: position, in: table, by: names[1])
            names.append(position)
            values.append(Self.placeAtEnd)
        }
        for (column, expression) in schema.suppliedTerms(of: link.table) {
            names.append(SQLText.name(column))
            values.append(expression)
        }
        // Without the condition, SQLite would parse the conflict clause as that of a join.
        try runInParts(
            "INSERT OR FAIL INTO \(table) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
                + "FROM \(batch) WHERE 1 ON CONFLICT \(conflict)",
            on: link.table,
            failing: "\(Self.tableName) WHERE (c0, c1) NOT IN (SELECT \(SQLText.names([link.source, link.target])) "
                + "FROM \(pairs(in: link)))",
            count: plan.added.count
        ) { range in
            plan.added.rows(from: range.lowerBound).prefix(range.count).map { ($0.other ?? 0, $0.object, $0.position) }
        }
    }

    // MARK: Places

    /// A join with the last position among the objects that refer to the object in a cell.
    private static func lastPlaces(of position: String, in table: String, by column: String) -> String {
        " LEFT JOIN (SELECT o.\(column) AS owner, max(o.\(position)) AS last FROM \(table) o "
            + "WHERE o.\(column) IN (SELECT c1 FROM \(tableName)) GROUP BY o.\(column)) p ON p.owner = b.c1"
    }

    /// A position after all existing ones, in the order of the batch.
    private static let placeAtEnd = "ifnull(p.last, -1) + 1 + b.\(SQLiteBatchColumns.place)"
}

extension SQLiteConnection {
    /// The objects that a statement selects among those in its parameter.
    fileprivate func objects(_ text: String, among objects: [ObjectID]) throws(SQLiteError) -> Set<ObjectID> {
        let statement = try cached(text)
        statement.bind(.objects(objects), at: 1)
        defer { statement.reset() }
        var found: Set<ObjectID> = []
        while try statement.step() { found.insert(statement.integer(at: 0)) }
        return found
    }
}
