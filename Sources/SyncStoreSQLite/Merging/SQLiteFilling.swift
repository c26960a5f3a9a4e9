import SyncModel
import SyncStore
import SyncStoreSQL

/// An empty table that is filled without the index of its identities.
///
/// Identities in no order would change another page of the index with each row. The index is
/// created at the end, from sorted identities, or as soon as the table has to be searched.
struct SQLiteFilling {
    /// The minimum number of records in the first batch.
    private static let rowMinimum = 1000

    /// The types whose values are equal in the database only if their bits are. 0 and -0 are not,
    /// for example.
    private static let exactTypes: Set<AttributeType> = [.int16, .int32, .int64, .string, .uuid]

    /// The index of the entity whose table it is.
    let entity: Int
    /// The dropped index.
    let index: DroppedIndex
    private var known = HashedIdentities()

    /// Drops the index of a table's identities; nil if the table cannot or need not be filled.
    ///
    /// - Parameter request: The first merge into the table.
    init?(_ request: MergeRequest, _ merge: SQLiteMerge, _ connection: SQLiteConnection) throws {
        let (layout, schema) = (merge.layout, merge.schema)
        let table = schema.table(of: layout.index)
        guard request.policy.inserts, request.matches == nil, request.records.count >= Self.rowMinimum,
            layout.hasIdentity, layout.family.count == 1, !merge.isExisting,
            layout.identityColumns.allSatisfy({ Self.exactTypes.contains(layout.attributes[$0].type) }),
            let index = schema.tables.first(where: { $0.name == table })?.indices
                .first(where: { $0.name == schema.identityIndex(of: layout.index) }),
            !request.records.withReader({ reader in Self.isSorted(reader, layout.identityColumns) }),
            try connection.integer("SELECT EXISTS (SELECT 1 FROM \(SQLText.name(table)))") == 0,
            try connection.integer(Self.needsIndex, [.text(table), .text(schema.naming.rowColumn)]) == 0,
            // Refused once the connection has had a temporary table.
            (try? connection.execute(SQLiteSettings.keepsTemporaryInFiles)) != nil
        else { return nil }
        try connection.execute(SQLiteSettings.keepsTemporaryInMemory)
        entity = layout.index
        self.index = DroppedIndex(creation: index.creation(on: table, schema.dialect))
        try connection.execute("DROP INDEX \(SQLText.name(index.name))")
    }

    /// An index to create again.
    struct DroppedIndex {
        fileprivate let creation: String

        /// Creates the index. Sorts in temporary files, because SQLite would sort all identities at
        /// once in memory.
        func create(_ connection: SQLiteConnection) throws {
            try? connection.execute(SQLiteSettings.keepsTemporaryInFiles)
            defer { try? connection.execute(SQLiteSettings.keepsTemporaryInMemory) }
            try connection.execute(creation)
        }
    }

    /// Whether something of others may need the index with each change: a trigger of the table, or
    /// a foreign key that refers to other columns than the row number.
    private static let needsIndex = """
        SELECT EXISTS (SELECT 1 FROM sqlite_master m, pragma_foreign_key_list(m.name) f \
        WHERE m.type = 'table' AND f."table" = ?1 COLLATE NOCASE AND f."to" <> ?2 COLLATE NOCASE) \
        OR EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE)
        """

    /// Whether the identities ascend. An index of such identities is written page after page.
    private static func isSorted(_ reader: RecordBatch.Reader, _ columns: [Int]) -> Bool {
        let rows = BatchIdentities(reader, columns: columns, rows: 0..<reader.count).rows
        return zip(rows, rows.dropFirst()).allSatisfy(<)
    }

    /// Notes the identities of records.
    ///
    /// - Returns: Whether the table has none of them. If not, the index is needed.
    mutating func insert(_ records: RecordBatch, _ layout: EntityLayout) -> Bool {
        let columns = layout.identityColumns
        return records.withReader { reader in
            let hashes = (0..<reader.count).compactMap { row -> UInt64? in
                for column in columns where [.absent, .null].contains(reader.kind(row: row, column: column)) {
                    return nil
                }
                return UInt64(bitPattern: Int64(reader.hash(row: row, columns: columns)))
            }
            do {
                for hash in hashes where try known.contains(hash) { return false }
                for hash in hashes { try known.insert(hash) }
                return true
            } catch {
                // The disk is full, for example. The index answers instead.
                return false
            }
        }
    }
}
