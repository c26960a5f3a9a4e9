extension PropertyPath {
    /// A property path resolved in an entity, with positions instead of names.
    public struct Bound: Hashable, Sendable {
        /// The last component of a path.
        public enum Leaf: Hashable, Sendable {
            /// An attribute, by its column in the entity that the steps lead to.
            case attribute(column: Int, type: AttributeType)
            /// A to-one relationship, by its index in that entity; null if it is empty. Only
            /// `isNull` uses it.
            case target(relationship: Int)
            /// The number of objects in a to-many relationship, by its index in that entity.
            ///
            /// Null only if the steps lead to no object.
            case count(relationship: Int)
        }

        /// The to-one relationships to follow, first to last; empty for a property of the entity
        /// itself.
        public let steps: [EntityLayout.Relationship]
        /// The index in the model of the entity that the steps lead to.
        public let entity: Int
        /// The property of that entity to evaluate.
        public let leaf: Leaf
    }
}

extension PropertyPath.Bound {
    /// The path without its first step; it must have one.
    package var droppingFirstStep: PropertyPath.Bound {
        PropertyPath.Bound(steps: Array(steps.dropFirst()), entity: entity, leaf: leaf)
    }

    /// The relationship that the path ends in. It must not end in an attribute.
    package func relationship(in model: DataModel) -> EntityLayout.Relationship {
        switch leaf {
        case .target(let index), .count(let index): model.layouts[entity].relationships[index]
        case .attribute: preconditionFailure("a path that was bound as a relationship ends in an attribute")
        }
    }
}

extension PropertyPath {
    /// Resolves a path that ends in a relationship.
    ///
    /// - Throws: `RecordPredicateError` if it does not, or a name does not exist.
    package func boundRelationship(
        to layout: EntityLayout, in model: DataModel
    ) throws(RecordPredicateError) -> PropertyPath.Bound {
        let last = components.last ?? ""
        // A to-many relationship can only be bound as its count.
        if let bound = try? PropertyPath(components: components + ["@count"]).bound(to: layout, in: model) {
            return bound
        }
        let bound = try bound(to: layout, in: model)
        guard case .target = bound.leaf else {
            throw .unsuitableProperty(entity: layout.name, key: path, name: last)
        }
        return bound
    }

    /// Resolves the path in an entity.
    ///
    /// - Throws: `RecordPredicateError` if a name does not exist or cannot be used at its position.
    public func bound(to layout: EntityLayout, in model: DataModel) throws(RecordPredicateError) -> PropertyPath.Bound {
        var names = components[...]
        var place = layout
        var steps: [EntityLayout.Relationship] = []
        while let name = names.popFirst() {
            if names.isEmpty, let column = place.column(of: name) {
                let leaf = PropertyPath.Bound.Leaf.attribute(column: column, type: place.attributes[column].type)
                return PropertyPath.Bound(steps: steps, entity: place.index, leaf: leaf)
            }
            guard let relationship = place.relationship(name) else {
                guard place.column(of: name) == nil else {
                    throw .unsuitableProperty(entity: place.name, key: path, name: name)
                }
                throw .unknownProperty(entity: place.name, key: path, name: name)
            }
            if relationship.isToMany {
                guard names == ["@count"] else {
                    throw .unsuitableProperty(entity: place.name, key: path, name: name)
                }
                return PropertyPath.Bound(
                    steps: steps, entity: place.index, leaf: .count(relationship: relationship.index))
            }
            if names.isEmpty {
                return PropertyPath.Bound(
                    steps: steps, entity: place.index, leaf: .target(relationship: relationship.index))
            }
            steps.append(relationship)
            place = model.layouts[relationship.destination]
        }
        throw .unknownProperty(entity: layout.name, key: path, name: "")
    }
}
