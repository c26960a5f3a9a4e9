public import SyncModel

/// What transactions did to the objects of a store, from the state before them to the state after.
///
/// What happened in between is not told: an object that was inserted and deleted is in no set, one that was inserted and updated is an
/// inserted one, and one that was deleted and inserted again under the same key is an updated one. An object that was given another key is
/// deleted under the former and inserted under the new one.
public struct ChangeSet: Hashable, Sendable {
    /// The keys of an entity's objects; each is in one of the sets.
    public struct Keys: Hashable, Sendable {
        /// Objects that are new.
        public var inserted: Set<RecordKey>
        /// Objects whose values are others, or that lead elsewhere by a relationship that was linked from them. Those that are merely led to,
        /// and those that were let go by a deletion, are not told of.
        public var updated: Set<RecordKey>
        /// Objects that are gone, those included that went with others.
        public var deleted: Set<RecordKey>

        /// Makes sets of keys; what is left out is empty.
        public init(
            inserted: Set<RecordKey> = [], updated: Set<RecordKey> = [], deleted: Set<RecordKey> = []
        ) {
            self.inserted = inserted
            self.updated = updated
            self.deleted = deleted
        }

        /// Whether there is no key.
        public var isEmpty: Bool {
            inserted.isEmpty && updated.isEmpty && deleted.isEmpty
        }
    }

    /// The keys by the name of the objects' own entity; entities without any are left out.
    public private(set) var entities: [String: Keys] = [:]

    /// Makes a set.
    ///
    /// - Parameter entities: The keys by entity; one that is both inserted and deleted is taken for an updated one.
    public init(_ entities: [String: Keys] = [:]) {
        for (name, keys) in entities {
            var keys = keys
            let kept = keys.inserted.intersection(keys.deleted)
            keys.inserted.subtract(kept)
            keys.deleted.subtract(kept)
            keys.updated.formUnion(kept)
            if !keys.isEmpty { self.entities[name] = keys }
        }
    }

    /// Whether nothing changed.
    public var isEmpty: Bool {
        entities.isEmpty
    }

    /// The keys of an entity's objects, those of its sub-entities left out.
    public subscript(entity: String) -> Keys {
        entities[entity] ?? Keys()
    }

    /// Adds what happened next, so that both are told as one.
    public mutating func add(_ next: ChangeSet) {
        for (name, next) in next.entities {
            var keys = self[name]
            for key in next.inserted {
                if keys.deleted.remove(key) != nil { keys.updated.insert(key) } else { keys.inserted.insert(key) }
            }
            for key in next.updated where !keys.inserted.contains(key) { keys.updated.insert(key) }
            for key in next.deleted where keys.inserted.remove(key) == nil {
                keys.updated.remove(key)
                keys.deleted.insert(key)
            }
            entities[name] = keys.isEmpty ? nil : keys
        }
    }
}
