package import SyncModel
package import SyncStore

/// The links that a transaction has removed, but that stay in columns which do not accept null.
///
/// Their objects get another link or are deleted before the transaction ends. Otherwise they are
/// refused.
package struct SQLKeptLinks: Sendable {
    private struct Column: Hashable, Sendable {
        let table: String
        let name: String
    }

    private var objects: [Column: Set<ObjectID>] = [:]

    package init() {}

    package var isEmpty: Bool { objects.isEmpty }

    /// Adds objects whose column keeps a removed link.
    package mutating func add(_ kept: [ObjectID], _ link: SQLSchema.ColumnLink) {
        objects[Column(table: link.table, name: link.column), default: []].formUnion(kept)
    }

    /// Removes objects that got another link.
    package mutating func remove(_ assigned: [ObjectID], _ link: SQLSchema.ColumnLink) {
        objects[Column(table: link.table, name: link.column)]?.subtract(assigned)
    }

    /// The stored links of a relationship without those that were removed.
    package func visible(
        _ links: [LinkBatch.Link], of relationship: EntityLayout.Relationship, _ schema: SQLSchema
    ) -> [LinkBatch.Link] {
        guard !isEmpty, let link = schema.columnLink(of: relationship),
            let kept = objects[Column(table: link.table, name: link.column)], !kept.isEmpty
        else { return links }
        var isOwn = false
        if case .column = schema.relationships[relationship.source][relationship.index] { isOwn = true }
        return links.filter { !kept.contains(isOwn ? $0.source : $0.target) }
    }

    /// Takes the objects out, by the to-one relationship of each column.
    package mutating func take(_ schema: SQLSchema) -> [(relationship: EntityLayout.Relationship, objects: [ObjectID])]
    {
        defer { objects = [:] }
        var found: [(relationship: EntityLayout.Relationship, objects: [ObjectID])] = []
        for layout in schema.model.layouts {
            for relationship in layout.relationships where relationship.source == layout.index {
                guard case .column(let link) = schema.relationships[layout.index][relationship.index],
                    let kept = objects.removeValue(forKey: Column(table: link.table, name: link.column))
                else { continue }
                found.append((relationship, kept.sorted()))
            }
        }
        return found
    }
}

extension StoredRecord {
    /// Describes an object that lost its target in a relationship, whose column does not accept
    /// null.
    package func refusal(by relationship: EntityLayout.Relationship) -> StoreError.Refusal {
        StoreError.Refusal(
            entity: record.entityName, key: key, attributes: [relationship.name], reason: .null, object: object)
    }
}

extension SQLSchema.Storage {
    /// The table that stores the links.
    package var table: String {
        switch self {
        case .column(let link), .inverseColumn(let link): link.table
        case .join(let link): link.table
        }
    }
}

extension SQLSchema {
    /// The column that stores a relationship; nil for a join table.
    package func columnLink(of relationship: EntityLayout.Relationship) -> ColumnLink? {
        switch relationships[relationship.source][relationship.index] {
        case .column(let link), .inverseColumn(let link): link
        case .join: nil
        }
    }
}
