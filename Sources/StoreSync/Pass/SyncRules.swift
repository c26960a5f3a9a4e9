import JSONMapper
import SyncModel
import SyncStore

/// What a pass may do to objects and relationships.
struct SyncRules {
    /// What may be done to the objects of the payload.
    var policy = MergePolicy()
    /// What may be done to objects nested in them.
    var nestedPolicy = MergePolicy()
    /// Whether links that the payload does not name are taken off.
    var unlinks = true
    /// Whether an import is meant: identifiers alone make objects, objects without an identity are
    /// new ones, nothing is deleted, and a relationship's value that makes no sense is an error.
    var isImport = false
    /// Whether a new object must have all its mandatory attributes.
    var demandsMandatory = false
    var willInsert: StoreSyncOptions.InsertHook?
    /// Whether the result names keys.
    var reportsKeys = false

    /// Whether relationships are looked at.
    var relates: Bool {
        links || unlinks
    }

    private var links: Bool {
        nestedPolicy.inserts || nestedPolicy.updates
    }

    /// Whether a hook wants to see the JSON of objects that are new.
    var isHooked: Bool {
        willInsert != nil && policy.inserts
    }

    /// Whether it wants to see that of nested objects.
    var isHookedWhereNested: Bool {
        willInsert != nil && nestedPolicy.inserts
    }

    init(_ options: StoreSyncOptions) {
        let operations = options.operations
        policy = MergePolicy(inserts: operations.contains(.insert), updates: operations.contains(.update))
        nestedPolicy = MergePolicy(
            inserts: operations.contains(.insertRelationships), updates: operations.contains(.updateRelationships))
        unlinks = operations.contains(.deleteRelationships)
        willInsert = options.willInsert
        reportsKeys = options.reportsKeys
    }

    /// The rules of an import.
    init(importing dialect: JSONDialect) {
        isImport = true
        demandsMandatory = dialect == .groot
    }

    /// What becomes of the links of a relationship.
    func mode(of relationship: RelationshipLayout) -> LinkBatch.Mode {
        guard relationship.isToMany else { return unlinks || nestedPolicy.updates ? .replace : .add }
        return links ? (unlinks ? .replace : .add) : .retain
    }

    /// Whether objects that lose their place in a relationship are deleted: those that belong to
    /// one object at most.
    func deletesDetached(of relationship: RelationshipLayout, in model: DataModel) -> Bool {
        guard unlinks, !isImport, relationship.isToMany, let inverse = relationship.inverse else { return false }
        return !model.layouts[relationship.destination].relationships[inverse].isToMany
    }
}
