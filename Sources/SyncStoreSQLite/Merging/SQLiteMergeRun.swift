import SyncModel
import SyncStore
import SyncStoreSQL

/// The merge of one batch.
struct SQLiteMergeRun {
    let merge: SQLiteMerge
    let reader: RecordBatch.Reader
    private let defaults: RecordBatch.Reader
    private let matches: [MergeRequest.Match]?
    /// The links that the batch table has room for.
    private let links: [MergeRequest.InitialLinks]
    /// For each of the links, whether each row's object has the row's link.
    private var isLinked: [[Bool]]
    private(set) var knownLinks: SQLiteKnownLinks
    /// The relationships whose links are read with the cells.
    private var readLinks: [EntityLayout.Relationship] = []
    private let policy: MergeRequest.Policy
    /// Whether the table is known to have none of the identities.
    private let isFilling: Bool
    let connection: SQLiteConnection
    let table: SQLiteBatchTable
    /// The object of each row and the effect on it; nil if the row has no object.
    var merged: [MergeRequest.Result.Row?]
    /// The values that unique indexes refused; nil if such rows are refused.
    var waiting: SQLWaitingValues?
    /// Whether refused rows are left out.
    let setsRefusedAside: Bool
    var refused: [StoreError.Refusal] = []
    var waitingRows: [Int] = []
    /// What waiting rows have in columns of unique indexes; nil until it is needed.
    var uniqueContents: [Int: SQLUniqueColumns.Content]?

    /// The objects whose values differ from their rows in the batch.
    struct Updates {
        /// The row of each object.
        var rows: [Int] = []
        /// Whether each cell differs, column by column for each row.
        var isWritten: [Bool] = []
        /// The update of one of the objects.
        func only(_ index: Int, columnCount: Int) -> Updates {
            Updates(
                rows: [rows[index]], isWritten: Array(isWritten[index * columnCount..<(index + 1) * columnCount]))
        }
    }

    init(
        _ merge: SQLiteMerge, _ reader: RecordBatch.Reader, defaults: RecordBatch.Reader, _ request: MergeRequest,
        links: [MergeRequest.InitialLinks], waiting: SQLWaitingValues?, _ knownLinks: SQLiteKnownLinks,
        isFilling: Bool, connection: SQLiteConnection, table: SQLiteBatchTable
    ) {
        self.merge = merge
        self.reader = reader
        self.defaults = defaults
        matches = request.matches
        setsRefusedAside = request.setsRefusedAside
        self.waiting = waiting
        self.knownLinks = knownLinks
        self.links = Array(
            links.prefix(SQLiteBatchColumns.targetLimit).enumerated().prefix { index, links in
                merge.statements.column(of: links.relationship) != nil
                    && (index == 0 || merge.statements.position(of: links.relationship) == nil)
            }.map(\.element))
        policy = request.policy
        self.isFilling = isFilling
        self.connection = connection
        self.table = table
        merged = Array(repeating: nil, count: reader.count)
        isLinked = Array(repeating: Array(repeating: false, count: reader.count), count: self.links.count)
    }

    var result: MergeRequest.Result {
        var result = MergeRequest.Result(merged)
        result.isLinked = isLinked
        result.refused = refused
        result.waitingRows = waitingRows
        return result
    }

    /// The targets of all links, row after row.
    private var targets: [ObjectID?] {
        if links.count == 1 { return links[0].targets }
        return links.isEmpty ? [] : (0..<reader.count).flatMap { row in links.map { $0.targets[row] } }
    }

    /// Whether the inverse of the first link is ordered. Those of others are not.
    private var isOrdered: Bool {
        links.first.map { merge.statements.position(of: $0.relationship) != nil } ?? false
    }

    mutating func run() throws {
        readLinks = knownLinks.begin(merge.statements, connection)
        var given: [Int] = []
        var sought: [Int] = []
        for row in 0..<reader.count {
            switch matches?[row] ?? .identity {
            case .identity: sought.append(row)
            case .object: given.append(row)
            case .skipped: break
            }
        }
        let identities = BatchIdentities(reader, columns: merge.layout.identityColumns, rows: sought)
        var updates = Updates()
        if !isFilling { try match(identities, &updates) }
        if !given.isEmpty { try match(given, &updates) }
        if policy.writes, identities.repeated != nil || !given.isEmpty && result.repeatsObject {
            throw StoreError.repeatedObject(entity: merge.layout.name)
        }
        if policy.inserts { try insert(identities) }
        if !updates.rows.isEmpty { try update(updates) }
        if policy.updates, var values = waiting, !values.isEmpty {
            // Taken out during the change: a second reference would copy all of it.
            waiting = nil
            values.restate(reader, &merged, merge.layout)
            waiting = values
        }
        guard merge.hasTriggers else { return }
        // The links of written objects are compared again when they are stated.
        for row in merged.indices where merged[row].map({ $0.change != .unchanged }) ?? false {
            for index in links.indices { isLinked[index][row] = false }
        }
    }

    /// The object that a row names by number.
    func givenObject(_ row: Int) -> ObjectID? {
        if case .object(let object) = matches?[row] { object } else { nil }
    }

    // MARK: Existing objects

    /// Finds the objects with the batch's identities.
    private mutating func match(_ identities: BatchIdentities, _ updates: inout Updates) throws(SQLiteError) {
        let rows = identities.rows
        guard let first = rows.first, let last = rows.last else { return }
        if rows.count > 1 {
            let bounds = SQLiteBatchTable.Content(reader: reader, rows: [first, last])
            let isPossible = try table.lend(bounds) { () throws(SQLiteError) in
                try connection.integer(merge.probe) == 1
            }
            guard isPossible else { return }
        }
        let text =
            policy.updates
            ? merge.statements.match(byRow: false, readsCells: true, links.map(\.relationship) + readLinks)
            : merge.find
        try match(text, SQLiteBatchTable.Content(reader: reader, rows: rows), &updates)
    }

    /// Finds the objects that rows name by number.
    private mutating func match(_ given: [Int], _ updates: inout Updates) throws(SQLiteError) {
        let content = SQLiteBatchTable.Content(
            reader: reader, rows: given, objects: matches.map { $0.indices.map(givenObject) } ?? [])
        let text =
            policy.updates
            ? merge.statements.match(byRow: true, readsCells: true, links.map(\.relationship) + readLinks)
            : merge.findByRow
        try match(text, content, &updates)
    }

    private mutating func match(
        _ text: String, _ content: SQLiteBatchTable.Content, _ updates: inout Updates
    ) throws(SQLiteError) {
        let statement = try connection.cached(text)
        defer { statement.reset() }
        let isShared = merge.statements.columns.namesEntity
        var best: (place: Int, isOwn: Bool)?
        try table.lend(content) { () throws(SQLiteError) in
            while try statement.step() {
                let place = Int(statement.integer(at: 0))
                let object = statement.integer(at: 1)
                if isShared {
                    // If several objects have the identity, the entity's own object is found or,
                    // without one, the object with the lowest number.
                    let isOwn = statement.text(at: 2) == merge.layout.name
                    if let best, best.place == place {
                        guard !best.isOwn, isOwn || object < merged[place]?.object ?? .max else { continue }
                        updates.removeLast(of: place, columnCount: reader.columnCount)
                    }
                    best = (place, isOwn)
                }
                take(object, at: place, statement, &updates)
            }
        }
    }

    /// Records the object of a row, and how it differs from the row.
    private mutating func take(
        _ object: Int64, at place: Int, _ statement: SQLiteStatement, _ updates: inout Updates
    ) {
        merged[place] = MergeRequest.Result.Row(object, .unchanged)
        guard policy.updates else { return }
        let first = SQLiteMergeStatements.firstCellColumn
        for (index, links) in links.enumerated() {
            let column = first + reader.columnCount + index
            isLinked[index][place] =
                if let target = links.targets[place] {
                    !statement.isNull(at: column) && statement.integer(at: column) == target
                } else {
                    statement.isNull(at: column)
                }
        }
        for index in readLinks.indices {
            let column = first + reader.columnCount + links.count + index
            let target = statement.isNull(at: column) ? nil : statement.integer(at: column)
            knownLinks.note(object, target, at: index)
        }
        let start = updates.isWritten.count
        for column in 0..<reader.columnCount where reader.kind(row: place, column: column) != .absent {
            guard !statement.value(at: first + column).equals(reader, row: place, column: column),
                waiting?.contains(object, column: column, merge.layout) != true
            else { continue }
            if merged[place]?.change == .unchanged {
                merged[place]?.change = .updated
                updates.isWritten += repeatElement(false, count: reader.columnCount)
                updates.rows.append(place)
            }
            updates.isWritten[start + column] = true
        }
    }

    private mutating func update(_ updates: Updates) throws {
        let count = reader.columnCount
        if let column = merge.statements.numberColumn,
            updates.rows.indices.contains(where: { updates.isWritten[$0 * count + column] })
        {
            throw SQLSchemaError.unsuitableTable(
                table: merge.statements.tableName,
                reason: "\(merge.layout.attributes[column].name) is the number of the row and cannot change")
        }
        let assignments = (0..<count).compactMap { column -> SQLiteMergeStatements.Assignment? in
            let writtenCount = updates.rows.indices.count { updates.isWritten[$0 * count + column] }
            guard writtenCount > 0 else { return nil }
            return SQLiteMergeStatements.Assignment(column: column, isPartial: writtenCount < updates.rows.count)
        }
        do { try write(updates, assignments) } catch let error as SQLiteError where error.isRefusal {
            try updateOneByOne(updates, assignments.map { .init(column: $0.column, isPartial: true) })
        }
    }

    /// Writes the changed cells of objects.
    ///
    /// - Parameter emptied: What the rows have in columns of unique indexes.
    func write(
        _ updates: Updates, _ assignments: [SQLiteMergeStatements.Assignment],
        emptied: [Int: SQLUniqueColumns.Content] = [:]
    ) throws {
        let content = SQLiteBatchTable.Content(
            reader: reader, rows: updates.rows, objects: result.objects, isWritten: updates.isWritten)
        let statement = try connection.cached(merge.statements.update(assignments, emptied: emptied))
        try table.lend(content) { () throws(SQLiteError) in try statement.run() }
        try checkChangeCount(updates.rows.count)
        if merge.hasTriggers { try checkIdentities(content) }
    }

    /// The name of the entity of a row's object.
    func entity(of row: Int) throws(SQLiteError) -> String {
        guard merge.statements.columns.namesEntity else { return merge.layout.name }
        let statement = try connection.cached(merge.findByRow)
        defer { statement.reset() }
        let content = SQLiteBatchTable.Content(reader: reader, rows: [row], objects: result.objects)
        return try table.lend(content) { () throws(SQLiteError) in
            try statement.step() ? statement.text(at: 2) : merge.layout.name
        }
    }

    // MARK: New objects

    /// Inserts the rows that matched no object.
    private mutating func insert(_ identities: BatchIdentities) throws {
        var new = identities.rows.filter { merged[$0] == nil } + identities.nameless
        guard !new.isEmpty else { return }
        guard !merge.layout.isAbstract else { throw StoreError.abstractEntity(entity: merge.layout.name) }
        new.sort()
        let numbers = try numbers(of: new)
        for (row, number) in zip(new, numbers) {
            merged[row] = MergeRequest.Result.Row(number, .inserted)
            for index in links.indices { isLinked[index][row] = true }
        }
        do { try write(new) } catch let error as SQLiteError where error.isRefusal {
            try insertRest(of: new, after: error)
        }
    }

    /// Inserts rows as the objects that were chosen for them.
    ///
    /// - Parameter emptied: What the rows have in columns of unique indexes.
    func write(_ new: [Int], emptied: [Int: SQLUniqueColumns.Content] = [:]) throws {
        var content = SQLiteBatchTable.Content(
            reader: reader, rows: new, objects: result.objects, targets: targets, targetCount: links.count,
            positions: isOrdered ? links[0].positions : [], defaults: defaults)
        if merge.statements.hasDefaults {
            content.isWritten = new.flatMap { row in
                (0..<reader.columnCount).map { reader.kind(row: row, column: $0) != .absent }
            }
        }
        let statement = try connection.cached(
            merge.statements.insertion(relatedBy: links.map(\.relationship), emptied: emptied))
        try table.lend(content) { () throws(SQLiteError) in try statement.run() }
        try checkChangeCount(new.count)
        if merge.hasTriggers { try checkIdentities(content) }
    }

    /// The numbers of new objects: the values of the attribute that is the number, or the next free
    /// numbers.
    private func numbers(of new: [Int]) throws -> [ObjectID] {
        if let column = merge.statements.numberColumn {
            return try new.map { row in
                guard reader.kind(row: row, column: column) == .int else {
                    throw SQLSchemaError.unsuitableTable(
                        table: merge.statements.tableName,
                        reason: "every \(merge.layout.name) needs a value for \(merge.layout.attributes[column].name), "
                            + "the number of its row")
                }
                return reader.int(row: row, column: column)
            }
        }
        let last = max(try connection.integer(merge.lastRow) ?? 0, 0)
        guard last <= Int64.max - Int64(new.count) else {
            throw SQLiteError(code: SQLiteError.Code.full, message: "no object numbers are left")
        }
        return new.indices.map { last + Int64($0) + 1 }
    }

    /// Fails if something kept rows from being written, such as a trigger of another tool
    /// (`RAISE(IGNORE)`), or two rows of one identity.
    private func checkChangeCount(_ count: Int) throws {
        let keptCount = count - connection.changeCount
        guard keptCount != 0 else { return }
        let table = merge.statements.tableName
        throw SQLKeptRows("\(keptCount) of \(count) rows from being written", in: table)
            .error(by: try connection.triggers(of: table))
    }

    /// Fails if a trigger has changed the identities of written rows.
    private func checkIdentities(_ content: SQLiteBatchTable.Content) throws {
        guard let text = merge.statements.changedIdentities else { return }
        let statement = try connection.cached(text)
        defer { statement.reset() }
        var count: Int64 = 0
        var columns: [String] = []
        try table.lend(content) { () throws(SQLiteError) in
            guard try statement.step() else { return }
            count = statement.integer(at: 0)
            for (index, column) in merge.layout.identityColumns.enumerated() where statement.integer(at: index + 1) == 1
            {
                columns.append(merge.schema.columns[merge.layout.index][column])
            }
        }
        guard count > 0 else { return }
        let name = merge.statements.tableName
        throw SQLSchemaError.changedIdentity(
            columns, of: "\(count) of \(content.rows.count) rows", in: name, by: try connection.triggers(of: name))
    }
}

extension SQLiteMergeRun.Updates {
    /// Removes the last recorded update if it is of the given row.
    fileprivate mutating func removeLast(of row: Int, columnCount: Int) {
        guard rows.last == row else { return }
        rows.removeLast()
        isWritten.removeLast(columnCount)
    }
}
