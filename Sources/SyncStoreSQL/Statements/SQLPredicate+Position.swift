import SyncModel
import SyncStore

extension BoundSelection {
    /// The ordering after a position, with null where an index has it. Used if no row after the
    /// position has null in the first criterion.
    var orderingAfterPosition: [Ordering.Bound] {
        guard let value = after?.values.first, !value.isNull, let first = ordering.first, first.nulls == .first else {
            return ordering
        }
        let natural = Ordering.Bound(
            key: first.key, ascending: first.ascending, nulls: first.ascending ? .first : .last)
        return [natural] + ordering.dropFirst()
    }
}

extension SQLPredicate {
    /// The condition that a row comes after a position in an order.
    mutating func isAfter(
        _ position: StoreSelection.Position, _ ordering: [Ordering.Bound], entity: Int, alias: String
    ) -> String {
        var conditions: [String] = []
        if let first = ordering.first, let value = position.values.first, !value.isNull,
            first.nulls == .first
        {
            // Lets an index of the first criterion start here.
            conditions.append(
                comparison(
                    first.key, first.ascending ? .greaterOrEqual : .lessOrEqual, value, entity: entity, alias: alias))
        }
        var alternatives: [String] = []
        for count in 0...ordering.count {
            // No value comes after null if nulls are last.
            if count < ordering.count, ordering[count].nulls == .last, position.values[count].isNull { continue }
            var parts: [String] = []
            for (criterion, value) in zip(ordering, position.values).prefix(count) {
                parts.append(isEqual(criterion, value, entity: entity, alias: alias))
            }
            if count < ordering.count {
                parts.append(isBeyond(ordering[count], position.values[count], entity: entity, alias: alias))
            } else {
                parts.append("\(alias).\(schema.rowColumn) > \(parameters.add(.integer(position.object)))")
            }
            alternatives.append("(\(parts.joined(separator: " AND ")))")
        }
        conditions.append("(\(alternatives.joined(separator: " OR ")))")
        return conditions.joined(separator: " AND ")
    }

    private mutating func isEqual(
        _ criterion: Ordering.Bound, _ value: AttributeValue, entity: Int, alias: String
    ) -> String {
        value.isNull
            ? "\(expression(criterion.key, entity: entity, alias: alias)) IS NULL"
            : comparison(criterion.key, .equal, value, entity: entity, alias: alias)
    }

    /// The condition that a row comes after a value by one criterion.
    private mutating func isBeyond(
        _ criterion: Ordering.Bound, _ value: AttributeValue, entity: Int, alias: String
    ) -> String {
        let expression = expression(criterion.key, entity: entity, alias: alias)
        if value.isNull { return "\(expression) IS NOT NULL" }
        let beyond = comparison(
            criterion.key, criterion.ascending ? .greater : .less, value, entity: entity, alias: alias)
        return criterion.nulls == .last ? "(\(beyond) OR \(expression) IS NULL)" : beyond
    }
}
