import SyncModel
import SyncStore

/// The objects of nested records that a pass has merged, so that a record which is nested again and
/// again, as a customer in each of its orders, needs no further look at the store.
///
/// A record is known by a hash of its cells, 64 bits with a seed of the process: a payload cannot
/// be made to have two records of one hash.
struct RepeatedRecords {
    /// The number of records of an entity that are remembered, which bounds memory.
    private static let limit = 32_768

    /// The records of a merge.
    struct Rows {
        /// Nil for a record without an identity.
        fileprivate let hashes: [Int?]
        /// The object of each record that was merged before; nil for the others.
        let objects: [ObjectID?]

        /// The matches that leave out the records that were merged before; nil if there are none.
        var matches: [MergeRequest.Match]? {
            guard objects.contains(where: { $0 != nil }) else { return nil }
            return objects.map { $0 == nil ? .identity : .skipped }
        }

        /// Whether all records were merged before, so that there is nothing to merge.
        var areComplete: Bool { objects.allSatisfy { $0 != nil } }

        /// Adds the records that were left out to the result of a merge.
        func complete(_ result: inout MergeResult) {
            for (row, object) in objects.enumerated() {
                if let object { result.rows[row] = MergeResult.Row(object, .unchanged) }
            }
        }
    }

    /// The objects by the index of their entity and the hash of their record. What an object's
    /// record says is what the object has, unless an update is held.
    private var objects: [Int: [Int: ObjectID]] = [:]

    /// Finds the records that were merged before.
    func rows(_ records: RecordBatch, of layout: EntityLayout) -> Rows {
        let hashes = records.withReader { reader in
            (0..<reader.count).map { reader.isIdentified($0, by: layout.identitySlots) ? reader.hash(row: $0) : nil }
        }
        let known = objects[layout.index] ?? [:]
        return Rows(hashes: hashes, objects: hashes.map { $0.flatMap { known[$0] } })
    }

    /// Notes the objects of records that were merged.
    mutating func note(_ rows: Rows, _ result: MergeResult, of layout: EntityLayout) {
        // Taken out during the change: a second reference would copy all of it.
        var known = objects.removeValue(forKey: layout.index) ?? [:]
        if known.count > Self.limit { known = [:] }
        for (hash, merged) in zip(rows.hashes, result.rows) {
            if let hash, let merged, merged.change != .updated { known[hash] = merged.object }
        }
        objects[layout.index] = known
    }

    /// Forgets the records of an entity if a merge changed objects: other records may say now what
    /// the objects have.
    mutating func forget(_ layout: EntityLayout, after result: MergeResult) {
        guard objects[layout.index] != nil, result.rows.contains(where: { $0?.change == .updated }) else { return }
        objects[layout.index] = nil
    }
}

extension SyncPass {
    /// The records of a merge among those of the pass; nil if they cannot be repeated ones, or
    /// depend on more than themselves.
    func repeated(_ request: MergeRequest, _ layout: EntityLayout, _ origin: Origin) -> RepeatedRecords.Rows? {
        guard origin.isNested, origin.belongsToMany, request.matches == nil, request.policy.inserts,
            request.policy.updates, !rules.isImport, !rules.isHookedWhereNested,
            model.layouts[layout.root].family.count == 1
        else { return nil }
        return repeatedRecords.rows(request.records, of: layout)
    }
}
