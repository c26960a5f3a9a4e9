public import SyncModel

extension Store {
    /// Reads all records of a query; see ``StoreReader/records(_:with:)``.
    public func records(_ query: StoreQuery, with relationships: [String] = []) async throws -> [StoredRecord] {
        try await readAtOnce { try await $0.records(query, with: relationships) }
    }

    /// Reads the record of a key; nil if there is none; see ``StoreReader/record(_:key:)``.
    public func record(_ entity: String, key: Record.Key) async throws -> StoredRecord? {
        try await readAtOnce { try await $0.record(entity, key: key) }
    }

    /// Reads the objects of a query as a `Decodable` type; see ``StoreReader/values(_:_:with:)``.
    public func values<T: Decodable & Sendable>(
        _ type: T.Type, _ query: StoreQuery, with relationships: [String] = []
    ) async throws -> [T] {
        try await readAtOnce { try await $0.values(type, query, with: relationships) }
    }

    /// Returns the number of objects that a query finds; see `StoreReader.count(_:)`.
    public func count(_ query: StoreQuery) async throws -> Int {
        try await readAtOnce { try await $0.count(query) }
    }

    /// Deletes every object.
    ///
    /// - Throws: The store's own errors. Nothing is deleted then.
    public func erase() async throws {
        try await transaction { try await $0.erase() }
    }
}
