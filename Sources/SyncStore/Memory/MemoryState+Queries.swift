import SyncModel

extension MemoryState {
    /// The rows that a query finds, in its order.
    func rows(of query: StoreQuery) throws -> [Int64] {
        let layout = try model.layout(of: query.entity)
        let predicate = try query.predicate.bound(to: layout, in: model)
        let ordering = try query.ordering.map { try $0.bound(to: layout, in: model) }
        var found: [Int64] = []
        // Without an order, the first rows are those that count.
        let enough = ordering.isEmpty ? query.limit.map { $0 + query.offset } ?? .max : .max
        let table = tables[layout.root]
        for row in candidates(of: query, predicate, in: layout) {
            if found.count >= enough { break }
            guard let object = table[row], layout.family.contains(object.entity) else { continue }
            if case .constant(true) = predicate {
                found.append(row)
            } else if predicate.selects(MemorySubject(state: self, row: row, object: object)) {
                found.append(row)
            }
        }
        if !ordering.isEmpty {
            let subjects = found.compactMap { row in
                table[row].map { MemorySubject(state: self, row: row, object: $0) }
            }
            found = subjects.sorted { one, other in
                if ordering.areInIncreasingOrder(one, other) { return true }
                return ordering.areInIncreasingOrder(other, one) ? false : one.row < other.row
            }.map(\.row)
        }
        let rest = found.dropFirst(query.offset)
        return Array(query.limit.map { rest.prefix(max($0, 0)) } ?? rest)
    }

    /// Rows in ascending order among which all that a query finds are.
    private func candidates(of query: StoreQuery, _ predicate: BoundPredicate, in layout: EntityLayout) -> [Int64] {
        switch query.rows {
        case .only(let rows):
            return Array(Set(rows)).sorted()
        case .except(let rows):
            return all(in: layout).filter { !rows.contains($0) }
        case .all:
            return keyed(by: predicate, in: layout) ?? all(in: layout)
        }
    }

    private func all(in layout: EntityLayout) -> [Int64] {
        let last = tables[layout.root].lastRow
        return last == 0 ? [] : Array(1...last)
    }

    /// The rows of a predicate that asks for nothing but identities; nil for any other.
    private func keyed(by predicate: BoundPredicate, in layout: EntityLayout) -> [Int64]? {
        guard layout.identitySlots.count == 1,
            layout.family.allSatisfy({ model.layouts[$0].identitySlots == layout.identitySlots })
        else { return nil }
        let key: BoundKey
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
        guard key.steps.isEmpty, case .attribute(let slot, let type) = key.leaf, slot == layout.identitySlots[0],
            values.allSatisfy({ !$0.isNull && type.accepts($0) })
        else { return nil }
        let rows = values.flatMap { value in layout.family.compactMap { identities[$0][.one(value)] } }
        return Array(Set(rows)).sorted()
    }
}
