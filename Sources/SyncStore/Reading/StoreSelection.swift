public import SyncModel

/// Columns of the objects that a query finds.
///
/// Each result row has one cell per column instead of a whole record.
public struct StoreSelection: Sendable {
    /// The content of a cell in each result row.
    public enum Column: Hashable, Sendable {
        /// The number of the object.
        case object
        /// An attribute, or the count of a to-many relationship.
        case value(PropertyPath)
        /// The number of the object in a to-one relationship; null if there is none.
        case target(PropertyPath)
        /// The number of objects in the group.
        case count
        /// A value computed from a value of each object in the group.
        case aggregate(Aggregate, PropertyPath)

        /// Whether the column is computed from a group of objects.
        var isAggregate: Bool {
            switch self {
            case .count, .aggregate: true
            case .object, .value, .target: false
            }
        }
    }

    /// A function of several values. Nulls are ignored; the result of no values is null.
    public enum Aggregate: String, Hashable, Sendable, CaseIterable {
        /// The smallest value.
        case minimum
        /// The greatest value.
        case maximum
        /// The sum of numbers, in the type of the attribute.
        case sum
        /// The average of numbers, as a double.
        case average
    }

    /// The position of an object in the order of a query; a selection can continue after it.
    public struct Position: Hashable, Sendable {
        /// The object's values for the query's sort criteria.
        public var values: [AttributeValue]
        /// The number of the object.
        public var object: ObjectID

        /// Creates a position.
        public init(values: [AttributeValue], object: ObjectID) {
            self.values = values
            self.object = object
        }
    }

    /// The objects, their order, and the limit and offset of the result rows.
    public var query: StoreQuery
    /// The cells of each result row, at least one.
    public var columns: [Column]
    /// Whether equal rows are returned only once; false by default.
    ///
    /// If true, rows are in the order of their columns, and the query's ordering is ignored.
    public var isDistinct = false
    /// The position after which the objects begin; nil to begin with the first.
    public var after: Position?

    /// Creates a selection.
    ///
    /// If a column is an aggregate, the other columns are the keys of groups. The selection then
    /// has one row per group, in the order of the keys, or a single row if there is no key. The
    /// query's ordering is ignored.
    public init(_ query: StoreQuery, columns: [Column]) {
        self.query = query
        self.columns = columns
    }

    /// Whether the rows are groups of objects.
    package var isGrouped: Bool {
        columns.contains(where: \.isAggregate)
    }
}
