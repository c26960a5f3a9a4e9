import Foundation
import JSONMapper
import StoreSync
import SyncModel
import SyncStore

extension StoreLife {
    /// Opens the database with another model.
    mutating func migrate() async throws -> String {
        let entity = Self.entities.randomElement(using: &random) ?? "One"
        var own = (shape.fields[entity] ?? []).map { Field(name: $0.name, formerName: nil, type: $0.type) }
        var rename: [String: String] = [:]
        var what = "shuffle"
        // A tool's tables can only get further columns.
        switch Int.random(in: 0..<(database.isExisting ? 2 : 8), using: &random) {
        case 0:
            fieldCount += 1
            own.append(Field(name: "f\(fieldCount)", type: Field.types.randomElement(using: &random) ?? .bool))
            what = "add"
        case 1: break
        case 2 where own.count > 1:
            own.removeLast()
            version += 1
            what = "remove"
        case 3 where !own.isEmpty:
            fieldCount += 1
            rename[own[0].name] = "f\(fieldCount)"
            own[0] = Field(name: "f\(fieldCount)", formerName: own[0].name, type: own[0].type)
            what = "rename"
        case 4 where own.count > 1 && !hasSwapped:
            hasSwapped = true
            let (one, other) = (own[0], own[1])
            rename = [one.name: other.name, other.name: one.name]
            own[0] = Field(name: other.name, formerName: one.name, type: one.type)
            own[1] = Field(name: one.name, formerName: other.name, type: other.type)
            what = "swap"
        case 5:
            what = "widen"
            for index in own.indices { own[index].type = own[index].wider }
        case 6:
            what = shape.hasLikes ? "remove a relationship" : "add a relationship"
            if shape.hasLikes { version += 1 }
            shape.hasLikes.toggle()
        default: own.shuffle(using: &random)
        }
        let former = shape
        for name in Self.entities {
            shape.fields[name] = shape.fields[name]?.map { Field(name: $0.name, formerName: nil, type: $0.type) }
        }
        shape.fields[entity] = own
        expected[entity] = expected[entity]?.mapValues { values in
            var next: Values = [:]
            for field in own {
                let old = field.formerName ?? rename.first { $0.value == field.name }?.key ?? field.name
                let type = former.fields[entity]?.first { $0.name == old }?.type
                guard let type, let value = values[old] else { continue }
                next[field.name] = field.type == type ? value : value.widened(to: field.type)
            }
            return next
        }
        let mapper = try RecordMapper(try Self.model(shape))
        store = try await open(mapper)
        try await refillMemory(mapper)
        return "migrate \(entity), \(what): \(own.map { "\($0.name) \($0.type)" })"
    }

    /// Fills the database anew from the store in memory.
    mutating func rebuild() async throws -> String {
        let mapper = store.mapper
        let memory = memory
        let rebuilt = try await database.rebuild(mapper.model, version: version) { [expected] store in
            try await Self.copy(expected, from: memory, into: try JSONStore(store, mapper: mapper))
        }
        guard let rebuilt else { return "no rebuild" }
        store = try JSONStore(rebuilt, mapper: mapper)
        return "rebuild"
    }

    /// A store in memory has no migration: it is filled with what is expected, and with the same
    /// links.
    private mutating func refillMemory(_ mapper: RecordMapper) async throws {
        let next = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        try await Self.copy(expected, from: memory, into: next)
        memory = next
    }

    private static func copy(
        _ expected: [String: [Int64: Values]], from former: JSONStore, into store: JSONStore
    ) async throws {
        var numbers: [String: [ObjectID: ObjectID]] = [:]
        for entity in entities {
            var known: [Int64: ObjectID] = [:]
            for stored in try await former.store.records(StoreQuery(entity)) {
                if case .int(let id) = stored.record["id"] { known[id] = stored.object }
            }
            let layout = try store.store.model.layout(of: entity)
            for (id, values) in (expected[entity] ?? [:]).sorted(by: { $0.key < $1.key }) {
                var record = Record(of: layout)
                for (name, value) in values { record[name] = value }
                record["id"] = .int(id)
                let inserted = record
                let object = try await store.store.transaction { try await $0.insert(inserted) }
                if let old = known[id] { numbers[entity, default: [:]][old] = object }
            }
        }
        for entity in entities { try await copyLinks(of: entity, numbers, from: former, into: store) }
        try await copyPendingLinks(numbers, from: former, into: store)
    }

    private static func copyLinks(
        of entity: String, _ numbers: [String: [ObjectID: ObjectID]], from former: JSONStore, into store: JSONStore
    ) async throws {
        let old = try former.store.model.layout(of: entity)
        for relationship in try store.store.model.layout(of: entity).relationships {
            guard let known = old.relationship(relationship.name) else { continue }
            let destination = store.store.model.layouts[relationship.destination].name
            let sources = (numbers[entity] ?? [:]).sorted { $0.key < $1.key }
            let links = try await former.store.read { try await $0.links(known, of: sources.map(\.key)) }
            var batch = LinkBatch(relationship, mode: .replace)
            for (from, to) in sources {
                let targets = links.filter { $0.source == from }.compactMap { numbers[destination]?[$0.target] }
                batch.append(to, to: targets)
            }
            let linked = batch
            _ = try await store.store.transaction { try await $0.link(linked) }
        }
    }

    /// The identifiers that wait for their objects.
    private static func copyPendingLinks(
        _ numbers: [String: [ObjectID: ObjectID]], from former: JSONStore, into store: JSONStore
    ) async throws {
        let name = SyncEntity.pendingLink.name
        for stored in try await former.store.records(StoreQuery(name)) {
            var record = Record(of: try store.store.model.layout(of: name))
            for attribute in ["relationship", "position", "identifier", "objectKey"] {
                record[attribute] = stored.record[attribute]
            }
            guard case .string(let relationship) = stored.record["relationship"],
                case .int(let object) = stored.record["object"]
            else { continue }
            let entity = String(relationship.prefix { $0 != "." })
            // The number of an object that is gone stays one of nobody.
            record["object"] = .int(numbers[entity]?[object] ?? -object)
            let inserted = record
            _ = try await store.store.transaction { try await $0.insert(inserted) }
        }
    }
}

extension Field {
    fileprivate var wider: AttributeType {
        switch type {
        case .int16: .int64
        case .int64: .decimal
        case .uuid: .string
        default: type
        }
    }
}

extension AttributeValue {
    fileprivate func widened(to type: AttributeType) -> AttributeValue {
        switch (self, type) {
        case (.int(let number), .decimal): .decimal(Decimal(number))
        case (.uuid(let uuid), .string): .string(uuid.uuidString)
        default: self
        }
    }
}
