public import JSONMapper
public import OneWaySynchronizer
public import SyncModel

/// Options of a sync into a store.
public struct StoreSyncOptions: Sendable {
    /// Rewrites the JSON of an object before it is inserted. Receives the JSON and the name of its
    /// entity.
    public typealias InsertHook = @Sendable (_ object: JSONValue.Object, _ entity: String) throws -> JSONValue.Object

    /// The operations the sync may perform; all of them by default.
    public var operations: StoreSyncOptions.Operations
    /// The objects that the payload covers; all objects of the entity by default.
    ///
    /// An object that is absent from the payload is deleted only if this predicate holds for it.
    public var scope: RecordPredicate
    /// The keys that lead to the array of objects, separated by dots. Empty, the default, if the
    /// document is the array.
    ///
    /// `edges[].node` reads the object in each element, and `users{id}` the members of an object,
    /// with their keys as a field; see `JSONReader.Layout`.
    public var keyPath: String
    /// The limit for the deletion of absent objects in the scope; nil, the default, for no limit.
    /// Objects that are deleted by a delete rule or with a relationship do not count.
    public var removalLimit: RemovalLimit?
    /// A hook that is called before an object, including a nested one, is inserted; nil, the
    /// default, for none. With a hook, objects are mapped twice.
    public var willInsert: InsertHook?
    /// Whether the result lists the keys of inserted, updated and deleted objects; false by
    /// default.
    public var reportsKeys: Bool
    /// Whether a payload that differs from the model fails; false by default. Set after the
    /// initializer.
    ///
    /// If true, a sync throws ``StoreSyncError/payloadDiffers(_:rejectedCount:)`` instead of
    /// reporting ``StoreSyncResult/drift`` or rejected objects, and nothing is written.
    public var failsOnDrift = false
    /// The meaning of a key that an object lacks; ``AbsentKeys/automatic`` by default. The result
    /// says which rule was used.
    public var absentKeys: AbsentKeys
    /// Whether objects that an index or a constraint of the store refuses are left out; false by
    /// default, which makes them an error. Set after the initializer.
    ///
    /// If true, they are reported in ``StoreSyncResult/rejected``, and absent objects are kept as
    /// after any rejected object. A stored object keeps its values and its entity. If another
    /// object has its new value of a unique index, its other values are updated, and the attribute
    /// becomes null.
    public var setsRefusedAside = false

    /// The maximum size of an element of the payload, in bytes; 64 MiB by default. Set after the
    /// initializer. A larger one is an error, `JSONError` with `elementSizeLimit`.
    ///
    /// A sync has a whole element in memory. Lines and events of an `HTTPJSONSource`, and elements
    /// for ``willInsert``, have at most 64 MiB in any case.
    public var maximumElementByteCount = JSONReader.Options().maximumElementByteCount

    /// The attribute that orders the versions of an object, such as the time of its last change;
    /// nil, the default, for none.
    ///
    /// An object of a list or a change that is older than the stored one is ignored with everything
    /// in it. An absent object that is newer than every object of the list is kept, because the
    /// list is from a time before it, as from a replica that lags. It is deleted by a newer list or
    /// by a change that names it as gone; as a child that its parent's list lacks, at once. The
    /// result's warnings count both.
    ///
    /// An object without a version is not compared, nor is one that is nested. A late change of a
    /// deleted object inserts the object again, until the next sync of the whole list.
    ///
    /// Versions are numbers, dates, or strings in the order of their UTF-8 bytes. A sync throws
    /// ``StoreSyncError/unknownVersion(entity:attribute:)`` if the entity has no such attribute.
    public var newerBy: String?

    /// The number of nested records that wait until the whole list has been read: 16,384. Four
    /// times as many objects may wait in memory for what their identifiers name. Tests set lower
    /// ones.
    package var waitingLimit = 1 << 14

    /// The meaning of a key that an object lacks.
    public enum AbsentKeys: String, Hashable, Sendable, CaseIterable, Codable {
        /// The rule of the source. If it has none, same as `clear` for an entity that was inferred
        /// from a sample, otherwise same as `keep`. Objects of an inferred entity are mirrored as
        /// they are.
        case automatic
        /// The property stays as it is.
        case keep
        /// The property is cleared, for sources that omit empty values.
        ///
        /// An attribute gets its default. The relationship from a nested object back to the object
        /// that contains it stays as it is.
        case clear
    }

    /// Creates options.
    public init(
        operations: StoreSyncOptions.Operations = .all, scope: RecordPredicate = .constant(true), keyPath: String = "",
        removalLimit: RemovalLimit? = nil, reportsKeys: Bool = false, absentKeys: AbsentKeys = .automatic,
        newerBy: String? = nil, willInsert: InsertHook? = nil
    ) {
        self.operations = operations
        self.scope = scope
        self.keyPath = keyPath
        self.removalLimit = removalLimit
        self.reportsKeys = reportsKeys
        self.absentKeys = absentKeys
        self.newerBy = newerBy
        self.willInsert = willInsert
    }
}

extension StoreSyncOptions {
    /// The options with a property of a type as ``newerBy``; unchanged without one.
    ///
    /// - Throws: `SyncDeclarationError` for a key path that leads to no coded property.
    func newer<Object: SyncObject>(by version: PartialKeyPath<Object>?) throws -> StoreSyncOptions {
        guard let version else { return self }
        var options = self
        options.newerBy = try ObjectShape<Object>.shared().name(of: version)
        return options
    }
}
