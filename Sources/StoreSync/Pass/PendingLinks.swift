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
        let index = targets.partitionIndex { ($0.object, $0.position) >= (object, position) }
        return index < targets.count && targets[index].object == object && targets[index].position == position
    }
}

/// A stored identifier that waits for its object.
private struct WaitingLink {
    /// The stored object that holds the identifier.
    let row: ObjectID
    /// The object that the relationship starts from, and its key when the link was stored.
    let object: ObjectID
    let key: String?
    let position: Int
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
            for (id, links) in try await arrived(layout, renewed: pending, obsolete: &obsolete).sortedByKey {
                try await make(links, model.relationship(id), obsolete: &obsolete)
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

    /// Reads the stored identifiers, and finds those whose objects have come, by relationship.
    ///
    /// - Parameters:
    ///   - renewed: The identifiers that this pass stores.
    ///   - obsolete: Receives those that the payload states no more, those whose source is gone,
    ///     those of relationships that the model no longer has, and those that are not JSON.
    private func arrived(
        _ layout: EntityLayout, renewed: PendingLinks, obsolete: inout [ObjectID]
    ) async throws -> [EntityLayout.Relationship.ID: [(link: WaitingLink, target: ObjectID)]] {
        var arrived: [EntityLayout.Relationship.ID: [(link: WaitingLink, target: ObjectID)]] = [:]
        var relationships: [String: EntityLayout.Relationship] = [:]
        var unknownCounts: [EntityLayout.Relationship.ID: Int] = [:]
        let stored = state.deferred.stored
        let selection = StoreSelection(
            StoreQuery(layout.name), columns: [.object] + Self.pendingAttributes.map { .value(PropertyPath($0)) })
        try await transaction.select(selection, batchRowCount: Self.pendingCount) { batch in
            var waiting: [EntityLayout.Relationship.ID: [(link: WaitingLink, identifier: String)]] = [:]
            batch.withReader { reader in
                func text(_ row: Int, _ column: Int) -> String? {
                    guard reader.kind(row: row, column: column) == .string else { return nil }
                    return String(decoding: reader.bytes(row: row, column: column), as: UTF8.self)
                }
                for row in 0..<reader.count {
                    let link = WaitingLink(
                        row: reader.int(row: row, column: 0), object: reader.int(row: row, column: 2),
                        key: text(row, 5),
                        position: Int(reader.int(row: row, column: 3)))
                    let name = text(row, 1) ?? ""
                    let known = relationships[name] ?? model.relationship(named: name)
                    guard let relationship = known, let identifier = text(row, 4) else {
                        obsolete.append(link.row)
                        continue
                    }
                    relationships[name] = relationship
                    if stored.rows.contains(link.row) || !state.statements.hasStated(relationship, of: link.object) {
                        waiting[relationship.id, default: []].append((link, identifier))
                    } else if !renewed.contains(relationship.id, of: link.object, at: link.position) {
                        obsolete.append(link.row)
                    }
                }
            }
            for (id, links) in waiting {
                // Many links wait for the same objects.
                var identifiers = Set(links.lazy.map(\.identifier)).sorted()
                // Another program may have written them.
                let malformed = Set(identifiers.filter { (try? JSONValue(parsing: $0)) == nil })
                if !malformed.isEmpty { identifiers.removeAll(where: malformed.contains) }
                let objects = try await objects(
                    named: identifiers, in: model.layouts[model.relationship(id).destination])
                let found = Dictionary(uniqueKeysWithValues: zip(identifiers, objects))
                // Without a deletion, the sources of the other links need not be looked for.
                let keys =
                    state.counts.deletesNothing
                    ? nil : try await transaction.keys(of: links.map(\.link.object), model.layouts[id.source])
                func hasSource(_ link: WaitingLink) -> Bool {
                    guard let keys else { return true }
                    guard let key = keys[link.object] else { return false }
                    return key.text == link.key
                }
                for (link, identifier) in links {
                    if !hasSource(link) || malformed.contains(identifier) {
                        obsolete.append(link.row)
                    } else if let target = found[identifier] ?? nil {
                        arrived[id, default: []].append((link, target))
                    } else if stored.rows.contains(link.row) {
                        unknownCounts[id, default: 0] += 1
                    }
                }
            }
        }
        for (id, count) in unknownCounts.sortedByKey {
            if let place = stored.places[id] { try noteUnknown(count, place) }
        }
        return arrived
    }

    /// Makes the stored links of one relationship whose targets have come.
    private func make(
        _ links: [(link: WaitingLink, target: ObjectID)], _ relationship: EntityLayout.Relationship,
        obsolete: inout [ObjectID]
    ) async throws {
        let inverse = model.inverse(of: relationship)
        // An object that has come since then belongs to the one that has it now.
        var owned: Set<ObjectID> = []
        if let inverse, !inverse.isToMany {
            owned = Set(try await transaction.links(inverse, of: Set(links.map(\.target)).sorted()).map(\.source))
        }
        // By object, in the order in which the links were stored, and each object's by position.
        let groups = Dictionary(grouping: links, by: \.link.object).values
            .map { $0.sorted { $0.link.position < $1.link.position } }
            .sorted { $0[0].link.row < $1[0].link.row }
        for part in groups.parts(of: Self.pendingCount) {
            let sources = part.map { $0[0].link.object }
            let keys = try await transaction.keys(of: sources, model.layouts[relationship.source])
            let current = try await targets(of: sources, by: relationship)
            var batch = LinkBatch(relationship, mode: .replace)
            for (source, group) in zip(sources, part) {
                obsolete += group.map(\.link.row)
                let former = current[source] ?? []
                // A source without the noted key is gone, and its number may belong to another
                // object. A later payload may have linked the source.
                guard let key = keys[source], relationship.isToMany || former.isEmpty else { continue }
                var targets = former
                for (link, target) in group where link.key == key.text {
                    // If the payload states the relationship from the target's side, that statement
                    // takes precedence.
                    let isStated = inverse.map { state.statements.hasStated($0, of: target) } == true
                    guard !isStated, !owned.contains(target), !targets.contains(target) else { continue }
                    targets.insert(target, at: min(max(link.position, 0), targets.count))
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
        for part in identifiers.parts(of: Self.pendingCount) {
            for index in part.indices { try collector.add(Array(part[index].utf8), index: index) }
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
            let isOfRelationship = PropertyPath("relationship") == model.name(of: model.relationship(id))
            for part in sources.objects.parts(of: Self.pendingCount) {
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
        let columns = Self.pendingAttributes.compactMap(layout.column)
        for (id, targets) in pending.targets.sortedByKey {
            let name = model.name(of: model.relationship(id))
            for part in targets.parts(of: Self.pendingCount) {
                let keys = try await transaction.keys(of: Set(part.map(\.object)).sorted(), model.layouts[id.source])
                var batch = RecordBatch(of: layout)
                for target in part {
                    guard let key = keys[target.object] else { continue }
                    let values: [AttributeValue] = [
                        .string(name), .int(target.object), .int(Int64(target.position)), .string(target.identifier),
                        key.text.map { .string($0) } ?? .null,
                    ]
                    batch.beginRecord()
                    for (column, value) in zip(columns, values) { batch.setValue(value, at: column) }
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
        var obsolete: [ObjectID] = []
        let selection = StoreSelection(
            StoreQuery(layout.name), columns: [.object] + ["relationship", "object"].map { .value(PropertyPath($0)) })
        try await select(selection) { batch in
            var links: [Int: [(row: ObjectID, object: ObjectID)]] = [:]
            batch.withReader { reader in
                for row in 0..<reader.count where reader.kind(row: row, column: 1) == .string {
                    let name = String(decoding: reader.bytes(row: row, column: 1), as: UTF8.self)
                    guard let source = model.relationship(named: name)?.source else { continue }
                    links[source, default: []].append(
                        (reader.int(row: row, column: 0), reader.int(row: row, column: 2)))
                }
            }
            for (source, links) in links.sortedByKey {
                let keys = try await keys(of: links.map(\.object), model.layouts[source])
                obsolete += links.filter { keys[$0.object] == nil }.map(\.row)
            }
        }
        guard !obsolete.isEmpty else { return }
        _ = try await remove(StoreQuery(layout.name, objects: .only(obsolete)), reportsKeys: false)
    }
}

extension Record.Key {
    /// The identity as a JSON array; nil for an object without an identity.
    fileprivate var text: String? {
        guard case .identity(let values) = self else { return nil }
        let texts = values.compactMap(\.json)
        return texts.count < values.count ? nil : "[\(texts.joined(separator: ","))]"
    }
}

extension AttributeValue {
    /// The value as JSON; nil if JSON cannot represent it, for example a number that is not finite.
    var json: String? {
        var writer = JSONWriter()
        guard (try? writer.value(self)) != nil else { return nil }
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
