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

/// PostgreSQL as bare as it can be used: what a store is measured against.
struct PostgresFloor {
    private static let columns = [
        "id", "name", "email", "created_at", "updated_at", "score", "active", "tags", "city", "zip",
    ]
    private static let table = "floor_users"

    let session: PostgresSession

    /// Makes an empty table.
    func reset() async throws {
        try await session.use { connection in
            _ = try connection.execute(
                """
                DROP TABLE IF EXISTS \(Self.table); CREATE TABLE \(Self.table) (id bigint PRIMARY KEY, name text, email text, \
                created_at timestamptz, updated_at timestamptz, score float8, active bool, tags text, city text, zip text)
                """)
        }
    }

    /// Makes the table equal to the rows: `COPY` into a temporary table, a join that finds what is
    /// new or differs, an upsert of that alone, and an anti-join that deletes the rest.
    func synchronize(_ rows: FloorRows) async throws {
        let others = Self.columns.dropFirst()
        let stored = others.map { "o.\($0)" }.joined(separator: ", ")
        let given = others.map { "t.\($0)" }.joined(separator: ", ")
        let assignments = others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let table = Self.table
        try await session.use { connection in
            try connection.execute("BEGIN; CREATE TEMP TABLE t (LIKE \(table)) ON COMMIT DROP")
            try connection.copyIn("COPY t FROM STDIN") { writer in
                try rows.bytes.withUnsafeBytes { bytes in
                    var start = 0
                    for end in rows.ends + [bytes.count] {
                        try writer.write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                        start = end
                    }
                }
            }
            _ = try connection.execute(
                """
                ANALYZE t; \
                INSERT INTO \(table) SELECT t.* FROM t LEFT JOIN \(table) o USING (id) \
                WHERE o.id IS NULL OR (\(stored)) IS DISTINCT FROM (\(given)) \
                ON CONFLICT (id) DO UPDATE SET \(assignments); \
                DELETE FROM \(table) u WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = u.id); COMMIT
                """)
        }
    }

    /// The users of a store's schema, by key.
    func rows(ofSchema schema: String) async throws -> FloorRows {
        try await session.use { connection in
            var rows = FloorRows()
            try connection.execute(
                """
                BEGIN; DECLARE c CURSOR FOR SELECT "remoteID", name, email, "createdAt", "updatedAt", score, active, \
                convert_from(tags, 'UTF8'), city, zip FROM \(schema)."User" ORDER BY 1
                """)
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
#endif
