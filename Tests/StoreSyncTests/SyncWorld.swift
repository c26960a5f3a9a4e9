import JSONMapper
import StoreSync
import SyncModel
import SyncStore

/// A store of users with notes, tags and a company, and how tests look at it.
struct SyncWorld {
    let store: any Store
    let json: JSONStore

    static let model = Result {
        try DataModel {
            SyncEntity("User") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("age", .int32)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
                SyncRelationship("tags", toMany: "Tag", ordered: true, inverse: "users")
                SyncRelationship("company", toOne: "Company", inverse: "users")
                SyncRelationship("manager", toOne: "User", inverse: "reports")
                SyncRelationship("reports", toMany: "User", inverse: "manager")
                SyncRelationship("address", toOne: "Address")
            }
            SyncEntity("Note") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
            SyncEntity("Tag", identity: "name") {
                SyncAttribute("name", .string)
                SyncRelationship("users", toMany: "User", inverse: "tags")
            }
            SyncEntity("Company") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("users", toMany: "User", inverse: "company")
            }
            SyncEntity("Address", attributes: [SyncAttribute("city", .string)], relationships: [])
        }
    }

    init(contract: ValueContract? = nil, _ wrap: (any Store) -> any Store = { $0 }) throws {
        let mapper = try RecordMapper(try Self.model.get(), contract: contract)
        store = wrap(MemoryStore(mapper.model))
        json = try JSONStore(store, mapper: mapper)
    }

    @discardableResult
    func sync(
        _ text: String, into entity: String = "User", childrenOf parent: SyncParent? = nil,
        _ operations: SyncOperations = .all
    ) async throws -> StoreSyncResult {
        try await json.sync(
            .bytes(Array(text.utf8)), into: entity, childrenOf: parent,
            options: StoreSyncOptions(operations: operations, reportsKeys: true))
    }

    /// The values of an attribute, in the order of the keys.
    func column(_ attribute: String, of entity: String = "User", where text: String? = nil) async throws
        -> [AttributeValue]
    {
        let predicate: RecordPredicate = try text.map { try RecordPredicate(parsing: $0) } ?? .constant(true)
        let records = try await store.records(StoreQuery(entity, where: predicate))
        return records.sorted { "\($0.key)" < "\($1.key)" }.map { $0.record[attribute] }
    }

    /// All objects with their values and the keys of what they are related to, in no order that depends on how they came.
    func state() async throws -> [String] {
        var lines: [String] = []
        for layout in store.model.layouts {
            let names = layout.relationships.map(\.name)
            for stored in try await store.records(StoreQuery(layout.name), with: names) {
                let related = layout.relationships.map { relationship in
                    let keys = (stored.record[related: relationship.name]?.keys ?? []).map { key in
                        // Rows tell the order in which objects came.
                        if case .identity(let values) = key { "\(values)" } else { "nameless" }
                    }
                    return relationship.isOrdered ? keys : keys.sorted()
                }
                lines.append("\(layout.name) \(stored.record.values) \(related)")
            }
        }
        return lines.sorted()
    }
}

extension StoreSyncResult.Counts {
    /// Inserted, updated, unchanged, deleted.
    var all: [Int] { [inserted, updated, unchanged, deleted] }
}

/// Calls of another store, of which one may fail.
final class FaultyStore: Store {
    struct Fault: Error {}

    let base: any Store
    let countdown: Countdown

    init(_ base: any Store, failingAt call: Int) {
        self.base = base
        countdown = Countdown(call)
    }

    var model: DataModel { base.model }

    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await base.transaction { try await body(FaultyTransaction(base: $0, countdown: countdown)) }
    }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) async throws -> Result) async throws -> Result {
        try await base.read(body)
    }
}

private struct FaultyTransaction: StoreTransaction {
    let base: any StoreTransaction
    let countdown: Countdown

    var model: DataModel { base.model }
    var batchRowCount: Int { base.batchRowCount }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try countdown.step()
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try countdown.step()
        return try await base.count(query)
    }

    func links(_ relationship: RelationshipLayout, of sources: [ObjectID]) async throws -> [StoreLink] {
        try countdown.step()
        return try await base.links(relationship, of: sources)
    }

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try countdown.step()
        return try await base.find(records)
    }

    func merge(_ request: MergeRequest) async throws -> MergeResult {
        try countdown.step()
        return try await base.merge(request)
    }

    func link(_ batch: LinkBatch) async throws -> LinkResult {
        try countdown.step()
        return try await base.link(batch)
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try countdown.step()
        return try await base.remove(query, reportsKeys: reportsKeys)
    }
}
