import SyncModel

// What becomes of the properties that an object lacks.
extension ElementMapper {
    /// Clears what the object lacks, where the options or the contract say so.
    mutating func complete() {
        if clearsAbsent { clearAbsent() }
        guard contract.missingMandatory == .null else { return }
        for column in mapping.mandatoryColumns where group.records.openKind(at: column) == .absent {
            group.records.setNull(at: column)
            note(nil, path: nil, isTolerated: true)
        }
    }

    /// Clears the properties that are absent from the object.
    private mutating func clearAbsent() {
        for column in mapping.clearableColumns
        where group.records.openKind(at: column) == .absent && !unfitColumns.contains(column) {
            group.records.setValue(mapping.layout.attributes[column].defaultValue, at: column)
        }
        guard keepsRelationships else { return }
        for keys in mapping.keys.relationships where !keys.spellings.isEmpty {
            let index = keys.relationship.index
            guard index != keptRelationship else { continue }
            clear(relationship: index)
        }
    }
}
