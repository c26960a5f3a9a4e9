import SyncModel
import SyncStore

/// The tables that one transaction fills, one at a time; see ``SQLiteFilling``.
struct SQLiteFillings {
    /// The table that is being filled; nil for none.
    private var current: SQLiteFilling?
    /// The entities whose tables were considered. Only the first merge of a table can begin to fill
    /// it.
    private var considered: Set<Int> = []
    /// The version of the database's schema after an index was created; nil if none was.
    private(set) var schemaVersion: Int64?

    /// Whether a merge fills its table, which then has none of the identities.
    ///
    /// - Parameter isReading: Whether the transaction has statements that are still read. An index
    ///   cannot be dropped then.
    mutating func fills(
        _ request: MergeRequest, _ merge: SQLiteMerge, isReading: Bool, _ connection: SQLiteConnection
    ) throws -> Bool {
        let entity = merge.layout.index
        if current == nil, considered.insert(entity).inserted, !isReading {
            current = try SQLiteFilling(request, merge, connection)
        }
        guard current?.entity == entity else { return false }
        if current?.insert(request.records, merge.layout) == true, request.policy.inserts { return true }
        try end(connection)
        return false
    }

    /// Creates the index of a table that was filled without it.
    mutating func end(_ connection: SQLiteConnection) throws {
        guard let index = current?.index else { return }
        current = nil
        try index.create(connection)
        schemaVersion = try connection.integer("PRAGMA schema_version")
    }
}
