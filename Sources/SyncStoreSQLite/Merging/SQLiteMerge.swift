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
    let dates: DateStorage
    /// Selects the objects with the batch's identities.
    let find: String
    /// Selects the objects that the batch names by number.
    let findByRow: String
    let probe: String
    let lastRow: String
    private let schema: SQLSchema
    /// One row with the values to insert for absent cells.
    private let defaults: RecordBatch

    init(_ entity: Int, schema: SQLSchema, adopted: SQLiteAdoptedTable?) {
        layout = schema.model.layouts[entity]
        self.schema = schema
        let slots = layout.identitySlots
        statements = SQLiteMergeStatements(
            entity, schema: schema, batch: SQLiteBatchTable.name(columnCount: layout.attributes.count), adopted: adopted
        )
        find = statements.match(byRow: false, readsCells: false)
        findByRow = statements.match(byRow: true, readsCells: false)
        probe = statements.probe
        lastRow = statements.lastRow
        dates = schema.dates
        var defaults = RecordBatch(of: layout)
        defaults.beginRecord()
        for slot in layout.attributes.indices where !slots.contains(slot) {
            defaults.setValue(layout.attributes[slot].defaultValue, at: slot)
        }
        defaults.endRecord()
        self.defaults = defaults
    }

    /// The error if a unique index has the values already; nil for another error.
    func valuesTaken(_ error: SQLiteError) -> StoreError? {
        takenColumns(error).flatMap { schema.valuesTaken(index: nil, columns: $0, entity: layout.index) }
    }

    /// Whether the unique index of an identity rejected a row. Other tools may have added indices
    /// to the table.
    func isIdentityTaken(_ error: SQLiteError) -> Bool {
        guard let taken = takenColumns(error).map({ Set($0.map { $0.lowercased() }) }) else { return false }
        return layout.family.contains { member in
            let slots = schema.model.layouts[member].identitySlots
            return !slots.isEmpty && slots.allSatisfy { taken.contains(schema.columns[member][$0].lowercased()) }
        }
    }

    /// The columns of the unique index that rejected a row; nil for another error.
    private func takenColumns(_ error: SQLiteError) -> [String]? {
        let start = "UNIQUE constraint failed: "
        guard error.primaryCode == SQLiteError.Code.constraint, error.message.hasPrefix(start) else { return nil }
        let prefix = schema.table(of: layout.index).lowercased() + "."
        return error.message.dropFirst(start.count).components(separatedBy: ", ").map {
            $0.lowercased().hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0
        }
    }

    func find(_ records: RecordBatch, connection: SQLiteConnection) throws -> [ObjectID?] {
        let request = MergeRequest(records, policy: MergePolicy(inserts: false, updates: false))
        return try run(request, [], connection: connection).objects
    }

    func run(
        _ request: MergeRequest, _ links: [InitialLinks], connection: SQLiteConnection
    ) throws -> MergeResult {
        let table = try connection.batchTable(columnCount: layout.attributes.count, dates: dates)
        return try request.records.withReader { reader in
            try defaults.withReader { defaults in
                var run = SQLiteMergeRun(
                    self, reader, defaults: defaults, matches: request.matches, links: links, policy: request.policy,
                    connection: connection, table: table)
                try run.merge(0..<reader.count)
                return run.result
            }
        }
    }
}
