public import SyncModel

extension StoreReader {
    /// Reads all records of a query into memory.
    ///
    /// - Throws: `ModelError.unknownEntity`; `RecordPredicateError` if the query does not fit the
    ///   model; the store's own errors.
    public func records(_ query: StoreQuery) async throws -> [StoredRecord] {
        var records: [StoredRecord] = []
        try await fetch(query, batchRowCount: 1000) { records += $0 }
        return records
    }

    /// Reads the record of a key; nil if there is none.
    ///
    /// - Parameters:
    ///   - entity: The object's entity, or one that it inherits from.
    ///   - key: One value per identity attribute of the entity, or an object number.
    /// - Throws: `ModelError.unknownEntity`; `RecordPredicateError` if a value of the key does not
    ///   have its attribute's type; the store's own errors.
    public func record(_ entity: String, key: Record.Key) async throws -> StoredRecord? {
        let layout = try model.layout(of: entity)
        switch key {
        case .object(let object):
            return try await records(StoreQuery(entity, objects: .only([object]))).first
        case .identity(let values):
            guard values.count == layout.identityColumns.count else { return nil }
            let parts = zip(layout.identityColumns, values).map { column, value in
                PropertyPath(layout.attributes[column].name) == value
            }
            let predicate = parts.count == 1 ? parts[0] : .and(parts)
            let found = try await records(StoreQuery(entity, where: predicate, limit: 1000))
            return found.first { $0.record.layout === layout } ?? found.first
        }
    }

    /// Reads all records of a query into memory, with the keys of related objects.
    ///
    /// - Parameters:
    ///   - query: The objects.
    ///   - relationships: The names of relationships of the query's entity. Other relationships
    ///     stay unknown.
    /// - Throws: `RecordPredicateError.unknownProperty` for a name that is not a relationship of
    ///   the entity, and as ``records(_:)``.
    public func records(_ query: StoreQuery, with relationships: [String]) async throws -> [StoredRecord] {
        let layout = try model.layout(of: query.entity)
        var records = try await records(query)
        for name in relationships {
            guard let relationship = layout.relationship(name) else {
                throw RecordPredicateError.unknownProperty(entity: layout.name, key: name, name: name)
            }
            let links = try await links(relationship, of: records.map(\.object))
            var keys: [ObjectID: Record.Key] = [:]
            let targets = StoreQuery(model.layouts[relationship.destination].name, objects: .only(links.map(\.target)))
            try await fetch(targets, batchRowCount: 1000) { batch in
                for stored in batch { keys[stored.object] = stored.key }
            }
            let bySource = Dictionary(grouping: links, by: \.source)
            for index in records.indices {
                let found = (bySource[records[index].object] ?? []).compactMap { keys[$0.target] }
                records[index].record[related: name] = relationship.isToMany ? .many(found) : .one(found.first)
            }
        }
        return records
    }

    /// Reads the objects of a query as a `Decodable` type; see `Record.decode(_:)`.
    ///
    /// - Parameters:
    ///   - type: The type of the results.
    ///   - query: The objects.
    ///   - relationships: The names of the relationships that the type decodes.
    /// - Throws: `Record.CodingError` if a record does not fit the type, and as
    ///   ``records(_:with:)``.
    public func values<T: Decodable>(
        _ type: T.Type, _ query: StoreQuery, with relationships: [String] = []
    ) async throws -> [T] {
        try await records(query, with: relationships).map { try $0.record.decode(type) }
    }
}
