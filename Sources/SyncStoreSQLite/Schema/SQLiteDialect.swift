import Foundation
package import SyncModel
package import SyncStore
package import SyncStoreSQL

/// The SQL of SQLite 3.38 or later.
package struct SQLiteDialect: SQLDialect {
    package init() {}

    package func columnType(_ type: AttributeType, dates: SQLNaming.DateStorage) -> String {
        switch type {
        case .int16, .int32, .int64: "INTEGER"
        case .bool: "BOOLEAN"
        case .double, .float: "REAL"
        case .decimal, .string, .uri, .uuid, .json: "TEXT"
        case .binary, .transformable: "BLOB"
        case .date: dates == .iso8601 ? "DATETIME" : "REAL"
        }
    }

    /// See https://www.sqlite.org/stricttables.html.
    package func strictColumnType(_ type: AttributeType, dates: SQLNaming.DateStorage) -> String {
        switch type {
        case .bool: "INTEGER"
        case .date where dates == .iso8601: "TEXT"
        default: columnType(type, dates: dates)
        }
    }

    package var objectDeclaration: String { "INTEGER PRIMARY KEY" }
    package var referenceType: String { "INTEGER" }
    package var entityDeclaration: String { "TEXT NOT NULL" }

    // MARK: Names

    package var addsForeignKeysLater: Bool { false }
    package var reservedColumns: [String] { [] }

    /// SQLite reserves names that begin with `sqlite_`, and a statement ends at a zero byte.
    package func suitable(_ name: String, room: Int) -> String {
        let name = name.replacing("\0", with: "_")
        return name.isEmpty || name.lowercased().hasPrefix("sqlite_") ? "_" + name : name
    }

    /// SQLite ignores the case of ASCII letters.
    package func folded(_ name: String) -> [UInt8] {
        name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    package func isReserved(table: String) -> Bool {
        let name = table.lowercased()
        // A table with the name of a function would hide the function from the store's statements.
        return SQLSchemaRecord.bookkeepingTables.contains(name) || ["_sync_doomed", "json_each"].contains(name)
            || name.hasPrefix("pragma_")
            || ["_sync_new_", "_sync_old_", "_sync_batch_"].contains {
                name.hasPrefix($0) && name.dropFirst($0.count).allSatisfy(\.isNumber)
            }
    }

    // MARK: Values

    package func binding(_ value: AttributeValue, dates: SQLNaming.DateStorage) -> SQLBinding {
        switch value {
        case .null: return .null
        case .bool(let flag): return .integer(flag ? 1 : 0)
        case .int(let number): return .integer(number)
        case .double(let number): return number.isNaN ? .null : .real(number)
        case .decimal(let number): return .text(number.description)
        case .string(let text), .uri(let text): return .text(text)
        case .binary(let data): return .blob(data)
        case .uuid(let uuid): return .text(uuid.uuidString)
        case .json(let json): return .text(json.text)
        case .date(let moment):
            if let count = SQLiteDateCount(dates) { return .real(count.seconds(moment)) }
            if let text = DateText.text(sortable: moment) { return .text(text) }
            if moment.microseconds < 0 { return .integer(moment.microseconds) }
            return .blob(withUnsafeBytes(of: moment.microseconds.bigEndian) { Data($0) })
        }
    }

    package func placeholder(_ number: Int, for binding: SQLBinding) -> String { "?" }
    package var firstNumber: String { "?1" }

    package func literal(_ binding: SQLBinding) -> String? {
        switch binding {
        case .null: "NULL"
        case .integer(let number): String(number)
        // SQLite may read a decimal literal as a number next to it.
        case .real: nil
        case .text(let text): text.utf8.contains(0) ? nil : SQLText.literal(text)
        case .blob(let data): "x'\(SQLText.hexadecimal(data))'"
        case .typed, .objects, .blobs: nil
        }
    }

    package func defaultLiteral(_ binding: SQLBinding) -> String? {
        guard case .real(let number) = binding else { return literal(binding) }
        return number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : "\(number)"
    }

    package var noLimit: SQLBinding { .integer(-1) }

    // MARK: Expressions

    package var indexOrder: String { "" }

    package var comparesNumbersExactly: Bool { true }

    package func condition(_ holds: Bool) -> String { holds ? "1" : "0" }

    package func selected(_ column: String, as type: AttributeType) -> String { column }

    package func collation(_ type: AttributeType) -> String {
        switch type {
        case .decimal: " COLLATE \(SQLiteConnection.decimalCollation)"
        case .json: " COLLATE \(SQLiteConnection.jsonCollation)"
        // Columns of existing tables may have other collations.
        case .string, .uri, .uuid: " COLLATE BINARY"
        default: ""
        }
    }

    package func aggregate(
        _ function: StoreSelection.Aggregate, _ expression: String, as type: AttributeType
    ) -> String {
        switch function {
        case .minimum: "min(\(expression))"
        case .maximum: "max(\(expression))"
        case .average: "\(SQLiteConnection.averageFunction)(\(expression))"
        case .sum:
            switch type {
            case .decimal: "\(SQLiteConnection.decimalSumFunction)(\(expression))"
            case .int16, .int32, .int64: "\(SQLiteConnection.integerSumFunction)(\(expression))"
            default: "sum(\(expression))"
            }
        }
    }

    /// Compares blobs, because SQLite's text functions stop at a zero byte and count characters.
    package func textCondition(
        _ expression: String, collation: String, _ match: PropertyPath.TextMatch, _ text: String,
        _ parameters: inout SQLParameters
    ) -> String {
        let length = text.utf8.count
        let part = parameters.add(.blob(Data(text.utf8)))
        let bytes = "CAST(\(expression) AS BLOB)"
        return switch match {
        case .like: "\(SQLiteConnection.likeFunction)(\(bytes), \(part))"
        case .contains: "instr(\(bytes), \(part)) > 0"
        // In SQLite, `substr` of an empty blob is null.
        case .beginsWith: "(length(\(bytes)) >= \(length) AND substr(\(bytes), 1, \(length)) = \(part))"
        case .endsWith: "(length(\(bytes)) >= \(length) AND substr(\(bytes), -\(length)) = \(part))"
        }
    }

    package func isObject(_ expression: String, among placeholder: String) -> String {
        "\(expression) IN (SELECT value FROM json_each(\(placeholder)))"
    }

    package func isObject(
        _ expression: String, in set: ObjectSet, number: Int64?, _ parameters: inout SQLParameters
    ) -> String {
        "\(SQLiteConnection.objectSetFunction)(\(parameters.add(.integer(number ?? 0))), \(expression))"
    }

    package var transactionDate: String { "\(SQLiteConnection.transactionDateFunction)()" }

    // MARK: Removal

    package var doomedTable: String { "temp._sync_doomed" }

    package var doomedPreparation: [String] {
        [
            """
            CREATE TABLE IF NOT EXISTS temp._sync_doomed \
            (family INTEGER NOT NULL, row INTEGER NOT NULL, round INTEGER NOT NULL, PRIMARY KEY (family, row)) WITHOUT ROWID
            """,
            "DELETE FROM temp._sync_doomed",
        ]
    }

    package func doomedInsertion(_ selection: String) -> String {
        "INSERT OR IGNORE INTO \(doomedTable) (family, row, round) \(selection)"
    }

    // MARK: Migration

    package func converted(_ column: String, from type: AttributeType, to wider: AttributeType) -> String {
        if wider == .json, type != .json {
            switch type {
            case .bool: return "CASE WHEN \(column) THEN 'true' WHEN NOT \(column) THEN 'false' END"
            case .decimal: return column
            case .double: return "\(SQLiteConnection.numberJSONFunction)(\(column), 0)"
            case .float: return "\(SQLiteConnection.numberJSONFunction)(\(column), 1)"
            // The text 'null' is quoted as JSON, so only null becomes null.
            default: return "NULLIF(json_quote(\(column)), 'null')"
            }
        }
        guard type.isInteger else { return column }
        return switch wider {
        case .double, .float: "CAST(\(column) AS REAL)"
        case .decimal: "CAST(\(column) AS TEXT)"
        default: column
        }
    }

    package func converted(_ column: String, from type: AttributeType, toFitting other: AttributeType) -> String? {
        guard type.isInteger else { return nil }
        switch other {
        case .int16, .int32, .int64: return column
        case .double, .float: return "CAST(\(column) AS REAL)"
        default: return nil
        }
    }

    /// Without a rowid of its own, so that the row's column can be called `rowid`.
    package func valueTable(_ number: Int, of type: AttributeType, row: String) -> SQLValueTable {
        let name = "temp._sync_values_\(number)"
        return SQLValueTable(
            creation: "CREATE TABLE \(name) (sync_object INTEGER PRIMARY KEY, sync_value) WITHOUT ROWID",
            insertion: "INSERT INTO \(name) VALUES (?, ?)",
            expression: "(SELECT v.sync_value FROM \(name) v WHERE v.sync_object = \(row))",
            removal: "DROP TABLE \(name)")
    }

    /// SQLite's `ALTER TABLE` cannot convert columns; see
    /// https://www.sqlite.org/lang_altertable.html.
    package var changesTables: Bool { false }
}

extension SQLDialect where Self == SQLiteDialect {
    /// The SQL of SQLite.
    package static var sqlite: SQLiteDialect { SQLiteDialect() }
}
