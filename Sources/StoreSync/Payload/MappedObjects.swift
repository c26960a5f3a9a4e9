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
            let (entries, outdone) = Self.entries(of: group)
            return try relationships.indices.map { index in
                guard !entries[index].isEmpty else { return nil }
                return try NestedElements(
                    relationships[index], of: group, entries[index], outdone: outdone[index] ?? [], mapper: mapper,
                    keepsJSON: keepsJSON)
            }
        }
    }

    /// The value that counts of each object's relationships, by relationship, and the values that it
    /// outdoes.
    static func entries(
        of group: MappedBatch.Group
    ) -> (entries: [[RelationshipSlices.Entry]], outdone: [Int: [RelationshipSlices.Entry]]) {
        var entries: [[RelationshipSlices.Entry]] = Array(
            repeating: [], count: group.mapping.layout.relationships.count)
        var outdone: [Int: [RelationshipSlices.Entry]] = [:]
        for entry in group.relationships.entries {
            let index = entry.relationship
            guard let last = entries[index].last, last.row == entry.row else {
                entries[index].append(entry)
                continue
            }
            if RelationshipSlices.counts(last, ratherThan: entry) {
                outdone[index, default: []].append(entry)
            } else {
                outdone[index, default: []].append(last)
                entries[index][entries[index].count - 1] = entry
            }
        }
        return (entries, outdone)
    }
}
