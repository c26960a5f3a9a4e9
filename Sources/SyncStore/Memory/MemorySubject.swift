import SyncModel

/// An object for which a predicate or a selection is evaluated.
struct MemorySubject: SelectionSubject {
    let state: MemoryState
    let id: ObjectID
    let object: MemoryObject

    var objectID: ObjectID { id }

    /// The object at the end of a path's steps.
    private func place(of key: PropertyPath.Bound) -> (id: ObjectID, object: MemoryObject)? {
        var id = id
        var object = object
        for step in key.steps {
            let destination = state.model.layouts[step.destination]
            guard let next = state.targets(of: id, by: step).first, let found = state.object(next, of: destination)
            else { return nil }
            id = next
            object = found
        }
        return (id, object)
    }

    func value(at key: PropertyPath.Bound) -> AttributeValue {
        guard let (id, object) = place(of: key) else { return .null }
        switch key.leaf {
        case .attribute(let column, _): return object.values[column]
        case .target(let index):
            let relationship = state.model.layouts[object.entity].relationships[index]
            return state.targets(of: id, by: relationship).isEmpty ? .null : .bool(true)
        case .count(let index):
            let relationship = state.model.layouts[object.entity].relationships[index]
            return .int(Int64(state.targets(of: id, by: relationship).count))
        }
    }

    func target(at key: PropertyPath.Bound) -> ObjectID? {
        place(of: key).flatMap { state.targets(of: $0.id, by: key.relationship(in: state.model)).first }
    }

    func countRelated(at key: PropertyPath.Bound, where predicate: RecordPredicate.Bound) -> (selected: Int, total: Int)
    {
        guard let (id, _) = place(of: key) else { return (0, 0) }
        let relationship = key.relationship(in: state.model)
        let destination = state.model.layouts[relationship.destination]
        let targets = state.targets(of: id, by: relationship)
        let selected = targets.count { target in
            guard let object = state.object(target, of: destination) else { return false }
            return predicate.selects(MemorySubject(state: state, id: target, object: object))
        }
        return (selected, targets.count)
    }
}
