import SyncModel

extension MemoryState {
    /// The objects that a query finds, in its order.
    func objects(of query: StoreQuery) throws -> [ObjectID] {
        let layout = try model.layout(of: query.entity)
        let predicate = try query.predicate.bound(to: layout, in: model)
        let ordering = try query.ordering.map { try $0.bound(to: layout, in: model) }
        var found: [ObjectID] = []
        // Without an ordering, the objects found first are the result.
        let enough =
            ordering.isEmpty ? query.limit.map { $0 > .max - query.offset ? .max : $0 + query.offset } ?? .max : .max
        let table = tables[layout.root]
        for id in candidates(of: query.objects, predicate, in: layout) {
            if found.count >= enough { break }
            guard let object = table[id], layout.family.contains(object.entity) else { continue }
            if case .constant(true) = predicate {
                found.append(id)
            } else if predicate.selects(MemorySubject(state: self, id: id, object: object)) {
                found.append(id)
            }
        }
        if !ordering.isEmpty {
            let subjects = found.compactMap { id in
                table[id].map { MemorySubject(state: self, id: id, object: $0) }
            }
            found = subjects.sorted { one, other in
                if ordering.areInIncreasingOrder(one, other) { return true }
                return ordering.areInIncreasingOrder(other, one) ? false : one.id < other.id
            }.map(\.id)
        }
        let rest = found.dropFirst(query.offset)
        return Array(query.limit.map { rest.prefix(max($0, 0)) } ?? rest)
    }

    /// The objects of a selection, not yet ordered or limited.
    func subjects(of selection: BoundSelection) -> [MemorySubject] {
        let layout = selection.entity
        let table = tables[layout.root]
        return candidates(of: selection.objects, selection.predicate, in: layout).compactMap { id in
            guard let object = table[id], layout.family.contains(object.entity) else { return nil }
            let subject = MemorySubject(state: self, id: id, object: object)
            return selection.predicate.selects(subject) ? subject : nil
        }
    }

    /// The objects, in ascending order, among which a query's results are.
    private func candidates(
        of choice: StoreQuery.Objects, _ predicate: RecordPredicate.Bound, in layout: EntityLayout
    ) -> [ObjectID] {
        switch choice {
        case .only(let objects):
            return Array(Set(objects)).sorted()
        case .except(let objects):
            return all(in: layout).filter { !objects.contains($0) }
        case .all:
            return keyed(by: predicate, in: layout) ?? all(in: layout)
        }
    }

    private func all(in layout: EntityLayout) -> [ObjectID] {
        let last = tables[layout.root].lastObject
        return last == 0 ? [] : Array(1...last)
    }

    /// The objects found by a predicate that only compares identities; nil for any other predicate.
    private func keyed(by predicate: RecordPredicate.Bound, in layout: EntityLayout) -> [ObjectID]? {
        guard layout.identityColumns.count == 1,
            layout.family.allSatisfy({ model.layouts[$0].identityColumns == layout.identityColumns })
        else { return nil }
        let key: PropertyPath.Bound
        let values: [AttributeValue]
        switch predicate {
        case .comparison(let compared, .equal, let value):
            key = compared
            values = [value]
        case .isIn(let compared, let all):
            key = compared
            values = all
        default: return nil
        }
        guard key.steps.isEmpty, case .attribute(let column, let type) = key.leaf, column == layout.identityColumns[0],
            values.allSatisfy({ !$0.isNull && type.accepts($0) })
        else { return nil }
        let objects = values.flatMap { value in layout.family.compactMap { identities[$0][.one(value)] } }
        return Array(Set(objects)).sorted()
    }
}
