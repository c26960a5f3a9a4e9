import Foundation
import SyncModel
import SyncStore

/// The model that the checks use: every type, every kind of relationship, every delete rule.
enum ConformanceModel {
    static func model() throws -> Model {
        try Model {
            Entity("Person", identity: "id") {
                Attribute("id", .int64)
                Attribute("name", .string)
                Attribute("age", .int32, default: 18)
                Relationship("company", toOne: "Company", inverse: "people")
                Relationship("notes", toMany: "Note", inverse: "person", deleteRule: .cascade)
                Relationship("tags", toMany: "Tag", ordered: true, inverse: "people")
                Relationship("friends", toMany: "Person", inverse: "friends")
                Relationship("badge", toOne: "Badge", inverse: "owner")
                Relationship("favourite", toOne: "Tag")
            }
            Entity("Employee", parent: "Person") {
                Attribute("salary", .decimal)
            }
            Entity("Company", identity: "id") {
                Attribute("id", .int64)
                Relationship("people", toMany: "Person", inverse: "company", deleteRule: .deny)
            }
            Entity("Note", identity: "id") {
                Attribute("id", .int64)
                Attribute("text", .string)
                Relationship("person", toOne: "Person", inverse: "notes")
            }
            Entity("Tag", identity: "name") {
                Attribute("name", .string)
                Relationship("people", toMany: "Person", inverse: "tags")
            }
            Entity("Badge", identity: "suit", "value") {
                Attribute("suit", .string)
                Attribute("value", .int16)
                Relationship("owner", toOne: "Person", inverse: "badge")
            }
            Entity("Event", attributes: [Attribute("text", .string)], relationships: [])
            Entity("Shelf", identity: "id") {
                Attribute("id", .int64)
                Relationship("books", toMany: "Book", deleteRule: .deny)
            }
            Entity("Book", identity: "id") {
                Attribute("id", .int64)
                Relationship("place", toOne: "Shelf", deleteRule: .deny)
            }
            Entity("Shape", abstract: true, identity: "id") {
                Attribute("id", .int64)
            }
            Entity("Circle", parent: "Shape") {
                Attribute("radius", .double)
            }
            Entity("Everything", identity: "key") {
                Attribute("key", .string)
                Attribute("int16", .int16)
                Attribute("int32", .int32)
                Attribute("int64", .int64)
                Attribute("double", .double)
                Attribute("float", .float)
                Attribute("decimal", .decimal)
                Attribute("string", .string)
                Attribute("bool", .bool)
                Attribute("date", .date)
                Attribute("binary", .binary)
                Attribute("uuid", .uuid)
                Attribute("uri", .uri)
                Attribute("transformable", .transformable)
            }
        }
    }

    /// A batch of rows that are given by attribute; what is not given is absent.
    static func batch(_ entity: String, _ rows: [[String: Value]], of model: Model) throws -> RecordBatch {
        let layout = try model.layout(of: entity)
        var batch = RecordBatch(of: layout)
        for row in rows {
            batch.beginRecord()
            for (name, value) in row {
                guard let slot = layout.slot(of: name) else {
                    throw ConformanceCheckFailed(description: "there is no \(entity).\(name)")
                }
                batch.setValue(value, at: slot)
            }
            batch.endRecord()
        }
        return batch
    }
}

extension StoreTransaction {
    /// Merges rows that are given by attribute.
    @discardableResult
    func put(
        _ entity: String, _ rows: [String: Value]..., handles: [Int64]? = nil, policy: MergePolicy = MergePolicy()
    ) async throws -> MergeResult {
        try await merge(try ConformanceModel.batch(entity, rows, of: model), handles: handles, policy: policy)
    }

    /// Relates one object.
    @discardableResult
    func tie(
        _ entity: String, _ source: Int64, _ name: String, _ targets: [Int64], _ mode: LinkBatch.Mode = .replace
    ) async throws -> LinkResult {
        var batch = LinkBatch(try relationship(entity, name), mode: mode)
        batch.append(source, to: targets)
        return try await link(batch)
    }
}

extension StoreReader {
    func relationship(_ entity: String, _ name: String) throws -> RelationshipLayout {
        guard let found = try model.layout(of: entity).relationship(name) else {
            throw ConformanceCheckFailed(description: "there is no \(entity).\(name)")
        }
        return found
    }

    /// What an object is related to.
    func targets(_ entity: String, _ source: Int64, _ name: String) async throws -> [Int64] {
        try await links(try relationship(entity, name), of: [source]).map(\.target)
    }

    /// The values of an attribute of all objects of a query, in order.
    func column(_ attribute: String, _ query: StoreQuery) async throws -> [Value] {
        try await records(query).map { $0.record[attribute] }
    }
}
