import SyncModel
import SyncStore

/// The objects of nested records that a pass has merged, so that a record which is nested again and
/// again, as a customer in each of its orders, needs no further look at the store.
///
/// A record is known by a hash of its cells, 64 bits with a random seed, so that nobody can choose
/// two records of one hash.
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

    /// Notes the effect of a merge of an entity's records.
    ///
    /// If it changed an object, all records of the entity are forgotten: others may say now what
    /// the object has, also of the same merge if a store finds one object by several identities.
    ///
    /// - Parameter rows: The records, if they may be repeated.
    mutating func note(_ rows: Rows?, _ result: MergeResult, of layout: EntityLayout) {
        guard !result.rows.contains(where: { $0?.change == .updated }) else {
            objects[layout.index] = nil
            return
        }
        guard let rows else { return }
        // Taken out during the change: a second reference would copy all of it.
        var known = objects.removeValue(forKey: layout.index) ?? [:]
        if known.count > Self.limit { known = [:] }
        for (hash, merged) in zip(rows.hashes, result.rows) {
            if let hash, let merged { known[hash] = merged.object }
        }
        objects[layout.index] = known
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
