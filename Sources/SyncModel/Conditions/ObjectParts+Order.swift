extension ObjectParts {
    /// A sort criterion of typed queries.
    ///
    ///     orderedBy: \.name
    ///     orderedBy: \.company.name, \.age.descending, \.birthday.nullsLast
    public struct Order: ObjectParts.Criterion {
        let path: FieldPath
        var ascending = true
        var nulls = Ordering.NullPlacement.first

        /// This criterion, with objects without a value at the end.
        public var nullsLast: ObjectParts.Order {
            var order = self
            order.nulls = .last
            return order
        }

        /// This criterion.
        public var order: ObjectParts.Order { self }

        /// The criterion with names instead of key paths.
        package func ordering() throws(SyncDeclarationError) -> Ordering {
            Ordering(try path.propertyPath(), ascending: ascending, nulls: nulls)
        }
    }

    /// A property, or a property with a direction, for `orderedBy`.
    public protocol Criterion: Sendable {
        /// The sort criterion.
        var order: ObjectParts.Order { get }
    }
}

extension ObjectParts.Field: ObjectParts.Criterion where Value: AttributeValue.Convertible, Value.Ordered == Value {
    /// The ascending order by the property.
    public var order: ObjectParts.Order { ObjectParts.Order(path: path) }

    /// The ascending order with objects without a value at the end.
    public var nullsLast: ObjectParts.Order { ObjectParts.Order(path: path, nulls: .last) }
}
