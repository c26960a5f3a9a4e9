public import Foundation

extension AttributeValue {
    /// Compares two values for sorting, and for the comparisons of predicates.
    ///
    /// The result is a total preorder, the same in every store:
    ///
    /// - Numbers of all kinds are compared by value: integers and doubles exactly, a decimal and a
    ///   double as doubles. A double that is not a number comes before all numbers.
    /// - Texts and URIs are compared by their UTF-8 bytes (SQLite's `BINARY`, PostgreSQL's `"C"`);
    ///   binary values and UUIDs by their bytes. False comes before true.
    /// - JSON values are compared by the bytes of their canonical text. Databases order them in
    ///   other ways; predicates and orderings of stores therefore do not order them.
    /// - Values of different kinds are in this order: null, Booleans, numbers, texts, dates, binary
    ///   values, UUIDs, URIs, JSON values.
    public func compare(_ other: AttributeValue) -> ComparisonResult {
        switch (self, other) {
        case (.bool(let one), .bool(let other)): order(one ? 1 : 0, other ? 1 : 0)
        case (.int(let one), .int(let other)): order(one, other)
        case (.double(let one), .double(let other)): orderDoubles(one, other)
        case (.decimal(let one), .decimal(let other)): order(one, other)
        case (.int(let one), .double(let other)): order(one, other)
        case (.double(let one), .int(let other)): order(other, one).reversed
        case (.int(let one), .decimal(let other)): order(Decimal(one), other)
        case (.decimal(let one), .int(let other)): order(one, Decimal(other))
        case (.decimal(let one), .double(let other)): orderDoubles(one.nearestDouble, other)
        case (.double(let one), .decimal(let other)): orderDoubles(one, other.nearestDouble)
        case (.string(let one), .string(let other)), (.uri(let one), .uri(let other)):
            orderBytes(one.utf8, other.utf8)
        case (.date(let one), .date(let other)): order(one, other)
        case (.binary(let one), .binary(let other)): orderBytes(one, other)
        case (.uuid(let one), .uuid(let other)): order(one, other)
        case (.json(let one), .json(let other)): orderBytes(one.text.utf8, other.text.utf8)
        default: order(kindRank, other.kindRank)
        }
    }
}

private func order<T: Comparable>(_ one: T, _ other: T) -> ComparisonResult {
    one < other ? .orderedAscending : one > other ? .orderedDescending : .orderedSame
}

/// Compares two doubles; NaN comes first and equals itself.
private func orderDoubles(_ one: Double, _ other: Double) -> ComparisonResult {
    one.isNaN || other.isNaN ? order(one.isNaN ? 0 : 1, other.isNaN ? 0 : 1) : order(one, other)
}

/// Compares exactly, also beyond 2⁵³, where converting the integer would round it.
private func order(_ one: Int64, _ other: Double) -> ComparisonResult {
    if other.isNaN || other < -0x1p63 { return .orderedDescending }
    if other >= 0x1p63 { return .orderedAscending }
    let whole = other.rounded(.towardZero)
    let result = order(one, Int64(whole))
    return result == .orderedSame ? order(whole, other) : result
}

private func orderBytes(
    _ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>
) -> ComparisonResult {
    var bytes = one.makeIterator()
    var others = other.makeIterator()
    while true {
        switch (bytes.next(), others.next()) {
        case (nil, nil): return .orderedSame
        case (nil, .some): return .orderedAscending
        case (.some, nil): return .orderedDescending
        case (.some(let byte), .some(let other)):
            if byte != other { return byte < other ? .orderedAscending : .orderedDescending }
        }
    }
}

extension ComparisonResult {
    /// The result for exchanged operands.
    var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}

extension Decimal {
    /// The double nearest to the decimal.
    var nearestDouble: Double {
        Double(description) ?? .nan
    }
}
