import SyncModel

// What becomes of the properties that an object lacks.
extension ElementMapper {
    /// Clears what the object lacks, where the options or the contract say so.
    mutating func complete() {
        if clearsAbsent { clearAbsent() }
        guard contract.missingMandatory == .null else { return }
        for slot in mapping.mandatorySlots where group.records.openKind(at: slot) == .absent {
            group.records.setNull(at: slot)
            note(nil, path: nil, isTolerated: true)
        }
    }

    /// Clears the properties that are absent from the object.
    private mutating func clearAbsent() {
        for slot in mapping.clearableSlots
        where group.records.openKind(at: slot) == .absent && !unfitSlots.contains(slot) {
            group.records.setValue(mapping.layout.attributes[slot].defaultValue, at: slot)
        }
        guard keepsRelationships else { return }
        for keys in mapping.keys.relationships where !keys.spellings.isEmpty {
            let index = keys.relationship.index
            guard index != keptRelationship else { continue }
            clear(relationship: index)
        }
    }
}
