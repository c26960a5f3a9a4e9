import SyncModel
import SyncStore
import SyncStoreSQL

/// Merges batches of records of one entity, each with a handful of statements.
///
/// The objects of a batch are found by one statement and compared where they lie with what is
/// stored; what is new is inserted by a second one, what differs updated by a third. A batch whose
/// identities lie where there are none, as in a first sync, is not even looked for.
struct SQLiteMerge {
    let statements: SQLiteMergeStatements
    let layout: EntityLayout
    let dates: DateStorage
    /// Selects the objects of identities.
    let find: String
    /// Selects objects that are given.
    let findByRow: String
    let probe: String
    let lastRow: String
    /// A row of what an insertion puts where a cell is absent.
    private let defaults: RecordBatch

    init(_ entity: Int, schema: SQLSchema, adopted: SQLiteAdoptedTable?) {
        layout = schema.model.layouts[entity]
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
