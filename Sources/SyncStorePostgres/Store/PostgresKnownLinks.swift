#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// The links of objects that were read together with a merge. They hold until the next change.
struct PostgresKnownLinks {
    private let sources: MergeRequest.LinkSources
    private let links: [LinkBatch.Link]
    /// The objects that exist.
    let existing: Set<ObjectID>

    /// The statements that read the links.
    static func statements(for sources: MergeRequest.LinkSources, _ schema: SQLSchema) -> [String] {
        let queries = SQLQueries(schema)
        let rows = "'{\(sources.objects.map(String.init).joined(separator: ","))}'::bigint[]"
        return [
            queries.links(sources.relationship, of: rows), queries.existing(sources.relationship.source, of: rows),
        ]
    }

    /// - Parameter results: The results of ``statements(for:_:)``, in order.
    init(_ sources: MergeRequest.LinkSources, _ results: some Collection<PostgresResult>) {
        self.sources = sources
        links = results.first?.links ?? []
        existing = results.dropFirst().first?.objects ?? []
    }

    /// The index of the entity of the objects.
    var entity: Int { sources.relationship.source }

    /// Whether the links of a relationship from objects were read.
    func covers(_ objects: [ObjectID], of relationship: EntityLayout.Relationship) -> Bool {
        relationship.id == sources.relationship.id && Set(sources.objects).isSuperset(of: objects)
    }

    /// The links from some of the objects, in the order in which the statement selects them.
    func links(of objects: [ObjectID]) -> [LinkBatch.Link] {
        let wanted = Set(objects)
        return links.filter { wanted.contains($0.source) }
    }
}
#endif
