import Foundation
import SyncBase
import SyncModel

/// One call that inserts objects of a type with everything that they hold.
struct ObjectInsertion {
    /// An identity that is complete, without null.
    private struct Identity: Hashable {
        /// The object within which the identity is unique; nil if it is unique in the whole store.
        let parent: ObjectID?
        let values: [AttributeValue]
    }

    private let transaction: any StoreTransaction
    /// The written objects, by the index of the root entity.
    private var written: [Int: ObjectSet] = [:]
    /// The objects that an owning relationship led to before the call, and may no longer.
    private var detached: [EntityLayout.Relationship: [ObjectID]] = [:]

    init(_ transaction: any StoreTransaction) {
        self.transaction = transaction
    }

    private var model: DataModel { transaction.model }

    // MARK: Objects

    /// Inserts or updates objects, and what they hold.
    ///
    /// - Parameter parents: For each object, the one within which it is identified; nil, the
    ///   default, if only the objects themselves state it.
    /// - Returns: The numbers of the objects, in the same order.
    mutating func insert<Object: SyncObject>(
        _ objects: [Object], within parents: [ObjectID?]? = nil
    ) async throws -> [ObjectID] {
        let layout = try model.layout(of: Object.entityName)
        let properties = try ObjectShape<Object>.shared().properties
        let contents = try objects.map { try ObjectEncoder.content(of: $0, layout, properties) }
        var parents: [ObjectID?] = parents ?? Array(repeating: nil, count: objects.count)
        // The parents come first, because a scoped identity names an object only within its parent.
        let scope = layout.identityScope.map { layout.relationships[$0] }
        var statedParents: [[ObjectID]?] = []
        if let scope, case .related(let type, _)? = properties.first(where: { $0.name == scope.name })?.content {
            statedParents = try await insertTargets(contents.map { $0.targets(of: scope.name) }, of: type)
            parents = zip(parents, statedParents).map { $0 ?? $1?.first }
        }
        // For each row, the index of the last object that has its identity.
        var chosen: [Int] = []
        var identities: [Identity?] = []
        var rowOfIdentity: [Identity: Int] = [:]
        let rows = objects.indices.map { index -> Int in
            let identity = Self.identity(of: contents[index], layout, within: parents[index])
            if let identity {
                if let row = rowOfIdentity[identity] {
                    chosen[row] = index
                    return row
                }
                rowOfIdentity[identity] = chosen.count
            }
            chosen.append(index)
            identities.append(identity)
            return chosen.count - 1
        }
        let numbers = try await merge(chosen.map { contents[$0] }, identities, layout)
        for property in properties {
            guard case .related(let type, _) = property.content else { continue }
            guard let relationship = layout.relationship(property.name) else {
                throw Record.CodingError.unknownProperty(entity: layout.name, property: property.name)
            }
            if relationship.id == scope?.id {
                try await link(numbers, by: relationship, to: chosen.map { statedParents[$0] })
                continue
            }
            let lists = chosen.map { contents[$0].targets(of: property.name) }
            var owners: [ObjectID?]?
            if model.isScope(of: relationship) {
                owners = zip(numbers, lists).flatMap { number, list in
                    [ObjectID?](repeating: number, count: list?.count ?? 0)
                }
            }
            let targets = try await insertTargets(lists, of: type, within: owners)
            try await link(numbers, by: relationship, to: targets)
        }
        return rows.map { numbers[$0] }
    }

    /// Inserts or updates related objects.
    ///
    /// - Parameters:
    ///   - lists: The related objects of each object; nil where they are not included.
    ///   - parents: As in ``insert(_:within:)``, for the objects of all lists.
    /// - Returns: The numbers of the related objects.
    private mutating func insertTargets<Target: SyncObject>(
        _ lists: [[any SyncObject]?], of type: Target.Type, within parents: [ObjectID?]? = nil
    ) async throws -> [[ObjectID]?] {
        let targets = lists.flatMap { $0 ?? [] }.compactMap { $0 as? Target }
        var numbers: ArraySlice<ObjectID> = []
        if !targets.isEmpty { numbers = try await insert(targets, within: parents)[...] }
        return lists.map { list -> [ObjectID]? in
            guard let list else { return nil }
            defer { numbers = numbers.dropFirst(list.count) }
            return Array(numbers.prefix(list.count))
        }
    }

    /// The identity of an object; nil if it has none, or its parent is unknown.
    private static func identity(
        of content: ObjectEncoder.Content, _ layout: EntityLayout, within parent: ObjectID?
    ) -> Identity? {
        let values = layout.keyColumns.compactMap { column in
            content.values.first { $0.column == column }?.value
        }
        guard !values.isEmpty, !values.contains(where: \.isNull) else { return nil }
        guard layout.identityScope != nil else { return Identity(parent: nil, values: values) }
        return parent.map { Identity(parent: $0, values: values) }
    }

    // MARK: Values

    /// Writes the values of objects.
    private mutating func merge(
        _ contents: [ObjectEncoder.Content], _ identities: [Identity?], _ layout: EntityLayout
    ) async throws -> [ObjectID] {
        var batch = RecordBatch(of: layout)
        for content in contents {
            batch.beginRecord()
            for (column, value) in content.values {
                if value.isNotANumber {
                    throw StoreError.unsuitableValue(entity: layout.name, attribute: layout.attributes[column].name)
                }
                batch.setValue(value, at: column)
            }
            batch.endRecord()
        }
        var request = MergeRequest(batch)
        let known = try await children(identities.compactMap { $0?.parent }, layout)
        if !known.isEmpty {
            request.matches = identities.map { identity -> MergeRequest.Match in
                guard let identity, let object = known[identity] else { return .identity }
                return .object(object)
            }
        }
        var numbers: [ObjectID] = []
        for row in try await transaction.merge(request).rows {
            guard let row else { throw StoreError.missingObject(entity: layout.name) }
            numbers.append(row.object)
            written[layout.root, default: ObjectSet()].insert(row.object)
        }
        return numbers
    }

    /// The stored objects with a scoped identity in some parents; empty if identities are not
    /// scoped.
    private func children(_ parents: [ObjectID], _ layout: EntityLayout) async throws -> [Identity: ObjectID] {
        guard !parents.isEmpty, let scope = layout.identityScope,
            let relationship = model.inverse(of: layout.relationships[scope])
        else { return [:] }
        let targets = try await transaction.targets(of: ObjectSet(parents).objects, by: relationship)
        var parentOfChild: [ObjectID: ObjectID] = [:]
        for (parent, children) in targets {
            for child in children { parentOfChild[child] = parent }
        }
        guard !parentOfChild.isEmpty else { return [:] }
        var known: [Identity: ObjectID] = [:]
        let query = StoreQuery(layout.name, objects: .only(parentOfChild.keys.sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records {
                let values = layout.scopedIdentityColumns.map { stored.record[column: $0] }
                let identity = Identity(parent: parentOfChild[stored.object], values: values)
                known[identity] = known[identity] ?? stored.object
            }
        }
        return known
    }

    // MARK: Links

    /// Makes a relationship lead to exactly the targets.
    ///
    /// - Parameter lists: The targets of each source; nil where the links stay.
    private mutating func link(
        _ sources: [ObjectID], by relationship: EntityLayout.Relationship, to lists: [[ObjectID]?]
    ) async throws {
        var batch = LinkBatch(relationship, mode: .replace)
        for (source, targets) in zip(sources, lists) {
            if let targets { batch.append(source, to: targets) }
        }
        guard !batch.isEmpty else { return }
        // An owner of one object loses it to another object that names the owner.
        if let inverse = model.inverse(of: relationship), inverse.isOwning, !inverse.isToMany {
            let former = try await transaction.targets(of: ObjectSet(batch.targets).objects, by: inverse)
            detached[inverse, default: []] += former.values.joined()
        }
        let result = try await transaction.link(batch)
        if relationship.isOwning { detached[relationship, default: []] += result.detached }
    }

    // MARK: Owned objects

    /// Deletes the objects that lost their owner, unless the call has written them.
    func removeDetached() async throws {
        for (relationship, objects) in detached.sorted(by: { $0.key.id < $1.key.id }) {
            let destination = model.layouts[relationship.destination]
            var orphans = ObjectSet(objects).objects.filter { !isWritten($0, destination) }
            if !orphans.isEmpty, let inverse = model.inverse(of: relationship) {
                let owned = Set(try await transaction.links(inverse, of: orphans).map(\.source))
                orphans.removeAll { owned.contains($0) }
            }
            guard !orphans.isEmpty else { continue }
            try await keepWritten(orphans, of: destination)
            try await transaction.remove(StoreQuery(destination.name, objects: .only(orphans)))
        }
    }

    private func isWritten(_ object: ObjectID, _ layout: EntityLayout) -> Bool {
        written[layout.root]?.contains(object) == true
    }

    /// Unlinks written objects from objects that are about to be deleted, and from those that go
    /// with these, so that no cascade deletes them.
    private func keepWritten(_ leaving: [ObjectID], of layout: EntityLayout) async throws {
        var waiting = [(layout: layout, objects: leaving)]
        // The objects that go, by the index of the root entity.
        var going = [layout.root: ObjectSet(leaving)]
        while let (layout, objects) = waiting.popLast() {
            let cascades = layout.family.flatMap { index in
                model.layouts[index].relationships.filter {
                    $0.deleteRule == .cascade && ($0.source == index || index == layout.index)
                }
            }
            for relationship in cascades {
                let destination = model.layouts[relationship.destination]
                var reached = ObjectSet()
                var batch = LinkBatch(relationship, mode: .replace)
                for (source, targets) in try await transaction.targets(of: objects, by: relationship).sortedByKey {
                    let others = targets.filter { !isWritten($0, destination) }
                    if others.count < targets.count { batch.append(source, to: others) }
                    for target in others { reached.insert(target) }
                }
                if !batch.isEmpty { _ = try await transaction.link(batch) }
                var next = reached.objects
                if relationship.sharesTargets, !next.isEmpty, let inverse = model.inverse(of: relationship) {
                    // Another owner keeps them.
                    let owners = try await transaction.targets(of: next, by: inverse)
                    next.removeAll { owners[$0]?.allSatisfy { going[layout.root]?.contains($0) == true } == false }
                }
                next = next.filter { going[destination.root, default: ObjectSet()].insert($0) }
                if !next.isEmpty { waiting.append((destination, next)) }
            }
        }
    }
}

extension ObjectEncoder.Content {
    /// The related objects of a property; nil if they are not included.
    fileprivate func targets(of property: String) -> [any SyncObject]? {
        related[property] ?? .some([])
    }
}

extension AttributeValue {
    /// Whether the value is made from NaN. Databases cannot store it, and null would be a different
    /// value.
    fileprivate var isNotANumber: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .date(let moment): moment == Self.notADate
        default: false
        }
    }

    /// The timestamp of a date that is not a number, the earliest that a `Date` becomes.
    private static let notADate = Timestamp(Date(timeIntervalSinceReferenceDate: .nan))
}
