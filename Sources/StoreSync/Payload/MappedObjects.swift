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
    /// - Parameters:
    ///   - keepsJSON: Whether the JSON of nested objects is kept.
    ///   - clearsAbsent: Whether properties that an object does not have are cleared.
    init(_ batch: MappedBatch, mapper: RecordMapper, keepsJSON: Bool, clearsAbsent: Bool) throws {
        self.batch = batch
        nested = try batch.groups.map { group in
            guard !group.relationships.entries.isEmpty else { return [] }
            let relationships = group.mapping.layout.relationships
            let (entries, outdone) = Self.entries(of: group)
            return try relationships.indices.map { index in
                guard !entries[index].isEmpty else { return nil }
                return try NestedElements(
                    relationships[index], of: group, entries[index], outdone: outdone[index] ?? [], mapper: mapper,
                    keepsJSON: keepsJSON, clearsAbsent: clearsAbsent)
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
