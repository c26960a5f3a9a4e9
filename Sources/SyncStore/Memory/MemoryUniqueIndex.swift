import SyncModel

/// A unique index: the objects by their values in its attributes.
struct MemoryUniqueIndex: Sendable {
    private let index: IndexLayout
    private let layout: EntityLayout
    private var objects = ShardedMap<MemoryIdentity, ObjectID>()

    init(_ index: IndexLayout, of layout: EntityLayout) {
        self.index = index
        self.layout = layout
    }

    /// The values of an object; nil if the object is not in the index.
    private func values(of object: MemoryObject) -> MemoryIdentity? {
        guard layout.family.contains(object.entity),
            index.condition.map({ $0.selects(OwnValues(values: object.values)) }) ?? true
        else { return nil }
        return MemoryIdentity(index.slots) { object.values[$0] }
    }

    /// Replaces the values of an object.
    ///
    /// - Parameters:
    ///   - former: The object before the change; nil for a new object.
    ///   - next: The object after the change; nil for a deleted object.
    /// - Throws: `StoreError.valuesTaken` if another object has the new values.
    mutating func change(_ id: ObjectID, from former: MemoryObject?, to next: MemoryObject?) throws(StoreError) {
        let old = former.flatMap(values)
        let new = next.flatMap(values)
        guard old != new else { return }
        if let new, let holder = objects[new], holder != id {
            throw .valuesTaken(entity: layout.name, attributes: index.slots.map { layout.attributes[$0].name })
        }
        if let old { objects[old] = nil }
        if let new { objects[new] = id }
    }
}

/// An object of which only its own attributes are compared.
private struct OwnValues: PredicateSubject {
    let values: [AttributeValue]

    func value(at key: BoundKey) -> AttributeValue {
        if case .attribute(let slot, _) = key.leaf { values[slot] } else { .null }
    }

    func countRelated(at key: BoundKey, where predicate: BoundPredicate) -> (selected: Int, total: Int) { (0, 0) }
}
