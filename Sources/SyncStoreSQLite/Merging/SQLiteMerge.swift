import Foundation
import SyncModel
import SyncStore
import SyncStoreSQL

/// Merges batches of one entity's records, each with a few statements.
///
/// The first statement finds the objects of a batch and compares them with the stored values. The
/// second one inserts new objects, and the third one updates those that differ. If no stored
/// identity is in the range of the batch, as in a first sync, the search is skipped.
struct SQLiteMerge {
    let statements: SQLiteMergeStatements
    let layout: EntityLayout
    /// Selects the objects with the batch's identities.
    let find: String
    /// Selects the objects that the batch names by number.
    let findByRow: String
    let probe: String
    let lastRow: String
    let schema: SQLSchema
    /// Whether another tool has created the table.
    let isExisting: Bool
    /// Whether triggers may change what a statement has written.
    let hasTriggers: Bool
    /// One row with the values to insert for absent cells.
    private let defaults: RecordBatch

    init(_ entity: Int, schema: SQLSchema, existing: SQLiteExistingTable?, hasTriggers: Bool) {
        layout = schema.model.layouts[entity]
        self.schema = schema
        isExisting = existing != nil
        self.hasTriggers = hasTriggers
        let columns = layout.identityColumns
        statements = SQLiteMergeStatements(
            entity, schema: schema, batch: SQLiteBatchTable.name(columnCount: layout.attributes.count),
            existing: existing
        )
        find = statements.match(byRow: false, readsCells: false)
        findByRow = statements.match(byRow: true, readsCells: false)
        probe = statements.probe
        lastRow = statements.lastRow
        var defaults = RecordBatch(of: layout)
        defaults.beginRecord()
        for column in layout.attributes.indices where !columns.contains(column) {
            defaults.setValue(layout.attributes[column].defaultValue, at: column)
        }
        defaults.endRecord()
        self.defaults = defaults
    }

    /// Whether the unique index of an identity rejected a row. Other tools may have added indices
    /// to the table.
    func isIdentityTaken(_ error: SQLiteError) -> Bool {
        guard let list = error.subject(after: "UNIQUE constraint failed: ") else { return false }
        let taken = Set(columns(list).map { $0.lowercased() })
        return layout.family.contains { member in
            let columns = schema.model.layouts[member].identityColumns
            return !columns.isEmpty && columns.allSatisfy { taken.contains(schema.columns[member][$0].lowercased()) }
        }
    }

    /// The columns in the list of an error's message.
    func columns(_ list: String) -> [String] {
        let prefix = schema.table(of: layout.index).lowercased() + "."
        return list.components(separatedBy: ", ").map {
            $0.lowercased().hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0
        }
    }

    func find(_ records: RecordBatch, connection: SQLiteConnection) throws -> [ObjectID?] {
        let request = MergeRequest(records, policy: MergeRequest.Policy(inserts: false, updates: false))
        var waiting: SQLWaitingValues?
        var knownLinks = SQLiteKnownLinks()
        return try run(request, [], &waiting, &knownLinks, connection: connection).objects
    }

    /// Merges the records of a request.
    ///
    /// - Parameters:
    ///   - waiting: Receives the values that unique indexes refuse. Nil to refuse such rows.
    ///   - knownLinks: Receives the links of the found objects.
    ///   - isFilling: Whether the table is known to have none of the identities; false by default.
    func run(
        _ request: MergeRequest, _ links: [MergeRequest.InitialLinks], _ waiting: inout SQLWaitingValues?,
        _ knownLinks: inout SQLiteKnownLinks, isFilling: Bool = false, connection: SQLiteConnection
    ) throws -> MergeRequest.Result {
        let table = try connection.batchTable(columnCount: layout.attributes.count)
        return try request.records.withReader { reader in
            try defaults.withReader { defaults in
                var run = SQLiteMergeRun(
                    self, reader, defaults: defaults, request, links: links, waiting: waiting, knownLinks,
                    isFilling: isFilling, connection: connection, table: table)
                knownLinks = SQLiteKnownLinks()
                try run.run()
                (waiting, knownLinks) = (run.waiting, run.knownLinks)
                return run.result
            }
        }
    }
}
