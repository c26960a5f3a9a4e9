import SyncModel
import SyncStore

/// The model of the checks, with every type, kind of relationship and delete rule.
enum ConformanceModel {
    static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("age", .int32, default: 18)
                SyncRelationship("company", toOne: "Company", inverse: "people")
                SyncRelationship("notes", toMany: "Note", inverse: "person", deleteRule: .cascade)
                SyncRelationship("tags", toOrdered: "Tag", inverse: "people")
                SyncRelationship("friends", toMany: "Person", inverse: "friends")
                SyncRelationship("badge", toOne: "Badge", inverse: "owner")
                SyncRelationship("favourite", toOne: "Tag")
            }
            SyncEntity("Employee", parent: "Person") {
                SyncAttribute("salary", .decimal)
                SyncAttribute("grade", .int16, default: 3)
                SyncRelationship("boss", toOne: "Employee", inverse: "staff")
                SyncRelationship("staff", toMany: "Employee", inverse: "boss", deleteRule: .cascade)
            }
            SyncEntity("Guest", parent: "Person") {
                SyncAttribute("until", .date)
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("people", toMany: "Person", inverse: "company", deleteRule: .deny)
                SyncRelationship("head", toOne: "Employee")
                SyncRelationship("board", toMany: "Employee")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("person", toOne: "Person", inverse: "notes")
            }
            SyncEntity("Tag", identity: "name") {
                SyncAttribute("name", .string)
                SyncRelationship("people", toMany: "Person", inverse: "tags")
            }
            SyncEntity("Badge", identity: "suit", "value") {
                SyncAttribute("suit", .string)
                SyncAttribute("value", .int16)
                SyncRelationship("owner", toOne: "Person", inverse: "badge")
            }
            SyncEntity("Event", attributes: [SyncAttribute("text", .string)], relationships: [])
            SyncEntity("Box", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("things", toMany: "Thing", inverse: "box")
            }
            SyncEntity("Maker", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("things", toMany: "Thing", inverse: "maker")
            }
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("box", toOne: "Box", inverse: "things")
                SyncRelationship("maker", toOne: "Maker", inverse: "things")
            }
            SyncEntity("Shelf", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("books", toMany: "Book", deleteRule: .deny)
            }
            SyncEntity("Book", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("place", toOne: "Shelf", deleteRule: .deny)
                SyncRelationship("pages", toOrdered: "Page", inverse: "book", deleteRule: .cascade)
            }
            SyncEntity("Page") {
                SyncAttribute("text", .string)
                SyncRelationship("book", toOne: "Book", inverse: "pages")
            }
            SyncEntity("Album", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("photos", toOrdered: "Photo", inverse: "albums", owns: true)
            }
            SyncEntity("Photo", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("albums", toMany: "Album", inverse: "photos")
                SyncRelationship("details", toMany: "Photo", inverse: "wholes", owns: true)
                SyncRelationship("wholes", toMany: "Photo", inverse: "details", owns: false)
            }
            SyncEntity("Shape", abstract: true, identity: "id") {
                SyncAttribute("id", .int64)
            }
            SyncEntity("Circle", parent: "Shape") {
                SyncAttribute("radius", .double)
            }
            SyncEntity("Everything", identity: "key") {
                SyncAttribute("key", .string)
                SyncAttribute("int16", .int16)
                SyncAttribute("int32", .int32)
                SyncAttribute("int64", .int64)
                SyncAttribute("double", .double)
                SyncAttribute("float", .float)
                SyncAttribute("decimal", .decimal)
                SyncAttribute("string", .string)
                SyncAttribute("bool", .bool)
                SyncAttribute("date", .date)
                SyncAttribute("binary", .binary)
                SyncAttribute("uuid", .uuid)
                SyncAttribute("uri", .uri)
                SyncAttribute("json", .json)
                SyncAttribute("transformable", .transformable)
            }
        }
    }

    /// A batch of rows, each a value per attribute name; other attributes are absent.
    static func batch(_ entity: String, _ rows: [[String: AttributeValue]], of model: DataModel) throws -> RecordBatch {
        let layout = try model.layout(of: entity)
        var batch = RecordBatch(of: layout)
        for row in rows {
            batch.beginRecord()
            for (name, value) in row {
                guard let column = layout.column(of: name) else {
                    throw ConformanceCheckFailed(description: "there is no \(entity).\(name)")
                }
                batch.setValue(value, at: column)
            }
            batch.endRecord()
        }
        return batch
    }
}

extension MergeRequest.Result {
    /// The objects of the rows that have an object.
    var ids: [ObjectID] { rows.compactMap { $0?.object } }

    /// The effect on each row.
    var changes: [Change?] { rows.map { $0?.change } }
}

extension StoreTransaction {
    /// Merges rows, each a value per attribute name.
    @discardableResult
    func put(
        _ entity: String, _ rows: [String: AttributeValue]..., matches: [MergeRequest.Match]? = nil,
        policy: MergeRequest.Policy = MergeRequest.Policy()
    ) async throws -> MergeRequest.Result {
        try await merge(
            MergeRequest(try ConformanceModel.batch(entity, rows, of: model), matches: matches, policy: policy))
    }

    /// Links one object to others.
    @discardableResult
    func tie(
        _ entity: String, _ source: Int64, _ name: String, _ targets: [Int64], _ mode: LinkBatch.Mode = .replace
    ) async throws -> LinkBatch.Result {
        var batch = LinkBatch(try relationship(entity, name), mode: mode)
        batch.append(source, to: targets)
        return try await link(batch)
    }
}

extension StoreReader {
    func relationship(_ entity: String, _ name: String) throws -> EntityLayout.Relationship {
        guard let found = try model.layout(of: entity).relationship(name) else {
            throw ConformanceCheckFailed(description: "there is no \(entity).\(name)")
        }
        return found
    }

    /// The objects that a relationship of one object leads to.
    func targets(_ entity: String, _ source: Int64, _ name: String) async throws -> [Int64] {
        try await links(try relationship(entity, name), of: [source]).map(\.target)
    }

    /// The values of one attribute for all objects of a query, in order.
    func column(_ attribute: String, _ query: StoreQuery) async throws -> [AttributeValue] {
        try await records(query).map { $0.record[attribute] }
    }
}
