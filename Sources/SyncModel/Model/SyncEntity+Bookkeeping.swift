extension SyncEntity {
    /// The annotation of an entity whose objects are bookkeeping.
    package static let bookkeepingAnnotation = "sync.bookkeeping"
    /// The annotation of an entity that was inferred from a sample.
    package static let inferredAnnotation = "sync.inferred"

    /// Whether the entity's objects record how syncs went, rather than being data.
    ///
    /// Such objects are in no change set and in no count of a sync.
    public var isBookkeeping: Bool {
        userInfo[Self.bookkeepingAnnotation] != nil
    }

    /// Whether the entity was inferred from a sample.
    package var isInferred: Bool {
        userInfo[Self.inferredAnnotation] != nil
    }

    /// The entity of links that wait for their target: identifiers that a payload named for an
    /// object, and that no stored object has.
    package static let pendingLink = SyncEntity(
        "SyncPendingLink", identity: "relationship", "object", userInfo: [bookkeepingAnnotation: "true"]
    ) {
        // Such as "Employee.company", by the entity that declares it.
        SyncAttribute("relationship", .string, optional: false)
        // The number that the store gave the object.
        SyncAttribute("object", .int64, optional: false)
        // The identity of the object as a JSON array; null for an object without an identity.
        SyncAttribute("objectKey", .string)
        // A JSON array of positions and identifiers: [[0, 5], [2, 7]].
        SyncAttribute("targets", .string, optional: false)
    }
}

extension DataModel {
    /// Whether both models declare the same entities in the same order, apart from pending links.
    package func isData(of other: DataModel) -> Bool {
        entities.filter { $0.name != SyncEntity.pendingLink.name }
            == other.entities.filter { $0.name != SyncEntity.pendingLink.name }
    }
}
