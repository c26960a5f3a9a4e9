import JSONMapper
import SyncModel
import SyncStore

/// The changes that a pass may make to objects and relationships.
struct SyncRules {
    /// The allowed changes of the list's objects.
    var policy = MergeRequest.Policy()
    /// The allowed changes of nested objects.
    var nestedPolicy = MergeRequest.Policy()
    /// Whether links that the payload does not name are removed.
    var unlinks = true
    /// Whether the pass is an import.
    ///
    /// In an import, identifiers insert objects, each object without an identity is inserted,
    /// nothing is deleted, and an unsuitable value of a relationship is an error.
    var isImport = false
    /// Whether a new object without a mandatory attribute is an error.
    var demandsMandatory = false
    /// The hook that may change the JSON of a new object; nil without a hook.
    var willInsert: StoreSyncOptions.InsertHook?
    /// Whether the result lists keys.
    var reportsKeys = false
    /// Whether objects that the store refuses are set aside.
    var setsRefusedAside = false
    /// Whether properties that an object's JSON lacks are cleared.
    var clearsAbsent = false
    /// The number of nested records that wait for the end of the list.
    var waitingLimit = 0

    /// Whether relationships are processed.
    var relates: Bool {
        links || unlinks
    }

    /// Whether links that the payload states are added.
    private var links: Bool {
        nestedPolicy.inserts || nestedPolicy.updates
    }

    /// Whether the hook receives the JSON of new objects of the list.
    var isHooked: Bool {
        willInsert != nil && policy.inserts
    }

    /// Whether the hook receives the JSON of new nested objects.
    var isHookedWhereNested: Bool {
        willInsert != nil && nestedPolicy.inserts
    }

    /// The reader options for objects that are not read in batches.
    var readerOptions: RecordMapper.Reader.Options {
        var options = RecordMapper.Reader.Options(keepsRelationships: relates)
        options.clearsAbsent = clearsAbsent
        options.keepsJSON = isHookedWhereNested
        return options
    }

    /// Creates the rules of a sync.
    ///
    /// - Parameter isInferred: Whether the list's entity was inferred from a sample.
    init(_ options: StoreSyncOptions, isInferred: Bool) {
        let operations = options.operations
        policy = MergeRequest.Policy(inserts: operations.contains(.insert), updates: operations.contains(.update))
        nestedPolicy = MergeRequest.Policy(
            inserts: operations.contains(.insertRelationships), updates: operations.contains(.updateRelationships))
        unlinks = operations.contains(.deleteRelationships)
        willInsert = options.willInsert
        reportsKeys = options.reportsKeys
        setsRefusedAside = options.setsRefusedAside
        waitingLimit = options.waitingLimit
        clearsAbsent = options.absentKeys == .clear || (isInferred && options.absentKeys == .automatic)
    }

    /// Creates the rules of an import.
    init(importing dialect: JSONDialect) {
        isImport = true
        demandsMandatory = dialect.demandsMandatory
    }

    /// How linking changes the existing links of a source.
    func mode(of relationship: EntityLayout.Relationship) -> LinkBatch.Mode {
        guard relationship.isToMany else { return unlinks || nestedPolicy.updates ? .replace : .add }
        return links ? (unlinks ? .replace : .add) : .retain
    }

    /// Whether objects that lose their source in a relationship are deleted: true if each can
    /// belong to one source only.
    func deletesDetached(of relationship: EntityLayout.Relationship, in model: DataModel) -> Bool {
        guard unlinks, !isImport else { return false }
        if relationship.isOwning { return true }
        guard relationship.isToMany, let inverse = relationship.inverse else { return false }
        return !model.layouts[relationship.destination].relationships[inverse].isToMany
    }
}
