/// A sort criterion of typed queries.
///
///     orderedBy: \.name
///     orderedBy: \.company.name, \.age.descending, \.birthday.nullsLast
public struct ObjectOrder: ObjectOrdering {
    let path: FieldPath
    var ascending = true
    var nulls = Ordering.NullPlacement.first

    /// The same criterion with objects without a value at the end.
    public var nullsLast: ObjectOrder {
        var order = self
        order.nulls = .last
        return order
    }

    /// This criterion.
    public var order: ObjectOrder { self }

    /// The criterion with names instead of key paths.
    package func ordering() throws(SyncDeclarationError) -> Ordering {
        Ordering(try path.propertyPath(), ascending: ascending, nulls: nulls)
    }
}

/// What `orderedBy` accepts: a property, or a property with a direction.
public protocol ObjectOrdering: Sendable {
    /// The sort criterion.
    var order: ObjectOrder { get }
}

extension ObjectField: ObjectOrdering where Value: ValueConvertible {
    /// The ascending order by the property.
    public var order: ObjectOrder { ObjectOrder(path: path) }

    /// The ascending order with objects without a value at the end.
    public var nullsLast: ObjectOrder { ObjectOrder(path: path, nulls: .last) }
}
