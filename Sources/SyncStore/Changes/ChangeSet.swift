public import SyncModel

/// The difference between the states of a store before and after one or more transactions.
///
/// Intermediate states are not reported:
/// - An object that was inserted and deleted is in no set.
/// - An object that was inserted and updated is in ``Keys/inserted``.
/// - An object that was deleted and inserted again with the same key is in ``Keys/updated``.
/// - An object whose key changed is deleted with the old key and inserted with the new one.
public struct ChangeSet: Hashable, Sendable {
    /// The changed keys of an entity's objects.
    ///
    /// Each key is in only one of the sets, with one exception: the number of a deleted object
    /// without an identity is also in ``inserted`` if the store reused it for a new object.
    public struct Keys: Hashable, Sendable {
        /// New objects.
        public var inserted: Set<Record.Key>
        /// Objects whose values or targets changed, or that lost a target by a deletion.
        ///
        /// Targets of a changed link are not included. Neither is an object that lost a target of a
        /// relationship without an inverse.
        public var updated: Set<Record.Key>
        /// Deleted objects, including objects deleted by a cascade.
        public var deleted: Set<Record.Key>

        /// Creates sets of keys, empty by default.
        public init(
            inserted: Set<Record.Key> = [], updated: Set<Record.Key> = [], deleted: Set<Record.Key> = []
        ) {
            self.inserted = inserted
            self.updated = updated
            self.deleted = deleted
        }

        /// Whether all sets are empty.
        public var isEmpty: Bool {
            inserted.isEmpty && updated.isEmpty && deleted.isEmpty
        }
    }

    /// The changed keys by entity name. Entities without changes are left out.
    public private(set) var entities: [String: Keys] = [:]

    /// Creates a change set.
    ///
    /// - Parameter entities: The keys by entity name. A key that is both inserted and deleted
    ///   counts as updated.
    public init(_ entities: [String: Keys] = [:]) {
        for (name, keys) in entities {
            var keys = keys
            let kept = keys.inserted.intersection(keys.deleted).filter(\.isIdentity)
            keys.inserted.subtract(kept)
            keys.deleted.subtract(kept)
            keys.updated.formUnion(kept)
            if !keys.isEmpty { self.entities[name] = keys }
        }
    }

    /// Whether the change set is empty.
    public var isEmpty: Bool {
        entities.isEmpty
    }

    /// The keys of an entity's own objects, without those of its sub-entities.
    public subscript(entity: String) -> Keys {
        entities[entity] ?? Keys()
    }

    /// Merges the changes of later transactions into this set.
    public mutating func add(_ next: ChangeSet) {
        for (name, next) in next.entities {
            // Taken out during the change, because a second reference would copy the sets.
            var keys = entities.removeValue(forKey: name) ?? Keys()
            // A transaction may give the number of an object that it deletes to another one.
            for key in next.deleted where keys.inserted.remove(key) == nil {
                keys.updated.remove(key)
                keys.deleted.insert(key)
            }
            for key in next.inserted {
                if key.isIdentity, keys.deleted.remove(key) != nil {
                    keys.updated.insert(key)
                } else {
                    keys.inserted.insert(key)
                }
            }
            for key in next.updated where !keys.inserted.contains(key) { keys.updated.insert(key) }
            if !keys.isEmpty { entities[name] = keys }
        }
    }
}

extension Record.Key {
    /// Whether the key identifies an object permanently; an object number can be reused.
    fileprivate var isIdentity: Bool {
        if case .identity = self { true } else { false }
    }
}
