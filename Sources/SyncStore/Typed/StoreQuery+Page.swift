public import SyncModel

extension StoreQuery {
    /// A part of the objects of a query, and the key of the next part.
    public struct Page<Object: SyncObject>: Sendable {
        /// The objects, in the order of the query.
        public let objects: [Object]
        /// The key of the next page; nil after the last object.
        public let next: StoreQuery.PageKey?
    }
}

extension StoreQuery {
    /// The position of a page's last object, after which the next page begins.
    ///
    /// Reading a page by its key costs as much as reading the first page. Objects that are inserted
    /// or deleted in the meantime cause no repeated or missing objects. The key is valid in one
    /// store, for queries with the same order.
    public struct PageKey: Hashable, Sendable {
        let position: StoreSelection.Position
    }
}

extension StoreQuery.PageKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case values, object
    }

    /// Decodes a key.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        position = StoreSelection.Position(
            values: try container.decode([AttributeValue].self, forKey: .values),
            object: try container.decode(ObjectID.self, forKey: .object))
    }

    /// Encodes the key, for example for the address of the next page.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position.values, forKey: .values)
        try container.encode(position.object, forKey: .object)
    }
}

extension StoreReader {
    /// Returns the objects of a query that come after a page key, and the key of the next page.
    ///
    /// - Parameters:
    ///   - query: The objects and their order. The limit is the size of the page; nil for one page
    ///     of all objects.
    ///   - key: The key from the previous page; nil for the first page.
    /// - Throws: ``ObjectReadingError/foreignPageKey``, and as ``all(_:)``.
    public func page<Object>(_ query: ObjectQuery<Object>, after key: StoreQuery.PageKey? = nil) async throws
        -> StoreQuery.Page<
            Object
        >
    {
        guard key.map({ $0.position.values.count == query.ordering.count }) ?? true else {
            throw ObjectReadingError.foreignPageKey
        }
        var query = query
        query.after = key?.position
        let size = query.limit
        // One more object shows whether there is a next page.
        query.limit = size.map { $0 == .max ? $0 : max($0, 0) + 1 }
        let (plan, base) = try ObjectLoader(reader: self).prepare(query)
        var selection = base
        selection.columns += selection.query.ordering.map { .value($0.key) }
        var batches: [RecordBatch] = []
        try await select(selection, batchRowCount: ObjectLoader.batchRowCount) { batches.append($0) }
        var last: StoreSelection.Position?
        let total = batches.reduce(0) { $0 + $1.count }
        let count = size.map { min(max($0, 0), total) } ?? total
        var left = count
        for index in batches.indices {
            if batches[index].count > left { batches[index].truncate(to: left) }
            left -= batches[index].count
        }
        batches.removeAll(where: \.isEmpty)
        if count < total, let batch = batches.last {
            batch.withReader { reader in
                let row = reader.count - 1
                last = StoreSelection.Position(
                    values: (plan.columns.count..<reader.columnCount).map {
                        reader.value(row: row, column: $0) ?? .null
                    },
                    object: reader.int(row: row, column: 0))
            }
        }
        let loader = ObjectLoader(reader: self)
        let content = ObjectContent(plan, related: try await loader.related(plan, batches))
        let objects: [Object] = try await loader.decode(batches, content, of: plan.layout).objects
        return StoreQuery.Page(objects: objects, next: last.map(StoreQuery.PageKey.init(position:)))
    }
}

extension Store {
    /// Returns the objects of a query that come after a page key; see
    /// ``StoreReader/page(_:after:)``.
    public func page<Object>(_ query: ObjectQuery<Object>, after key: StoreQuery.PageKey? = nil) async throws
        -> StoreQuery.Page<
            Object
        >
    {
        try await readAtOnce { try await $0.page(query, after: key) }
    }
}
