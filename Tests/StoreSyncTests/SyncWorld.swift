import JSONMapper
import OneWayStoreTestSupport
import StoreSync
import SyncModel
import SyncStore

/// A store of users with notes, tags and a company, and how tests look at it.
struct SyncWorld {
    let store: any Store
    let json: JSONStore

    static let model = Result { try UserModel.withEverything() }

    /// - Parameter model: The model; that of users by default.
    init(
        model: DataModel? = nil, contract: ValueContract? = nil, _ wrap: (any Store) -> any Store = { $0 }
    ) throws {
        let mapper = try RecordMapper(try model ?? Self.model.get(), JSONMapping(contract: contract))
        store = wrap(MemoryStore(exactly: mapper.model))
        json = try JSONStore(store, mapper: mapper)
    }

    /// A world of users with names alone, with the bookmarks of lists.
    ///
    /// - Parameter version: An attribute that orders the versions of a user.
    static func users(
        version: SyncAttribute? = nil, _ wrap: (any Store) -> any Store = { $0 }
    ) throws -> SyncWorld {
        let attributes = [SyncAttribute("id", .int64), SyncAttribute("name", .string)]
        return try SyncWorld(
            model: DataModel([
                SyncEntity(
                    "User", identity: ["id"], attributes: attributes + [version].compactMap { $0 },
                    relationships: []), SyncEntity.bookmark,
            ]), contract: nil, wrap)
    }

    /// The names of the stored users by their identifiers.
    func names() async throws -> [Int64: String] {
        var names: [Int64: String] = [:]
        for stored in try await store.records(StoreQuery("User")) {
            guard case (.int(let id), .string(let name)) = (stored.record["id"], stored.record["name"]) else {
                continue
            }
            names[id] = name
        }
        return names
    }

    @discardableResult
    func sync(
        _ text: String, into entity: String = "User", childrenOf parent: StoreSyncOptions.Parent? = nil,
        _ operations: StoreSyncOptions.Operations = .all
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
        return records.sorted { Self.place(of: $0.key) < Self.place(of: $1.key) }.map { $0.record[attribute] }
    }

    /// A text by which keys are sorted: identities before numbers.
    private static func place(of key: Record.Key) -> String {
        switch key {
        case .identity(let values): "\(values)"
        case .object(let object): "object(\(object))"
        }
    }

    /// All objects with their values and the keys of what they are related to, in no order that
    /// depends on how they came.
    func state() async throws -> [String] {
        try await Self.state(of: store)
    }

    /// All objects of a store.
    static func state(of store: any Store) async throws -> [String] {
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

/// Users with names, as a list.
func usersJSON(_ ids: some Sequence<Int>) -> String {
    "[\(ids.map { #"{"id":\#($0),"name":"user \#($0)"}"# }.joined(separator: ","))]"
}

/// Asks for batches of one row.
struct SingleRows: StoreHook {
    let batchRowCount: Int? = 1
}

extension StoreSyncResult.Counts {
    /// Inserted, updated, unchanged, deleted.
    var all: [Int] { [inserted, updated, unchanged, deleted] }
}
