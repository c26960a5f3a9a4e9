import JSONMapper
import SyncModel
import SyncStore

// Objects without a value that their entity demands. They are refused before the merge, because
// only the store knows which of them are new.
extension StorePass {
    /// Skips the records whose object would have no value for a mandatory attribute, as the
    /// contract demands.
    ///
    /// Null takes the value away from a stored object. An absent key does not, so it matters only
    /// for new objects.
    ///
    /// - Throws: `MappingError.unfit` if the contract demands an error, and in an import.
    func skipIncomplete(_ merge: inout GroupMerge) async throws {
        let (mapping, origin) = (merge.group.mapping, merge.origin)
        let action = rules.demandsMandatory ? .fail : mapping.contract.missingMandatory
        guard action == .reject || action == .fail, !mapping.mandatoryColumns.isEmpty else { return }
        let stubs = rules.isImport ? merge.stubs : []
        let lacking = merge.records.withReader { reader in
            (0..<reader.count).filter { !reader.isIdentified($0, by: mapping.mandatoryColumns) && !stubs.contains($0) }
        }
        guard !lacking.isEmpty else { return }
        let found = try await stored(merge.records, mapping.layout, expected: origin.entity)
        for row in lacking {
            let ordinal = merge.rows.ordinals[row]
            let object = origin.known ?? origin.reused[ordinal] ?? found[row]
            let column = merge.records.withReader { reader in
                mapping.mandatoryColumns.first {
                    let kind = reader.kind(row: row, column: $0)
                    return kind == .null || kind == .absent && object == nil
                }
            }
            guard let column, object == nil ? origin.policy.inserts : origin.policy.updates
            else { continue }
            let problem = mapping.missing(column, index: merge.elementIndex(row))
            if action == .fail || rules.isImport { throw MappingError.unfit(problem) }
            // An object without its key is rejected with the others of its kind.
            if object == nil, mapping.layout.identityColumns.contains(column), demandsKey(origin) { continue }
            // The only object of a relationship may be the one before.
            if object == nil, mapping.layout.keyColumns.contains(column) { merge.unidentified.insert(row) }
            state.problems.reject(problem, isElement: !origin.isNested, mayBeListed: false)
            merge.skipped.updateValue(object, forKey: row)
        }
    }

    /// Adds the identifiers of nested objects that are not in the store because they were refused.
    func noteRefused(of merged: inout MergedElements, _ origin: Origin) {
        guard let destination = origin.relationship?.destination, origin.policy.inserts, !rules.isImport else { return }
        let layout = model.layouts[destination]
        guard layout.hasIdentity, layout.identityScope == nil, merged.targets.contains(nil) else { return }
        let rowCount = partRowCount(of: origin.relationship, merged.elements.objectCount)
        for group in merged.elements.objectGroups(of: rowCount)
        where group.mapping.layout.identityColumns == layout.identityColumns {
            let rows = group.elementIndices.indices.filter { row in
                let ordinal = group.elementIndices[row]
                return merged.targets[ordinal] == nil && origin.accepts?(ordinal) != false
            }
            guard !rows.isEmpty else { continue }
            let named = identities(of: group.records, as: layout)
            named.withReader { reader in
                for row in rows where reader.isIdentified(row, by: layout.identityColumns) {
                    merged.unknown.add(row, of: named, ordinal: group.elementIndices[row])
                }
            }
        }
    }
}
