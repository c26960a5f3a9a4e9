extension SyncEntity {
    /// An attribute or a relationship in the declaration of an entity.
    public enum Property: Hashable, Sendable {
        /// An attribute.
        case attribute(SyncAttribute)
        /// A relationship.
        case relationship(SyncRelationship)
    }
}

extension DataModel {
    /// A result builder for the entities of a model and the properties of an entity.
    @resultBuilder
    public enum Builder<Element> {
        /// Adds one element.
        public static func buildExpression(_ element: Element) -> [Element] {
            [element]
        }

        /// Adds an array of elements.
        public static func buildExpression(_ elements: [Element]) -> [Element] {
            elements
        }

        /// Joins the statements of a block, in order.
        public static func buildBlock(_ parts: [Element]...) -> [Element] {
            parts.flatMap { $0 }
        }

        /// Adds the elements of an `if` without `else`; none if its condition is false.
        public static func buildOptional(_ part: [Element]?) -> [Element] {
            part ?? []
        }

        /// Adds the elements of the first branch of a conditional statement.
        public static func buildEither(first part: [Element]) -> [Element] {
            part
        }

        /// Adds the elements of the second branch of a conditional statement.
        public static func buildEither(second part: [Element]) -> [Element] {
            part
        }

        /// Joins the elements of all iterations of a loop, in order.
        public static func buildArray(_ parts: [[Element]]) -> [Element] {
            parts.flatMap { $0 }
        }
    }
}

extension DataModel.Builder where Element == SyncEntity.Property {
    /// Adds an attribute.
    public static func buildExpression(_ attribute: SyncAttribute) -> [SyncEntity.Property] {
        [.attribute(attribute)]
    }

    /// Adds a relationship.
    public static func buildExpression(_ relationship: SyncRelationship) -> [SyncEntity.Property] {
        [.relationship(relationship)]
    }
}
