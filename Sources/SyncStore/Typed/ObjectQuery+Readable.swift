extension ObjectQuery {
    /// The objects of a query that their type can hold, and the others.
    public struct Readable: Sendable {
        /// The objects that the type can hold, in the order of the query.
        public let objects: [Object]
        /// The objects that were left out, related ones included, in no particular order.
        public let unreadable: [ObjectReadingError.UnreadableObject]
    }
}

/// Collects the objects that a read leaves out. Used only by the task that reads.
final class UnreadableObjects {
    var found: [ObjectReadingError.UnreadableObject] = []
}

extension StoreReader {
    /// Returns the objects of a query that their type can hold, and reports the others.
    ///
    /// An object that cannot be read is left out wherever it occurs: from the result, from a list
    /// of related objects, and as the only related object. An object whose related object is not
    /// optional and was left out is left out too.
    ///
    /// - Throws: As ``all(_:)``, except for ``ObjectReadingError/unreadable(_:)``.
    public func readable<Object>(_ query: ObjectQuery<Object>) async throws -> ObjectQuery<Object>.Readable {
        let skipped = UnreadableObjects()
        let objects = try await ObjectLoader(reader: self, skipped: skipped).all(query)
        return ObjectQuery.Readable(objects: objects, unreadable: skipped.found)
    }
}

extension Store {
    /// Returns the objects of a query that their type can hold, and reports the others; see
    /// ``StoreReader/readable(_:)``.
    ///
    ///     let users = try await store.readable(ObjectQuery(User.self, orderedBy: \.name))
    ///     for user in users.unreadable { log(user.description) }
    public func readable<Object>(_ query: ObjectQuery<Object>) async throws -> ObjectQuery<Object>.Readable {
        try await readAtOnce { try await $0.readable(query) }
    }
}
