import JSONMapper
import SyncModel
import SyncStore

// The objects that records match, and the problems of records without a key or a mandatory value.
extension StorePass {
    /// Finds the matches of the records that do not match by identity. Rejects those that lack
    /// their key or their parent.
    func match(_ merge: inout GroupMerge) {
        let (mapping, origin, layout, records) = (merge.group.mapping, merge.origin, merge.layout, merge.records)
        let keyColumns = layout.keyColumns
        let demandsKey = demandsKey(origin)
        records.withReader { reader in
            for row in 0..<reader.count {
                let ordinal = merge.rows.ordinals[row]
                if merge.skipped.keys.contains(row) {
                    merge.match(row, .skipped)
                } else if let known = origin.known {
                    merge.match(row, .object(known))
                } else if rules.isImport || reader.isIdentified(row, by: layout.identityColumns) {
                    continue
                } else if let column = keyColumns.first(where: { !reader.isIdentified(row, by: [$0]) }),
                    // A null may stand for any identity; an object that lacks the key has none.
                    case let isUnidentified = reader.kind(row: row, column: column) == .null,
                    demandsKey || isUnidentified
                {
                    merge.match(row, .skipped)
                    if isUnidentified { merge.unidentified.insert(row) }
                    state.problems.reject(
                        mapping.missing(column, index: merge.elementIndex(row)), isElement: !origin.isNested,
                        mayBeListed: !origin.isNested && isUnidentified)
                    if !origin.isNested { state.problems.unidentifiedCount += 1 }
                } else if demandsKey, let scope = layout.identityScope, origin.parents?(ordinal) == nil,
                    origin.reused[ordinal] == nil
                {
                    merge.match(row, .skipped)
                    state.problems.reject(
                        mapping.missing(layout.relationships[scope], index: merge.elementIndex(row)),
                        isElement: !origin.isNested, mayBeListed: true, mayAcceptLater: true)
                } else if let reused = origin.reused[ordinal] {
                    merge.match(row, .object(reused))
                }
            }
        }
    }

    /// Whether an object is rejected if it lacks its key.
    ///
    /// Without the key of its entity, a child in an array cannot be distinguished from its
    /// siblings.
    func demandsKey(_ origin: Origin) -> Bool {
        !rules.isImport && origin.relationship?.isToMany != false
    }
}

extension MappingError.Problem {
    /// Whether an element was rejected because its identity is not usable.
    func concernsIdentity(in model: DataModel) -> Bool {
        guard let attribute else { return reason == .notAnObject }
        guard let layout = model[entity] else { return false }
        return layout.keyColumns.contains { layout.attributes[$0].name == attribute }
    }
}
