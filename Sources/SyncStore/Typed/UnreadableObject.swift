public import SyncModel

/// A stored object that a type cannot hold, such as one without a value for a property that is not
/// optional.
public struct UnreadableObject: Hashable, Sendable {
    /// The key of the object.
    public let key: Record.Key
    /// The entity and property at fault, and the reason.
    public let error: Record.CodingError

    /// Creates a report about an object.
    public init(key: Record.Key, error: Record.CodingError) {
        self.key = key
        self.error = error
    }
}

extension UnreadableObject: CustomStringConvertible {
    /// The object and the reason as text, such as `7: User.name has no value`.
    public var description: String {
        let key =
            switch key {
            case .identity(let values): values.map(\.description).joined(separator: ", ")
            case .object(let object): "object \(object)"
            }
        return "\(key): \(error)"
    }
}

/// The objects of a query that their type can hold, and the others.
public struct ReadableObjects<Object: SyncObject>: Sendable {
    /// The objects that the type can hold, in the order of the query.
    public let objects: [Object]
    /// The objects that were left out, related ones included, in no particular order.
    public let unreadable: [UnreadableObject]
}

/// Collects the objects that a read leaves out. Used only by the task that reads.
final class UnreadableObjects {
    var found: [UnreadableObject] = []
}

extension StoreReader {
    /// Returns the objects of a query that their type can hold, and reports the others.
    ///
    /// An object that cannot be read is left out wherever it occurs: from the result, from a list
    /// of related objects, and as the only related object. An object whose related object is not
    /// optional and was left out is left out too.
    ///
    /// - Throws: As ``all(_:)``, except for ``ObjectReadingError/unreadable(_:)``.
    public func readable<Object>(_ query: ObjectQuery<Object>) async throws -> ReadableObjects<Object> {
        let skipped = UnreadableObjects()
        let objects = try await ObjectLoader(reader: self, skipped: skipped).all(query)
        return ReadableObjects(objects: objects, unreadable: skipped.found)
    }
}

extension Store {
    /// Returns the objects of a query that their type can hold, and reports the others; see
    /// ``StoreReader/readable(_:)``.
    ///
    ///     let users = try await store.readable(ObjectQuery(User.self, orderedBy: \.name))
    ///     for user in users.unreadable { log(user.description) }
    public func readable<Object>(_ query: ObjectQuery<Object>) async throws -> ReadableObjects<Object> {
        try await readAtOnce { try await $0.readable(query) }
    }
}
