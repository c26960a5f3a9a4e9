package import SyncModel

/// A batch of mapped objects from a stream, with their nested objects and the rejected objects.
package struct MappedBatch: Sendable {
    /// The records of one entity.
    package struct Group: Sendable {
        /// The mapping that produced the records. Its layout is their entity.
        package let mapping: EntityMapping
        /// The records, one per row.
        package var records: RecordBatch
        /// For each row, the index of its object among the elements of the stream, starting at 0.
        package var elementIndices: [Int] = []
        /// The rows that were read from an identifier only. Such stubs may lack values for
        /// mandatory attributes.
        package var stubRows: [Int] = []
        /// The rows of objects that have no key of the entity, such as an error report in place of
        /// the object. Empty for nested objects, and for an entity that keys identify.
        package var keylessRows: [Int] = []
        /// The JSON of the objects for which the entity mapper returned nil, by row.
        ///
        /// A store may hold such an object as one of a sub-entity, whose mapping then reads more of
        /// its JSON.
        package var undetermined: [Int: [UInt8]] = [:]
        /// The values of the relationships, by relationship; nil for those without a value, and
        /// empty unless the options request them.
        package var nested: [NestedElements?] = []

        /// Whether a record has a value for a relationship.
        package var hasNested: Bool {
            nested.contains { $0 != nil }
        }

        /// Returns the records one by one, with defaults for absent values.
        package func makeRecords() -> [Record] {
            records.withReader { reader in
                (0..<records.count).map { row in
                    var record = Record(of: mapping.layout)
                    for column in 0..<records.columnCount {
                        if let value = reader.value(row: row, column: column) { record[column: column] = value }
                    }
                    return record
                }
            }
        }
    }

    /// The records by entity, without empty groups. There is more than one group only if an entity
    /// mapper returns sub-entities.
    package var groups: [Group]
    /// The objects that were rejected, in order.
    package var rejected: [MappingError.Problem]
    /// The number of values that were cleared or ignored because they did not fit, including those
    /// of nested objects.
    package var toleratedCount: Int
    /// The number of values of relationships, other than null and empty lists, that the batch
    /// leaves out because the options do not request them.
    package var excludedRelationshipCount = 0
    /// The differences between the objects and the model.
    package var drift = DriftReport()
    /// The differences between the nested objects of all levels and the model, with the indices of
    /// the elements that contain them. Nested batches have none of their own.
    package var nestedDrift = DriftReport()

    /// Takes the differences and counts of the nested objects of a group, which was just mapped.
    mutating func takeNestedDrift(of group: inout Group) {
        for index in group.nested.indices {
            guard var elements = group.nested[index] else { continue }
            group.nested[index] = nil
            let found = [elements.objects, elements.packedObjects?.findings, elements.identifiers?.findings]
            for batch in found.compactMap(\.self) {
                toleratedCount += batch.toleratedCount
                for drift in [batch.drift, batch.nestedDrift] {
                    nestedDrift.add(drift) { group.elementIndices[Int(elements.owners[$0])] }
                }
            }
            elements.objects?.replaceDrift(by: nil)
            elements.packedObjects?.findings.replaceDrift(by: nil)
            elements.identifiers?.findings.replaceDrift(by: nil)
            group.nested[index] = elements
        }
    }

    /// Replaces the differences and their counts by those of another batch; nil for none.
    mutating func replaceDrift(by other: MappedBatch?) {
        toleratedCount = other?.toleratedCount ?? 0
        excludedRelationshipCount = other?.excludedRelationshipCount ?? 0
        (drift, nestedDrift) = (other?.drift ?? DriftReport(), other?.nestedDrift ?? DriftReport())
    }

    /// The number of records in all groups.
    package var recordCount: Int {
        groups.reduce(0) { $0 + $1.records.count }
    }
}
