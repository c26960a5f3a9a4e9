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

    /// The objects by the index of their entity and the hash of their record. The payload has
    /// stated each cell of the record, and no later nested record changes them.
    private var objects: [Int: [Int: ObjectID]] = [:]

    /// The hash of each record; nil for a record without an identity.
    func hashes(of records: RecordBatch, _ layout: EntityLayout) -> [Int?] {
        records.withReader { reader in
            let columns = Array(0..<reader.columnCount)
            return (0..<reader.count).map { row in
                reader.isIdentified(row, by: layout.identityColumns) ? reader.hash(row: row, columns: columns) : nil
            }
        }
    }

    /// The objects of records that were merged before; nil for the others.
    func objects(of hashes: [Int?], _ layout: EntityLayout) -> [ObjectID?] {
        let known = objects[layout.index] ?? [:]
        return hashes.map { $0.flatMap { known[$0] } }
    }

    /// Notes the objects of merged records.
    ///
    /// - Parameter hashes: The hash of each record; nil for a record that is not noted.
    mutating func insert(_ hashes: [Int?], _ result: MergeRequest.Result, of layout: EntityLayout) {
        // Taken out during the change, because a second reference would copy the whole dictionary.
        var known = objects.removeValue(forKey: layout.index) ?? [:]
        if known.count > Self.limit { known = [:] }
        for (hash, merged) in zip(hashes, result.rows) {
            if let hash, let merged { known[hash] = merged.object }
        }
        objects[layout.index] = known
    }
}

extension StorePass {
    /// Whether nested records of an entity may be repeated, and their merge depends on nothing but
    /// their cells.
    func mayRepeat(_ merge: GroupMerge) -> Bool {
        let (origin, root) = (merge.origin, merge.layout.root)
        return origin.inverse?.isToMany != false && merge.matches == nil && origin.policy.inserts
            && origin.policy.updates && root != state.listed.root && !rules.isHookedWhereNested
            && model.layouts[root].family.count == 1
    }
}
