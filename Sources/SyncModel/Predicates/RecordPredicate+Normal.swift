extension PredicateTree where Path == PropertyPath.Bound {
    /// An equal predicate in a normal form.
    ///
    /// Only single conditions are negated, no conjunction is part of a conjunction, and no
    /// disjunction is part of a disjunction.
    ///
    /// It selects the same records, and its unknown parts can be treated as false.
    package var normalized: RecordPredicate.Bound { normalized(isNegated: false) }

    private func normalized(isNegated: Bool) -> RecordPredicate.Bound {
        switch self {
        case .constant(let holds): .constant(holds != isNegated)
        case .comparison(let key, let comparison, let value):
            .comparison(key, isNegated ? comparison.negation : comparison, value)
        case .isIn(_, let values) where values.isEmpty: .constant(isNegated)
        case .isIn, .isNull, .text: isNegated ? .not(self) : self
        case .related(let key, let quantifier, let predicate):
            isNegated
                ? .not(.related(key, quantifier, predicate.normalized))
                : .related(key, quantifier, predicate.normalized)
        case .and(let parts):
            Self.joined(parts.map { $0.normalized(isNegated: isNegated) }, isAll: !isNegated)
        case .or(let parts):
            Self.joined(parts.map { $0.normalized(isNegated: isNegated) }, isAll: isNegated)
        case .not(let part): part.normalized(isNegated: !isNegated)
        }
    }

    /// Joins normalized parts; the parts of a nested conjunction or disjunction of the same kind
    /// are added directly.
    private static func joined(_ parts: [RecordPredicate.Bound], isAll: Bool) -> RecordPredicate.Bound {
        let flat = parts.flatMap { part in
            switch part {
            case .and(let inner) where isAll: inner
            case .or(let inner) where !isAll: inner
            default: [part]
            }
        }
        if flat.count == 1 { return flat[0] }
        return isAll ? .and(flat) : .or(flat)
    }
}

extension PropertyPath.Comparison {
    /// The comparison that holds where this one does not, for values that are not null.
    fileprivate var negation: PropertyPath.Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }
}
