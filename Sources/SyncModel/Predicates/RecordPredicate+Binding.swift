import Foundation

extension PredicateTree where Path == PropertyPath {
    /// Resolves the paths in an entity, and converts the values to the types of the attributes.
    ///
    /// These values are converted:
    ///
    /// - An integer compared with a `double`, `float` or `decimal` attribute.
    /// - A double compared with a `decimal` attribute, and a decimal with a `double` or `float`
    ///   one. A double beyond all decimals is greater or less than each of them.
    /// - A text compared with a `uuid`, `uri` or `date` attribute. A day without a time is midnight
    ///   in UTC.
    /// - A text compared with a `json` attribute, as the text of a JSON value.
    ///
    /// Any number can be compared with any number. JSON values are only compared for equality. A
    /// value that cannot be compared with its attribute is an error, so that all stores select the
    /// same records.
    ///
    /// - Throws: `RecordPredicateError` for the first path or value that does not fit.
    public func bound(to layout: EntityLayout, in model: DataModel) throws(RecordPredicateError)
        -> RecordPredicate.Bound
    {
        switch self {
        case .constant(let holds):
            return .constant(holds)
        case .comparison(let key, let comparison, let value):
            let bound = try key.bound(to: layout, in: model)
            if case .attribute(_, .json) = bound.leaf, comparison != .equal, comparison != .notEqual {
                throw .unsuitableProperty(entity: layout.name, key: key.path, name: key.components.last ?? "")
            }
            if let beyond = bound.comparison(comparison, beyondDecimals: value) { return beyond }
            return .comparison(bound, comparison, try key.fitted(value, to: bound, of: layout))
        case .isIn(let key, let values):
            let bound = try key.bound(to: layout, in: model)
            var fitted: [AttributeValue] = []
            var beyond: [RecordPredicate.Bound] = []
            for value in values {
                if let comparison = bound.comparison(.equal, beyondDecimals: value) {
                    beyond.append(comparison)
                } else {
                    fitted.append(try key.fitted(value, to: bound, of: layout))
                }
            }
            return beyond.isEmpty ? .isIn(bound, fitted) : .or([.isIn(bound, fitted)] + beyond)
        case .isNull(let key):
            return .isNull(try key.bound(to: layout, in: model))
        case .text(let key, let match, let text):
            let bound = try key.bound(to: layout, in: model)
            _ = try key.fitted(.string(text), to: bound, of: layout)
            guard case .attribute(_, let type) = bound.leaf, type == .string || type == .uri else {
                throw .unsuitableProperty(entity: layout.name, key: key.path, name: key.components.last ?? "")
            }
            return .text(bound, match, text)
        case .related(let key, let quantifier, let predicate):
            let bound = try key.boundRelationship(to: layout, in: model)
            let destination = model.layouts[bound.relationship(in: model).destination]
            return .related(bound, quantifier, try predicate.bound(to: destination, in: model))
        case .and(let parts):
            return .and(try parts.bound(to: layout, in: model))
        case .or(let parts):
            return .or(try parts.bound(to: layout, in: model))
        case .not(let part):
            return .not(try part.bound(to: layout, in: model))
        }
    }
}

extension [RecordPredicate] {
    fileprivate func bound(to layout: EntityLayout, in model: DataModel) throws(RecordPredicateError)
        -> [RecordPredicate.Bound]
    {
        var bound: [RecordPredicate.Bound] = []
        for part in self {
            bound.append(try part.bound(to: layout, in: model))
        }
        return bound
    }
}

extension PropertyPath.Bound {
    /// The comparison of a `decimal` attribute with a number beyond all decimals, as one with the
    /// greatest or least decimal that has the same result; nil for any other comparison.
    fileprivate func comparison(
        _ comparison: PropertyPath.Comparison, beyondDecimals value: AttributeValue
    ) -> RecordPredicate.Bound? {
        guard case .attribute(_, .decimal) = leaf, case .double(let number) = value, number.magnitude > 1,
            Decimal(string: number.description) == nil
        else { return nil }
        let isAbove = number > 0
        let holds =
            switch comparison {
            case .equal: false
            case .notEqual: true
            case .less, .lessOrEqual: isAbove
            case .greater, .greaterOrEqual: !isAbove
            }
        let limit = Decimal.greatestFiniteMagnitude
        return isAbove
            ? .comparison(self, holds ? .lessOrEqual : .greater, .decimal(limit))
            : .comparison(self, holds ? .greaterOrEqual : .less, .decimal(-limit))
    }
}

extension PropertyPath {
    /// Returns the value in a form that is comparable with the value at the path.
    fileprivate func fitted(
        _ value: AttributeValue, to bound: PropertyPath.Bound, of layout: EntityLayout
    ) throws(RecordPredicateError) -> AttributeValue {
        let type: AttributeType
        switch bound.leaf {
        case .attribute(_, let attributeType): type = attributeType
        case .count: type = .int64
        case .target: throw .unsuitableProperty(entity: layout.name, key: path, name: components.last ?? "")
        }
        switch (type, value) {
        case (_, .null), (.int16, .int), (.int32, .int), (.int64, .int), (.int16, .double), (.int32, .double),
            (.int64, .double),
            (.int16, .decimal), (.int32, .decimal), (.int64, .decimal), (.double, .double), (.float, .double),
            (.decimal, .decimal), (.string, .string), (.bool, .bool), (.date, .date), (.binary, .binary),
            (.uuid, .uuid), (.uri, .uri), (.json, .json), (.transformable, .binary):
            return value
        case (.double, .int(let number)), (.float, .int(let number)):
            return Double(exactly: number).map { .double($0) } ?? value
        case (.double, .decimal(let number)), (.float, .decimal(let number)):
            return .double(number.nearestDouble)
        case (.decimal, .int(let number)):
            return .decimal(Decimal(number))
        case (.decimal, .double(let number)):
            if let decimal = Decimal(string: number.description) { return .decimal(decimal) }
        case (.uuid, .string(let text)):
            if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        case (.uri, .string(let text)):
            return .uri(text)
        case (.json, .string(let text)):
            if let json = CanonicalJSON(text), !json.isNull { return .json(json) }
        case (.date, .string(let text)):
            if let microseconds = DateText.microseconds(text) { return .date(Timestamp(microseconds: microseconds)) }
        default:
            break
        }
        throw .wrongType(entity: layout.name, key: path, type: type)
    }
}
