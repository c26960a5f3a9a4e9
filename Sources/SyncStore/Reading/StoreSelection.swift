public import SyncModel

/// A choice of columns of the objects that a query finds.
///
/// Each result row has one cell per column, instead of a whole record.
public struct StoreSelection: Sendable {
    /// A cell of each result row.
    public enum Column: Hashable, Sendable {
        /// The number of the object.
        case object
        /// An attribute, or the count of a to-many relationship.
        case value(PropertyPath)
        /// The number of the object in a to-one relationship; null if it is empty.
        case target(PropertyPath)
        /// The number of objects in the group.
        case count
        /// A value computed from those of the group's objects.
        case aggregate(Aggregate, PropertyPath)

        /// Whether the column is computed from a group of objects.
        var isAggregate: Bool {
            switch self {
            case .count, .aggregate: true
            case .object, .value, .target: false
            }
        }
    }

    /// A function of the values of many objects. Null is left out; the result of no values is null.
    public enum Aggregate: String, Hashable, Sendable, CaseIterable {
        /// The least value.
        case minimum
        /// The greatest value.
        case maximum
        /// The sum of numbers, of the type of the attribute.
        case sum
        /// The mean of numbers, as a double.
        case average
    }

    /// The position of an object in the order of a query, after which a selection continues.
    public struct Position: Hashable, Sendable {
        /// The values of the query's sort criteria.
        public var values: [AttributeValue]
        /// The number of the object.
        public var object: ObjectID

        /// Creates a position.
        public init(values: [AttributeValue], object: ObjectID) {
            self.values = values
            self.object = object
        }
    }

    /// The objects, their order, and the number of result rows.
    public var query: StoreQuery
    /// The cells of each result row, at least one.
    public var columns: [Column]
    /// Whether equal rows are returned once, in the order of their columns.
    ///
    /// The query's ordering is ignored then.
    public var isDistinct = false
    /// The objects of the query after this position in its order; nil for all.
    public var after: Position?

    /// Creates a selection.
    ///
    /// If a column is an aggregate, the other columns are the keys of groups: the selection has one
    /// row per group, in the order of the keys, and a single row if there is no key. The query's
    /// ordering is ignored then.
    public init(_ query: StoreQuery, columns: [Column]) {
        self.query = query
        self.columns = columns
    }

    /// Whether the rows are groups of objects.
    package var isGrouped: Bool {
        columns.contains(where: \.isAggregate)
    }
}
