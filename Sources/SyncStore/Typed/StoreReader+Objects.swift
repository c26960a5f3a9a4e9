public import SyncModel

extension StoreReader {
    /// Returns the objects of a query, in its order.
    ///
    /// The number of statements depends on the included relationships, not on the number of
    /// objects.
    ///
    /// - Throws: `ObjectReadingError` if the type holds related objects that the query does not
    ///   include; `SyncDeclarationError` for a key path that leads to no coded property;
    ///   ``ObjectReadingError/unreadable(_:)`` for an object that the type cannot hold;
    ///   `Record.CodingError` for a type that does not fit the model; `ModelError.unknownEntity`;
    ///   `RecordPredicateError`; the store's own errors.
    public func all<Object>(_ query: ObjectQuery<Object>) async throws -> [Object] {
        try await ObjectLoader(reader: self).all(query)
    }

    /// Returns the first object of a query; nil if there is none.
    ///
    /// - Throws: As ``all(_:)``.
    public func first<Object>(_ query: ObjectQuery<Object>) async throws -> Object? {
        var query = query
        query.limit = min(query.limit ?? 1, 1)
        return try await all(query).first
    }

    /// Returns the number of objects that a query finds, with its limit and offset applied.
    ///
    /// - Throws: As ``all(_:)``.
    public func count(_ query: ObjectQuery<some SyncObject>) async throws -> Int {
        try await count(try query.storeQuery())
    }

    /// Reads the objects of a query in batches, with one batch in memory at a time.
    ///
    /// The included relationships of a batch are read after its objects.
    ///
    /// - Parameters:
    ///   - query: The objects.
    ///   - rowCount: The maximum size of a batch; 1,000 by default.
    ///   - body: Receives the batches in order, none of them empty.
    /// - Throws: As ``all(_:)``, and the error of the body.
    public func batches<Object>(
        of query: ObjectQuery<Object>, rowCount: Int = 1000, _ body: ([Object]) async throws -> Void
    ) async throws {
        try await ObjectLoader(reader: self).batches(of: query, rowCount: max(rowCount, 1), body)
    }
}

extension Store {
    /// Returns the objects of a type that satisfy a condition.
    ///
    ///     try await store.all(
    ///         User.self, where: \.age > 30 && \.company.name == "Apple", orderedBy: \.name,
    ///         limit: 50,
    ///         including: \.company, \.notes)
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - predicate: The condition for each object; nil, the default, for none.
    ///   - ordering: The order, such as `\.name` or `\.age.descending`.
    ///   - limit: The maximum number of objects; nil, the default, for all.
    ///   - offset: The number of objects skipped at the start; 0 by default.
    ///   - includes: The relationships whose objects are loaded with the result.
    /// - Throws: As ``StoreReader/all(_:)``.
    public func all<Object: SyncObject, each Order: ObjectParts.Criterion, each Included: ObjectParts.IncludedValue>(
        _ type: Object.Type, where predicate: ObjectPredicate<Object>? = nil,
        orderedBy ordering: repeat KeyPath<ObjectParts.Fields<Object>, each Order>, limit: Int? = nil, offset: Int = 0,
        including includes: repeat ObjectParts.Path<Object, each Included>
    ) async throws -> [Object] {
        try await all(
            ObjectQuery(
                type, where: predicate, orderedBy: repeat each ordering, limit: limit, offset: offset,
                including: repeat each includes))
    }

    /// Returns the first object of a type that satisfies a condition; nil if there is none.
    ///
    /// - Throws: As ``StoreReader/all(_:)``.
    public func first<Object: SyncObject, each Order: ObjectParts.Criterion, each Included: ObjectParts.IncludedValue>(
        _ type: Object.Type, where predicate: ObjectPredicate<Object>? = nil,
        orderedBy ordering: repeat KeyPath<ObjectParts.Fields<Object>, each Order>,
        including includes: repeat ObjectParts.Path<Object, each Included>
    ) async throws -> Object? {
        try await first(
            ObjectQuery(
                type, where: predicate, orderedBy: repeat each ordering, including: repeat each includes))
    }

    /// Returns the objects of a query, in its order; see ``StoreReader/all(_:)``.
    public func all<Object>(_ query: ObjectQuery<Object>) async throws -> [Object] {
        try await readAtOnce { try await $0.all(query) }
    }

    /// Returns the first object of a query, nil if there is none; see ``StoreReader/first(_:)``.
    public func first<Object>(_ query: ObjectQuery<Object>) async throws -> Object? {
        try await readAtOnce { try await $0.first(query) }
    }

    /// Returns the number of objects of a type that satisfy a condition.
    ///
    /// - Throws: As ``StoreReader/all(_:)``.
    public func count<Object: SyncObject>(
        _ type: Object.Type, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Int {
        try await readAtOnce { try await $0.count(ObjectQuery(type, where: predicate)) }
    }
}
