import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import SyncStoreSQLite

/// Items with attributes of many types and relationships of every kind, and the SQL about them.
struct StatementWorld {
    let model: DataModel
    let sqlite: SQLSchema
    let postgres: SQLSchema

    init() throws {
        var item = SyncEntity("Item", identity: "code") {
            SyncAttribute("code", .string)
            SyncAttribute("count", .int64)
            SyncAttribute("size", .double)
            SyncAttribute("price", .decimal)
            SyncAttribute("title", .string)
            SyncAttribute("bytes", .binary)
            SyncAttribute("isNew", .bool)
            SyncRelationship("owner", toOne: "Owner", inverse: "items")
            SyncRelationship("label", toOne: "Label", inverse: "item")
            SyncRelationship("tags", toOrdered: "Tag", inverse: "items")
        }
        item.indexes = [
            SyncEntity.Index(["title"]), SyncEntity.Index(["bytes", "price"], unique: true),
            SyncEntity.Index(["count"], where: PropertyPath("isNew") == true && PropertyPath("size") != nil),
        ]
        let owner = SyncEntity("Owner", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("name", .string)
            SyncRelationship("items", toOrdered: "Item", inverse: "owner")
        }
        let label = SyncEntity("Label", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("item", toOne: "Item", inverse: "label")
        }
        let tag = SyncEntity("Tag", identity: "name") {
            SyncAttribute("name", .string)
            SyncRelationship("items", toMany: "Item", inverse: "tags")
        }
        model = try DataModel([item, owner, label, tag])
        sqlite = SQLSchema(model, dialect: .sqlite)
        postgres = SQLSchema(model, dialect: .postgres(schema: "public"))
    }

    // MARK: Conditions

    /// The condition that selects objects, with its values after an arrow.
    func condition(
        _ predicate: RecordPredicate, of entity: String = "Item", for dialect: KeyPath<StatementWorld, SQLSchema>
    ) throws -> String {
        let text = try text(of: StoreQuery(entity, where: predicate), for: dialect)
        let start = "SELECT t.\"_id\" FROM \"\(entity)\" t WHERE "
        return text.hasPrefix(start) ? String(text.dropFirst(start.count)) : text
    }

    /// The conditions of predicates, of texts or not, that select items.
    func conditions(
        _ predicates: [RecordPredicate], for dialect: KeyPath<StatementWorld, SQLSchema>
    ) throws -> [String] {
        try predicates.map { try condition($0, for: dialect) }
    }

    func conditions(_ texts: String..., for dialect: KeyPath<StatementWorld, SQLSchema>) throws -> [String] {
        try texts.map { try condition(RecordPredicate(parsing: $0), for: dialect) }
    }

    // MARK: Statements

    /// The statement that selects the rows of a query, with its values after an arrow.
    func text(of query: StoreQuery, for dialect: KeyPath<StatementWorld, SQLSchema>) throws -> String {
        Self.text(try SQLQueries(self[keyPath: dialect]).rows(query, objectSet: nil)).withoutSchema
    }

    /// The statement of a selection, with its values after an arrow.
    func text(of selection: StoreSelection, for dialect: KeyPath<StatementWorld, SQLSchema>) throws -> String {
        let bound = try BoundSelection(selection, in: model)
        return Self.text(SQLQueries(self[keyPath: dialect]).rows(bound, objectSet: 7)).withoutSchema
    }

    /// A statement, with its values after an arrow.
    static func text(_ statement: SQLStatementText) -> String {
        let values = statement.bindings.map(text).joined(separator: ", ")
        return statement.text + (values.isEmpty ? "" : " <- \(values)")
    }

    private static func text(_ binding: SQLBinding) -> String {
        switch binding {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'\(text)'"
        case .blob(let data): "\(Array(data))"
        case .typed(let text, let type): "\(type) '\(text)'"
        case .objects(let objects): "\(objects)"
        case .blobs(let blobs): "\(blobs.map(\.count)) bytes"
        }
    }
}
