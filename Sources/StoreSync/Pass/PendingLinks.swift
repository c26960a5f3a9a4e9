import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// Identifiers that a payload states for relationships of objects, and that no stored object has.
///
/// A pass stores each as an object of `SyncEntity.pendingLink`, so that a later pass can link the
/// object when it comes.
struct PendingLinks {
    /// One identifier.
    struct Target {
        /// The object that the relationship starts from.
        let object: ObjectID
        /// The position among all targets of the object.
        var position: Int
        /// The identifier as JSON.
        let identifier: String
    }

    /// The identifiers, by relationship.
    private(set) var targets: [EntityLayout.Relationship.ID: [Target]] = [:]

    mutating func add(_ target: Target, of relationship: EntityLayout.Relationship.ID) {
        targets[relationship, default: []].append(target)
    }

    /// Orders the identifiers by object and position. Those of an object get different positions.
    func sorted() -> PendingLinks {
        var sorted = self
        sorted.targets = targets.mapValues { targets in
            var targets = targets.sorted { ($0.object, $0.position) < ($1.object, $1.position) }
            for index in targets.indices.dropFirst() where targets[index].object == targets[index - 1].object {
                targets[index].position = max(targets[index].position, targets[index - 1].position + 1)
            }
            return targets
        }
        return sorted
    }

    /// Whether an identifier is at a position. The identifiers must be sorted.
    func contains(_ relationship: EntityLayout.Relationship.ID, of object: ObjectID, at position: Int) -> Bool {
        guard let targets = targets[relationship] else { return false }
        var (low, high) = (0, targets.count)
        while low < high {
            let middle = (low + high) / 2
            if (targets[middle].object, targets[middle].position) < (object, position) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < targets.count && targets[low].object == object && targets[low].position == position
    }
}

/// The stored identifiers that wait for the objects of one relationship.
private struct WaitingLinks {
    struct Link {
        /// The stored object that holds the identifier.
        let row: ObjectID
        /// The object that the relationship starts from, and its key when the link was stored.
        let object: ObjectID
        let key: String?
        let position: Int
        /// The index in `identifiers`.
        let identifier: Int
    }

    private(set) var links: [Link] = []
    /// Different identifiers as JSON.
    private(set) var identifiers: [String] = []
    private var indices: [String: Int] = [:]

    mutating func add(row: ObjectID, object: ObjectID, key: String?, position: Int, identifier: String) {
        let index = indices[identifier] ?? identifiers.count
        if index == identifiers.count {
            identifiers.append(identifier)
            indices[identifier] = index
        }
        links.append(Link(row: row, object: object, key: key, position: position, identifier: index))
    }

    /// Some of the links by object, each object's in the order of their positions. The objects are
    /// in the order in which their links were stored.
    func byObject(where isIncluded: (Link) -> Bool) -> [ArraySlice<Link>] {
        let links = links.filter(isIncluded).sorted { ($0.object, $0.position) < ($1.object, $1.position) }
        var groups: [ArraySlice<Link>] = []
        var rest = links[...]
        while let first = rest.first {
            let group = rest.prefix { $0.object == first.object }
            groups.append(group)
            rest = rest[group.endIndex...]
        }
        return groups.sorted { $0[$0.startIndex].row < $1[$1.startIndex].row }
    }
}

extension StorePass {
    /// The attributes of a stored identifier.
    private static let pendingAttributes = ["relationship", "object", "position", "identifier", "objectKey"]
    /// The number of objects whose links are read at a time.
    private static let pendingCount = 5000

    /// Settles the identifiers that earlier passes stored and those of this pass.
    ///
    /// Links stored identifiers whose objects have come. Deletes those that the payload states anew
    /// or whose source is gone. Stores the identifiers that this pass could not link.
    func settlePendingLinks() async throws {
        let pending = unresolved.sorted()
        unresolved = PendingLinks()
        guard let layout = pendingLinks else { return }
        var obsolete: [ObjectID] = []
        try await forgetReplaced(layout)
        if try await waitsForObjects() {
            for (id, waiting) in try await waiting(layout, renewed: pending, obsolete: &obsolete).sortedByKey {
                try await resolve(waiting, model.relationship(id), obsolete: &obsolete)
            }
        }
        if !obsolete.isEmpty {
            _ = try await transaction.remove(StoreQuery(layout.name, objects: .only(obsolete)), reportsKeys: false)
        }
        try await remember(pending, layout)
        hasPendingLinks = nil
    }

    /// The entity of stored identifiers; nil if the pass neither stores nor links any.
    var pendingLinks: EntityLayout? {
        rules.relates ? transaction.model[SyncEntity.pendingLink.name] : nil
    }

    /// Whether stored identifiers wait for their objects.
    func waitsForObjects() async throws -> Bool {
        if let hasPendingLinks { return hasPendingLinks }
        guard let layout = pendingLinks else { return false }
        let found = try await transaction.count(StoreQuery(layout.name)) > 0
        hasPendingLinks = found
        return found
    }

    /// Reads the stored identifiers that still wait, by relationship.
    ///
    /// - Parameters:
    ///   - renewed: The identifiers that this pass stores.
    ///   - obsolete: Receives those that the payload states no more, and those of relationships
    ///     that the model no longer has.
    private func waiting(
        _ layout: EntityLayout, renewed: PendingLinks, obsolete: inout [ObjectID]
    ) async throws -> [EntityLayout.Relationship.ID: WaitingLinks] {
        var waiting: [EntityLayout.Relationship.ID: WaitingLinks] = [:]
        var relationships: [String: EntityLayout.Relationship] = [:]
        let selection = StoreSelection(
            StoreQuery(layout.name), columns: [.object] + Self.pendingAttributes.map { .value(PropertyPath($0)) })
        try await transaction.select(selection) { batch in
            batch.withReader { reader in
                func text(_ row: Int, _ slot: Int) -> String? {
                    guard reader.kind(row: row, slot: slot) == .string else { return nil }
                    return String(decoding: reader.bytes(row: row, slot: slot), as: UTF8.self)
                }
                for row in 0..<reader.count {
                    let stored = reader.int(row: row, slot: 0)
                    let name = text(row, 1) ?? ""
                    guard !RefillNote.isNote(name) else { continue }
                    let known = relationships[name] ?? model.relationship(named: name)
                    guard let relationship = known, let identifier = text(row, 4) else {
                        obsolete.append(stored)
                        continue
                    }
                    relationships[name] = relationship
                    let object = reader.int(row: row, slot: 2)
                    let position = Int(reader.int(row: row, slot: 3))
                    if state.deferred.stored.rows.contains(stored)
                        || !state.statements.hasStated(relationship, of: object)
                    {
                        waiting[relationship.id, default: WaitingLinks()].add(
                            row: stored, object: object, key: text(row, 5), position: position, identifier: identifier)
                    } else if !renewed.contains(relationship.id, of: object, at: position) {
                        obsolete.append(stored)
                    }
                }
            }
        }
        return waiting
    }

    /// Makes the stored links of one relationship as far as their targets are stored now.
    private func resolve(
        _ waiting: WaitingLinks, _ relationship: EntityLayout.Relationship, obsolete: inout [ObjectID]
    ) async throws {
        let objects = try await objects(named: waiting.identifiers, in: model.layouts[relationship.destination])
        if let place = state.deferred.stored.places[relationship.id] {
            let rows = state.deferred.stored.rows
            try noteUnknown(waiting.links.count { objects[$0.identifier] == nil && rows.contains($0.row) }, place)
        }
        // If nothing was deleted, the sources of the other links need not be looked for.
        let mayLackSources = !state.counts.deletesNothing
        let groups = waiting.byObject { mayLackSources || objects[$0.identifier] != nil }
        let inverse = model.inverse(of: relationship)
        // An object that has come since then belongs to the one that has it now.
        var owned: Set<ObjectID> = []
        if let inverse, !inverse.isToMany {
            owned = Set(try await transaction.links(inverse, of: objects.compactMap(\.self)).map(\.source))
        }
        for start in stride(from: 0, to: groups.count, by: Self.pendingCount) {
            let part = groups[start..<min(start + Self.pendingCount, groups.count)]
            let sources = part.compactMap(\.first?.object)
            let keys = try await transaction.keys(of: sources, model.layouts[relationship.source])
            let current = try await targets(of: sources, by: relationship)
            var batch = LinkBatch(relationship, mode: .replace)
            for links in part {
                guard let source = links.first?.object else { continue }
                // A source without the noted key is gone, and its number may belong to another
                // object. A later payload may have linked the source.
                guard let key = keys[source], key.text == links.first?.key,
                    relationship.isToMany || current[source] == nil
                else {
                    obsolete += links.map(\.row)
                    continue
                }
                let former = current[source] ?? []
                var targets = former
                for link in links {
                    guard let object = objects[link.identifier] else { continue }
                    obsolete.append(link.row)
                    // If the payload states the relationship from the target's side, that statement
                    // takes precedence.
                    let isStated = inverse.map { state.statements.hasStated($0, of: object) } == true
                    guard !isStated, !owned.contains(object), !targets.contains(object) else { continue }
                    targets.insert(object, at: min(link.position, targets.count))
                }
                if targets != former { batch.append(source, to: targets) }
            }
            if !batch.isEmpty { try await link(batch) }
        }
    }

    /// The objects that identifiers name; nil for those that are not stored.
    private func objects(named identifiers: [String], in layout: EntityLayout) async throws -> [ObjectID?] {
        var objects = [ObjectID?](repeating: nil, count: identifiers.count)
        var collector = try RecordCollector(
            mapper, entity: layout.name, options: RecordMapper.Reader.Options(acceptsIdentifiers: true))
        for start in stride(from: 0, to: identifiers.count, by: Self.pendingCount) {
            for index in start..<min(start + Self.pendingCount, identifiers.count) {
                try collector.add(Array(identifiers[index].utf8), index: index)
            }
            for group in try collector.takeBatch()?.groups ?? [] {
                let found = try await transaction.find(group.records)
                for (row, index) in group.elementIndices.enumerated() { objects[index] = found[row] }
            }
        }
        return objects
    }

    /// Deletes what the pass has stored for statements that others have replaced since then.
    func forgetReplaced(_ layout: EntityLayout) async throws {
        for (id, sources) in state.deferred.takeReplaced().sortedByKey {
            let objects = sources.objects
            let isOfRelationship = PropertyPath("relationship") == model.name(of: model.relationship(id))
            for start in stride(from: 0, to: objects.count, by: Self.pendingCount) {
                let part = objects[start..<min(start + Self.pendingCount, objects.count)]
                let query = StoreQuery(
                    layout.name, where: isOfRelationship && PropertyPath("object").isIn(part))
                _ = try await transaction.remove(query, reportsKeys: false)
            }
        }
    }

    /// Stores identifiers, which must be sorted.
    ///
    /// - Returns: The stored objects that hold them.
    @discardableResult
    func remember(_ pending: PendingLinks, _ layout: EntityLayout) async throws -> [ObjectID] {
        var rows: [ObjectID] = []
        let slots = Self.pendingAttributes.compactMap(layout.slot)
        for (id, targets) in pending.targets.sortedByKey {
            let name = model.name(of: model.relationship(id))
            for start in stride(from: 0, to: targets.count, by: Self.pendingCount) {
                let part = targets[start..<min(start + Self.pendingCount, targets.count)]
                let keys = try await transaction.keys(of: Set(part.map(\.object)).sorted(), model.layouts[id.source])
                var batch = RecordBatch(of: layout)
                for target in part {
                    guard let key = keys[target.object] else { continue }
                    let values: [AttributeValue] = [
                        .string(name), .int(target.object), .int(Int64(target.position)), .string(target.identifier),
                        key.text.map { .string($0) } ?? .null,
                    ]
                    batch.beginRecord()
                    for (slot, value) in zip(slots, values) { batch.setValue(value, at: slot) }
                    batch.endRecord()
                }
                if !batch.isEmpty {
                    rows += try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
                }
            }
        }
        return rows
    }
}

extension StoreTransaction {
    /// The keys of those objects that are stored.
    func keys(of objects: [ObjectID], _ layout: EntityLayout) async throws -> [ObjectID: Record.Key] {
        var keys: [ObjectID: Record.Key] = [:]
        try await fetch(StoreQuery(layout.name, objects: .only(objects)), batchRowCount: 1000) {
            for stored in $0 { keys[stored.object] = stored.key }
        }
        return keys
    }

    /// Deletes stored identifiers whose source is gone, before another object gets its number.
    func forgetPendingLinksOfMissingObjects() async throws {
        guard let layout = model[SyncEntity.pendingLink.name] else { return }
        var links: [Int: [(row: ObjectID, object: ObjectID)]] = [:]
        try await fetch(StoreQuery(layout.name), batchRowCount: 1000) {
            for stored in $0 {
                guard case .string(let name) = stored.record["relationship"],
                    case .int(let object) = stored.record["object"], let relationship = model.relationship(named: name)
                else { continue }
                links[relationship.source, default: []].append((stored.object, object))
            }
        }
        var obsolete: [ObjectID] = []
        for (source, links) in links {
            let keys = try await keys(of: links.map(\.object), model.layouts[source])
            obsolete += links.filter { keys[$0.object] == nil }.map(\.row)
        }
        guard !obsolete.isEmpty else { return }
        _ = try await remove(StoreQuery(layout.name, objects: .only(obsolete)), reportsKeys: false)
    }
}

extension Record.Key {
    /// The identity as a JSON array; nil for an object without an identity.
    fileprivate var text: String? {
        guard case .identity(let values) = self else { return nil }
        var writer = JSONWriter()
        writer.beginArray()
        for value in values {
            // JSON cannot represent the value, for example a number that is not finite.
            guard (try? writer.value(value)) != nil else { return nil }
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension DataModel {
    /// The name of a relationship, qualified by the entity that declares it.
    fileprivate func name(of relationship: EntityLayout.Relationship) -> String {
        "\(layouts[relationship.source].name).\(relationship.name)"
    }

    func relationship(_ id: EntityLayout.Relationship.ID) -> EntityLayout.Relationship {
        layouts[id.source].relationships[id.index]
    }

    fileprivate func relationship(named name: String) -> EntityLayout.Relationship? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return self[String(name[..<dot])]?.relationship(String(name[name.index(after: dot)...]))
    }
}
