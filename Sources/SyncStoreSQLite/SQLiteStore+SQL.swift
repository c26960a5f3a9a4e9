import SyncModel
import SyncStoreSQL

extension SQLiteStore {
    /// Runs a body with read-only access to the database, for your own SQL.
    ///
    /// All statements of the body read one snapshot, the state of the last commit, and never wait
    /// for a transaction. ``table(of:)``, ``objectColumn``, ``entityColumn(of:)``,
    /// ``column(of:in:)``, ``positionColumn(of:in:)`` and ``joinTable(of:in:)`` return the names of
    /// tables and columns.
    ///
    ///     let adults = try await store.sql { reader in
    ///         try await reader.rows("SELECT name FROM User WHERE age >= ?", 18)
    ///     }
    ///
    /// - Returns: The result of the body.
    /// - Throws: The body's error, and `SQLiteError`.
    public func sql<Result: Sendable>(
        _ body: @Sendable (SQLiteStore.Reader) async throws -> Result
    ) async throws -> Result {
        let cancellation = SQLiteCancellation()
        return try await withTaskCancellationHandler {
            try await sessions.reading(begin: { try await $0.beginReading(cancellation) }) { worker in
                let reader = SQLiteStore.Reader(worker)
                defer { reader.end() }
                return try await body(reader)
            }
        } onCancel: {
            cancellation.request()
        }
    }

    // MARK: Names of tables and columns

    /// The table of an entity's objects, shared with the entities that it inherits from; nil for an
    /// unknown entity.
    public func table(of entity: String) -> String? {
        model[entity].map { schema.table(of: $0.index) }
    }

    /// The column of object numbers in every entity's table; foreign keys refer to it.
    public var objectColumn: String {
        schema.naming.rowColumn
    }

    /// The column for the entity of each row in an entity's table.
    ///
    /// Nil for an unknown entity, and for a table with a single entity.
    public func entityColumn(of entity: String) -> String? {
        guard let layout = model[entity], schema.families[schema.familyIndex[layout.index]].namesEntity else {
            return nil
        }
        return schema.naming.entityColumn
    }

    /// The column of an attribute or a to-one relationship in the entity's own table.
    ///
    /// Nil for an unknown property, and for a relationship that another table stores: a to-many
    /// relationship, or the other side of a one-to-one pair.
    public func column(of property: String, in entity: String) -> String? {
        guard let layout = model[entity] else { return nil }
        if let column = layout.attributes.firstIndex(where: { $0.name == property }) {
            return schema.columns[layout.index][column]
        }
        guard let relationship = layout.relationship(property),
            case .column(let link) = schema.relationships[layout.index][relationship.index]
        else { return nil }
        return link.column
    }

    /// The column of positions of an ordered to-many relationship with a to-one inverse.
    ///
    /// It is in the table of the related objects, beside the column of the inverse. Nil for any
    /// other property; ``joinTable(of:in:)`` names the column of a many-to-many relationship.
    public func positionColumn(of relationship: String, in entity: String) -> String? {
        guard let layout = model[entity], let relationship = layout.relationship(relationship),
            case .inverseColumn(let link) = schema.relationships[layout.index][relationship.index]
        else { return nil }
        return link.position
    }

    /// The table of pairs of a many-to-many relationship; nil for any other property.
    ///
    /// - Returns: The table, its column of the entity's objects, its column of the related objects,
    ///   and its column of positions if the relationship is ordered.
    public func joinTable(
        of relationship: String, in entity: String
    ) -> (table: String, source: String, target: String, position: String?)? {
        guard let layout = model[entity], let relationship = layout.relationship(relationship),
            case .join(let link) = schema.relationships[layout.index][relationship.index]
        else { return nil }
        return (link.table, link.source, link.target, link.position)
    }
}
