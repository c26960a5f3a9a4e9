import SyncBase
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
        var counts: [Int: Int] = [:]
        try connection.forEachRow(of: familyCounts) { row in
            if let family = row.integer(at: 0), let count = row.integer(at: 1) { counts[Int(family)] = Int(count) }
            return true
        }
        for (family, count) in counts.sortedByKey {
            if let statement = entityCounts(family: family) {
                try connection.forEachRow(of: statement) { row in
                    if let entity = row.text(at: 0) { result.counts[entity] = row.integer(at: 1).map { Int($0) } }
                    return true
                }
            } else {
                result.counts[schema.model.layouts[schema.families[family].root].name] = count
            }
            if reportsKeys { try gatherKeys(family: family, connection, &result) }
        }
        let doomed = deletionOrder(counts.keys.sorted())
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
            if count < counts[family] ?? 0 { try checkDeletion(family: family, connection) }
        }
        return result
    }

    /// Fails if more rows were deleted than the result reports.
    ///
    /// - Parameters:
    ///   - layout: The requested entity.
    ///   - deletedCount: The number of rows that were deleted from entity tables during the
    ///     removal.
    ///   - triggers: Finds the triggers that can have deleted them.
    /// - Throws: `SQLSchemaError.unsuitableTable`.
    package func check(
        _ result: RemovalResult, of layout: EntityLayout, deletedCount: Int, triggers: () throws -> [SQLTrigger]
    ) throws {
        let count = deletedCount - result.counts.values.reduce(0, +)
        guard count > 0 else { return }
        throw SQLTrigger.error(
            furtherDeletedCount: count, changing: schema.table(of: layout.index), triggers: try triggers())
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
        let columns = SQLQueries(schema).keyColumns(family: family)
        try connection.forEachRow(of: keys(family: family)) { found in
            if let (entity, key) = self.key(in: found, columns, family: family) {
                result.keys[entity, default: []].append(key)
            }
            return true
        }
    }

    /// Reads a row of ``keys(family:where:)``; nil for an object of an unknown entity.
    private func key(
        in found: some SQLRow, _ columns: SQLQueries.Columns, family: Int
    ) -> (entity: String, key: StoredRecord.Key)? {
        let model = schema.model
        let root = model.layouts[schema.families[family].root]
        guard let layout = columns.namesEntity ? found.text(at: 1).flatMap({ model[$0] }) : root,
            let places = columns.places[layout.index], let row = found.integer(at: 0)
        else { return nil }
        let identity = zip(layout.identitySlots, places).map { slot, place in
            found.value(at: place, as: layout.attributes[slot].type)
        }
        return (layout.name, StoredRecord.Key(object: row, key: Record.Key(identity) ?? .object(row)))
    }

    /// Describes an object to delete to which a foreign key refers.
    ///
    /// - Returns: Nil if none of the key's rows refers to one of the objects.
    package func refusal(
        by reference: Reference, on connection: some SQLRemovalConnection
    ) throws -> StoreError.Refusal? {
        let columns = SQLQueries(schema).keyColumns(family: reference.family)
        var refusal: StoreError.Refusal?
        try connection.forEachRow(of: keys(family: reference.family, where: reference.condition)) { found in
            guard let (entity, key) = self.key(in: found, columns, family: reference.family) else { return true }
            refusal = StoreError.Refusal(
                entity: entity, key: key.key, reason: .referred(by: reference.table), object: key.object)
            return false
        }
        return refusal
    }

    /// Collects the objects of a removal again, after the database has undone everything.
    package func collect(on connection: some SQLRemovalConnection, selecting: () throws -> Int) throws {
        try connection.perform(preparation)
        if try selecting() > 0 { try gatherCascades(connection) }
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
