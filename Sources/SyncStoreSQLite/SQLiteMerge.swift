import SyncModel
import SyncStore
import SyncStoreSQL

/// Merges batches of records of one entity.
///
/// Each row is looked up by its identity, compared where it lies with what is stored, and written only where that differs. As long as rows turn
/// out to be new, they are inserted without being looked for: the unique index tells when that was wrong.
final class SQLiteMerge {
    private let schema: SQLSchema
    private let statements: SQLMerge
    private let layout: EntityLayout
    /// The slots of the identity, as a set.
    private let isIdentity: [Bool]
    /// What an insertion puts where a cell is absent.
    private let defaults: [SQLBinding]
    /// Whether an object's identity can be that of an object of another entity, so that the unique index alone does not find it.
    private let sharesIdentity: Bool
    /// Whether the last row that was looked for was new.
    private var expectsNew = true
    private var updates: [[Int]: String] = [:]
    private static let updateLimit = 1000

    init(_ entity: Int, schema: SQLSchema) {
        self.schema = schema
        statements = SQLMerge(entity, schema: schema)
        layout = schema.model.layouts[entity]
        let slots = layout.identitySlots
        isIdentity = layout.attributes.indices.map { slots.contains($0) }
        defaults = layout.attributes.enumerated().map { slot, attribute in
            slots.contains(slot) ? .null : schema.binding(attribute.defaultValue)
        }
        sharesIdentity = layout.family.count > 1
    }

    func run(
        _ batch: RecordBatch, handles: [Int64]?, links: InitialLinks?, policy: MergePolicy,
        connection: SQLiteConnection
    ) throws -> MergeResult {
        let byIdentity = layout.hasIdentity ? try connection.cached(statements.selectionByIdentity) : nil
        let byRow = handles == nil ? nil : try connection.cached(statements.selectionByRow)
        let insertion =
            policy.inserts && !layout.isAbstract
            ? try connection.cached(statements.insertion(relatedBy: links?.relationship)) : nil
        defer {
            byIdentity?.reset()
            byRow?.reset()
            insertion?.reset()
        }
        var result = MergeResult(capacity: batch.count)
        try batch.withReader { reader in
            for row in 0..<reader.count {
                let handle = handles?[row] ?? 0
                if handle != 0 {
                    byRow?.bind(handle, at: 1)
                    let change = try update(byRow, from: reader, row, policy, connection)
                    result.append(change?.row ?? 0, change?.change ?? .none)
                    continue
                }
                let selection = hasIdentity(reader, row) ? byIdentity : nil
                let triesInsertion = policy.inserts && (selection == nil || (expectsNew && !sharesIdentity))
                if triesInsertion, let new = try insert(insertion, from: reader, row, links, connection) {
                    result.append(new, .inserted)
                    continue
                }
                if let selection {
                    for (index, slot) in layout.identitySlots.enumerated() {
                        selection.bind(reader, row: row, slot: slot, at: index + 1, dates: schema.dates)
                    }
                }
                if let change = try update(selection, from: reader, row, policy, connection) {
                    expectsNew = false
                    result.append(change.row, change.change)
                } else if policy.inserts, let new = try insert(insertion, from: reader, row, links, connection) {
                    expectsNew = true
                    result.append(new, .inserted)
                } else {
                    result.append(0, .none)
                }
            }
        }
        return result
    }

    private func hasIdentity(_ reader: BatchReader, _ row: Int) -> Bool {
        layout.hasIdentity
            && layout.identitySlots.allSatisfy { slot in
                let kind = reader.kind(row: row, slot: slot)
                return kind != .absent && kind != .null
            }
    }

    /// Inserts a row.
    ///
    /// - Returns: The new object; nil where there is one of its identity.
    private func insert(
        _ insertion: SQLiteStatement?, from reader: BatchReader, _ row: Int, _ links: InitialLinks?,
        _ connection: SQLiteConnection
    ) throws -> Int64? {
        guard let insertion else { throw StoreError.abstractEntity(entity: layout.name) }
        for slot in 0..<reader.columnCount {
            if reader.kind(row: row, slot: slot) == .absent {
                insertion.bind(defaults[slot], at: slot + 1)
            } else {
                insertion.bind(reader, row: row, slot: slot, at: slot + 1, dates: schema.dates)
            }
        }
        if let target = links?.targets[row] {
            if target == 0 {
                insertion.bindNull(at: reader.columnCount + 1)
            } else {
                insertion.bind(target, at: reader.columnCount + 1)
            }
        }
        _ = try insertion.step()
        return connection.changeCount == 0 ? nil : connection.lastInsertedRow
    }

    /// Writes what differs into the object that a selection finds.
    ///
    /// - Returns: The object and what became of it; nil where there is none.
    private func update(
        _ selection: SQLiteStatement?, from reader: BatchReader, _ row: Int, _ policy: MergePolicy,
        _ connection: SQLiteConnection
    ) throws -> (row: Int64, change: MergeResult.Change)? {
        guard let selection, try selection.step() else { return nil }
        defer { selection.reset() }
        let object = selection.integer(at: 0)
        guard policy.updates else { return (object, .unchanged) }
        var differing: [Int] = []
        let first = statements.firstSlotColumn
        for slot in 0..<reader.columnCount where reader.kind(row: row, slot: slot) != .absent {
            if !selection.holds(reader, row: row, slot: slot, at: first + slot, dates: schema.dates) {
                differing.append(slot)
            }
        }
        guard !differing.isEmpty else { return (object, .unchanged) }
        let statement = try connection.cached(updateText(differing))
        for (index, slot) in differing.enumerated() {
            statement.bind(reader, row: row, slot: slot, at: index + 1, dates: schema.dates)
        }
        statement.bind(object, at: differing.count + 1)
        do { try statement.run() } catch {
            guard error.isUniquenessViolation else { throw error }
            throw StoreError.identityTaken(entity: statements.columns.namesEntity ? selection.text(at: 1) : layout.name)
        }
        return (object, .updated)
    }

    private func updateText(_ slots: [Int]) -> String {
        if let known = updates[slots] { return known }
        if updates.count >= Self.updateLimit { updates.removeAll() }
        let text = statements.update(slots)
        updates[slots] = text
        return text
    }
}

extension SQLiteError {
    /// Whether a unique index refused a row.
    fileprivate var isUniquenessViolation: Bool {
        code == 2067 || code == 1555
    }
}
