import JSONMapper
import SyncModel
import SyncStore

/// What a pass may do to objects and relationships.
struct SyncRules {
    /// The operations on objects of the payload.
    var policy = MergePolicy()
    /// The operations on nested objects.
    var nestedPolicy = MergePolicy()
    /// Whether links that the payload does not name are removed.
    var unlinks = true
    /// Whether the pass is an import.
    ///
    /// In an import, identifiers insert objects, objects without an identity are new, nothing is
    /// deleted, and an unsuitable value of a relationship is an error.
    var isImport = false
    /// Whether a new object must have all its mandatory attributes.
    var demandsMandatory = false
    var willInsert: StoreSyncOptions.InsertHook?
    /// Whether the result lists keys.
    var reportsKeys = false
    /// Whether properties that an object does not have are cleared.
    var clearsAbsent = false

    /// Whether relationships are processed.
    var relates: Bool {
        links || unlinks
    }

    private var links: Bool {
        nestedPolicy.inserts || nestedPolicy.updates
    }

    /// Whether a hook sees the JSON of new objects.
    var isHooked: Bool {
        willInsert != nil && policy.inserts
    }

    /// Whether a hook sees the JSON of new nested objects.
    var isHookedWhereNested: Bool {
        willInsert != nil && nestedPolicy.inserts
    }

    /// How objects are read that are not read in batches.
    var readerOptions: RecordReader.Options {
        var options = RecordReader.Options(keepsRelationships: true)
        options.clearsAbsent = clearsAbsent
        options.keepsJSON = isHookedWhereNested
        return options
    }

    /// Creates the rules of a sync.
    ///
    /// - Parameter isInferred: Whether the entity was inferred from a sample.
    init(_ options: StoreSyncOptions, isInferred: Bool) {
        let operations = options.operations
        policy = MergePolicy(inserts: operations.contains(.insert), updates: operations.contains(.update))
        nestedPolicy = MergePolicy(
            inserts: operations.contains(.insertRelationships), updates: operations.contains(.updateRelationships))
        unlinks = operations.contains(.deleteRelationships)
        willInsert = options.willInsert
        reportsKeys = options.reportsKeys
        clearsAbsent = options.absentKeys == .clear || (isInferred && options.absentKeys == .automatic)
    }

    /// Creates the rules of an import.
    init(importing dialect: JSONDialect) {
        isImport = true
        demandsMandatory = dialect.demandsMandatory
    }

    /// How the links of a relationship are changed.
    func mode(of relationship: RelationshipLayout) -> LinkBatch.Mode {
        guard relationship.isToMany else { return unlinks || nestedPolicy.updates ? .replace : .add }
        return links ? (unlinks ? .replace : .add) : .retain
    }

    /// Whether objects that lose their place in a relationship are deleted. True if they can belong
    /// to one object only.
    func deletesDetached(of relationship: RelationshipLayout, in model: DataModel) -> Bool {
        guard unlinks, !isImport else { return false }
        if relationship.isOwning { return true }
        guard relationship.isToMany, let inverse = relationship.inverse else { return false }
        return !model.layouts[relationship.destination].relationships[inverse].isToMany
    }
}
