package import SyncModel

/// Some objects of a stream as records, and what became of the others.
package struct MappedBatch: Sendable {
    /// The records of one entity.
    package struct Group: Sendable {
        /// How they were mapped; its layout is their entity.
        package let mapping: EntityMapping
        /// The records, a row each.
        package var records: RecordBatch
        /// The place of each row's object among all elements of the stream, from 0.
        package var elementIndices: [Int] = []
        /// The rows that came as an identifier alone: stubs, from which no mandatory attribute is
        /// demanded.
        package var stubRows: [Int] = []
        /// The JSON of those objects, by row, for which the entity mapper named no entity: a store
        /// may know them as objects of a sub-entity, whose mapping then reads more of them.
        package var undetermined: [Int: [UInt8]] = [:]
        /// The JSON of their relationships; empty where it was not asked for.
        package var relationships = RelationshipSlices()

        /// The records one by one, defaults in place of what is absent.
        package func makeRecords() -> [Record] {
            records.withReader { reader in
                (0..<records.count).map { row in
                    var record = Record(of: mapping.layout)
                    for slot in 0..<records.columnCount {
                        if let value = reader.value(row: row, slot: slot) { record[slot: slot] = value }
                    }
                    return record
                }
            }
        }
    }

    /// The records by entity: one group, unless an entity mapper told sub-entities apart. Never one
    /// without records.
    package var groups: [Group]
    /// The objects that were left out, in order.
    package var rejected: [MappingProblem]
    /// How many values were cleared or ignored because they did not fit.
    package var toleratedCount: Int
    /// Where the objects differ from the model.
    package var drift = DriftReport()

    /// How many records there are in all groups.
    package var recordCount: Int {
        groups.reduce(0) { $0 + $1.records.count }
    }
}
