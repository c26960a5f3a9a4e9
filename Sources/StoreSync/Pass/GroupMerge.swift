import JSONMapper
import SyncModel
import SyncStore

/// The merge of a group's objects, with what each of its phases finds out about them.
struct GroupMerge {
    let group: MappedBatch.Group
    let origin: Origin
    /// The records as the payload states them; equal identities are combined.
    let rows: CombinedRows
    /// The records that are not merged, each with the stored object that keeps its values; nil for
    /// an object that is not stored.
    var skipped: [Int: ObjectID?] = [:]
    /// The records without an identity that may stand for any object.
    var unidentified: Set<Int> = []
    /// The records whose object has got their entity.
    var changed: Set<Int> = []
    /// The objects of skipped records that may get their entity when the list has been read.
    var waiting: [Int: ObjectID] = [:]
    /// The match of each record; nil if all match by identity.
    var matches: [MergeRequest.Match]?
    /// The objects that the payload has stated before; nil for records of the list.
    var known: KnownObjects?
    /// The parents that were merged to find objects of a scoped identity; nil if there are none.
    var parents: MergedElements?
    /// The targets that are merged before the objects, by the index of their relationship.
    var early: [Int: EarlyTargets] = [:]
    /// How often each relationship had been linked before the merge.
    var linkCounts: [Int] = []
    /// Whether the values of stored objects wait until the list has been read.
    var waitsForList = false
    /// What the merge did with each record.
    var result = MergeRequest.Result()

    var layout: EntityLayout { group.mapping.layout }
    var records: RecordBatch { rows.records }

    /// The result with the stored objects of skipped records, which keep their values.
    var present: MergeRequest.Result { result.adding(skipped.compactMapValues(\.self)) }

    /// The result with the objects of records that wait for their entity.
    var awaited: MergeRequest.Result { result.adding(waiting) }

    /// The index in the payload of a record's element.
    func elementIndex(_ record: Int) -> Int {
        origin.elementIndex(rows.ordinals[record])
    }

    mutating func match(_ record: Int, _ match: MergeRequest.Match) {
        matches = matches ?? Array(repeating: .identity, count: records.count)
        matches?[record] = match
    }

    /// The records of which all rows were read from identifiers only.
    var stubs: Set<Int> {
        let stubRows = Set(group.stubRows)
        guard !stubRows.isEmpty else { return [] }
        let others = group.elementIndices.indices.filter { !stubRows.contains($0) }
        return Set(stubRows.map(rows.record)).subtracting(others.map(rows.record))
    }
}

// What a merge did with the rows of its group.
extension GroupMerge {
    /// The objects, each with its ordinal, its change, and whether the store is known to have it
    /// linked to the object that contains it.
    var objects: some Sequence<(ordinal: Int, row: MergeRequest.Result.Row, isOwned: Bool)> {
        let (ordinals, owner, result) = (group.elementIndices, origin.owners?.object, rows.expanded(present))
        return ordinals.indices.lazy.compactMap { index in
            result.rows[index].map { row in
                (ordinals[index], row, owner?(ordinals[index]) != nil && result.isLinked(row: index, by: 0))
            }
        }
    }

    /// The objects that have the values of their rows; others were skipped, such as rejected ones.
    var mergedObjects: some Sequence<ObjectID> {
        rows.expanded(result).rows.lazy.compactMap { $0?.object }
    }

    /// The ordinals of elements that may stand for any object.
    var unidentifiedOrdinals: [Int] {
        guard !unidentified.isEmpty else { return [] }
        return zip(group.elementIndices, group.elementIndices.indices)
            .filter { unidentified.contains(rows.record(of: $1)) }.map(\.0)
    }
}

extension MergeRequest.Result {
    /// The result with the objects of records that were not merged.
    fileprivate func adding(_ unchanged: [Int: ObjectID]) -> Self {
        var result = self
        for (record, object) in unchanged { result.rows[record] = Row(object, .unchanged) }
        return result
    }
}
