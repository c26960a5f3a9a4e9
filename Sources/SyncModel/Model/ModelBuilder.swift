extension SyncEntity {
    /// A property in the declaration of an entity.
    public enum Property: Hashable, Sendable {
        /// An attribute.
        case attribute(SyncAttribute)
        /// A relationship.
        case relationship(SyncRelationship)
    }
}

/// The result builder of declarations: entities of a model, properties of an entity.
@resultBuilder
public enum ModelBuilder<Element> {
    /// Takes one element.
    public static func buildExpression(_ element: Element) -> [Element] {
        [element]
    }

    /// Takes elements that were made elsewhere.
    public static func buildExpression(_ elements: [Element]) -> [Element] {
        elements
    }

    /// Joins what was written, in order.
    public static func buildBlock(_ parts: [Element]...) -> [Element] {
        parts.flatMap { $0 }
    }

    /// Takes what stands below an `if` without `else`.
    public static func buildOptional(_ part: [Element]?) -> [Element] {
        part ?? []
    }

    /// Takes the first branch of an `if`.
    public static func buildEither(first part: [Element]) -> [Element] {
        part
    }

    /// Takes the second branch of an `if`.
    public static func buildEither(second part: [Element]) -> [Element] {
        part
    }

    /// Joins what a loop wrote.
    public static func buildArray(_ parts: [[Element]]) -> [Element] {
        parts.flatMap { $0 }
    }
}

extension ModelBuilder where Element == SyncEntity.Property {
    /// Takes an attribute.
    public static func buildExpression(_ attribute: SyncAttribute) -> [SyncEntity.Property] {
        [.attribute(attribute)]
    }

    /// Takes a relationship.
    public static func buildExpression(_ relationship: SyncRelationship) -> [SyncEntity.Property] {
        [.relationship(relationship)]
    }
}
