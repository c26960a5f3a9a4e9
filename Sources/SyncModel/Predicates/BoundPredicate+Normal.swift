extension PredicateTree where Path == BoundKey {
    /// An equal predicate in which only single conditions are negated.
    ///
    /// It selects the same records, and parts of it that are unknown can be taken for false.
    package var normalized: BoundPredicate { normalized(isNegated: false) }

    private func normalized(isNegated: Bool) -> BoundPredicate {
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
            isNegated
                ? .or(parts.map { $0.normalized(isNegated: true) })
                : .and(parts.map { $0.normalized(isNegated: false) })
        case .or(let parts):
            isNegated
                ? .and(parts.map { $0.normalized(isNegated: true) })
                : .or(parts.map { $0.normalized(isNegated: false) })
        case .not(let part): part.normalized(isNegated: !isNegated)
        }
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
