import OneWayStoreLives
import SyncModel
import SyncStoreSQL
import Testing

/// How a tool for other programs writes its tables: names, types, keys, constraints and indices in
/// the form in which the tool emits them.
struct ForeignSchema: Sendable, CustomTestStringConvertible {
    let tool: String
    /// The table of an entity.
    let table: @Sendable (String) -> String
    /// The columns of to-one relationships, by the name of the relationship.
    let reference: @Sendable (String) -> String
    /// The declaration of the key.
    let key: String
    /// The declared types of attributes.
    let types: [AttributeType: String]
    /// The quotation mark of names.
    let quote: String
    /// The constraint of a reference, after its type; `$` stands for the quoted table.
    var inlineReference = ""
    /// The constraint of a reference at the end of the table; `#` stands for the quoted column.
    var tableReference = ""
    /// Further columns that the tool adds to each table.
    var furtherColumns: [String] = []
    /// The end of the table's text, after its columns.
    var tableEnd = ""
    /// Statements that the tool runs beside.
    var others: [String] = []

    var testDescription: String { tool }

    func quoted(_ name: String) -> String { quote + name + quote }

    /// The statements that create the table of an entity.
    func creation(of entity: String, fields: [Field], references: [(name: String, entity: String)]) -> [String] {
        var lines = [key] + fields.map { "\(quoted($0.name)) \(types[$0.type] ?? "TEXT")" }
        var constraints: [String] = []
        var indices: [String] = []
        for (name, target) in references {
            let column = quoted(reference(name))
            let target = quoted(table(target))
            let constraint = inlineReference.isEmpty ? "" : " " + inlineReference.replacing("$", with: target)
            lines.append("\(column) \(types[.int64] ?? "INTEGER")\(constraint)")
            if !tableReference.isEmpty {
                constraints.append(tableReference.replacing("#", with: column).replacing("$", with: target))
            }
            indices.append(
                "CREATE INDEX \(quoted("index_\(table(entity))_on_\(reference(name))")) "
                    + "ON \(quoted(table(entity))) (\(column))")
        }
        lines += furtherColumns + constraints
        return ["CREATE TABLE \(quoted(table(entity))) (\(lines.joined(separator: ", ")))\(tableEnd)"] + indices
            + others
    }

    /// Names that lead the store to the tables.
    func naming(references: [String: [(name: String, entity: String)]]) -> SQLNaming {
        var naming = SQLNaming(rowColumn: "rowid")
        for (entity, references) in references {
            naming.tables[entity] = table(entity)
            for (name, _) in references { naming.columns["\(entity).\(name)"] = reference(name) }
        }
        return naming
    }

    private static func types(
        integer: String, big: String, text: String, real: String, bool: String, uuid: String
    ) -> [AttributeType: String] {
        [.int16: integer, .int64: big, .string: text, .double: real, .bool: bool, .uuid: uuid, .decimal: text]
    }

    private static let plain = types(
        integer: "INTEGER", big: "INTEGER", text: "TEXT", real: "REAL", bool: "BOOLEAN", uuid: "TEXT")

    static let all: [ForeignSchema] = [
        ForeignSchema(
            tool: "sqlite3", table: { $0.lowercased() }, reference: { $0 }, key: "id INTEGER PRIMARY KEY",
            types: types(integer: "INT", big: "BIGINT", text: "TEXT", real: "DOUBLE", bool: "INT", uuid: "CHAR(36)"),
            quote: ""),
        ForeignSchema(
            tool: "sqlite3 STRICT", table: { $0 + "s" }, reference: { $0 }, key: "id INTEGER PRIMARY KEY",
            types: types(integer: "INT", big: "INTEGER", text: "TEXT", real: "REAL", bool: "INTEGER", uuid: "TEXT"),
            quote: "", tableEnd: " STRICT"),
        ForeignSchema(
            tool: "GRDB", table: { $0.lowercased() }, reference: { $0 + "Id" },
            key: #""id" INTEGER PRIMARY KEY AUTOINCREMENT"#, types: plain, quote: "\"",
            inlineReference: #"REFERENCES $("id") ON DELETE SET NULL"#,
            others: ["CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"]),
        ForeignSchema(
            tool: "Django", table: { "app_" + $0.lowercased() }, reference: { $0 + "_id" },
            key: #""id" integer NOT NULL PRIMARY KEY AUTOINCREMENT"#,
            types: types(
                integer: "smallint NULL", big: "bigint NULL", text: "varchar(200) NULL", real: "real NULL",
                bool: "bool NULL", uuid: "char(36) NULL"),
            quote: "\"", inlineReference: #"REFERENCES $ ("id") DEFERRABLE INITIALLY DEFERRED"#),
        ForeignSchema(
            tool: "Rails", table: { $0.lowercased() + "s" }, reference: { $0 + "_id" },
            key: #""id" integer PRIMARY KEY AUTOINCREMENT NOT NULL"#,
            types: types(
                integer: "integer(2)", big: "bigint", text: "varchar", real: "float", bool: "boolean",
                uuid: "varchar(36)"),
            quote: "\"", tableReference: #"CONSTRAINT "fk_rails_1" FOREIGN KEY (#) REFERENCES $ ("id")"#,
            furtherColumns: [#""created_at" datetime(6) DEFAULT CURRENT_TIMESTAMP NOT NULL"#]),
        ForeignSchema(
            tool: "Room", table: { $0 }, reference: { $0 + "Id" }, key: "`id` INTEGER NOT NULL PRIMARY KEY",
            types: plain, quote: "`",
            tableReference: "FOREIGN KEY(#) REFERENCES $(`id`) ON UPDATE NO ACTION ON DELETE SET NULL ",
            others: ["CREATE TABLE IF NOT EXISTS room_master_table (id INTEGER PRIMARY KEY,identity_hash TEXT)"]),
        ForeignSchema(
            tool: "TypeORM", table: { $0.lowercased() }, reference: { $0 + "Id" },
            key: #""id" integer PRIMARY KEY AUTOINCREMENT NOT NULL"#,
            types: types(
                integer: "smallint", big: "bigint", text: "varchar", real: "double", bool: "boolean",
                uuid: "varchar"),
            quote: "\"",
            tableReference: #"FOREIGN KEY (#) REFERENCES $ ("id") ON DELETE SET NULL ON UPDATE NO ACTION"#),
        ForeignSchema(
            tool: "Prisma", table: { $0 }, reference: { $0 + "Id" },
            key: #""id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"#,
            types: types(
                integer: "INTEGER", big: "BIGINT", text: "TEXT", real: "REAL", bool: "BOOLEAN", uuid: "TEXT"),
            quote: "\"",
            tableReference: #"FOREIGN KEY (#) REFERENCES $ ("id") ON DELETE SET NULL ON UPDATE CASCADE"#),
    ]
}
