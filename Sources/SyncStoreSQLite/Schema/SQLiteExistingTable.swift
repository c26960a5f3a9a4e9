import SyncBase
import SyncModel
import SyncStoreSQL

/// A table that existed before the store. The store writes to it, but never rebuilds or drops it.
struct SQLiteExistingTable: Sendable {
    /// A column, as SQLite describes it.
    struct Column: Sendable {
        let name: String
        let affinity: SQLiteAffinity
        let isMandatory: Bool
        /// The default; nil for none or for null.
        let defaultValue: SQLiteDefault?
        let isGenerated: Bool
    }

    /// The names of the row number, unless a column has them; see
    /// https://www.sqlite.org/lang_createtable.html#rowid.
    private static let rowNames: Set<String> = ["rowid", "oid", "_rowid_"]

    let name: String
    /// The columns by name in lower case.
    let columns: [String: Column]
    let isStrict: Bool
    /// Whether rows have a row number.
    private let hasRowNumber: Bool
    /// The column that is the row number (`INTEGER PRIMARY KEY`), in lower case; nil if there is
    /// none.
    private let alias: String?
    /// Whether the database records the highest number that a row of any of its tables has had.
    private let hasSequences: Bool

    /// Reads the description of a table.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable` for a view or a virtual table.
    init(_ table: String, on connection: SQLiteConnection) throws {
        let list = try connection.prepare(
            "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
            [.text(table)])
        guard try list.step() else { throw SQLSchemaError.unreadable }
        name = list.text(at: 0)
        let type = list.text(at: 1)
        guard type == "table" else {
            throw SQLSchemaError.unsuitableTable(table: table, reason: "it is a \(type), not an ordinary table")
        }
        hasRowNumber = list.integer(at: 2) == 0
        isStrict = list.integer(at: 3) != 0
        var columns: [String: Column] = [:]
        var keys: [(name: String, type: String)] = []
        let info = try connection.prepare(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)", [.text(name)])
        while try info.step() {
            let (column, type) = (info.text(at: 0), info.text(at: 1))
            columns[column.lowercased()] = Column(
                name: column, affinity: SQLiteAffinity(declaredType: type, isStrict: isStrict),
                isMandatory: info.integer(at: 2) != 0,
                defaultValue: info.isNull(at: 3) ? nil : SQLiteDefault(info.text(at: 3)),
                isGenerated: info.integer(at: 5) > 1)
            if info.integer(at: 4) > 0 { keys.append((column.lowercased(), type)) }
        }
        self.columns = columns
        // A key declared as `INTEGER PRIMARY KEY DESC` has its own index and is not the row number.
        let indexCount = try connection.integer(
            "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", [.text(name)])
        let isAlias = hasRowNumber && indexCount == 0 && keys.count == 1 && keys[0].type.lowercased() == "integer"
        alias = isAlias ? keys[0].name : nil
        hasSequences = try connection.integer("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'") != nil
    }

    /// Whether `SQLNaming.rowColumn` is the row number, either as a column of the table or built
    /// in.
    private func numbersRows(_ schema: SQLSchema) -> Bool {
        let column = schema.naming.rowColumn.lowercased()
        if column == alias { return true }
        return hasRowNumber && columns[column] == nil && Self.rowNames.contains(column)
    }

    /// Whether the table has a column of the schema. The row number does not need a column.
    ///
    /// As in SQLite, case is ignored only for ASCII letters.
    func has(_ column: String, _ schema: SQLSchema) -> Bool {
        guard let found = columns[column.lowercased()] else {
            return column == schema.naming.rowColumn && numbersRows(schema)
        }
        return schema.dialect.folded(found.name) == schema.dialect.folded(column)
    }

    /// The column with object numbers that foreign keys can refer to; nil if there is none.
    func keyColumn(_ schema: SQLSchema) -> String? {
        guard numbersRows(schema) else { return schema.naming.rowColumn }
        return alias.flatMap { columns[$0]?.name }
    }

    /// The statement that selects the highest number that a row has, or has had if the database
    /// records it for an `AUTOINCREMENT` key; nil if it records nothing. Such a number is never
    /// used again.
    func lastNumber(_ schema: SQLSchema) -> String? {
        guard hasSequences, alias != nil, numbersRows(schema) else { return nil }
        return "SELECT max(n) FROM (SELECT max(\(schema.rowColumn)) AS n FROM \(SQLText.name(name)) "
            + "UNION ALL SELECT seq FROM sqlite_sequence WHERE name = \(SQLText.literal(name)))"
    }

    /// The column of the attribute whose column is the object number; nil if there is none.
    func numberColumn(of entity: Int, _ schema: SQLSchema) -> Int? {
        guard numbersRows(schema) else { return nil }
        return schema.columns[entity].firstIndex { $0.lowercased() == alias }
    }

    /// The default that replaces an absent value of a mandatory column in a new row; nil if there
    /// is none.
    func replacement(for column: String) -> SQLiteDefault? {
        columns[column.lowercased()].flatMap { $0.isMandatory ? $0.defaultValue : nil }
    }

    // MARK: Checks

    /// Verifies that a family's objects can be written to the table without losing or changing
    /// values.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable`, with the reason.
    func check(family: Int, of schema: SQLSchema, on connection: SQLiteConnection) throws {
        try checkNumbers(family, schema, connection)
        if schema.families[family].namesEntity { try checkEntityNames(schema, connection) }
        for column in schema.attributeColumns[family] {
            if column.name.lowercased() == alias {
                guard column.attribute.type.isInteger else {
                    throw unsuitable("\(column.name) is the number of the row, and \(column.attribute.name) no integer")
                }
            } else if let found = columns[column.name.lowercased()] {
                try check(found, holds: column.attribute, schema.dates, connection)
            }
        }
        for (link, _) in schema.references[family] {
            try checkNumberColumns([link.column, link.position])
        }
        try checkMandatoryColumns(besides: Set(schema.filledColumns(family: family).map { $0.lowercased() }))
        try checkSuppliedColumns(schema)
        try checkIdentities(family, schema, connection)
        try checkStatements(connection)
    }

    /// Verifies that a relationship's pairs can be written to the table, and that it has each pair
    /// once.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable`, with the reason.
    func check(_ join: SQLSchema.JoinLink, of schema: SQLSchema, _ connection: SQLiteConnection) throws {
        let pair = [join.source, join.target]
        let names = pair + [join.position, join.inversePosition].compactMap { $0 }
        try checkNumberColumns(names)
        if try !isUnique(pair, connection) { try checkPairs(of: join, connection) }
        try checkIntegers(pair, connection)
        let supplied = Array((schema.suppliedValues[join.table] ?? [:]).keys)
        try checkMandatoryColumns(besides: Set((names + supplied).map { $0.lowercased() }))
        try checkSuppliedColumns(schema)
        try checkStatements(connection)
    }

    /// Verifies that a table without a unique index of the pairs has each pair once. The store
    /// inserts a pair only if it is missing, but an index is required to write positions.
    private func checkPairs(of join: SQLSchema.JoinLink, _ connection: SQLiteConnection) throws {
        let pair = SQLText.names([join.source, join.target])
        guard join.position == nil, join.inversePosition == nil else {
            throw unsuitable("an ordered relationship needs a unique index of \(join.source) and \(join.target)")
        }
        let repeated = try connection.integer(
            "SELECT 1 FROM \(SQLText.name(name)) GROUP BY \(pair) HAVING count(*) > 1 LIMIT 1")
        if repeated != nil {
            throw unsuitable(
                "pairs of \(join.source) and \(join.target) repeat; delete the repetitions and create a unique index")
        }
    }

    /// Verifies that columns can hold object numbers or positions.
    private func checkNumberColumns(_ names: [String?]) throws(SQLSchemaError) {
        for name in names.compactMap({ $0 }) {
            guard let column = columns[name.lowercased()] else { continue }
            let affinities: Set<SQLiteAffinity> = isStrict ? [.integer] : [.integer, .numeric, .none]
            guard !column.isGenerated, affinities.contains(column.affinity) else {
                throw unsuitable("\(name) cannot hold object numbers")
            }
        }
    }

    private func unsuitable(_ reason: String) -> SQLSchemaError {
        .unsuitableTable(table: name, reason: reason)
    }

    private func checkNumbers(_ family: Int, _ schema: SQLSchema, _ connection: SQLiteConnection) throws {
        let column = schema.naming.rowColumn
        guard !numbersRows(schema) else {
            let isReferred =
                schema.references.contains { $0.contains { $0.link.target.lowercased() == name.lowercased() } }
                || schema.joins.contains { [$0.sourceTable, $0.targetTable].contains(schema.families[family].table) }
            if isReferred, alias == nil {
                throw unsuitable(
                    "relationships lead to its rows, whose numbers can change without an INTEGER PRIMARY KEY")
            }
            return
        }
        guard let found = columns[column.lowercased()] else {
            if Self.rowNames.contains(column.lowercased()) {
                throw unsuitable("it is a WITHOUT ROWID table; name an integer column in SQLNaming.rowColumn")
            }
            guard let alias, let key = columns[alias]?.name else {
                throw SQLSchemaError.missingColumn(table: name, column: column)
            }
            throw unsuitable(
                "it has no column \(column) for object numbers; its rows are numbered by \(key), so set "
                    + "SQLNaming.rowColumn to \"rowid\"")
        }
        guard try isUnique([column], connection), !found.isGenerated, found.affinity == .integer, found.isMandatory
        else {
            throw unsuitable(
                "\(column), which numbers its rows, has to be an INTEGER NOT NULL column with a unique index")
        }
        try checkIntegers([column], connection)
    }

    /// Whether a unique index covers the columns.
    private func isUnique(_ names: [String], _ connection: SQLiteConnection) throws -> Bool {
        let list = names.map { SQLText.literal($0) }.joined(separator: ", ")
        return try connection.integer(
            """
            SELECT 1 FROM pragma_index_list(?) l WHERE l."unique" AND NOT l.partial \
            AND (SELECT count(*) FROM pragma_index_info(l.name)) = \(names.count) \
            AND (SELECT count(*) FROM pragma_index_info(l.name) WHERE name COLLATE NOCASE IN (\(list))) = \(names.count)
            """, [.text(name)]) != nil
    }

    /// Verifies that columns hold only integers.
    private func checkIntegers(_ names: [String], _ connection: SQLiteConnection) throws {
        for column in names {
            let found = try connection.integer(
                "SELECT 1 FROM \(SQLText.name(name)) WHERE typeof(\(SQLText.name(column))) <> 'integer' LIMIT 1")
            if found != nil { throw unsuitable("\(column) holds values that are not integers, or NULL") }
        }
    }

    private func checkEntityNames(_ schema: SQLSchema, _ connection: SQLiteConnection) throws {
        let name = schema.naming.entityColumn
        guard let column = columns[name.lowercased()] else { return }
        try check(column, holds: SyncAttribute(name, .string), schema.dates, connection)
        if let error = Self.otherCollation(of: name, in: self.name, connection) { throw error }
    }

    /// The error for a column that identifies objects and does not compare texts by their bytes, as
    /// the store does; nil if it does.
    ///
    /// - Parameter advice: How to go on; empty, the default, for none.
    static func otherCollation(
        of column: String, in table: String, advice: String = "", _ connection: SQLiteConnection
    ) -> SQLSchemaError? {
        guard let collation = connection.collation(of: column, in: table), collation.uppercased() != "BINARY" else {
            return nil
        }
        return .unsuitableTable(
            table: table,
            reason: "\(column) identifies objects, and compares with \(collation) instead of BINARY\(advice)")
    }

    private func check(
        _ column: Column, holds attribute: SyncAttribute, _ dates: SQLNaming.DateStorage, _ connection: SQLiteConnection
    ) throws {
        guard !column.isGenerated else { throw unsuitable("\(column.name) is a generated column") }
        let affinities = isStrict ? attribute.type.strictAffinities(dates) : attribute.type.affinities(dates)
        guard affinities.contains(column.affinity) else {
            throw unsuitable(
                "\(column.name) has a type that changes or refuses values of \(attribute.name) (\(attribute.type.rawValue))"
            )
        }
        if attribute.type == .date { try checkDates(column, isIdentity: false, dates, connection) }
    }

    /// Verifies that a column holds dates in the store's form. If the column identifies objects,
    /// the texts must match exactly, because dates are compared as stored: the same date in another
    /// format would be a different object.
    private func checkDates(
        _ column: Column, isIdentity: Bool, _ dates: SQLNaming.DateStorage, _ connection: SQLiteConnection
    ) throws {
        let table = SQLText.name(name)
        let quoted = SQLText.name(column.name)
        let isReadable = isIdentity || dates != .iso8601 ? "" : "typeof(\(quoted)) = 'text' OR "
        let found = try connection.prepare(
            "SELECT typeof(\(quoted)) FROM \(table) WHERE NOT (\(isReadable)\(Self.isDate(quoted, dates))) LIMIT 1")
        if try found.step() {
            let isOtherStorage = (found.text(at: 0) == "text") != (dates == .iso8601)
            let advice =
                isOtherStorage
                ? "try SQLiteStore.Options.dates = \(try Self.storages(besides: dates, connection))"
                : "convert them, to milliseconds by UPDATE \(table) SET \(quoted) = strftime('%Y-%m-%dT%H:%M:%f000Z', \(quoted))"
            throw unsuitable("\(column.name) holds dates in another form than the store's; \(advice)")
        }
        guard isIdentity, dates == .iso8601, let replacement = replacement(for: column.name) else { return }
        let isFit = try connection.integer(
            "SELECT \(Self.isDate("value", dates)) FROM (SELECT \(replacement.expression) AS value)")
        guard isFit == 1 else {
            throw unsuitable("the default of \(column.name), which is NOT NULL, is a date in another form")
        }
    }

    /// The forms that dates may have if they do not have the store's.
    private static func storages(
        besides dates: SQLNaming.DateStorage, _ connection: SQLiteConnection
    ) throws -> String {
        guard dates == .iso8601 else { return ".\(SQLNaming.DateStorage.iso8601.rawValue)" }
        let (unix, coreData) = (SQLNaming.DateStorage.secondsSince1970, SQLNaming.DateStorage.secondsSince2001)
        // A table that Core Data keeps in each of its files.
        let isCoreData = try connection.integer("SELECT 1 FROM sqlite_master WHERE name = 'Z_METADATA'") != nil
        return isCoreData
            ? ".\(coreData.rawValue)" : ".\(unix.rawValue), or .\(coreData.rawValue) if the numbers count from 2001"
    }

    /// The condition that a value is null or a date in the store's form.
    ///
    /// A date outside the years 0 to 9999 is a blob or a number, which is a text in a `TEXT`
    /// column. No other program writes these.
    private static func isDate(_ value: String, _ dates: SQLNaming.DateStorage) -> String {
        guard dates == .iso8601 else { return "(typeof(\(value)) IN ('real', 'integer', 'null'))" }
        let digit = "[0-9]"
        let day = "\(digit)\(digit)\(digit)\(digit)-[01]\(digit)-[0-3]\(digit)"
        let time = "[0-2]\(digit):[0-5]\(digit):[0-5]\(digit).\(String(repeating: digit, count: 6))"
        return """
            (CASE typeof(\(value)) WHEN 'null' THEN 1 WHEN 'blob' THEN length(\(value)) = 8 WHEN 'real' THEN 0 \
            ELSE \(value) GLOB '\(day)T\(time)Z' OR CAST(\(value) AS INTEGER) < \(DateText.range.lowerBound) END)
            """
    }

    private func checkMandatoryColumns(besides filled: Set<String>) throws(SQLSchemaError) {
        for (key, column) in columns.sortedByKey
        where column.isMandatory && column.defaultValue == nil && !column.isGenerated && key != alias {
            guard filled.contains(key) else {
                throw unsuitable(
                    "its column \(column.name) is NOT NULL without a default, and new objects have no value for it; "
                        + "supply one by Options.suppliedValues, allow NULL or give it a default")
            }
        }
    }

    /// Verifies that the columns of supplied values can be written.
    private func checkSuppliedColumns(_ schema: SQLSchema) throws(SQLSchemaError) {
        let values = schema.suppliedValues.first { schema.dialect.folded($0.key) == schema.dialect.folded(name) }
        for column in (values?.value ?? [:]).keys.sorted() {
            guard let found = columns[column.lowercased()] else {
                throw .missingColumn(table: name, column: column)
            }
            guard !found.isGenerated else {
                throw unsuitable("\(column) is generated, so no value can be supplied for it")
            }
        }
    }

    /// The store compares identities by bytes, so the column must not compare them differently.
    private func checkIdentities(_ family: Int, _ schema: SQLSchema, _ connection: SQLiteConnection) throws {
        let root = schema.model.layouts[schema.families[family].root]
        for member in root.family {
            for identity in schema.model.layouts[member].identityColumns {
                let column = schema.columns[member][identity]
                guard columns[column.lowercased()] != nil, column.lowercased() != alias else { continue }
                if let error = Self.otherCollation(of: column, in: name, connection) { throw error }
                let quoted = SQLText.name(column)
                let condition: String
                let reason: String
                switch schema.model.layouts[member].attributes[identity].type {
                case .uuid:
                    condition =
                        "typeof(\(quoted)) <> 'text' OR \(quoted) <> upper(\(quoted)) OR length(\(quoted)) <> 36"
                    reason = "UUIDs that are not text of 36 characters in upper case"
                case .bool, .int16, .int32, .int64:
                    condition = "typeof(\(quoted)) <> 'integer'"
                    reason = "values that are not integers"
                case .decimal:
                    // Identities are compared as text, so 1.50 would differ from 1.5.
                    condition = """
                        typeof(\(quoted)) <> 'text' OR \(quoted) <> \
                        (SELECT \(SQLiteConnection.decimalSumFunction)(v) FROM (SELECT t.\(quoted) AS v))
                        """
                    reason = "decimal numbers in another form than the store's, such as 1.50 for 1.5"
                case .string, .uri:
                    condition = "typeof(\(quoted)) <> 'text'"
                    reason = "values that are not text"
                case .double, .float:
                    condition = "typeof(\(quoted)) NOT IN ('real', 'integer')"
                    reason = "values that are not numbers"
                case .date:
                    if let found = columns[column.lowercased()] {
                        try checkDates(found, isIdentity: true, schema.dates, connection)
                    }
                    continue
                case .json, .transformable: continue
                case .binary:
                    condition = "typeof(\(quoted)) <> 'blob'"
                    reason = "values that are not blobs"
                }
                let isFound = try connection.integer(
                    """
                    SELECT 1 FROM \(SQLText.name(name)) t WHERE \(quoted) IS NOT NULL AND (\(condition)) LIMIT 1
                    """)
                if isFound != nil { throw unsuitable("\(column), which identifies objects, holds \(reason)") }
            }
        }
    }

    /// Verifies that this connection can change the table. Its triggers, indices and constraints
    /// may use functions, collations and modules that only another program has.
    private func checkStatements(_ connection: SQLiteConnection) throws {
        let table = SQLText.name(name)
        let assignments = columns.values.filter { !$0.isGenerated }.map { column in
            "\(SQLText.name(column.name)) = \(SQLText.name(column.name))"
        }
        let statements = [
            "INSERT INTO \(table) DEFAULT VALUES",
            "UPDATE \(table) SET \(assignments.sorted().joined(separator: ", "))",
            "DELETE FROM \(table)",
        ]
        for statement in statements {
            // Compiled but never run.
            do { _ = try connection.prepare(statement) } catch {
                throw unsuitable(
                    "a trigger, an index or a constraint of it cannot be used here: \(error.message)\(error.advice)")
            }
        }
    }
}
