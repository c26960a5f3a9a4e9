import Foundation

/// One criterion of the order in which records are fetched; several apply one after another.
///
///     [Ordering("lastName"), Ordering("age", ascending: false, nulls: .last)]
public struct Ordering: Hashable, Sendable {
    /// Where records without a value stand.
    public enum NullPlacement: Hashable, Sendable {
        /// Before those with one.
        case first
        /// After those with one.
        case last
    }

    /// What is compared.
    public var key: PropertyPath
    /// Whether lesser values come first.
    public var ascending: Bool
    /// Where records without a value stand, whichever way the values go.
    public var nulls: NullPlacement

    /// Creates a criterion.
    ///
    /// - Parameters:
    ///   - path: What is compared, as `PropertyPath` reads it.
    ///   - ascending: Whether lesser values come first; true by default.
    ///   - nulls: Where records without a value stand; first by default.
    public init(_ path: String, ascending: Bool = true, nulls: NullPlacement = .first) {
        key = PropertyPath(path)
        self.ascending = ascending
        self.nulls = nulls
    }

    /// Looks the key up in an entity.
    ///
    /// - Throws: `RecordPredicateError` where a name does not exist or is no attribute.
    public func bound(to layout: EntityLayout, in model: DataModel) throws(RecordPredicateError) -> BoundOrdering {
        let bound = try key.bound(to: layout, in: model)
        if case .target = bound.leaf {
            throw .unsuitableProperty(entity: layout.name, key: key.path, name: key.components.last ?? "")
        }
        return BoundOrdering(key: bound, ascending: ascending, nulls: nulls)
    }
}

/// A criterion of order whose key has been looked up in an entity.
public struct BoundOrdering: Hashable, Sendable {
    /// What is compared.
    public let key: BoundKey
    /// Whether lesser values come first.
    public let ascending: Bool
    /// Where records without a value stand.
    public let nulls: Ordering.NullPlacement

    /// How one record stands to another by this criterion alone.
    func compare(_ one: some PredicateSubject, _ other: some PredicateSubject) -> ComparisonResult {
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

extension [BoundOrdering] {
    /// Whether one record comes before another; false where no criterion tells them apart.
    public func areInIncreasingOrder(_ one: some PredicateSubject, _ other: some PredicateSubject) -> Bool {
        for criterion in self {
            let result = criterion.compare(one, other)
            if result != .orderedSame { return result == .orderedAscending }
        }
        return false
    }
}
