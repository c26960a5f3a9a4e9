public import SyncModel

extension StoreTransaction {
    /// Inserts an object, or updates the object that has the record's identity.
    ///
    /// - Returns: The number of the object.
    /// - Throws: `StoreError.unsuitableValue` for a value that does not have its attribute's type,
    ///   and the store's own errors.
    @discardableResult
    public func insert(_ record: Record) async throws -> ObjectID {
        guard let row = try await merge(MergeRequest(record.batch())).rows.first ?? nil else {
            throw StoreError.missingObject(entity: record.layout.name)
        }
        return row.object
    }

    /// Updates an object with the values of a record.
    ///
    /// - Returns: Whether the object changed; false if it does not exist.
    /// - Throws: `StoreError.unsuitableValue` for a value that does not have its attribute's type;
    ///   `StoreError.identityTaken`; the store's own errors.
    @discardableResult
    public func update(_ object: ObjectID, to record: Record) async throws -> Bool {
        let request = MergeRequest(
            try record.batch(), matches: [.object(object)], policy: MergeRequest.Policy(inserts: false))
        return (try await merge(request).rows.first ?? nil)?.change == .updated
    }

    /// Deletes objects, applies the model's delete rules, and counts the deleted objects.
    ///
    /// - Throws: As ``remove(_:reportsKeys:)``.
    @discardableResult
    public func remove(_ query: StoreQuery) async throws -> RemovalResult {
        try await remove(query, reportsKeys: false)
    }

    /// Deletes every object.
    ///
    /// - Throws: The store's own errors.
    public func erase() async throws {
        // One root at a time, because a denied deletion can succeed once the dependent objects are
        // deleted.
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
                // The remaining entities deny each other's deletion.
                try await release()
                hasReleased = true
            }
            roots = left
        }
    }

    /// Removes all links that deny a deletion.
    private func release() async throws {
        for layout in model.layouts {
            for relationship in layout.relationships
            where relationship.source == layout.index && relationship.deleteRule == .deny {
                var batch = LinkBatch(relationship, mode: .replace)
                try await fetch(StoreQuery(layout.name), batchRowCount: 1000) { records in
                    for stored in records { batch.append(stored.object, to: []) }
                }
                _ = try await link(batch)
            }
        }
    }
}

extension Record {
    /// A batch of one record with every cell set.
    fileprivate func batch() throws(StoreError) -> RecordBatch {
        var batch = RecordBatch(of: layout)
        batch.beginRecord()
        for (column, value) in values.enumerated() {
            guard layout.attributes[column].type.accepts(value) else {
                throw .unsuitableValue(entity: layout.name, attribute: layout.attributes[column].name)
            }
            batch.setValue(value, at: column)
        }
        batch.endRecord()
        return batch
    }
}
