public import Foundation

extension AttributeValue {
    /// How it stands to another value in a sort, and in the comparisons of a predicate.
    ///
    /// A total preorder, the same in every store. Numbers are compared by their worth, whichever
    /// kind they are: integers and doubles exactly, a decimal and a double as doubles; a double
    /// that is no number comes before all numbers. Texts and URIs are compared by their UTF-8 bytes
    /// (SQLite's `BINARY`, PostgreSQL's `"C"`), bytes and UUIDs by their bytes, false before true.
    /// Of different kinds, null comes first, then booleans, numbers, texts, dates, bytes, UUIDs,
    /// URIs.
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
        default: order(kindRank, other.kindRank)
        }
    }
}

private func order<T: Comparable>(_ one: T, _ other: T) -> ComparisonResult {
    one < other ? .orderedAscending : one > other ? .orderedDescending : .orderedSame
}

/// What is no number comes first, and equals itself.
private func orderDoubles(_ one: Double, _ other: Double) -> ComparisonResult {
    one.isNaN || other.isNaN ? order(one.isNaN ? 0 : 1, other.isNaN ? 0 : 1) : order(one, other)
}

/// Exact, also beyond 2⁵³, where the conversion of the integer would round.
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
    /// The result with its two sides exchanged.
    var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        }
    }
}

extension Decimal {
    /// The double nearest to it.
    var nearestDouble: Double {
        Double(description) ?? .nan
    }
}
