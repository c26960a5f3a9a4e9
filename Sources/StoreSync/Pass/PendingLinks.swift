import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// The identifiers that a payload states for a relationship of an object, and that no stored object
/// has.
///
/// A pass stores them as objects of `SyncEntity.pendingLink`, so that a later pass can link the
/// objects when they come.
struct PendingLink {
    /// The object that the relationship starts from.
    let relationship: EntityLayout.Relationship
    let object: ObjectID
    /// The identifiers as JSON, each with its position among all targets.
    var targets: [(position: Int, json: [UInt8])]

    fileprivate var origin: RelationshipSource { RelationshipSource(relationship, of: object) }

    init(relationship: EntityLayout.Relationship, object: ObjectID, targets: [(position: Int, json: [UInt8])]) {
        self.relationship = relationship
        self.object = object
        self.targets = targets
    }

    /// Creates a link from the unknown identifiers of a deferred statement.
    init(
        _ statement: DeferredLinks.Statement, _ unknown: [(position: Int, row: Int)], of identifiers: RecordBatch,
        in model: DataModel
    ) {
        relationship = statement.place.relationship
        object = statement.place.source
        let slot = model.layouts[relationship.destination].identitySlots.first ?? 0
        targets = identifiers.withReader { reader in
            unknown.compactMap { position, row in
                var writer = JSONWriter()
                guard let value = reader.value(row: row, slot: slot), (try? writer.value(value)) != nil else {
                    return nil
                }
                return (position, writer.bytes)
            }
        }
    }

    /// Reads a stored link; nil if the model no longer has the relationship.
    init?(_ record: Record, in model: DataModel) {
        guard case .string(let name) = record["relationship"], case .int(let object) = record["object"],
            case .string(let text) = record["targets"],
            let relationship = model.relationship(named: name),
            case .array(let elements) = try? JSONValue(parsing: text, exactDecimals: true)
        else { return nil }
        self.relationship = relationship
        self.object = object
        targets = elements.compactMap { element in
            guard case .integer(let position) = element[0], let identifier = element[1] else { return nil }
            var writer = JSONWriter()
            return (try? writer.value(identifier)) == nil ? nil : (Int(position), writer.bytes)
        }
    }

    /// The link as a record of `SyncEntity.pendingLink`.
    func record(of layout: EntityLayout, key: Record.Key, in model: DataModel) -> Record {
        var record = Record(of: layout)
        record["relationship"] = .string(model.name(of: relationship))
        record["object"] = .int(object)
        record["objectKey"] = key.text.map { .string($0) } ?? .null
        var writer = JSONWriter()
        writer.beginArray()
        for (position, json) in targets {
            writer.beginArray()
            writer.integer(Int64(position))
            writer.raw(json)
            writer.endArray()
        }
        writer.endArray()
        record["targets"] = .string(String(decoding: writer.bytes, as: UTF8.self))
        return record
    }
}

extension StorePass {
    /// Settles the identifiers that earlier passes stored and those of this pass.
    ///
    /// Links stored identifiers whose objects have come. Deletes those that the payload states anew
    /// or whose source is gone. Stores the identifiers that this pass could not link.
    func settlePendingLinks() async throws {
        let pending = unresolved
        unresolved = []
        guard let layout = pendingLinks else { return }
        var obsolete: [ObjectID] = []
        var waiting: [EntityLayout.Relationship.ID: [Waiting]] = [:]
        if try await waitsForObjects() {
            let renewed = Set(pending.map(\.origin))
            try await transaction.fetch(StoreQuery(layout.name), batchRowCount: 1000) {
                for stored in $0 where !RefillNote.isNote(stored.record) {
                    guard let link = PendingLink(stored.record, in: model) else {
                        obsolete.append(stored.object)
                        continue
                    }
                    if !state.statements.hasStated(link.relationship, of: link.object) {
                        waiting[link.relationship.id, default: []].append(
                            Waiting(row: stored.object, link: link, key: stored.record["objectKey"]))
                    } else if !renewed.contains(link.origin) {
                        obsolete.append(stored.object)
                    }
                }
            }
        }
        var remembered = pending
        for (_, waiting) in waiting.sortedByKey {
            try await resolve(waiting, obsolete: &obsolete, remaining: &remembered)
        }
        if !obsolete.isEmpty {
            _ = try await transaction.remove(StoreQuery(layout.name, objects: .only(obsolete)), reportsKeys: false)
        }
        try await remember(remembered, layout)
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

    /// A stored link that this pass may be able to make.
    private struct Waiting {
        /// The stored object that holds the link.
        let row: ObjectID
        let link: PendingLink
        /// The key of the source when the link was stored.
        let key: AttributeValue
    }

    /// Makes the stored links of one relationship as far as their targets are stored now.
    private func resolve(
        _ waiting: [Waiting], obsolete: inout [ObjectID], remaining: inout [PendingLink]
    ) async throws {
        let relationship = waiting[0].link.relationship
        let keys = try await transaction.keys(of: waiting.map(\.link.object), model.layouts[relationship.source])
            .mapValues { $0.text.map { AttributeValue.string($0) } ?? .null }
        // A source without the noted key is gone, and its number may belong to another object.
        obsolete += waiting.filter { keys[$0.link.object] != $0.key }.map(\.row)
        let waiting = waiting.filter { keys[$0.link.object] == $0.key }
        var collector = try RecordCollector(
            mapper, entity: model.layouts[relationship.destination].name,
            options: RecordMapper.Reader.Options(acceptsIdentifiers: true))
        var count = 0
        for link in waiting {
            for target in link.link.targets {
                try collector.add(target.json, index: count)
                count += 1
            }
        }
        var objects = [ObjectID?](repeating: nil, count: count)
        for group in try collector.takeBatch()?.groups ?? [] {
            let found = try await transaction.find(group.records)
            for (row, index) in group.elementIndices.enumerated() { objects[index] = found[row] }
        }
        guard objects.contains(where: { $0 != nil }) else { return }
        let sources = waiting.map(\.link.object)
        let current = try await targets(of: sources, by: relationship)
        var batch = LinkBatch(relationship, mode: .replace)
        var next = 0
        let inverse = model.inverse(of: relationship)
        // An object that has come since then belongs to the one that has it now.
        var owned: Set<ObjectID> = []
        if let inverse, !inverse.isToMany {
            owned = Set(try await transaction.links(inverse, of: objects.compactMap(\.self)).map(\.source))
        }
        for waiting in waiting {
            let found = Array(zip(waiting.link.targets, objects[next..<(next + waiting.link.targets.count)]))
            next += waiting.link.targets.count
            let source = waiting.link.object
            // A later payload may have linked the source.
            guard relationship.isToMany || current[source] == nil else {
                obsolete.append(waiting.row)
                continue
            }
            // If the payload states the relationship from the target's side, that statement takes
            // precedence.
            let isStated = found.contains { _, object in
                object.map { target in inverse.map { state.statements.hasStated($0, of: target) } == true } ?? false
            }
            guard !isStated else {
                obsolete.append(waiting.row)
                continue
            }
            guard found.contains(where: { $0.1 != nil }) else { continue }
            var targets = current[source] ?? []
            for case (let target, let object?) in found where !targets.contains(object) && !owned.contains(object) {
                targets.insert(object, at: min(target.position, targets.count))
            }
            batch.append(source, to: targets)
            let rest = found.filter { $0.1 == nil }.map(\.0)
            if rest.isEmpty {
                obsolete.append(waiting.row)
            } else {
                remaining.append(PendingLink(relationship: relationship, object: source, targets: rest))
            }
        }
        if !batch.isEmpty { try await link(batch) }
    }

    private func remember(_ pending: [PendingLink], _ layout: EntityLayout) async throws {
        guard !pending.isEmpty else { return }
        var batch = RecordBatch(of: layout)
        for (id, links) in Dictionary(grouping: pending, by: \.relationship.id).sortedByKey {
            let keys = try await transaction.keys(of: links.map(\.object), model.layouts[id.source])
            for link in links where !link.targets.isEmpty {
                guard let key = keys[link.object] else { continue }
                let record = link.record(of: layout, key: key, in: model)
                batch.beginRecord()
                for (slot, value) in record.values.enumerated() { batch.setValue(value, at: slot) }
                batch.endRecord()
            }
        }
        guard !batch.isEmpty else { return }
        _ = try await transaction.merge(MergeRequest(batch))
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
                guard let link = PendingLink(stored.record, in: model) else { continue }
                links[link.relationship.source, default: []].append((stored.object, link.object))
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

    fileprivate func relationship(named name: String) -> EntityLayout.Relationship? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return self[String(name[..<dot])]?.relationship(String(name[name.index(after: dot)...]))
    }
}
