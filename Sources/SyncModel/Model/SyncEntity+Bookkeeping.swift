extension SyncEntity {
    /// The annotation of an entity whose objects are bookkeeping. Its value ends the table's name.
    package static let bookkeepingAnnotation = "sync.bookkeeping"
    /// The entities of bookkeeping.
    package static let bookkeeping = [pendingLink, bookmark, pass]
    /// The annotation of an entity that was inferred from a sample.
    package static let inferredAnnotation = "sync.inferred"

    /// Whether the entity's objects record the progress of syncs instead of data.
    ///
    /// Change sets and counts of a sync leave these objects out.
    public var isBookkeeping: Bool {
        userInfo[Self.bookkeepingAnnotation] != nil
    }

    /// The name of the table of an entity of bookkeeping in a database, such as `_sync_passes`.
    package var bookkeepingTable: String? {
        userInfo[Self.bookkeepingAnnotation].map { "_sync_" + $0 }
    }

    /// Whether the entity was inferred from a sample.
    package var isInferred: Bool {
        userInfo[Self.inferredAnnotation] != nil
    }

    /// The entity of pending links, which wait for target objects that are not stored yet.
    ///
    /// A pending link holds an identifier that a payload contains for a target of an object.
    package static let pendingLink = SyncEntity(
        "SyncPendingLink", identity: "relationship", "object", "position",
        userInfo: [bookkeepingAnnotation: "pending_links"]
    ) {
        // The relationship with its declaring entity, such as "Employee.company".
        SyncAttribute("relationship", .string, optional: false)
        // The object number that the store assigned.
        SyncAttribute("object", .int64, optional: false)
        // The position among all targets of the object.
        SyncAttribute("position", .int64, optional: false)
        // The identifier as JSON.
        SyncAttribute("identifier", .string, optional: false)
        // The identity of the object as a JSON array; null for an object without an identity.
        SyncAttribute("objectKey", .string)
    }

    /// The entity of bookmarks, from which a sync asks a source only for its changes.
    package static let bookmark = SyncEntity(
        "SyncBookmark", identity: "name", userInfo: [bookkeepingAnnotation: "bookmarks"]
    ) {
        SyncAttribute("name", .string, optional: false)
        SyncAttribute("fingerprint", .string)
        SyncAttribute("cursor", .string)
        SyncAttribute("lastFullPass", .date)
        SyncAttribute("pages", .string)
    }

    /// The entity of the passes in a store's history.
    package static let pass = SyncEntity(
        "SyncPass", identity: "number", userInfo: [bookkeepingAnnotation: "passes"]
    ) {
        SyncAttribute("number", .int64, optional: false)
        SyncAttribute("name", .string, optional: false)
        SyncAttribute("entity", .string)
        SyncAttribute("started", .date)
        SyncAttribute("finished", .date)
        SyncAttribute("seconds", .double)
        SyncAttribute("status", .string)
        SyncAttribute("inserted", .int64)
        SyncAttribute("updated", .int64)
        SyncAttribute("unchanged", .int64)
        SyncAttribute("deleted", .int64)
        SyncAttribute("kept", .int64)
        SyncAttribute("rejected", .int64)
        SyncAttribute("pages", .int64)
        SyncAttribute("bytes", .int64)
        SyncAttribute("error", .string)
    }
}

extension DataModel {
    /// The entity of bookmarks; nil if the model has none, or another entity of that name.
    package var bookmarks: EntityLayout? {
        self[SyncEntity.bookmark.name].flatMap { $0.entity.attributes == SyncEntity.bookmark.attributes ? $0 : nil }
    }

    /// Returns whether two models declare the same entities in the same order, apart from
    /// bookkeeping.
    package func isData(of other: DataModel) -> Bool {
        entities.filter { !$0.isBookkeeping } == other.entities.filter { !$0.isBookkeeping }
    }
}
