import JSONMapper
import SyncModel
import SyncStore

/// A pass inside its transaction: merges mapped batches, and remembers the steps that wait for the
/// last one.
///
/// The objects of a batch are merged first, then the nested objects by relationship, then all are
/// linked. The number of store calls depends on the number of batches, entities and relationships,
/// not on the number of objects.
final class SyncPass {
    let transaction: any StoreTransaction
    let mapper: RecordMapper
    let rules: SyncRules
    var tally: SyncTally
    /// Links to objects that the store did not have when they were named.
    var deferred = DeferredLinks()
    /// Objects that lost their place in a relationship that deletes such objects.
    var detached: [RelationshipLayout: [Int64]] = [:]
    /// How often each relationship was processed, from either end. An object inserted since the
    /// last time has no links of the relationship.
    var relatings: [RelationshipLayout: Int] = [:]

    init(_ transaction: any StoreTransaction, mapper: RecordMapper, rules: SyncRules) {
        self.transaction = transaction
        self.mapper = mapper
        self.rules = rules
        tally = SyncTally(mapper.model)
    }

    var model: DataModel {
        mapper.model
    }

    /// The origin of objects, as far as it decides how they are merged.
    struct Origin {
        var policy: MergePolicy
        /// Whether the objects are nested in others.
        var isNested = false
        /// The indices of the payload's elements by ordinal; nil if the ordinals are the indices.
        var elementIndices: [Int]?
        /// The stored objects that elements without an identity stand for, by ordinal.
        var reused: [Int: Int64] = [:]
        /// The one object that all of them stand for, whatever their key.
        var known: Int64?
        /// The relationship from new objects to the objects that contain them, by ordinal; nil if
        /// they are linked later.
        var owners: (relationship: RelationshipLayout, objects: [ObjectID?])?

        func elementIndex(_ ordinal: Int) -> Int {
            elementIndices?[ordinal] ?? ordinal
        }
    }

    /// Receives the ordinal, the object and its change.
    typealias Collector = (Int, Int64, MergeResult.Change) -> Void

    // MARK: Objects

    /// Merges objects and their nested objects.
    ///
    /// - Parameter collect: Receives each object that was merged.
    func merge(_ objects: MappedObjects, _ origin: Origin, _ collect: Collector? = nil) async throws {
        let batch = objects.batch
        tally.toleratedCount += batch.toleratedCount
        for problem in batch.rejected {
            if rules.isImport { throw MappingError.unfit(problem) }
            tally.reject(problem.moved(to: origin.elementIndex(problem.index)), hasKey: true)
        }
        for (group, nested) in zip(batch.groups, objects.nested) {
            var skipped: Set<Int> = []
            if !group.undetermined.isEmpty {
                for specific in try await remapped(group, &skipped) {
                    try await merge(mappedObjects(of: specific), origin, collect)
                }
            }
            try await merge(group, nested, origin, skipping: skipped, collect)
        }
    }

    /// Maps the nested objects of a batch.
    func mappedObjects(of batch: MappedBatch) throws -> MappedObjects {
        try MappedObjects(batch, mapper: mapper, keepsJSON: rules.isHookedWhereNested)
    }

    /// Maps objects again whose sub-entity only the store knows.
    ///
    /// - Parameter skipped: Receives their rows in the group.
    private func remapped(_ group: MappedBatch.Group, _ skipped: inout Set<Int>) async throws -> [MappedBatch] {
        let found = try await transaction.find(group.records)
        let known = group.undetermined.keys.filter { found[$0] != nil }.sorted()
        guard !known.isEmpty else { return [] }
        var entities: [Int64: Int] = [:]
        let query = StoreQuery(group.mapping.layout.name, objects: .only(known.compactMap { found[$0] }))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records { entities[stored.object] = stored.record.layout.index }
        }
        var collectors: [Int: RecordCollector] = [:]
        for row in known {
            guard let json = group.undetermined[row], let object = found[row], let entity = entities[object],
                entity != group.mapping.layout.index
            else { continue }
            var collector =
                try collectors.removeValue(forKey: entity)
                ?? RecordCollector(
                    mapper, entity: model.layouts[entity].name, options: RecordReader.Options(keepsRelationships: true))
            try collector.add(json, index: group.elementIndices[row])
            collectors[entity] = collector
            skipped.insert(row)
        }
        return collectors.keys.sorted().compactMap { collectors[$0]?.takeBatch() }
    }

    private func merge(
        _ group: MappedBatch.Group, _ nested: [NestedElements?], _ origin: Origin, skipping skipped: Set<Int>,
        _ collect: Collector?
    ) async throws {
        let layout = group.mapping.layout
        let matches = self.matches(of: group, origin, skipping: skipped)
        let links = origin.owners.map { owners in
            InitialLinks(owners.relationship, targets: group.elementIndices.map { owners.objects[$0] })
        }
        let relatingsBefore = relatings
        let request = MergeRequest(group.records, matches: matches, policy: origin.policy)
        let result = try await transaction.merge(request, linking: links)
        tally.count(result, of: layout)
        if rules.demandsMandatory { try demandMandatory(group, result, origin) }
        if let collect {
            for (ordinal, merged) in zip(group.elementIndices, result.rows) {
                if let merged { collect(ordinal, merged.object, merged.change) }
            }
        }
        if !group.relationships.entries.isEmpty, rules.relates {
            try await relate(group, nested, result, origin, since: relatingsBefore)
        }
    }

    /// The objects that rows stand for regardless of their identity; nil if all rows are found by
    /// identity.
    private func matches(
        of group: MappedBatch.Group, _ origin: Origin, skipping skipped: Set<Int>
    ) -> [MergeRequest.Match]? {
        let identitySlots = group.mapping.layout.identitySlots
        var matches: [MergeRequest.Match]?
        group.records.withReader { reader in
            for row in 0..<reader.count {
                var match = MergeRequest.Match.identity
                if skipped.contains(row) {
                    match = .skipped
                } else if let known = origin.known {
                    match = .object(known)
                } else if !rules.isImport, !reader.isIdentified(row, by: identitySlots) {
                    let ordinal = group.elementIndices[row]
                    if let reused = origin.reused[ordinal] {
                        match = .object(reused)
                    } else if !origin.isNested,
                        let slot = identitySlots.first(where: { !reader.isIdentified(row, by: [$0]) })
                    {
                        match = .skipped
                        tally.reject(missing(slot, row, of: group, origin), hasKey: false)
                    }
                }
                guard match != .identity else { continue }
                matches = matches ?? Array(repeating: .identity, count: reader.count)
                matches?[row] = match
            }
        }
        return matches
    }

    private func missing(_ slot: Int, _ row: Int, of group: MappedBatch.Group, _ origin: Origin) -> MappingProblem {
        let layout = group.mapping.layout
        return MappingProblem(
            entity: layout.name, attribute: layout.attributes[slot].name,
            keyPath: group.mapping.keys.attributes[slot].path()?.joined(separator: ".") ?? "",
            index: origin.elementIndex(group.elementIndices[row]), reason: .missingMandatory)
    }

    /// Throws if a new object lacks a mandatory attribute, or if one is cleared.
    private func demandMandatory(
        _ group: MappedBatch.Group, _ result: MergeResult, _ origin: Origin
    ) throws(MappingError) {
        let attributes = group.mapping.layout.attributes
        let slots = attributes.indices.filter { !attributes[$0].isOptional && attributes[$0].defaultValue.isNull }
        guard !slots.isEmpty else { return }
        let stubs = Set(group.stubRows)
        try group.records.withReader { reader throws(MappingError) in
            for row in 0..<reader.count where !stubs.contains(row) {
                guard let change = result.rows[row]?.change else { continue }
                for slot in slots {
                    let kind = reader.kind(row: row, slot: slot)
                    guard kind == .null || (kind == .absent && change == .inserted) else { continue }
                    throw .unfit(missing(slot, row, of: group, origin))
                }
            }
        }
    }
}

extension BatchReader {
    /// Whether a row has a value other than null in each of some slots, of which there is at least
    /// one.
    func isIdentified(_ row: Int, by slots: [Int]) -> Bool {
        for slot in slots {
            let kind = kind(row: row, slot: slot)
            if kind == .absent || kind == .null { return false }
        }
        return !slots.isEmpty
    }
}

extension MappingProblem {
    /// The same problem in another element.
    func moved(to index: Int) -> MappingProblem {
        MappingProblem(entity: entity, attribute: attribute, keyPath: keyPath, index: index, reason: reason)
    }
}
