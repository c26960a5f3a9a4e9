package import SyncModel
package import SyncStore

extension SQLRemoval {
    /// Deletes objects, and others by the delete rules.
    ///
    /// - Parameters:
    ///   - layout: The requested entity.
    ///   - reportsKeys: Whether the result has the keys of deleted objects.
    ///   - connection: The connection that runs the statements.
    ///   - guarded: The families whose tables have triggers that can insert a deleted row again;
    ///     empty by default. The caller calls `checkReturns(of:find:)`.
    ///   - selecting: Runs the statement that collects the requested objects; see
    ///     `SQLWritingConnection.change(_:)`.
    ///   - end: Runs statements at the end.
    /// - Returns: The deleted objects.
    /// - Throws: `StoreError.deletionDenied`; `SQLKeptRows` for a row that a trigger keeps; errors
    ///   of the connection. What was deleted by then must be rolled back.
    package func run(
        _ layout: EntityLayout, reportsKeys: Bool, on connection: some SQLWritingConnection,
        guarded: Set<Int> = [], selecting: () throws -> Int?, end: () throws -> Void = {}
    ) throws -> RemovalResult {
        let removed = Removed()
        guard try collect(layout, on: connection, selecting: selecting) else { return removed.result }
        for rule in denials {
            try connection.forEachRow(of: rule.statement) { row in
                throw StoreError.deletionDenied(entity: row.text(at: 0) ?? rule.entity, relationship: rule.relationship)
            }
        }
        try connection.forEachRow(of: familyCounts) { row in
            if let family = row.integer(at: 0), let count = row.integer(at: 1) {
                removed.counts[Int(family)] = Int(count)
            }
            return true
        }
        let families = removed.counts.isEmpty ? families(deleting: layout.index) : removed.counts.keys.sorted()
        for family in families {
            let root = schema.model.layouts[schema.families[family].root].name
            if let statement = entityCounts(family: family) {
                try connection.forEachRow(of: statement) { row in
                    if let entity = row.text(at: 0) {
                        removed.result.counts[entity] = row.integer(at: 1).map { Int($0) }
                    }
                    return true
                }
            } else {
                removed.roots[family] = root
            }
            if reportsKeys { try gatherKeys(family: family, connection, removed) }
        }
        let doomed = deletionOrder(families)
        for (place, family) in doomed.enumerated() {
            for release in releases(family: family, after: Array(doomed[..<place])) {
                _ = try connection.change(SQLStatementText(release.statement))
                // The foreign key could delete other objects.
                try connection.forEachRow(of: release.remaining) { _ in
                    throw SQLKeptRows("references to deleted objects", in: release.table)
                }
            }
        }
        for family in doomed {
            let count = try connection.change(SQLStatementText(deletion(family: family)))
            // With identities, `checkReturns` tells better: another new row can have the number.
            let isGuarded =
                guarded.contains(family)
                && !schema.model.layouts.contains { schema.familyIndex[$0.index] == family && $0.hasIdentity }
            // Foreign keys may have deleted some rows before.
            if let count, count == removed.counts[family], !isGuarded { continue }
            try connection.forEachRow(of: remaining(family: family)) { _ in
                throw SQLKeptRows("rows from being deleted", in: schema.families[family].table)
            }
        }
        try end()
        try connection.finish()
        for (family, root) in removed.roots { removed.result.counts[root] = removed.counts[family] }
        return removed.result
    }

    /// What the statements of a removal have answered so far.
    private final class Removed {
        var result = RemovalResult()
        /// The number of objects to delete, by family.
        var counts: [Int: Int] = [:]
        /// The only entity of families that have one.
        var roots: [Int: String] = [:]
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

    /// Fails if deleted objects are in the database again, with new numbers.
    ///
    /// Objects without an identity in the whole store are not looked for.
    ///
    /// - Parameters:
    ///   - result: The deleted objects, with their keys.
    ///   - find: Returns the numbers of the objects that have the identities of a batch.
    /// - Throws: `SQLKeptRows`.
    package func checkReturns(
        of result: RemovalResult, find: (EntityLayout, RecordBatch) throws -> [ObjectID?]
    ) throws {
        for layout in schema.model.layouts where layout.hasIdentity {
            var identities = RecordBatch(of: layout)
            for case .identity(let values) in (result.keys[layout.name] ?? []).map(\.key) {
                identities.beginRecord()
                for (column, value) in zip(layout.identityColumns, values) { identities.setValue(value, at: column) }
                identities.endRecord()
            }
            guard identities.count > 0, try find(layout, identities).contains(where: { $0 != nil }) else { continue }
            throw SQLKeptRows(
                "rows from being deleted, by inserting them again", in: schema.table(of: layout.index))
        }
    }

    /// Adds the keys of a family's objects to delete, in the order of their rows.
    private func gatherKeys(
        family: Int, _ connection: some SQLWritingConnection, _ removed: Removed
    ) throws {
        let columns = SQLQueries(schema).keyColumns(family: family)
        try connection.forEachRow(of: keys(family: family)) { found in
            if let (entity, key) = self.key(in: found, columns, family: family) {
                removed.result.keys[entity, default: []].append(key)
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
        let identity = zip(layout.identityColumns, places).map { column, place in
            found.value(at: place, as: layout.attributes[column].type)
        }
        return (layout.name, StoredRecord.Key(object: row, key: Record.Key(identity) ?? .object(row)))
    }

    /// Describes an object to delete to which a foreign key refers.
    ///
    /// - Returns: Nil if none of the key's rows refers to one of the objects.
    package func refusal(
        by reference: Reference, on connection: some SQLWritingConnection
    ) throws -> StoreError.Refusal? {
        let columns = SQLQueries(schema).keyColumns(family: reference.family)
        var refusal: StoreError.Refusal?
        try connection.forEachRow(of: keys(family: reference.family, where: reference.condition)) { found in
            guard let (entity, key) = self.key(in: found, columns, family: reference.family) else { return true }
            refusal = StoreError.Refusal(
                entity: entity, key: key.key, reason: .referred(by: reference.table), object: key.object)
            return false
        }
        try connection.finish()
        return refusal
    }

    /// Collects the objects of a removal.
    ///
    /// - Returns: Whether there may be any.
    @discardableResult
    package func collect(
        _ layout: EntityLayout, on connection: some SQLWritingConnection, selecting: () throws -> Int?
    ) throws -> Bool {
        for statement in schema.dialect.doomedPreparation { _ = try connection.change(SQLStatementText(statement)) }
        guard try selecting() != 0 else { return false }
        guard let rounds = rounds(deleting: layout.index) else {
            try collectRounds(connection)
            return true
        }
        for (round, rules) in rounds.enumerated() {
            var isGrowing = false
            for rule in rules where try connection.change(rule.statement(round)) != 0 { isGrowing = true }
            if !isGrowing { break }
        }
        return true
    }

    /// Follows cascades until no round reaches further objects.
    private func collectRounds(_ connection: some SQLWritingConnection) throws {
        var round = 0
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for rule in cascades where try connection.changeAtOnce(rule.statement(round)) > 0 { isGrowing = true }
            round += 1
        }
    }
}

extension SQLRemoval.Rule {
    /// The statement of a cascade for one round.
    fileprivate func statement(_ round: Int) -> SQLStatementText {
        SQLStatementText(statement, [.integer(Int64(round))])
    }
}
