import SyncModel
import SyncStore

/// The links in the own columns of objects, read together with their values.
///
/// A merge reads them for the relationships whose links the transaction has asked for before, so
/// that a payload without changes needs no other statement for them. They hold until a row changes.
struct SQLiteKnownLinks {
    /// The links of one relationship.
    private struct Column {
        let relationship: EntityLayout.Relationship.ID
        /// The objects whose links were read.
        var objects = ObjectSet()
        /// The targets of those that have one.
        var targets: [ObjectID: ObjectID] = [:]
    }

    /// The relationships whose links were asked for.
    private var asked: Set<EntityLayout.Relationship.ID> = []
    private var columns: [Column] = []
    /// The connection's count of all changes before the links were read.
    private var changeCount = 0

    /// Begins a merge, and forgets the links of the one before.
    ///
    /// - Returns: The relationships whose columns are to be read.
    mutating func begin(
        _ statements: SQLiteMergeStatements, _ connection: SQLiteConnection
    ) -> [EntityLayout.Relationship] {
        let relationships =
            asked.isEmpty
            ? []
            : statements.layout.relationships.filter { asked.contains($0.id) && statements.column(of: $0) != nil }
        columns = relationships.map { Column(relationship: $0.id) }
        changeCount = connection.totalChangeCount
        return relationships
    }

    /// Notes the link of an object.
    ///
    /// - Parameters:
    ///   - target: The object that it leads to; nil for none.
    ///   - index: The index of the relationship in the result of ``begin(_:_:)``.
    mutating func note(_ object: ObjectID, _ target: ObjectID?, at index: Int) {
        columns[index].objects.insert(object)
        if let target { columns[index].targets[object] = target }
    }

    /// The links of objects by their numbers; nil if not all of them are known.
    mutating func links(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], _ connection: SQLiteConnection
    ) -> [LinkBatch.Link]? {
        asked.insert(relationship.id)
        guard let column = columns.first(where: { $0.relationship == relationship.id }),
            changeCount == connection.totalChangeCount, sources.allSatisfy(column.objects.contains)
        else { return nil }
        let isSorted = zip(sources, sources.dropFirst()).allSatisfy(<)
        return (isSorted ? sources : Set(sources).sorted()).compactMap { source in
            column.targets[source].map { LinkBatch.Link(source: source, target: $0) }
        }
    }
}
