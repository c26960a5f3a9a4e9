import Foundation

/// A sort criterion for fetched records; later criteria decide between records that earlier ones
/// leave equal.
///
///     [Ordering("lastName"), Ordering("age", ascending: false, nulls: .last)]
public struct Ordering: Hashable, Sendable {
    /// The position of null values in a sort.
    public enum NullPlacement: Hashable, Sendable {
        /// Before all other values.
        case first
        /// After all other values.
        case last
    }

    /// The path to the compared value.
    public var key: PropertyPath
    /// Whether lesser values come first.
    public var ascending: Bool
    /// The position of null values, whether the order is ascending or descending.
    public var nulls: NullPlacement

    /// Creates a sort criterion.
    ///
    /// - Parameters:
    ///   - path: The path to the compared value, in the form that `PropertyPath` reads.
    ///   - ascending: Whether lesser values come first; true by default.
    ///   - nulls: The position of null values; first by default.
    public init(_ path: String, ascending: Bool = true, nulls: NullPlacement = .first) {
        key = PropertyPath(path)
        self.ascending = ascending
        self.nulls = nulls
    }

    /// Creates a sort criterion by a path.
    package init(_ key: PropertyPath, ascending: Bool, nulls: NullPlacement) {
        self.key = key
        self.ascending = ascending
        self.nulls = nulls
    }

    /// Resolves the criterion's path in an entity.
    ///
    /// - Throws: `RecordPredicateError` if a name does not exist, or the path leads to neither an
    ///   attribute nor a count, or to a JSON value, which has no order.
    public func bound(to layout: EntityLayout, in model: DataModel) throws(RecordPredicateError) -> Ordering.Bound {
        let bound = try key.bound(to: layout, in: model)
        switch bound.leaf {
        case .target, .attribute(_, .json):
            throw .unsuitableProperty(entity: layout.name, key: key.path, name: key.components.last ?? "")
        case .attribute, .count: break
        }
        return Ordering.Bound(key: bound, ascending: ascending, nulls: nulls)
    }
}

extension Ordering {
    /// A sort criterion whose path is resolved in an entity.
    public struct Bound: Hashable, Sendable {
        /// The path to the compared value.
        public let key: PropertyPath.Bound
        /// Whether lesser values come first.
        public let ascending: Bool
        /// The position of null values.
        public let nulls: Ordering.NullPlacement

        package init(key: PropertyPath.Bound, ascending: Bool, nulls: Ordering.NullPlacement) {
            self.key = key
            self.ascending = ascending
            self.nulls = nulls
        }

        /// Compares two records by this criterion only.
        func compare(_ one: some PropertyPath.Subject, _ other: some PropertyPath.Subject) -> ComparisonResult {
            let value = one.value(at: key)
            let otherValue = other.value(at: key)
            switch (value.isNull, otherValue.isNull) {
            case (true, true): return .orderedSame
            case (true, false): return nulls == .first ? .orderedAscending : .orderedDescending
            case (false, true): return nulls == .first ? .orderedDescending : .orderedAscending
            case (false, false):
                let result = value.compare(otherValue)
                return ascending ? result : result.reversed
            }
        }
    }
}

extension [Ordering.Bound] {
    /// Returns whether one record comes before another; false if all criteria compare as equal.
    public func areInIncreasingOrder(_ one: some PropertyPath.Subject, _ other: some PropertyPath.Subject) -> Bool {
        for criterion in self {
            let result = criterion.compare(one, other)
            if result != .orderedSame { return result == .orderedAscending }
        }
        return false
    }
}
