#if Postgres
import OneWayPostgresTestSupport
import SyncStorePostgres

/// Rows in memory, as the lines that `COPY` reads.
struct FloorRows: Sendable {
    fileprivate var bytes: [UInt8] = []
    /// Where each piece of some 64 KiB ends.
    fileprivate var ends: [Int] = []

    /// Adds a row's values; null is nil.
    mutating func append(_ values: [String?]) {
        for (place, value) in values.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: "\t")) }
            guard let value else {
                bytes += Array("\\N".utf8)
                continue
            }
            for byte in value.utf8 {
                switch byte {
                case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
                case UInt8(ascii: "\t"): bytes += Array("\\t".utf8)
                case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
                case UInt8(ascii: "\r"): bytes += Array("\\r".utf8)
                default: bytes.append(byte)
                }
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count - (ends.last ?? 0) > 65_536 { ends.append(bytes.count) }
    }
}

/// A table of the floor, and where a store has its rows.
struct PostgresFloorTable: Sendable {
    let name: String
    /// The columns after the key, with their types.
    let columns: [(name: String, type: String)]
    /// Selects the rows of a store's schema, by key.
    let selection: @Sendable (_ schema: String) -> String

    static let users = PostgresFloorTable(name: "floor_users", columns: userColumns) { schema in
        "SELECT \(userSelection) FROM \(schema).\"User\" u ORDER BY 1"
    }
    static let linkedUsers = PostgresFloorTable(
        name: "floor_users", columns: userColumns + [("company", "bigint REFERENCES floor_companies")]
    ) { schema in
        """
        SELECT \(userSelection), c."remoteID" FROM \(schema)."User" u \
        LEFT JOIN \(schema)."Company" c ON u.company = c._id ORDER BY 1
        """
    }
    static let companies = PostgresFloorTable(name: "floor_companies", columns: [("name", "text")]) { schema in
        "SELECT \"remoteID\", name FROM \(schema).\"Company\" ORDER BY 1"
    }

    private static let userColumns = [
        ("name", "text"), ("email", "text"), ("created_at", "timestamptz"), ("updated_at", "timestamptz"),
        ("score", "float8"), ("active", "bool"), ("tags", "text"), ("city", "text"), ("zip", "text"),
    ]
    private static let userSelection = """
        u."remoteID", u.name, email, "createdAt", "updatedAt", score, active, convert_from(tags, 'UTF8'), city, zip
        """

    /// Makes an empty table, with an index of what leads to another.
    fileprivate var creation: String {
        let declarations = columns.map { ", \($0.name) \($0.type)" }.joined()
        let indices = columns.filter { $0.type.contains("REFERENCES") }
            .map { "; CREATE INDEX ON \(name) (\($0.name))" }.joined()
        return "CREATE TABLE \(name) (id bigint PRIMARY KEY\(declarations))\(indices)"
    }

    private var copy: String { "copied_\(name)" }

    /// Copies the rows into a temporary table, and upserts what is new or differs by a join.
    fileprivate func upsert(_ rows: FloorRows, _ connection: PostgresConnection) throws {
        let stored = columns.map { "o.\($0.name)" }.joined(separator: ", ")
        let given = columns.map { "t.\($0.name)" }.joined(separator: ", ")
        let assignments = columns.map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
        try connection.execute("CREATE TEMP TABLE \(copy) (LIKE \(name)) ON COMMIT DROP")
        try connection.copyIn("COPY \(copy) FROM STDIN") { writer in
            try rows.bytes.withUnsafeBytes { bytes in
                var start = 0
                for end in rows.ends + [bytes.count] {
                    try writer.write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                    start = end
                }
            }
        }
        try connection.execute(
            """
            ANALYZE \(copy); \
            INSERT INTO \(name) SELECT t.* FROM \(copy) t LEFT JOIN \(name) o USING (id) \
            WHERE o.id IS NULL OR ROW(\(stored)) IS DISTINCT FROM ROW(\(given)) \
            ON CONFLICT (id) DO UPDATE SET \(assignments)
            """)
    }

    /// Deletes by an anti-join what the copied rows do not have.
    fileprivate var deletion: String {
        "DELETE FROM \(name) u WHERE NOT EXISTS (SELECT 1 FROM \(copy) t WHERE t.id = u.id)"
    }
}

/// PostgreSQL as bare as it can be used: what a store is measured against.
struct PostgresFloor {
    let session: PostgresSession
    /// Each before those that refer to it.
    let tables: [PostgresFloorTable]

    /// Makes empty tables.
    func reset() async throws {
        try await session.use { connection in
            for table in tables.reversed() { try connection.execute("DROP TABLE IF EXISTS \(table.name) CASCADE") }
            for table in tables { try connection.execute(table.creation) }
        }
    }

    /// Makes the tables equal to the rows.
    func synchronize(_ rows: [FloorRows]) async throws {
        try await session.use { connection in
            try connection.execute("BEGIN")
            for (table, rows) in zip(tables, rows) { try table.upsert(rows, connection) }
            let deletions = tables.reversed().map { "\($0.deletion); " }.joined()
            try connection.execute("\(deletions)COMMIT")
        }
    }

    /// The rows of a store's schema, by table.
    func rows(ofSchema schema: String) async throws -> [FloorRows] {
        try await session.use { connection in
            try tables.map { table in
                var rows = FloorRows()
                try connection.execute("BEGIN; DECLARE c CURSOR FOR \(table.selection(schema))")
                while true {
                    let result = try connection.query("FETCH 10000 FROM c")
                    if result.rowCount == 0 { break }
                    for row in 0..<result.rowCount {
                        rows.append((0..<result.columnCount).map { result.text(row, $0) })
                    }
                }
                try connection.execute("COMMIT")
                return rows
            }
        }
    }
}
#endif
