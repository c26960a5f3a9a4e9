import SyncModel

/// A unique index: the objects by their values in its attributes.
struct MemoryUniqueIndex: Sendable {
    private let index: IndexLayout
    private let layout: EntityLayout
    private var objects = ShardedMap<MemoryIdentity, ObjectID>()
    /// The objects that wait for values which another object has, in the order in which they came.
    private var waiting: [MemoryIdentity: [ObjectID]] = [:]

    init(_ index: IndexLayout, of layout: EntityLayout) {
        self.index = index
        self.layout = layout
    }

    /// The values of an object; nil if the object is not in the index.
    private func values(of object: MemoryObject) -> MemoryIdentity? {
        guard layout.family.contains(object.entity),
            index.condition.map({ $0.selects(OwnValues(values: object.values)) }) ?? true
        else { return nil }
        return MemoryIdentity(index.columns) { object.values[$0] }
    }

    /// Replaces the values of an object. It waits for values that another object has.
    ///
    /// - Parameters:
    ///   - former: The object before the change; nil for a new object.
    ///   - next: The object after the change; nil for a deleted object.
    mutating func change(_ id: ObjectID, from former: MemoryObject?, to next: MemoryObject?) {
        let old = former.flatMap(values)
        let new = next.flatMap(values)
        guard old != new else { return }
        if let old { leave(id, old) }
        guard let new else { return }
        if objects[new] == nil {
            objects[new] = id
        } else {
            waiting[new, default: []].append(id)
        }
    }

    /// Removes an object. The first one that waits for its values gets them.
    private mutating func leave(_ id: ObjectID, _ values: MemoryIdentity) {
        guard !waiting.isEmpty, var others = waiting.removeValue(forKey: values) else {
            objects[values] = nil
            return
        }
        if objects[values] == id { objects[values] = others.removeFirst() } else { others.removeAll { $0 == id } }
        if !others.isEmpty { waiting[values] = others }
    }

    /// The attributes of the index.
    var attributes: [String] { index.columns.map { layout.attributes[$0].name } }
    var columns: [Int] { index.columns }

    /// The objects that wait, in the order of their numbers, each with the one that has its values.
    var conflicts: [(object: ObjectID, holder: ObjectID)] {
        waiting.flatMap { values, others in
            objects[values].map { holder in others.map { (object: $0, holder: holder) } } ?? []
        }.sorted { $0.object < $1.object }
    }
}

/// An object of which only its own attributes are compared.
private struct OwnValues: PropertyPath.Subject {
    let values: [AttributeValue]

    func value(at key: PropertyPath.Bound) -> AttributeValue {
        if case .attribute(let column, _) = key.leaf { values[column] } else { .null }
    }

    func countRelated(at key: PropertyPath.Bound, where predicate: RecordPredicate.Bound) -> (selected: Int, total: Int)
    {
        (0, 0)
    }
}
