extension PropertyPath {
    /// An operator that compares two values.
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        /// Equal.
        case equal = "="
        /// Not equal.
        case notEqual = "<>"
        /// Less than.
        case less = "<"
        /// Less than or equal.
        case lessOrEqual = "<="
        /// Greater than.
        case greater = ">"
        /// Greater than or equal.
        case greaterOrEqual = ">="
    }
}

extension PropertyPath {
    /// An operator that searches for a text in another, byte by byte.
    public enum TextMatch: String, Hashable, Sendable, CaseIterable {
        /// The text occurs anywhere.
        case contains
        /// The text occurs at the start.
        case beginsWith
        /// The text occurs at the end.
        case endsWith
        /// The whole text matches a pattern; see ``PropertyPath/like(_:)``.
        case like
    }
}

extension PropertyPath {
    /// The number of related objects that have to fulfil a predicate.
    public enum Quantifier: Hashable, Sendable {
        /// At least one.
        case any
        /// Every one; also none, if there are none.
        case all
        /// As many as the range contains. Its bounds are 0 or more.
        case count(ClosedRange<Int>)
    }
}

/// A condition on records.
///
///     let company = PropertyPath("company")
///     PropertyPath("age") >= 18 && (PropertyPath("company.remoteID") == 7 || company.isNull)
///
/// **Null** follows the three-valued logic of SQL, so that every store selects the same records:
///
/// - A comparison, a text match, or `isIn` with at least one value is unknown if the value at the
///   path is null.
/// - `not` of unknown is unknown. `and` and `or` are unknown unless their known parts decide the
///   result.
/// - `isNull` is always true or false.
/// - A path through an empty relationship has the value null.
///
/// A record is selected if the whole predicate is true. `!=` therefore does not select records
/// without a value.
///
/// Values are compared by `AttributeValue.compare(_:)`. Bind a predicate to an entity before use:
/// see `bound(to:in:)`.
public typealias RecordPredicate = PredicateTree<PropertyPath>

extension RecordPredicate {
    /// A predicate whose paths are resolved in an entity.
    public typealias Bound = PredicateTree<PropertyPath.Bound>
}

/// A predicate over paths that are either names or resolved positions.
public indirect enum PredicateTree<Path: Hashable & Sendable>: Hashable, Sendable {
    /// True for every record, or false for every record.
    case constant(Bool)
    /// True if the value at a path compares to another value as stated; unknown if either is null.
    case comparison(Path, PropertyPath.Comparison, AttributeValue)
    /// True if the value equals one of a list. False for an empty list; otherwise unknown for null.
    case isIn(Path, [AttributeValue])
    /// True if there is no value.
    case isNull(Path)
    /// True if the text matches; unknown for null.
    case text(Path, PropertyPath.TextMatch, String)
    /// True if the objects of a relationship fulfil a predicate of their own; never unknown.
    ///
    /// An object for which the predicate is unknown does not fulfil it.
    case related(Path, PropertyPath.Quantifier, PredicateTree)
    /// True if all parts are true, or there are none.
    case and([PredicateTree])
    /// True if at least one part is true; false if there are none.
    case or([PredicateTree])
    /// True if the part is false; unknown if it is unknown.
    case not(PredicateTree)

    /// A predicate that is true if both operands are true.
    public static func && (one: PredicateTree, other: PredicateTree) -> PredicateTree {
        if case .and(let parts) = one { .and(parts + [other]) } else { .and([one, other]) }
    }

    /// A predicate that is true if at least one operand is true.
    public static func || (one: PredicateTree, other: PredicateTree) -> PredicateTree {
        if case .or(let parts) = one { .or(parts + [other]) } else { .or([one, other]) }
    }

    /// The negation of a predicate.
    public static prefix func ! (predicate: PredicateTree) -> PredicateTree {
        .not(predicate)
    }
}
