import JSONMapper
import SyncModel

/// Objects of a payload, mapped with all that is nested in them: nothing is left to be mapped while
/// they are merged.
struct MappedObjects: Sendable {
    let batch: MappedBatch
    /// What is nested in them, by group of the batch and by relationship of its entity; nil where
    /// there is nothing.
    let nested: [[NestedElements?]]

    /// Maps what is nested in the objects of a batch.
    ///
    /// - Parameter keepsJSON: Whether the JSON of nested objects is kept beside what was made of
    ///   it.
    init(_ batch: MappedBatch, mapper: RecordMapper, keepsJSON: Bool) throws {
        self.batch = batch
        nested = try batch.groups.map { group in
            guard !group.relationships.entries.isEmpty else { return [] }
            let relationships = group.mapping.layout.relationships
            var entries: [[RelationshipSlices.Entry]] = Array(repeating: [], count: relationships.count)
            for entry in group.relationships.entries {
                // The last word on a relationship counts.
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
