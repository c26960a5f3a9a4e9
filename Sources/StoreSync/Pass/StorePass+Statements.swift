import JSONMapper
import SyncModel
import SyncStore

/// The stored objects of nested records that the payload has stated before.
struct KnownObjects {
    /// The object of each record; nil if the payload has not stated it, or it is not stored.
    var objects: [ObjectID?]
    /// The hash of each record; empty if the records cannot be repeated.
    var hashes: [Int?] = []
    /// The objects of records that were merged before.
    var complete: [ObjectID?]

    init(_ objects: [ObjectID?]) {
        self.objects = objects
        complete = Array(repeating: nil, count: objects.count)
    }
}

// Of several statements about an attribute, one counts: the later one of the list, or the first one
// of nested objects.
extension StorePass {
    /// Finds the stored objects of nested records that the payload has stated before.
    func find(_ merge: inout GroupMerge) async throws {
        guard !state.laterCounts(merge.origin) else { return }
        let (records, matches, layout) = (merge.records, merge.matches, merge.layout)
        var known = KnownObjects(Array(repeating: nil, count: records.count))
        for (row, match) in (matches ?? []).enumerated() {
            if case .object(let object) = match { known.objects[row] = object }
        }
        let isByIdentity = { (row: Int) in matches.map { $0[row] == .identity } ?? true }
        if mayRepeat(merge) {
            known.hashes = state.statements.repeated.hashes(of: records, layout)
            known.complete = state.statements.repeated.objects(of: known.hashes, layout)
        }
        let sought = state.statements.insertIdentities(of: records, layout) { [known] in
            known.complete[$0] == nil && isByIdentity($0)
        }
        if !sought.isEmpty {
            var identities = RecordBatch(of: layout)
            for row in sought { identities.append(row: row, of: records) }
            for (row, object) in zip(sought, try await transaction.find(identities)) { known.objects[row] = object }
        }
        for (row, object) in known.complete.enumerated() where object != nil { known.objects[row] = object }
        merge.known = known
    }

    /// Merges nested records without the values that the payload has stated before, and reports
    /// those that differ.
    ///
    /// - Parameter index: Returns the index in the payload of a row's element.
    func mergeRest(
        of request: MergeRequest, _ known: KnownObjects, _ layout: EntityLayout,
        linking links: [MergeRequest.InitialLinks] = [], index: (Int) -> Int
    ) async throws -> MergeRequest.Result {
        var request = request
        let records = request.records
        // The objects of the rows that are left out, because nothing of them is new.
        var (complete, hashes) = (known.complete, known.hashes)
        // Of records that were merged before, everything has been stated.
        let open = known.complete.indices.map { known.complete[$0] == nil ? known.objects[$0] : nil }
        let rest = state.statements.rest(of: records, open, of: layout)
        if let rest {
            request.records = rest.records
            for row in rest.complete { complete[row] = known.objects[row] }
            for row in rest.restated where !hashes.isEmpty { hashes[row] = nil }
        }
        var result = MergeRequest.Result(Array(repeating: nil, count: records.count))
        if complete.contains(where: { $0 != nil }) {
            var matches = request.matches ?? Array(repeating: .identity, count: records.count)
            for (row, object) in complete.enumerated() where object != nil { matches[row] = .skipped }
            request.matches = matches
        }
        if complete.contains(nil) { result = try await merge(request, linking: links, elementIndex: index) }
        for case (let row, let object?) in complete.enumerated() {
            result.rows[row] = MergeRequest.Result.Row(object, .unchanged)
            for links in result.isLinked.indices { result.isLinked[links][row] = false }
        }
        let stating = result.rows.indices.map { known.complete[$0] == nil ? result.rows[$0]?.object : nil }
        state.statements.insert(records, stating, of: layout)
        if !hashes.isEmpty { state.statements.repeated.insert(hashes, result, of: layout) }
        let restated = (rest?.restated ?? []).compactMap { row in open[row].map { (row: row, object: $0) } }
        try await reportDifferences(of: records, restated, layout, elementIndex: index)
        return result
    }
}
