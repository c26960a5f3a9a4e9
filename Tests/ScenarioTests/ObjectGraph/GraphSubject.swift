import JSONMapper
import SyncModel

/// Runs what needs no store: objects are made, filled and exported in a graph in memory.
final class GraphSubject: ScenarioSubject {
    private let world: ScenarioWorld
    private let mapper: RecordMapper
    private var objects: [GraphObject] = []

    init(_ world: ScenarioWorld) throws {
        self.world = world
        mapper = try RecordMapper(
            world.model, dialect: world.dialect, transformers: try JSONTransformers(world))
    }

    func canRun(_ step: Step, json: [UInt8]?) throws -> Bool {
        switch step {
        case .insert, .update, .fill, .expectCount, .expectObject, .expectExport, .expectModel, .expectInflection,
            .expectDate:
            return true
        case .importJSON(let entity, _, _):
            // Relating what is imported is for a store. What is not imported at all relates nothing.
            let batches = try? batches(of: entity, json: json ?? [])
            return batches?.flatMap(\.groups).allSatisfy { $0.relationships.entries.isEmpty } ?? true
        case .sync, .delete, .insertOrUpdate, .updateByID, .deleteByID, .expectByID, .expectOrder:
            return false
        }
    }

    func insert(
        _ entity: String, values: [String: Value], relationships: [String: [RecordPredicate]]
    ) async throws {
        let layout = try world.model.layout(of: entity)
        let object = GraphObject(of: layout)
        try set(values, of: object)
        for (name, predicates) in relationships {
            guard let relationship = layout.relationship(name) else { throw NoSuchProperty(name: name) }
            let destination = world.model.layouts[relationship.destination].name
            for predicate in predicates {
                object.relate(relationship, to: try one(destination, where: predicate))
            }
        }
        objects.append(object)
    }

    func update(_ entity: String, where predicate: RecordPredicate, values: [String: Value]) async throws {
        try set(values, of: try one(entity, where: predicate))
    }

    func fill(_ entity: String, where predicate: RecordPredicate?, json: [UInt8]) async throws -> Bool {
        let object: GraphObject
        if let predicate {
            object = try one(entity, where: predicate)
        } else {
            object = GraphObject(of: try world.model.layout(of: entity))
            objects.append(object)
        }
        var record = Record(of: object.layout)
        for slot in object.values.indices { record[slot: slot] = object.values[slot] }
        let isChanged = try mapper.fill(&record, from: json)
        object.values = record.values
        return isChanged
    }

    func importJSON(_ entity: String, json: [UInt8]) async throws {
        let groups = try batches(of: entity, json: json).flatMap(\.groups)
        // All are looked at before the first is taken, so that a failure leaves everything as it was.
        for group in groups {
            let stubs = Set(group.stubRows)
            for row in 0..<group.records.count where !stubs.contains(row) && known(row, of: group) == nil {
                for (slot, attribute) in group.mapping.layout.attributes.enumerated() where !attribute.isOptional {
                    let value = group.records.value(row: row, slot: slot) ?? attribute.defaultValue
                    if value.isNull { throw NoValue(attribute: attribute.name) }
                }
            }
        }
        for group in groups {
            for row in 0..<group.records.count {
                let known = known(row, of: group)
                let object = known ?? GraphObject(of: group.mapping.layout)
                for slot in object.values.indices {
                    if let value = group.records.value(row: row, slot: slot) { object.values[slot] = value }
                }
                if known == nil { objects.append(object) }
            }
        }
    }

    /// The object that has the identity of a row.
    private func known(_ row: Int, of group: MappedBatch.Group) -> GraphObject? {
        let identity = group.mapping.keys.identitySlots
        return objects.first { object in
            object.layout.root == group.mapping.layout.root && !identity.isEmpty
                && identity.allSatisfy { object.values[$0] == group.records.value(row: row, slot: $0) }
        }
    }

    private func batches(of entity: String, json: [UInt8]) throws -> [MappedBatch] {
        let reader = try mapper.reader(
            of: entity, bytes: json, options: RecordReader.Options(keepsRelationships: true))
        var batches: [MappedBatch] = []
        while let batch = try reader.next() {
            if let problem = batch.rejected.first { throw MappingError.unfit(problem) }
            batches.append(batch)
        }
        return batches
    }

    func count(_ entity: String, where predicate: RecordPredicate) async throws -> Int {
        try all(entity, where: predicate).count
    }

    func values(_ entity: String, where predicate: RecordPredicate, at keys: [String]) async throws -> [[Value]] {
        let layout = try world.model.layout(of: entity)
        let bound = try keys.map { try Key($0).bound(to: layout, in: world.model) }
        return try all(entity, where: predicate).map { object in bound.map { object.value(at: $0) } }
    }

    func export(_ entity: String, where predicate: RecordPredicate, options: ExportOptions) async throws -> [UInt8] {
        let exporter = try RecordExporter(
            world.model, dialect: world.dialect, transformers: mapper.transformers, options: options)
        return try exporter.bytes(of: try one(entity, where: predicate))
    }

    // MARK: Objects

    struct NoSuchProperty: Error {
        let name: String
    }

    struct NoValue: Error {
        let attribute: String
    }

    struct NotOne: Error {
        let entity: String
        let count: Int
    }

    private func set(_ values: [String: Value], of object: GraphObject) throws {
        for (name, value) in values {
            guard let slot = object.layout.slot(of: name) else { throw NoSuchProperty(name: name) }
            object.values[slot] = value
        }
    }

    private func all(_ entity: String, where predicate: RecordPredicate) throws -> [GraphObject] {
        let layout = try world.model.layout(of: entity)
        let bound = try predicate.bound(to: layout, in: world.model)
        return objects.filter { $0.layout.isKind(of: layout) && bound.selects($0) }
    }

    private func one(_ entity: String, where predicate: RecordPredicate) throws -> GraphObject {
        let found = try all(entity, where: predicate)
        guard found.count == 1 else { throw NotOne(entity: entity, count: found.count) }
        return found[0]
    }
}
