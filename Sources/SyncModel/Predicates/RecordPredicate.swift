extension PropertyPath {
    /// How two values are compared.
    public enum Comparison: String, Hashable, Sendable, CaseIterable {
        /// The same.
        case equal = "="
        /// Not the same.
        case notEqual = "<>"
        /// Less.
        case less = "<"
        /// Less or the same.
        case lessOrEqual = "<="
        /// Greater.
        case greater = ">"
        /// Greater or the same.
        case greaterOrEqual = ">="
    }
}

extension PropertyPath {
    /// How a text is looked for in another, byte for byte.
    public enum TextMatch: String, Hashable, Sendable, CaseIterable {
        /// Anywhere.
        case contains
        /// At its start.
        case beginsWith
        /// At its end.
        case endsWith
    }
}

/// A condition on records.
///
///     PropertyPath("age") >= 18 && (PropertyPath("company.remoteID") == 7 || PropertyPath("company").isNull)
///
/// **Null** is treated as SQL treats it, so that every store selects the same records: a
/// comparison, `isIn` of some values, or a text match with a null is neither true nor false but
/// unknown; `not` of unknown is unknown; `and` and `or` are unknown where the known parts do not
/// decide; a record is selected where the whole is true. So `!=` does not select records without a
/// value. `isNull` is always true or false. A path through a relationship that leads to nothing has
/// the value null.
///
/// Values are compared as `AttributeValue.compare(_:)` says. Before use, a predicate is bound to an
/// entity: see `bound(to:in:)`.
public typealias RecordPredicate = PredicateTree<PropertyPath>

/// A predicate whose keys have been looked up in an entity.
public typealias BoundPredicate = PredicateTree<BoundKey>

/// The form of predicates, whatever their keys are: names as written, or the places that they stand
/// for.
public indirect enum PredicateTree<Path: Hashable & Sendable>: Hashable, Sendable {
    /// True, or false, for every record.
    case constant(Bool)
    /// The value compares so with a value that is not null; unknown where it is null.
    case comparison(Path, PropertyPath.Comparison, AttributeValue)
    /// The value equals one of some; false where these are none, else unknown where the value is
    /// null.
    case isIn(Path, [AttributeValue])
    /// There is no value.
    case isNull(Path)
    /// The text matches; unknown where it is null.
    case text(Path, PropertyPath.TextMatch, String)
    /// All hold; true where they are none.
    case and([PredicateTree])
    /// One holds; false where they are none.
    case or([PredicateTree])
    /// It does not hold.
    case not(PredicateTree)

    /// Holds where both hold.
    public static func && (one: PredicateTree, other: PredicateTree) -> PredicateTree {
        if case .and(let parts) = one { .and(parts + [other]) } else { .and([one, other]) }
    }

    /// Holds where one of both holds.
    public static func || (one: PredicateTree, other: PredicateTree) -> PredicateTree {
        if case .or(let parts) = one { .or(parts + [other]) } else { .or([one, other]) }
    }

    /// Holds where it does not hold.
    public static prefix func ! (predicate: PredicateTree) -> PredicateTree {
        .not(predicate)
    }
}
