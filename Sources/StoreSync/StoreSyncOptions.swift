public import JSONMapper
public import OneWaySynchronizer
public import SyncModel

/// Options of a sync into a store.
public struct StoreSyncOptions: Sendable {
    /// Rewrites the JSON of an object, of the entity named, that is about to be inserted.
    public typealias InsertHook = @Sendable (_ object: JSONObject, _ entity: String) throws -> JSONObject

    /// The operations the sync may perform; all of them by default.
    public var operations: StoreSyncOptions.Operations
    /// The objects that the payload covers; all objects of the entity by default.
    ///
    /// An object that is absent from the payload is deleted only if this predicate holds for it.
    public var scope: RecordPredicate
    /// The keys that lead to the array of objects, separated by dots. Empty, the default, if the
    /// document is the array.
    public var keyPath: String
    /// How many objects in the scope may be deleted for being absent; nil, the default, for any
    /// number. Objects that are deleted by a delete rule or with a relationship do not count.
    public var removalLimit: RemovalLimit?
    /// Called for each object, including nested ones, that matches no object of the store, before
    /// it is inserted; nil, the default, for none. With a hook, objects are mapped twice.
    public var willInsert: InsertHook?
    /// Whether the result lists the keys of inserted, updated and deleted objects; false by
    /// default.
    public var reportsKeys: Bool
    /// Whether a payload that differs from the model fails; false by default.
    ///
    /// A sync then throws ``StoreSyncError/payloadDiffers(_:rejectedCount:)`` instead of reporting
    /// ``StoreSyncResult/drift`` or objects that were left out, and nothing is written.
    public var failsOnDrift: Bool
    /// What an absent key of an object means; ``AbsentKeys/automatic`` by default.
    public var absentKeys: AbsentKeys

    /// The meaning of a key that an object does not have.
    public enum AbsentKeys: Hashable, Sendable, CaseIterable {
        /// As `clear` for an entity that was inferred from a sample, whose objects are mirrored as
        /// they are; otherwise as `keep`.
        case automatic
        /// The property stays as it is.
        case keep
        /// The property is cleared, for sources that leave out what is empty.
        ///
        /// An attribute gets its default. The relationship that leads back from a nested object to
        /// the object around it stays as it is.
        case clear
    }

    /// Creates options.
    public init(
        operations: StoreSyncOptions.Operations = .all, scope: RecordPredicate = .constant(true), keyPath: String = "",
        removalLimit: RemovalLimit? = nil, reportsKeys: Bool = false,
        failsOnDrift: Bool = false, absentKeys: AbsentKeys = .automatic, willInsert: InsertHook? = nil
    ) {
        self.operations = operations
        self.scope = scope
        self.keyPath = keyPath
        self.removalLimit = removalLimit
        self.reportsKeys = reportsKeys
        self.failsOnDrift = failsOnDrift
        self.absentKeys = absentKeys
        self.willInsert = willInsert
    }
}
