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

    init(_ group: MappedBatch.Group, _ rows: CombinedRows, _ origin: Origin) {
        self.group = group
        self.rows = rows
        self.origin = origin
    }

    var layout: EntityLayout { group.mapping.layout }
    var records: RecordBatch { rows.records }

    /// The result with the stored objects of skipped records, which keep their values.
    var present: MergeRequest.Result {
        var present = result
        for case (let record, let object?) in skipped {
            present.rows[record] = MergeRequest.Result.Row(object, .unchanged)
        }
        return present
    }

    /// The result with the objects of records that wait for their entity.
    var awaited: MergeRequest.Result {
        var awaited = result
        for (record, object) in waiting { awaited.rows[record] = MergeRequest.Result.Row(object, .unchanged) }
        return awaited
    }

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

/// What a merge did with the rows of a group.
struct MergedRows {
    /// The ordinal of each row.
    private let ordinals: [Int]
    private let owners: ((Int) -> ObjectID?)?
    private let result: MergeRequest.Result
    /// The same without the stored objects of records that were skipped.
    private let merged: MergeRequest.Result
    /// The ordinals of elements that may stand for any object.
    let unidentified: [Int]

    init(_ merge: GroupMerge) {
        let ordinals = merge.group.elementIndices
        self.ordinals = ordinals
        owners = merge.origin.owners?.object
        // Nearly always for nothing.
        let rows = merge.unidentified.isEmpty ? 0..<0 : ordinals.indices
        unidentified = rows.filter { merge.unidentified.contains(merge.rows.record(of: $0)) }.map { ordinals[$0] }
        result = merge.rows.expanded(merge.present)
        merged = merge.skipped.isEmpty ? result : merge.rows.expanded(merge.result)
    }

    /// The objects that have the values of their rows; others were skipped, such as rejected ones.
    var mergedObjects: some Sequence<ObjectID> {
        merged.rows.lazy.compactMap { $0?.object }
    }

    /// The objects, each with its ordinal, its change, and whether the store is known to have it
    /// linked to the object that contains it.
    var objects: some Sequence<(ordinal: Int, row: MergeRequest.Result.Row, isOwned: Bool)> {
        ordinals.indices.lazy.compactMap { index in
            result.rows[index].map { row in
                (ordinals[index], row, owners?(ordinals[index]) != nil && result.isLinked(row: index, by: 0))
            }
        }
    }
}
