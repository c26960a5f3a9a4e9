package import SyncModel

/// A selection whose names are resolved by a model.
package struct BoundSelection: Sendable {
    /// A column with indices instead of names.
    package enum Column: Hashable, Sendable {
        case object
        case value(PropertyPath.Bound)
        case target(PropertyPath.Bound)
        case count
        case aggregate(StoreSelection.Aggregate, PropertyPath.Bound)
    }

    package let entity: EntityLayout
    package let predicate: RecordPredicate.Bound
    package let objects: StoreQuery.Objects
    package let ordering: [Ordering.Bound]
    package let limit: Int?
    package let offset: Int
    package let columns: [Column]
    /// The types of the values, by column.
    package let types: [AttributeType]
    package let isDistinct: Bool
    package let isGrouped: Bool
    package let after: StoreSelection.Position?

    /// Resolves a selection.
    ///
    /// - Throws: `ModelError.unknownEntity`; `RecordPredicateError` if a name or a value does not
    ///   fit.
    package init(_ selection: StoreSelection, in model: DataModel) throws {
        let query = selection.query
        let layout = try model.layout(of: query.entity)
        entity = layout
        predicate = try query.predicate.bound(to: layout, in: model)
        objects = query.objects
        isDistinct = selection.isDistinct
        isGrouped = selection.isGrouped
        let ordering = try query.ordering.map { try $0.bound(to: layout, in: model) }
        self.ordering = isGrouped || isDistinct ? [] : ordering
        limit = query.limit.map { max($0, 0) }
        offset = query.offset
        var columns: [Column] = []
        var types: [AttributeType] = []
        for column in selection.columns {
            let (bound, type) = try Self.bind(column, layout, model)
            columns.append(bound)
            types.append(type)
        }
        self.columns = columns
        self.types = types
        if let after = selection.after, after.values.count != ordering.count {
            throw RecordPredicateError.unsuitableProperty(entity: layout.name, key: "after", name: "after")
        }
        after = selection.after
    }

    private static func bind(
        _ column: StoreSelection.Column, _ layout: EntityLayout, _ model: DataModel
    ) throws -> (Column, AttributeType) {
        func unsuitable(_ path: PropertyPath) -> RecordPredicateError {
            .unsuitableProperty(entity: layout.name, key: path.path, name: path.components.last ?? "")
        }
        switch column {
        case .object: return (.object, .int64)
        case .count: return (.count, .int64)
        case .value(let path):
            let key = try path.bound(to: layout, in: model)
            guard let type = key.valueType else { throw unsuitable(path) }
            return (.value(key), type)
        case .target(let path):
            let key = try path.bound(to: layout, in: model)
            guard case .target = key.leaf else { throw unsuitable(path) }
            return (.target(key), .int64)
        case .aggregate(let function, let path):
            let key = try path.bound(to: layout, in: model)
            guard let type = key.valueType, let result = function.resultType(of: type) else { throw unsuitable(path) }
            return (.aggregate(function, key), result)
        }
    }
}

extension PropertyPath.Bound {
    /// The type of the values at the path; nil for a relationship.
    package var valueType: AttributeType? {
        switch leaf {
        case .attribute(_, let type): type
        case .count: .int64
        case .target: nil
        }
    }
}

extension StoreSelection.Aggregate {
    /// The type of the result for values of a type; nil if the function has none.
    fileprivate func resultType(of type: AttributeType) -> AttributeType? {
        switch (self, type) {
        case (.sum, .int16), (.sum, .int32), (.sum, .int64): .int64
        case (.sum, .double), (.sum, .float): .double
        case (.sum, .decimal): .decimal
        case (.average, .int16), (.average, .int32), (.average, .int64), (.average, .double), (.average, .float),
            (.average, .decimal):
            .double
        case (.minimum, .int16), (.minimum, .int32), (.minimum, .int64), (.minimum, .double), (.minimum, .float),
            (.minimum, .decimal), (.minimum, .string), (.minimum, .uri), (.minimum, .date), (.maximum, .int16),
            (.maximum, .int32), (.maximum, .int64), (.maximum, .double), (.maximum, .float), (.maximum, .decimal),
            (.maximum, .string), (.maximum, .uri), (.maximum, .date):
            type
        default: nil
        }
    }
}
