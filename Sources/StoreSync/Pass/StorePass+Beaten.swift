import JSONMapper
import SyncModel
import SyncStore

/// What statements that do not count have in common with those that do.
struct BeatenStatements {
    /// The ordinals of their elements that a counting statement names too. The others are ignored.
    var agreeing: Set<Int> = []
    /// The objects of agreeing elements that only their parent tells apart from others.
    var scoped: [Int: ObjectID] = [:]
    /// The stored targets of the sources.
    var current: [ObjectID: [ObjectID]] = [:]
    /// The sources whose counting statement is yet to be linked, or names unknown objects.
    var open: [ObjectID] = []
}

extension StorePass {
    /// Compares statements that do not count with those that do, before either is merged.
    ///
    /// What only a beaten statement contains is not merged, even if the store has the object.
    /// Otherwise it would depend on the store, and on the size of batches, what a payload leaves.
    func compare(
        _ elements: NestedElements, _ links: GroupLinks, _ decision: PassState.Decision
    ) async throws -> BeatenStatements {
        var beaten = BeatenStatements()
        let sources = elements.sources.filter { decision.isBeaten[$0.row] }
        guard !sources.isEmpty else { return beaten }
        let relationship = links.relationship
        let isScoped = model.layouts[relationship.destination].identityScope != nil
        let named = NestedTargets(elements, isScoped: isScoped)
        // The statements of this batch that count.
        var counting: [ObjectID: Int] = [:]
        for source in elements.sources where !decision.isBeaten[source.row] {
            if let object = links.object(of: source) { counting[object] = source.row }
        }
        let objects = links.objects(of: sources)
        beaten.open = objects.filter {
            counting[$0] != nil || state.deferred.lacksObjects(of: $0, relationship)
        }
        let open = Set(beaten.open)
        beaten.current = try await targets(of: objects.filter { !open.contains($0) }, by: relationship)
        // The objects to find, by the ordinal of an element that agrees if it is one of them.
        var expected: [Int: Set<ObjectID>] = [:]
        for source in sources {
            guard let object = links.object(of: source) else { continue }
            if let container = links.container(of: source) {
                for ordinal in source.ordinals { expected[ordinal] = [container] }
            } else if let row = counting[object] {
                let names = Set(named.targets(of: row, isWhole: false) ?? [])
                beaten.agreeing.formUnion(named.ordinals(of: source, where: names.contains))
            } else if let names = state.deferred.names(of: object, relationship) {
                beaten.agreeing.formUnion(named.ordinals(of: source, where: names.identities.contains))
                for ordinal in source.ordinals { expected[ordinal] = names.objects }
            } else if state.deferred.lacksObjects(of: object, relationship) {
                beaten.agreeing.formUnion(source.ordinals)
            } else {
                let targets = Set(state.targets(of: object, relationship, stored: beaten.current))
                for ordinal in source.ordinals { expected[ordinal] = targets }
            }
        }
        if isScoped {
            let identities = try await scopedIdentities(of: Set(expected.values.joined()), relationship)
            for source in sources {
                for (ordinal, identity) in zip(source.ordinals, named.targets(of: source.row, isWhole: false) ?? []) {
                    guard let object = expected[ordinal]?.first(where: { identities[$0] == identity }) else { continue }
                    beaten.agreeing.insert(ordinal)
                    beaten.scoped[ordinal] = object
                }
            }
            return beaten
        }
        for group in named.groups {
            guard let group = group.restricted({ expected[$0]?.isEmpty == false }) else { continue }
            let found = try await stored(
                group.records, group.mapping.layout, expected: links.relationship.destination)
            for (row, object) in found.enumerated() {
                let ordinal = group.elementIndices[row]
                if let object, expected[ordinal]?.contains(object) == true { beaten.agreeing.insert(ordinal) }
            }
        }
        return beaten
    }

    /// The identities of stored objects within their parents.
    private func scopedIdentities(
        of objects: Set<ObjectID>, _ relationship: EntityLayout.Relationship
    ) async throws -> [ObjectID: [AttributeValue?]] {
        guard !objects.isEmpty else { return [:] }
        var identities: [ObjectID: [AttributeValue?]] = [:]
        let query = StoreQuery(model.layouts[relationship.destination].name, objects: .only(objects.sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records {
                identities[stored.object] = stored.record.layout.scopedIdentityColumns.map { stored.record[column: $0] }
            }
        }
        return identities
    }
}

extension NestedTargets {
    /// The ordinals of a source's elements with certain identities.
    fileprivate func ordinals(
        of source: NestedElements.Source, where isNamed: ([AttributeValue?]) -> Bool
    ) -> some Sequence<Int> {
        zip(source.ordinals, targets(of: source.row, isWhole: false) ?? []).filter { isNamed($1) }.map(\.0)
    }
}
