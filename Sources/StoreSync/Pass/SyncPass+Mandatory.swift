import JSONMapper
import SyncModel
import SyncStore

// Objects without a value that their entity demands. They are refused before the merge, because
// only the store knows which of them are new.
extension SyncPass {
    /// Refuses the rows whose object would have no value for a mandatory attribute, as the contract
    /// demands.
    ///
    /// Null takes the value away from a stored object. An absent key does not, so it matters only
    /// for new objects.
    ///
    /// - Parameters:
    ///   - records: The records of the group, in which equal identities are combined.
    ///   - ordinals: The ordinal of each record.
    ///   - stubs: The records that were read from identifiers only.
    /// - Returns: The refused rows, each with its stored object; nil for an object that is not
    ///   stored.
    /// - Throws: `MappingError.unfit` if the contract demands an error, and in an import.
    func refuseIncomplete(
        _ records: RecordBatch, _ ordinals: [Int], _ group: MappedBatch.Group, _ origin: Origin,
        stubs: Set<Int>
    ) async throws -> [Int: ObjectID?] {
        let mapping = group.mapping
        let action = rules.demandsMandatory ? .fail : mapping.contract.missingMandatory
        guard action == .reject || action == .fail, !mapping.mandatorySlots.isEmpty else { return [:] }
        let lacking = lackingRows(records, mapping, skipping: rules.isImport ? stubs : [])
        guard !lacking.isEmpty else { return [:] }
        let found = try await stored(records, mapping.layout, origin)
        var refused: [Int: ObjectID?] = [:]
        for (row, absent, null) in lacking {
            let object = origin.known ?? origin.reused[ordinals[row]] ?? found[row]
            let slot = object == nil ? min(absent ?? .max, null ?? .max) : null
            guard let slot,
                object == nil
                    ? origin.policy.inserts && origin.mayInsert?(ordinals[row]) != false : origin.policy.updates
            else { continue }
            let problem = missing(slot, mapping, origin.elementIndex(ordinals[row]))
            if action == .fail || rules.isImport { throw MappingError.unfit(problem) }
            // An object without its key is rejected with the others of its kind.
            if object == nil, mapping.layout.identitySlots.contains(slot), demandsKey(origin) { continue }
            tally.reject(problem, mayBeListed: false)
            refused.updateValue(object, forKey: row)
        }
        return refused
    }

    /// The rows without a value for a mandatory attribute, each with the first slot that is absent
    /// and the first one that is null.
    private func lackingRows(
        _ records: RecordBatch, _ mapping: EntityMapping, skipping skipped: Set<Int>
    ) -> [(row: Int, absent: Int?, null: Int?)] {
        var lacking: [(row: Int, absent: Int?, null: Int?)] = []
        records.withReader { reader in
            for row in 0..<reader.count where !reader.isIdentified(row, by: mapping.mandatorySlots) {
                guard !skipped.contains(row) else { continue }
                lacking.append(
                    (
                        row, mapping.mandatorySlots.first { reader.kind(row: row, slot: $0) == .absent },
                        mapping.mandatorySlots.first { reader.kind(row: row, slot: $0) == .null }
                    ))
            }
        }
        return lacking
    }

    /// The stored object of each record; its entity may be any of the record's family.
    func stored(
        _ records: RecordBatch, _ layout: EntityLayout, _ origin: Origin
    ) async throws -> [ObjectID?] {
        guard layout.hasIdentity else { return Array(repeating: nil, count: records.count) }
        guard let base = base(of: layout, origin) else { return try await transaction.find(records) }
        return try await transaction.find(identities(of: records, as: base))
    }

    /// The identifiers of nested objects that are not in the store because they were refused.
    ///
    /// - Parameters:
    ///   - targets: The merged object of each ordinal.
    ///   - unknown: The identifiers that name no object, and their rows by ordinal; receives those
    ///     of the objects.
    func noteRefused(
        _ groups: [MappedBatch.Group], _ targets: [ObjectID?], by relationship: EntityLayout.Relationship,
        _ origin: Origin,
        in unknown: inout (batch: RecordBatch?, rows: [Int: Int])?
    ) {
        let layout = model.layouts[relationship.destination]
        guard origin.policy.inserts, !rules.isImport, layout.hasIdentity, layout.identityScope == nil else { return }
        for group in groups where group.elementIndices.contains(where: { targets[$0] == nil }) {
            guard group.mapping.layout.identitySlots == layout.identitySlots else { continue }
            var (batch, rows) =
                unknown.map { ($0.batch ?? RecordBatch(of: layout), $0.rows) } ?? (RecordBatch(of: layout), [:])
            let named = identities(of: group.records, as: layout)
            group.records.withReader { reader in
                for (row, ordinal) in group.elementIndices.enumerated()
                where targets[ordinal] == nil && origin.mayInsert?(ordinal) != false
                    && reader.isIdentified(row, by: layout.identitySlots)
                {
                    rows[ordinal] = batch.count
                    batch.append(row: row, of: named)
                }
            }
            unknown = (batch, rows)
        }
    }
}
