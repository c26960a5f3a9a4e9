import SyncModel
import SyncStore
import SyncStoreSQL

extension SQLiteConnection: SQLReadingConnection {
    /// Registers the objects that a query excludes while a function runs.
    func withObjectSet<Result>(of query: StoreQuery, _ body: (Int64?) throws -> Result) throws -> Result {
        let objectSet = register(query.objects)
        return try withExtendedLifetime(objectSet) { try body(objectSet?.number) }
    }

    func links(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], _ queries: SQLQueries, isReading: Bool
    ) throws(SQLiteError) -> [LinkBatch.Link] {
        var links: [LinkBatch.Link] = []
        try forEachLink(relationship, of: sources, queries, isReading: isReading) { links.append($0) }
        return links
    }

    /// Reads the links of sources, grouped by source and in order.
    ///
    /// Ordered targets are put in order here; see ``SQLitePlacedTargets``.
    func forEachLink(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], _ queries: SQLQueries, isReading: Bool,
        _ body: (LinkBatch.Link) -> Void
    ) throws(SQLiteError) {
        let statement = try cached(queries.links(relationship, isReading: isReading, givesPositions: true))
        statement.bind(.text(SQLQueries.list(sources)), at: 1)
        defer { statement.reset() }
        guard statement.columnCount > 2 else {
            while try statement.step() {
                body(LinkBatch.Link(source: statement.integer(at: 0), target: statement.integer(at: 1)))
            }
            return
        }
        var source: ObjectID?
        var targets = SQLitePlacedTargets()
        func endSource() {
            if let source { targets.take { body(LinkBatch.Link(source: source, target: $0)) } }
        }
        while try statement.step() {
            let next = statement.integer(at: 0)
            if next != source {
                endSource()
                source = next
            }
            targets.add(statement.integer(at: 1), at: statement.isNull(at: 2) ? nil : statement.double(at: 2))
        }
        endSource()
    }

    func records(_ objects: [ObjectID], of entity: String, _ queries: SQLQueries) throws -> [StoredRecord] {
        let query = StoreQuery(entity, objects: .only(objects))
        return try SQLiteCursor(query, queries: queries, connection: self).next(objects.count)
    }
}
