import SyncModel
import SyncStore

/// The nested records that a pass has merged, each with its object.
///
/// A record that is nested many times, such as a customer in each of its orders, is merged only
/// once. Records are compared by a 64-bit hash of their cells with a random seed, so nobody can
/// construct two records with the same hash.
struct RepeatedRecords {
    /// The number of records per entity that are remembered, to bound memory.
    private static let limit = 32_768

    /// The records of one merge, and the objects of those that were merged before.
    struct Rows {
        /// The hash of each record; nil for a record without an identity.
        fileprivate let hashes: [Int?]
        /// The object of each record that was merged before; nil for the others.
        let objects: [ObjectID?]

        /// The matches that skip records merged before; nil if there are none.
        var matches: [MergeRequest.Match]? {
            guard objects.contains(where: { $0 != nil }) else { return nil }
            return objects.map { $0 == nil ? .identity : .skipped }
        }

        /// Whether all records were merged before, and nothing is left to merge.
        var areComplete: Bool { objects.allSatisfy { $0 != nil } }

        /// Adds the skipped records to the result of a merge, as unchanged.
        func complete(_ result: inout MergeRequest.Result) {
            for (row, object) in objects.enumerated() {
                if let object { result.rows[row] = MergeRequest.Result.Row(object, .unchanged) }
            }
        }
    }

    /// The objects by the index of their entity and the hash of their record. Each object has the
    /// values of its record, unless an update is held.
    private var objects: [Int: [Int: ObjectID]] = [:]

    /// Finds the objects of records that were merged before.
    func rows(_ records: RecordBatch, of layout: EntityLayout) -> Rows {
        let hashes = records.withReader { reader in
            (0..<reader.count).map { reader.isIdentified($0, by: layout.identitySlots) ? reader.hash(row: $0) : nil }
        }
        let known = objects[layout.index] ?? [:]
        return Rows(hashes: hashes, objects: hashes.map { $0.flatMap { known[$0] } })
    }

    /// Notes the result of a merge of an entity's records.
    ///
    /// If the merge updated an object, all records of the entity are forgotten. An earlier record
    /// may no longer have the object's values. This holds within one merge too, because a store may
    /// find one object by several identities.
    ///
    /// - Parameter rows: The records; nil if they are not looked up.
    mutating func note(_ rows: Rows?, _ result: MergeRequest.Result, of layout: EntityLayout) {
        guard !result.rows.contains(where: { $0?.change == .updated }) else {
            objects[layout.index] = nil
            return
        }
        guard let rows else { return }
        // Taken out during the change, because a second reference would copy the whole dictionary.
        var known = objects.removeValue(forKey: layout.index) ?? [:]
        if known.count > Self.limit { known = [:] }
        for (hash, merged) in zip(rows.hashes, result.rows) {
            if let hash, let merged { known[hash] = merged.object }
        }
        objects[layout.index] = known
    }
}

extension SyncPass {
    /// Looks up the records of a merge; nil if they cannot be repeated. Nil also if their merge
    /// depends on more than their cells.
    func repeated(_ request: MergeRequest, _ layout: EntityLayout, _ origin: Origin) -> RepeatedRecords.Rows? {
        guard origin.isNested, origin.belongsToMany, request.matches == nil, request.policy.inserts,
            request.policy.updates, !rules.isImport, !rules.isHookedWhereNested,
            model.layouts[layout.root].family.count == 1
        else { return nil }
        return repeatedRecords.rows(request.records, of: layout)
    }
}
