public import SyncModel

extension StoreReader {
    /// The records of a query, all at once.
    ///
    /// - Throws: `RecordPredicateError` where the query does not fit the model, and the store's own errors.
    public func records(_ query: StoreQuery) async throws -> [StoredRecord] {
        var records: [StoredRecord] = []
        try await fetch(query, batchRowCount: 1000) { records += $0 }
        return records
    }

    /// The record of a key; nil if there is none.
    ///
    /// - Parameters:
    ///   - entity: Its entity, or one it inherits from.
    ///   - key: What it is found by: as many values as the entity's identity has, or a row.
    /// - Throws: `RecordPredicateError` where the key's values are not of the attributes' types, and the store's own errors.
    public func record(_ entity: String, key: RecordKey) async throws -> StoredRecord? {
        let layout = try model.layout(of: entity)
        switch key {
        case .row(let row):
            return try await records(StoreQuery(entity, rows: .only([row]))).first
        case .identity(let values):
            guard values.count == layout.identitySlots.count else { return nil }
            let parts = zip(layout.identitySlots, values).map { slot, value in
                PropertyPath(layout.attributes[slot].name) == value
            }
            let predicate = parts.count == 1 ? parts[0] : .and(parts)
            let found = try await records(StoreQuery(entity, where: predicate, limit: 1000))
            return found.first { $0.record.layout === layout } ?? found.first
        }
    }

    /// The records of a query with what some of their relationships lead to, all at once.
    ///
    /// - Parameter relationships: The names of relationships of the query's entity; others stay unknown.
    /// - Throws: `ModelError` for a name that is none of the entity's relationships, and as `records(_:)`.
    public func records(_ query: StoreQuery, with relationships: [String]) async throws -> [StoredRecord] {
        let layout = try model.layout(of: query.entity)
        var records = try await records(query)
        for name in relationships {
            guard let relationship = layout.relationship(name) else {
                throw RecordPredicateError.unknownProperty(entity: layout.name, key: name, name: name)
            }
            let links = try await links(relationship, of: records.map(\.row))
            var keys: [Int64: RecordKey] = [:]
            let targets = StoreQuery(model.layouts[relationship.destination].name, rows: .only(links.map(\.target)))
            try await fetch(targets, batchRowCount: 1000) { batch in
                for stored in batch { keys[stored.row] = stored.key }
            }
            let bySource = Dictionary(grouping: links, by: \.source)
            for index in records.indices {
                let found = (bySource[records[index].row] ?? []).compactMap { keys[$0.target] }
                records[index].record[related: name] = relationship.isToMany ? .many(found) : .one(found.first)
            }
        }
        return records
    }

    /// The objects of a query as a `Codable` type; `Record.decode(_:)` says how.
    ///
    /// - Parameters:
    ///   - type: What each object becomes.
    ///   - query: Which objects.
    ///   - relationships: The names of the relationships that the type reads.
    /// - Throws: `Record.CodingError` where a record does not fit the type, and as `records(_:with:)`.
    public func values<T: Decodable>(
        _ type: T.Type, _ query: StoreQuery, with relationships: [String] = []
    ) async throws -> [T] {
        try await records(query, with: relationships).map { try $0.record.decode(type) }
    }
}

extension StoreTransaction {
    /// Matches records with the objects there are, and inserts and updates what the policy allows; new objects are related to nothing.
    ///
    /// - Throws: As `merge(_:handles:links:policy:)`.
    public func merge(_ batch: RecordBatch, handles: [Int64]?, policy: MergePolicy) async throws -> MergeResult {
        try await merge(batch, handles: handles, links: nil, policy: policy)
    }

    /// Inserts an object, or updates the one that has its identity.
    ///
    /// - Returns: Its row.
    /// - Throws: `StoreError.unsuitableValue` for a value that is not of its attribute's type, and the store's own errors.
    @discardableResult
    public func insert(_ record: Record) async throws -> Int64 {
        try await merge(record.batch(), handles: nil, policy: MergePolicy()).rows.first ?? 0
    }

    /// Gives an object other values.
    ///
    /// - Returns: Whether it was changed; false also if there is no such object.
    /// - Throws: `StoreError.unsuitableValue` for a value that is not of its attribute's type, `StoreError.identityTaken`, and the store's own errors.
    @discardableResult
    public func update(_ row: Int64, to record: Record) async throws -> Bool {
        let result = try await merge(record.batch(), handles: [row], policy: MergePolicy(inserts: false))
        return result.changes.first == .updated
    }

    /// Deletes objects, applying the model's delete rules, and counts them; see ``StoreTransaction/remove(_:reportsKeys:)``.
    @discardableResult
    public func remove(_ query: StoreQuery) async throws -> RemovalResult {
        try await remove(query, reportsKeys: false)
    }

    /// Deletes every object.
    ///
    /// - Throws: The store's own errors.
    public func erase() async throws {
        // All of one root at a time; what is denied to one object is allowed once its dependents are gone.
        var roots = model.layouts.filter { $0.parent == nil }
        var hasReleased = false
        while !roots.isEmpty {
            var left: [EntityLayout] = []
            for root in roots {
                do { try await remove(StoreQuery(root.name)) } catch let error as StoreError {
                    if hasReleased { throw error }
                    left.append(root)
                }
            }
            if !left.isEmpty, left.count == roots.count {
                // They deny one another's deletion, in a circle.
                try await release()
                hasReleased = true
            }
            roots = left
        }
    }

    /// Takes off all links that stand in the way of a deletion.
    private func release() async throws {
        for layout in model.layouts {
            for relationship in layout.relationships
            where relationship.source == layout.index && relationship.declaration.deleteRule == .deny {
                var batch = LinkBatch(relationship, mode: .replace)
                try await fetch(StoreQuery(layout.name), batchRowCount: 1000) { records in
                    for stored in records { batch.append(stored.row, to: []) }
                }
                _ = try await link(batch)
            }
        }
    }
}

extension Store {
    /// The records of a query, all at once; see `StoreReader`.
    public func records(_ query: StoreQuery, with relationships: [String] = []) async throws -> [StoredRecord] {
        try await read { try await $0.records(query, with: relationships) }
    }

    /// The record of a key; nil if there is none; see `StoreReader`.
    public func record(_ entity: String, key: RecordKey) async throws -> StoredRecord? {
        try await read { try await $0.record(entity, key: key) }
    }

    /// The objects of a query as a `Codable` type; see `StoreReader`.
    public func values<T: Decodable & Sendable>(
        _ type: T.Type, _ query: StoreQuery, with relationships: [String] = []
    ) async throws -> [T] {
        try await read { try await $0.values(type, query, with: relationships) }
    }

    /// How many objects a query finds.
    public func count(_ query: StoreQuery) async throws -> Int {
        try await read { try await $0.count(query) }
    }

    /// Deletes every object.
    ///
    /// - Throws: The store's own errors; then nothing has been deleted.
    public func erase() async throws {
        try await transaction { try await $0.erase() }
    }
}

extension Record {
    /// A batch of the one record, every cell set.
    fileprivate func batch() throws(StoreError) -> RecordBatch {
        var batch = RecordBatch(of: layout)
        batch.beginRecord()
        for (slot, value) in values.enumerated() {
            guard layout.attributes[slot].type.accepts(value) else {
                throw .unsuitableValue(entity: layout.name, attribute: layout.attributes[slot].name)
            }
            batch.setValue(value, at: slot)
        }
        batch.endRecord()
        return batch
    }
}
