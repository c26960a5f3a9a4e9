#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// What was read together with a merge, because its caller needs it next. It holds until the next
/// change, but new links leave the counts as they are.
struct PostgresReadAhead {
    /// The expression for the number of the transaction; null if it has changed nothing.
    static let transactionNumber = "pg_catalog.pg_current_xact_id_if_assigned()::text"

    var links: PostgresKnownLinks?
    /// The number of the transaction after the merge; nil if it had changed nothing by then.
    private(set) var transactionNumber: String?
    /// The numbers of all objects of the counted entities.
    private var counts: [String: Int] = [:]

    /// Creates an empty value, after a change or a merge that nothing was read with.
    init() {}

    /// Notes that links change.
    mutating func noteLinking() {
        links = nil
        // The first change gives the transaction its number.
        if transactionNumber == nil { counts = [:] }
    }

    /// The statements that read what a request announces.
    static func statements(for request: MergeRequest, _ schema: SQLSchema) throws -> [String] {
        var statements = request.linkedNext.map { PostgresKnownLinks.statements(for: $0, schema) } ?? []
        if !request.countedNext.isEmpty {
            let counting = try SQLQueries(schema).counts(of: request.countedNext.map { StoreQuery($0) })
            statements.append("\(counting.text), \(transactionNumber)")
        }
        return statements
    }

    /// - Parameter results: The results of ``statements(for:_:)``, in order.
    init(_ request: MergeRequest, _ results: ArraySlice<PostgresResult>) {
        links = request.linkedNext.map { PostgresKnownLinks($0, results) }
        guard !request.countedNext.isEmpty, let counted = results.last else { return }
        for (index, entity) in request.countedNext.enumerated() {
            counts[entity] = counted.integer(0, index).map { Int($0) }
        }
        transactionNumber = counted.text(0, request.countedNext.count)
    }

    /// The results of queries, if each counts all objects of a counted entity; nil otherwise.
    func counts(of queries: [StoreQuery]) -> [Int]? {
        var found: [Int] = []
        for query in queries {
            guard case .all = query.objects, query.predicate == .constant(true), query.limit == nil, query.offset == 0,
                let count = counts[query.entity]
            else { return nil }
            found.append(count)
        }
        return found
    }
}
#endif
