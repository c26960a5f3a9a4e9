import Foundation
import SyncModel

/// The description of a database's tables, stored in the database to compare it with a later model.
package struct SQLSchemaDescription: Hashable, Sendable, Codable {
    /// An entity as it was stored.
    struct Entity: Hashable, Codable {
        var name: String
        var parent: String?
        var formerName: String?
        var attributes: [Attribute]
        var relationships: [Relationship]
    }

    /// An attribute that an entity declares.
    struct Attribute: Hashable, Codable {
        var name: String
        var type: String
        var column: String
        var formerName: String?
        /// Whether objects without a value have got the default; nil for false.
        var fillsNull: Bool?
    }

    /// A relationship that an entity declares.
    struct Relationship: Hashable, Codable {
        var name: String
        var destination: String
        var storage: SQLSchema.Storage
        var formerName: String?
        /// Whether the relationship and its inverse are to-one; nil for false.
        var isOneToOne: Bool?
    }

    var entities: [Entity]
    /// The table of each topmost entity.
    var families: [String: String]
    package var tables: [SQLSchema.Table]
    var rowColumn: String
    var entityColumn: String
    package var dates: SQLNaming.DateStorage
    /// The tables that existed before the store; nil if there are none.
    package var existing: [String]?

    /// The names in the files of format one.
    private enum CodingKeys: String, CodingKey {
        case entities, families, tables, rowColumn, entityColumn, dates
        case existing = "adopted"
    }

    /// Describes a schema.
    ///
    /// - Parameter existing: The tables that existed before the store.
    package init(_ schema: SQLSchema, existing: Set<String> = []) {
        self.existing = existing.isEmpty ? nil : existing.sorted()
        entities = schema.model.layouts.map { layout in
            let first = layout.attributes.count - layout.entity.attributes.count
            return Entity(
                name: layout.name, parent: layout.entity.parent, formerName: layout.entity.formerName,
                attributes: layout.entity.attributes.enumerated().map { index, attribute in
                    Attribute(
                        name: attribute.name, type: attribute.type.rawValue,
                        column: schema.columns[layout.index][first + index], formerName: attribute.formerName,
                        fillsNull: attribute.fillsNull ? true : nil)
                },
                relationships: layout.relationships.filter { $0.source == layout.index }.map {
                    Relationship(
                        name: $0.name, destination: $0.declaration.destination,
                        storage: schema.relationships[layout.index][$0.index],
                        formerName: $0.declaration.formerName,
                        isOneToOne: schema.model.isOneToOne($0) ? true : nil)
                })
        }
        families = Dictionary(
            uniqueKeysWithValues: schema.families.map { (schema.model.layouts[$0.root].name, $0.table) })
        tables = schema.tables
        rowColumn = schema.naming.rowColumn
        entityColumn = schema.naming.entityColumn
        dates = schema.dates
    }

    /// Creates a description from its ``text``.
    ///
    /// - Throws: `SQLSchemaError.unreadable`.
    package init(text: String) throws(SQLSchemaError) {
        guard let read = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { throw .unreadable }
        self = read
    }

    /// The description as text. Equal schemas have equal texts.
    package var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The names of the indices that the store created.
    package var indexNames: Set<String> {
        Set(tables.flatMap { $0.indices.map(\.name) })
    }

    func entity(_ name: String) -> Entity? {
        entities.first { $0.name == name }
    }

    /// Whether the table of a family has a column of entity names.
    func namesEntities(root: String) -> Bool {
        guard let name = families[root], let table = tables.first(where: { $0.name == name }) else { return false }
        return table.columns.contains(entityColumn)
    }

    /// The name of the topmost entity that an entity inherits from.
    func root(of name: String) -> String {
        var root = name
        // A chain has at most as many steps as there are entities. This ends the loop if the stored
        // text is damaged.
        for _ in entities {
            guard let parent = entity(root)?.parent else { break }
            root = parent
        }
        return root
    }
}

extension SyncAttribute {
    /// Whether each object has a value: null is not allowed, and there is a default.
    var fillsNull: Bool { !isOptional && !defaultValue.isNull }
}

extension DataModel {
    /// Whether a relationship and its inverse are to-one.
    func isOneToOne(_ relationship: EntityLayout.Relationship) -> Bool {
        !relationship.isToMany && inverse(of: relationship)?.isToMany == false
    }
}
