package import SyncModel
package import SyncStore

extension SQLRemoval {
    /// Deletes objects, and others by the delete rules.
    ///
    /// - Parameters:
    ///   - layout: The requested entity.
    ///   - reportsKeys: Whether the result has the keys of deleted objects.
    ///   - connection: The connection that runs the statements.
    ///   - selecting: Runs the statement that collects the requested objects.
    /// - Returns: The deleted objects.
    /// - Throws: `StoreError.deletionDenied`; `SQLSchemaError.unsuitableTable` for a row that a
    ///   trigger keeps; errors of the connection.
    package func run(
        _ layout: EntityLayout, reportsKeys: Bool, on connection: some SQLRemovalConnection, selecting: () throws -> Int
    ) throws -> RemovalResult {
        var result = RemovalResult()
        try connection.perform(preparation)
        guard try selecting() > 0 else { return result }
        try gatherCascades(connection)
        try checkDenials(connection)
        var counts = Array(repeating: 0, count: schema.families.count)
        for family in schema.families.indices {
            try connection.forEachRow(of: self.counts(family: family)) { row in
                counts[family] += Int(row.integer(at: 1) ?? 0)
                if let entity = row.text(at: 0), let count = row.integer(at: 1), count > 0 {
                    result.counts[entity] = Int(count)
                }
                return true
            }
            if reportsKeys { try gatherKeys(family: family, connection, &result) }
        }
        let doomed = deletionOrder(schema.families.indices.filter { counts[$0] > 0 })
        for (place, family) in doomed.enumerated() {
            for release in releases(family: family, after: Array(doomed[..<place])) {
                try connection.perform(release.statement)
                // The foreign key could delete other objects.
                try connection.forEachRow(of: release.remaining) { _ in
                    throw SQLSchemaError.unsuitableTable(
                        table: release.table, reason: "a trigger kept references to deleted objects")
                }
            }
        }
        for family in doomed {
            let count = try connection.change(SQLStatementText(deletion(family: family)))
            if count < counts[family] { try checkDeletion(family: family, connection) }
        }
        return result
    }

    /// Fails if more rows were deleted than the result reports.
    ///
    /// - Parameters:
    ///   - layout: The requested entity.
    ///   - deletedCount: The number of rows that were deleted from entity tables during the
    ///     removal.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    package func check(_ result: RemovalResult, of layout: EntityLayout, deletedCount: Int) throws(SQLSchemaError) {
        try schema.check(furtherDeletedCount: deletedCount - result.counts.values.reduce(0, +), changing: layout)
    }

    /// Fails if a trigger of another tool kept rows from being deleted.
    ///
    /// The count of the statement is not enough, because foreign keys may have deleted some rows
    /// before.
    private func checkDeletion(family: Int, _ connection: some SQLRemovalConnection) throws {
        try connection.forEachRow(of: remaining(family: family)) { _ in
            throw SQLSchemaError.unsuitableTable(
                table: schema.families[family].table, reason: "a trigger kept rows from being deleted")
        }
    }

    /// Adds the keys of a family's objects to delete, in the order of their rows.
    private func gatherKeys(
        family: Int, _ connection: some SQLRemovalConnection, _ result: inout RemovalResult
    ) throws {
        let model = schema.model
        let columns = SQLQueries(schema).keyColumns(family: family)
        let root = model.layouts[schema.families[family].root]
        try connection.forEachRow(of: keys(family: family)) { found in
            guard let layout = columns.namesEntity ? found.text(at: 1).flatMap({ model[$0] }) : root,
                let places = columns.places[layout.index], let row = found.integer(at: 0)
            else { return true }
            let identity = zip(layout.identitySlots, places).map { slot, place in
                found.value(at: place, as: layout.attributes[slot].type)
            }
            let key = Record.Key(identity) ?? .object(row)
            result.keys[layout.name, default: []].append(StoredRecord.Key(object: row, key: key))
            return true
        }
    }

    private func gatherCascades(_ connection: some SQLRemovalConnection) throws {
        var round: Int64 = 0
        var isGrowing = !cascades.isEmpty
        while isGrowing {
            isGrowing = false
            for rule in cascades where try connection.change(SQLStatementText(rule.statement, [.integer(round)])) > 0 {
                isGrowing = true
            }
            round += 1
        }
    }

    private func checkDenials(_ connection: some SQLRemovalConnection) throws {
        for rule in denials {
            try connection.forEachRow(of: rule.statement) { row in
                throw StoreError.deletionDenied(
                    entity: row.text(at: 0) ?? rule.entity, relationship: rule.relationship)
            }
        }
    }
}

extension SQLSchema {
    /// Fails if a change deleted more objects than it reports.
    ///
    /// - Parameters:
    ///   - count: How many more.
    ///   - layout: The entity whose objects were changed.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    package func check(furtherDeletedCount count: Int, changing layout: EntityLayout) throws(SQLSchemaError) {
        guard count > 0 else { return }
        throw .unsuitableTable(
            table: table(of: layout.index),
            reason: "a trigger or an external foreign key deleted further rows of the model's tables: \(count)")
    }
}
