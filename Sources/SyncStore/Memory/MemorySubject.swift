import SyncModel

/// An object that a predicate is evaluated for.
struct MemorySubject: PredicateSubject {
    let state: MemoryState
    let id: ObjectID
    let object: MemoryObject

    func value(at key: BoundKey) -> AttributeValue {
        var id = id
        var object = object
        for step in key.steps {
            let destination = state.model.layouts[step.destination]
            guard let next = state.targets(of: id, by: step).first, let found = state.object(next, of: destination)
            else { return .null }
            id = next
            object = found
        }
        switch key.leaf {
        case .attribute(let slot, _): return object.values[slot]
        case .target(let index):
            let relationship = state.model.layouts[object.entity].relationships[index]
            return state.targets(of: id, by: relationship).isEmpty ? .null : .bool(true)
        case .count(let index):
            let relationship = state.model.layouts[object.entity].relationships[index]
            return .int(Int64(state.targets(of: id, by: relationship).count))
        }
    }
}
