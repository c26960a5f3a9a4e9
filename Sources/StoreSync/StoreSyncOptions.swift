public import JSONMapper
public import OneWaySynchronizer
public import SyncModel

/// How JSON is synced into a store.
public struct StoreSyncOptions: Sendable {
    /// Rewrites the JSON of an object, of the entity named, that is about to be inserted.
    public typealias InsertHook = @Sendable (_ object: JSONObject, _ entity: String) throws -> JSONObject

    /// What may be done; all of it by default.
    public var operations: SyncOperations
    /// The objects that the payload speaks of: what is absent from it is deleted only where this holds. All of the entity by default.
    public var scope: RecordPredicate
    /// The keys that lead to the array of objects, dots between them; empty, the default, if it is the document.
    public var keyPath: String
    /// How many objects may be deleted for being absent, of those in the scope; nil, the default, for any number. Objects that go with
    /// others or with a relationship do not count.
    public var removalLimit: RemovalLimit?
    /// Called for each object, nested ones included, that matches none in the store, before it is inserted; nil, the default, for none.
    /// Where there is one, objects are mapped twice.
    public var willInsert: InsertHook?
    /// Whether the result names the keys of objects that were inserted, updated and deleted; false by default.
    public var reportsKeys: Bool

    /// Makes options; what is left out keeps its default.
    public init(
        operations: SyncOperations = .all, scope: RecordPredicate = .constant(true), keyPath: String = "",
        removalLimit: RemovalLimit? = nil, reportsKeys: Bool = false, willInsert: InsertHook? = nil
    ) {
        self.operations = operations
        self.scope = scope
        self.keyPath = keyPath
        self.removalLimit = removalLimit
        self.reportsKeys = reportsKeys
        self.willInsert = willInsert
    }
}
