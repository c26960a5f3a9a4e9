import JSONMapper
import SyncModel

/// Mapped objects of a payload with their nested objects, ready to be merged.
struct MappedObjects: Sendable {
    let batch: MappedBatch
    /// The nested elements, by group of the batch and by relationship of its entity; nil if there
    /// are none.
    let nested: [[NestedElements?]]

    /// Maps the nested objects of a batch.
    ///
    /// - Parameter keepsJSON: Whether the JSON of nested objects is kept.
    init(_ batch: MappedBatch, mapper: RecordMapper, keepsJSON: Bool) throws {
        self.batch = batch
        nested = try batch.groups.map { group in
            guard !group.relationships.entries.isEmpty else { return [] }
            let relationships = group.mapping.layout.relationships
            var entries: [[RelationshipSlices.Entry]] = Array(repeating: [], count: relationships.count)
            for entry in group.relationships.entries {
                // The last value of a relationship counts.
                if entries[entry.relationship].last?.row == entry.row { entries[entry.relationship].removeLast() }
                entries[entry.relationship].append(entry)
            }
            return try zip(relationships, entries).map { relationship, entries in
                guard !entries.isEmpty else { return nil }
                return try NestedElements(relationship, of: group, entries, mapper: mapper, keepsJSON: keepsJSON)
            }
        }
    }
}
