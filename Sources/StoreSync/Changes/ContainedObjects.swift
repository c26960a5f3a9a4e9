import JSONMapper
import SyncModel
import SyncStore

/// The objects that the object of a change contains or names.
struct ContainedObjects {
    /// An object, of any entity of its family.
    struct Reference: Hashable {
        /// The index of the family's root entity.
        let root: Int
        let key: Record.Key
    }

    /// What a change states of an object.
    struct Statement: Equatable {
        /// The index of the object's entity.
        let entity: Int
        /// The JSON of the object; empty for an identifier.
        let json: [UInt8]
        /// Whether several objects can be related to the object.
        var isShared: Bool
    }

    fileprivate(set) var statements: [(object: Reference, statement: Statement)] = []
    /// Whether the change states children, which are deleted when the object loses them.
    fileprivate(set) var statesChildren = false
    /// Whether the stored object has children that the change does not name.
    fileprivate(set) var losesChildren = false
}

/// Reads what the objects of changes contain.
struct ContainmentReader {
    /// The contained objects by row; nil for an object whose effect on other objects is not known.
    typealias Rows = [ContainedObjects?]

    private let model: DataModel
    private let rules: SyncRules
    private let transaction: any StoreTransaction
    /// The index of the root entity of the changed objects.
    private let listRoot: Int

    init(_ request: SyncRequest, _ transaction: any StoreTransaction, listRoot: Int) {
        model = request.mapper.model
        rules = request.rules
        self.transaction = transaction
        self.listRoot = listRoot
    }

    /// Whether objects of an entity can have children, which are deleted when an object loses them.
    func canHaveChildren(_ layout: EntityLayout) -> Bool {
        layout.relationships.contains { rules.deletesDetached(of: $0, in: model) }
    }

    /// Reads the objects of changes.
    func rows(of group: MappedBatch.Group) async throws -> Rows {
        var rows = Rows(repeating: ContainedObjects(), count: group.records.count)
        for row in group.undetermined.keys { rows[row] = nil }
        guard group.hasNested else { return rows }
        read(group, owners: Array(rows.indices), isNested: false, to: &rows)
        try await compareChildren(of: group, in: &rows)
        return rows
    }

    /// Reads what the objects of a group contain.
    ///
    /// - Parameter owners: The row of the changed object around each object of the group.
    private func read(_ group: MappedBatch.Group, owners: [Int], isNested: Bool, to rows: inout Rows) {
        for (relationship, nested) in zip(group.mapping.layout.relationships, group.nested) {
            guard let nested else { continue }
            let isKnown = hasKnownEffect(relationship, isNested: isNested)
            for misfit in nested.misfits { rows[owners[misfit.row]] = nil }
            for source in nested.sources where !isKnown || source.isIncomplete { rows[owners[source.row]] = nil }
            guard isKnown else { continue }
            if rules.deletesDetached(of: relationship, in: model) {
                for source in nested.sources { rows[owners[source.row]]?.statesChildren = true }
            }
            let isShared = model.inverse(of: relationship)?.isToMany ?? true
            for inner in nested.objectGroups(of: nested.owners.count) {
                let owners = inner.elementIndices.map { owners[Int(nested.owners[$0])] }
                for row in inner.undetermined.keys { rows[owners[row]] = nil }
                add(inner, owners, isShared: isShared, to: &rows) { nested.json[inner.elementIndices[$0]] }
                read(inner, owners: owners, isNested: true, to: &rows)
            }
            for inner in nested.identifierGroups {
                let owners = inner.elementIndices.map { owners[Int(nested.owners[$0])] }
                add(inner, owners, isShared: isShared, to: &rows) { _ in [] }
            }
        }
    }

    /// Adds the objects of a group to the objects that contain them.
    ///
    /// - Parameter json: Returns the JSON of a row; empty for an identifier.
    private func add(
        _ group: MappedBatch.Group, _ owners: [Int], isShared: Bool, to rows: inout Rows, json: (Int) -> [UInt8]
    ) {
        let (mapping, layout) = (group.mapping, group.mapping.layout)
        group.records.withReader { reader in
            for (row, owner) in owners.enumerated() {
                let json = json(row)
                let key = Record.Key(layout.identityColumns.map { reader.value(row: row, column: $0) ?? .null })
                // An object that is rejected is a failure of its own change.
                let isWhole =
                    json.isEmpty || mapping.mandatoryColumns.isEmpty
                    || reader.isIdentified(row, by: mapping.mandatoryColumns)
                guard let key, isWhole, mapping.identifiesByKey else {
                    rows[owner] = nil
                    continue
                }
                rows[owner]?.statements.append(
                    (
                        ContainedObjects.Reference(root: layout.root, key: key),
                        ContainedObjects.Statement(entity: layout.index, json: json, isShared: isShared)
                    ))
            }
        }
    }

    /// Whether the values of a relationship affect only the objects that they contain, and children
    /// of the changed object.
    private func hasKnownEffect(_ relationship: EntityLayout.Relationship, isNested: Bool) -> Bool {
        let destination = model.layouts[relationship.destination]
        return destination.root != listRoot && !rules.isHookedWhereNested
            && destination.family.allSatisfy { model.layouts[$0].hasIdentity }
            && model.inverse(of: relationship)?.isOrdered != true
            && (!isNested || !rules.deletesDetached(of: relationship, in: model))
    }

    /// Finds the objects that lose stored children.
    private func compareChildren(of group: MappedBatch.Group, in rows: inout Rows) async throws {
        guard rows.contains(where: { $0?.statesChildren == true }) else { return }
        let stored = try await transaction.find(group.records)
        for (relationship, nested) in zip(group.mapping.layout.relationships, group.nested) {
            guard let nested, rules.deletesDetached(of: relationship, in: model) else { continue }
            let sources = nested.sources.compactMap { source in
                rows[source.row] == nil ? nil : stored[source.row].map { (source, object: $0) }
            }
            guard !sources.isEmpty else { continue }
            var children = [ObjectID?](repeating: nil, count: nested.owners.count)
            for inner in nested.groups {
                for (ordinal, object) in zip(inner.elementIndices, try await transaction.find(inner.records)) {
                    children[ordinal] = object
                }
            }
            let links = Dictionary(
                grouping: try await transaction.links(relationship, of: sources.map(\.object)), by: \.source)
            for (source, object) in sources {
                let named = Set(children[source.ordinals].compactMap(\.self))
                if links[object]?.allSatisfy({ named.contains($0.target) }) == false {
                    rows[source.row]?.losesChildren = true
                }
            }
        }
    }
}
