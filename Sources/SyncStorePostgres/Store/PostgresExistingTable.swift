#if Postgres
import OneWayPostgresClient
import SyncBase
import SyncModel
import SyncStoreSQL

/// A table that existed before the store. The store writes to it, but never rebuilds or drops it.
struct PostgresExistingTable {
    /// A column, as the server describes it.
    private struct Column {
        /// The type in SQL; for a domain, its base type.
        let type: String
        /// The type that the table declares.
        let declaredType: String
        /// Whether the type is an enumeration.
        let isEnumeration: Bool
        let isMandatory: Bool
        /// Whether the column has a value if an insertion does not supply one.
        let hasDefault: Bool
        /// The default of the column itself, as an expression of its type; nil for none.
        let defaultValue: String?
        let isGenerated: Bool
        let isAlwaysIdentity: Bool
        /// The collation if it can consider texts with different bytes equal; nil otherwise.
        let looseCollation: String?
    }

    let name: String
    /// The name in statements.
    private let relation: String
    private let isPartitioned: Bool
    private let connection: PostgresConnection
    private let columns: [String: Column]

    /// Reads the description of a table.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable` for a view or another relation that is not a
    ///   table.
    init(_ name: String, in schema: SQLSchema, on connection: PostgresConnection) throws {
        self.name = name
        relation = schema.relation(name)
        self.connection = connection
        let table: SQLBinding = .text(relation)
        let kind = try connection.run(
            """
            SELECT relkind::text, EXISTS (SELECT 1 FROM pg_catalog.pg_inherits WHERE inhparent = c.oid) \
            FROM pg_catalog.pg_class c WHERE c.oid = to_regclass($1::text)
            """, [table])
        guard kind.rowCount > 0, let letter = kind.text(0, 0) else { throw SQLSchemaError.unreadable }
        guard let isPartitioned = ["r": false, "p": true][letter] else {
            let kinds = [
                "v": "a view", "m": "a materialized view", "f": "a foreign table", "S": "a sequence", "c": "a type",
            ]
            throw SQLSchemaError.unsuitableTable(
                table: name, reason: "it is \(kinds[letter] ?? "an index"), not an ordinary table")
        }
        guard isPartitioned || kind.boolean(0, 1) != true else {
            throw Self.inherited(name)
        }
        self.isPartitioned = isPartitioned
        // A domain has the values of its base type, which may be another domain.
        let found = try connection.run(
            """
            WITH RECURSIVE t AS (\
            SELECT a.attnum, 0 AS depth, a.atttypid AS type, a.atttypmod AS modifier FROM pg_catalog.pg_attribute a \
            WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped \
            UNION ALL SELECT t.attnum, t.depth + 1, d.typbasetype, d.typtypmod FROM t \
            JOIN pg_catalog.pg_type d ON d.oid = t.type WHERE d.typtype::text = 'd'::text), \
            base AS (SELECT DISTINCT ON (attnum) attnum, type, modifier FROM t ORDER BY attnum, depth DESC) \
            SELECT a.attname::text, pg_catalog.format_type(b.type, b.modifier), \
            pg_catalog.format_type(a.atttypid, a.atttypmod), \
            a.attnotnull OR EXISTS (SELECT 1 FROM t JOIN pg_catalog.pg_type d ON d.oid = t.type \
            WHERE t.attnum = a.attnum AND d.typnotnull), \
            a.atthasdef OR a.attidentity::text <> ''::text OR EXISTS (SELECT 1 FROM t \
            JOIN pg_catalog.pg_type d ON d.oid = t.type WHERE t.attnum = a.attnum AND d.typdefault IS NOT NULL), \
            a.attgenerated::text <> ''::text, a.attidentity::text = 'a'::text, \
            (SELECT c.collname::text FROM pg_catalog.pg_collation c \
            WHERE c.oid = a.attcollation AND NOT c.collisdeterministic), \
            (SELECT y.typtype::text = 'e'::text FROM pg_catalog.pg_type y WHERE y.oid = b.type), \
            (SELECT pg_catalog.pg_get_expr(f.adbin, f.adrelid) FROM pg_catalog.pg_attrdef f \
            WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum), \
            pg_catalog.format_type(b.type, NULL::integer) \
            FROM pg_catalog.pg_attribute a JOIN base b ON b.attnum = a.attnum \
            WHERE a.attrelid = to_regclass($1::text)
            """, [table])
        var columns: [String: Column] = [:]
        for row in 0..<found.rowCount {
            guard let column = found.text(row, 0) else { continue }
            columns[column] = Column(
                type: found.text(row, 1) ?? "", declaredType: found.text(row, 2) ?? "",
                isEnumeration: found.boolean(row, 8) == true,
                isMandatory: found.boolean(row, 3) == true, hasDefault: found.boolean(row, 4) == true,
                defaultValue: found.text(row, 9).map { "(\($0))::\(found.text(row, 10) ?? "text")" },
                isGenerated: found.boolean(row, 5) == true, isAlwaysIdentity: found.boolean(row, 6) == true,
                looseCollation: found.text(row, 7))
        }
        self.columns = columns
    }

    /// The error for a table whose rows include those of other tables.
    static func inherited(_ table: String) -> SQLSchemaError {
        .unsuitableTable(
            table: table, reason: "tables inherit from it, and its unique indices do not cover their rows")
    }

    /// The error for a column that identifies objects and whose collation can consider texts with
    /// different bytes equal.
    ///
    /// - Parameter advice: How to go on; empty, the default, for none.
    static func looselyCollated(
        _ column: String, in table: String, by collation: String, advice: String = ""
    ) -> SQLSchemaError {
        .unsuitableTable(
            table: table,
            reason: "\(column) identifies objects, and its collation \(collation) takes different texts for the same"
                + advice)
    }

    // MARK: Forms

    /// The forms of an attribute's columns that hold only some values or have a default, by the
    /// name of the column.
    func forms(family: Int, of schema: SQLSchema) -> [String: PostgresColumnForm] {
        var forms: [String: PostgresColumnForm] = [:]
        for column in schema.attributeColumns[family] {
            guard let found = columns[column.name] else { continue }
            forms[column.name] = form(found, of: column.attribute.type)
            guard found.isMandatory, let defaultValue = found.defaultValue else { continue }
            forms[column.name, default: .whole].defaultValue = defaultValue
        }
        return forms
    }

    private func form(_ column: Column, of type: AttributeType) -> PostgresColumnForm? {
        PostgresColumnForm(column.type, isEnumeration: column.isEnumeration, of: type)
    }

    // MARK: Checks

    /// Verifies that the table has the columns of a table of the schema.
    ///
    /// - Throws: `SQLSchemaError.missingColumn`; `unsuitableTable` if an attribute uses the name of
    ///   the column of object numbers.
    func checkColumns(of table: SQLSchema.Table, _ schema: SQLSchema) throws(SQLSchemaError) {
        for column in table.columns where columns[column] == nil {
            let row = schema.naming.rowColumn
            let attribute = schema.attributeColumns.joined().first { $0.name == column }?.attribute.name
            guard attribute != row, attribute != schema.naming.entityColumn else {
                throw unsuitable(
                    "\(row) is an attribute, so SQLNaming.rowColumn has to name a column for the rows' numbers, such "
                        + "as: ALTER TABLE \(relation) ADD COLUMN _row bigint GENERATED BY DEFAULT AS IDENTITY "
                        + "UNIQUE")
            }
            throw .missingColumn(table: name, column: column)
        }
    }

    /// Verifies that a family's objects can be written to the table without losing or changing
    /// values. Ignores columns that the table lacks.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable`, with the reason.
    func check(family: Int, of schema: SQLSchema) throws {
        let numbers = schema.naming.rowColumn
        if let found = columns[numbers] {
            guard Self.integers.contains(found.type), found.isMandatory, !found.isGenerated,
                try isUnique([numbers])
            else {
                throw unsuitable(
                    "\(numbers), which numbers its rows, has to be an integer column that is NOT NULL and has a "
                        + "unique index of its own"
                        + (isPartitioned
                            ? "; a unique index of a partitioned table has to contain its partition key" : ""))
            }
        }
        if schema.families[family].namesEntity {
            try check(schema.naming.entityColumn, holds: .string, of: "the entity", isCompared: true)
        }
        let identifying = schema.identifyingColumns(family: family)
        for column in schema.attributeColumns[family] {
            try check(
                column.name, holds: column.attribute.type, of: column.attribute.name,
                isCompared: identifying.contains(column.name))
        }
        for (link, _) in schema.references[family] {
            try checkNumberColumns([link.column] + (link.position.map { [$0] } ?? []))
        }
        try checkMandatoryColumns(besides: schema.filledColumns(family: family))
        try checkSuppliedColumns(schema)
    }

    /// Verifies that a relationship's pairs can be written to the table, and that it has each pair
    /// once.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable`, with the reason.
    func check(_ join: SQLSchema.JoinLink, of schema: SQLSchema) throws {
        let pair = [join.source, join.target]
        let names = pair + [join.position, join.inversePosition].compactMap { $0 }
        try checkNumberColumns(names)
        try checkMandatoryColumns(besides: Set(names + (schema.suppliedValues[name] ?? [:]).keys))
        try checkSuppliedColumns(schema)
        for column in pair where columns[column]?.isMandatory == false {
            let isFound = try connection.run(
                "SELECT 1 FROM \(relation) WHERE \(SQLText.name(column)) IS NULL LIMIT 1")
            guard isFound.rowCount == 0 else { throw unsuitable("\(column) is NULL in some of its rows") }
        }
        guard try !isUnique(pair) else { return }
        guard join.position == nil, join.inversePosition == nil else {
            throw unsuitable(
                "an ordered relationship needs a unique index of \(join.source) and \(join.target), not a deferrable one"
            )
        }
        let repeated = try connection.run(
            "SELECT 1 FROM \(relation) GROUP BY \(SQLText.names(pair)) HAVING count(*) > 1 LIMIT 1")
        guard repeated.rowCount == 0 else {
            throw unsuitable(
                "pairs of \(join.source) and \(join.target) repeat; delete the repetitions and create a unique index")
        }
    }

    private static let integers: Set<String> = ["smallint", "integer", "bigint"]

    /// The column types that store every value of an attribute unchanged or reject it.
    static func types(for type: AttributeType) -> Set<String> {
        switch type {
        case .int16, .int32, .int64: integers
        case .bool: ["boolean"]
        case .double: ["double precision"]
        case .float: ["real", "double precision"]
        case .decimal: ["numeric"]
        case .string, .uri: ["text", "character varying"]
        case .uuid: ["uuid"]
        case .binary, .transformable: ["bytea"]
        case .date:
            Set(["", "(6)"].flatMap { ["timestamp\($0) with time zone", "timestamp\($0) without time zone"] })
        case .json: ["jsonb"]
        }
    }

    /// - Parameter isCompared: Whether values of the column are compared to identify objects.
    private func check(
        _ column: String, holds type: AttributeType, of attribute: String, isCompared: Bool
    ) throws(SQLSchemaError) {
        guard let found = columns[column] else { return }
        guard !found.isGenerated else { throw unsuitable("\(column) is a generated column") }
        guard !found.isAlwaysIdentity else {
            throw unsuitable("\(column) is GENERATED ALWAYS AS IDENTITY, and \(attribute) an attribute")
        }
        let types = Self.types(for: type)
        let form = form(found, of: type)
        guard types.contains(found.type) || form != nil else {
            throw unsuitable(
                "\(column) has the type \(found.declaredType), which changes or refuses values of \(attribute) "
                    + "(\(type.rawValue)); it has to be \(types.sorted().joined(separator: " or "))")
        }
        if isCompared, let form, !form.identifies {
            throw unsuitable("\(column) identifies objects, and its type \(found.declaredType) cannot do that")
        }
        if isCompared, let collation = found.looseCollation {
            throw Self.looselyCollated(column, in: name, by: collation)
        }
    }

    /// Verifies that columns can hold object numbers or positions.
    private func checkNumberColumns(_ names: [String]) throws(SQLSchemaError) {
        for name in names {
            guard let column = columns[name] else { continue }
            guard Self.integers.contains(column.type), !column.isGenerated, !column.isAlwaysIdentity else {
                throw unsuitable("\(name) cannot hold object numbers")
            }
        }
    }

    private func checkMandatoryColumns(besides filled: Set<String>) throws(SQLSchemaError) {
        for (name, column) in columns.sortedByKey
        where column.isMandatory && !column.hasDefault && !filled.contains(name) {
            throw unsuitable(
                "its column \(name) is NOT NULL without a default, and new objects have no value for it; "
                    + "supply one by Options.suppliedValues, allow NULL or give it a default")
        }
    }

    /// Verifies that the columns of supplied values can be written.
    private func checkSuppliedColumns(_ schema: SQLSchema) throws(SQLSchemaError) {
        for column in (schema.suppliedValues[name] ?? [:]).keys.sorted() {
            guard let found = columns[column] else { throw .missingColumn(table: name, column: column) }
            guard !found.isGenerated, !found.isAlwaysIdentity else {
                throw unsuitable("\(column) is generated, so no value can be supplied for it")
            }
        }
    }

    /// Whether a unique index covers the columns and is checked immediately.
    private func isUnique(_ names: [String]) throws -> Bool {
        let list = names.map { SQLText.literal($0) }.joined(separator: ", ")
        return try connection.run(
            """
            SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = to_regclass($1::text) \
            AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indnkeyatts = \(names.count) \
            AND (SELECT count(*) FROM pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(number, place) \
            JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number \
            WHERE k.place <= \(names.count) AND a.attname::text IN (\(list))) = \(names.count)
            """, [.text(relation)]
        ).rowCount > 0
    }

    private func unsuitable(_ reason: String) -> SQLSchemaError {
        .unsuitableTable(table: name, reason: reason)
    }
}
#endif
