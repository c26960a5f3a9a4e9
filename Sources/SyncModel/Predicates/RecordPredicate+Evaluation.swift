import Foundation

extension PropertyPath {
    /// An object or record that a bound predicate can be evaluated against.
    public protocol Subject {
        /// Returns the value at a path, or null if the path's steps lead to no object.
        ///
        /// For `PropertyPath.Bound.Leaf.target`: null if the relationship is empty, any other value
        /// if it is not. For `PropertyPath.Bound.Leaf.count`: `.int`.
        func value(at key: PropertyPath.Bound) -> AttributeValue

        /// Counts the objects in a relationship, and those among them that a predicate selects.
        ///
        /// - Parameters:
        ///   - key: A path that ends in `.target` or `.count`: the relationship.
        ///   - predicate: A predicate that is bound to the relationship's destination.
        func countRelated(at key: PropertyPath.Bound, where predicate: RecordPredicate.Bound) -> (
            selected: Int, total: Int
        )
    }
}

extension PredicateTree where Path == PropertyPath.Bound {
    /// Returns whether the predicate is true for a record. Unknown counts as not true.
    public func selects(_ subject: borrowing some PropertyPath.Subject) -> Bool {
        truth(of: subject) == true
    }

    /// Returns true, false, or nil for unknown.
    private func truth(of subject: borrowing some PropertyPath.Subject) -> Bool? {
        switch self {
        case .constant(let holds):
            return holds
        case .comparison(let key, let comparison, let value):
            let found = subject.value(at: key)
            return found.isNull || value.isNull ? nil : comparison.holds(found.compare(value))
        case .isIn(let key, let values):
            guard !values.isEmpty else { return false }
            let found = subject.value(at: key)
            return found.isNull ? nil : values.contains { found.compare($0) == .orderedSame }
        case .isNull(let key):
            return subject.value(at: key).isNull
        case .text(let key, let match, let text):
            switch subject.value(at: key) {
            case .string(let found), .uri(let found): return match.holds(found.utf8, text.utf8)
            default: return nil
            }
        case .related(let key, let quantifier, let predicate):
            let (selected, total) = subject.countRelated(at: key, where: predicate)
            return switch quantifier {
            case .any: selected > 0
            case .all: selected == total
            case .count(let range): range.contains(selected)
            }
        case .and(let parts):
            var isUnknown = false
            for part in parts {
                guard let holds = part.truth(of: subject) else {
                    isUnknown = true
                    continue
                }
                if !holds { return false }
            }
            return isUnknown ? nil : true
        case .or(let parts):
            var isUnknown = false
            for part in parts {
                guard let holds = part.truth(of: subject) else {
                    isUnknown = true
                    continue
                }
                if holds { return true }
            }
            return isUnknown ? nil : false
        case .not(let part):
            return part.truth(of: subject).map { !$0 }
        }
    }
}

extension PropertyPath.Comparison {
    fileprivate func holds(_ result: ComparisonResult) -> Bool {
        switch self {
        case .equal: result == .orderedSame
        case .notEqual: result != .orderedSame
        case .less: result == .orderedAscending
        case .lessOrEqual: result != .orderedDescending
        case .greater: result == .orderedDescending
        case .greaterOrEqual: result != .orderedAscending
        }
    }
}

extension PropertyPath.TextMatch {
    fileprivate func holds(_ text: String.UTF8View, _ part: String.UTF8View) -> Bool {
        switch self {
        case .contains: text.contains(part)
        case .beginsWith: text.starts(with: part)
        case .endsWith: text.count >= part.count && text.suffix(part.count).elementsEqual(part)
        case .like: LikePattern.matches(Array(text), pattern: Array(part))
        }
    }
}

extension String.UTF8View {
    fileprivate func contains(_ part: String.UTF8View) -> Bool {
        var rest = self[...]
        while rest.count >= part.count {
            if rest.starts(with: part) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
