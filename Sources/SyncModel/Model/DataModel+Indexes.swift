/// An index with positions instead of names.
package struct IndexLayout: Hashable, Sendable {
    package let columns: [Int]
    package let isUnique: Bool
    /// Comparisons of own attributes with values, joined by `and`; nil for all objects.
    package let condition: RecordPredicate.Bound?
}

extension DataModel {
    /// The indexes that an entity declares itself.
    package func indexes(of layout: EntityLayout) -> [IndexLayout] {
        // The initializer has verified them.
        layout.entity.indexes.compactMap { try? bound($0, of: layout) }
    }

    func bound(_ index: SyncEntity.Index, of layout: EntityLayout) throws(ModelError) -> IndexLayout {
        let error = ModelError.unsuitableIndex(entity: layout.name, attributes: index.attributes)
        var columns: [Int] = []
        var known: Set<Int> = []
        for name in index.attributes {
            guard let column = layout.column(of: name), layout.attributes[column].type != .transformable,
                layout.attributes[column].type != .json,
                known.insert(column).inserted
            else { throw error }
            columns.append(column)
        }
        guard !columns.isEmpty else { throw error }
        guard let condition = index.condition else {
            return IndexLayout(columns: columns, isUnique: index.isUnique, condition: nil)
        }
        guard let bound = try? condition.bound(to: layout, in: self), bound.isIndexCondition else { throw error }
        return IndexLayout(columns: columns, isUnique: index.isUnique, condition: bound)
    }
}

extension PredicateTree where Path == PropertyPath.Bound {
    /// Whether databases accept the condition in an index.
    fileprivate var isIndexCondition: Bool {
        func isOwn(_ key: PropertyPath.Bound) -> Bool {
            if case .attribute(_, let type) = key.leaf { key.steps.isEmpty && type != .decimal } else { false }
        }
        return switch self {
        case .comparison(let key, _, .string(let text)), .comparison(let key, _, .uri(let text)):
            isOwn(key) && !text.utf8.contains(0)
        // A literal of a floating-point number may be read as a neighboring number.
        case .comparison(_, _, .double), .comparison(_, _, .null): false
        case .comparison(let key, _, _): isOwn(key)
        case .isNull(let key), .not(.isNull(let key)): isOwn(key)
        case .and(let parts): parts.allSatisfy(\.isIndexCondition)
        default: false
        }
    }
}
