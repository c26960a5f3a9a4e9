public import SyncModel

/// Read and write access to the objects of a store during one transaction.
///
/// Reads see the transaction's own writes. Only one task at a time uses a transaction.
///
/// If a change fails halfway, every later call throws the same error, and the transaction is rolled
/// back even if the caller caught the error. Errors that guarantee that nothing was changed leave
/// the transaction usable: `StoreError.deletionDenied`, `batchOfOtherModel`,
/// `relationshipOfOtherModel`, `unrelatedEntities`, `wrongMatchCount`, `RecordPredicateError`, and
/// `StoreError.refused` from a change of entity.
public protocol StoreTransaction: StoreReader {
    /// The number of records at which a merge is most efficient; 1,000 by default.
    ///
    /// Batches of any size are correct.
    var batchRowCount: Int { get }

    /// Finds the objects with the identities of the given records. Changes nothing.
    ///
    /// - Parameter records: Records of one entity; only their identity attributes matter.
    /// - Returns: One element per row of the batch: the object with the row's identity, or nil if
    ///   there is none or the row has no identity.
    /// - Throws: `StoreError.batchOfOtherModel` if the batch does not fit the model.
    func find(_ records: RecordBatch) async throws -> [ObjectID?]

    /// Matches records with objects. Inserts and updates as the request's policy allows.
    ///
    /// ``MergeRequest`` describes how rows match objects. An absent cell leaves the object's value;
    /// on insertion it becomes the attribute's default, or null for an identity attribute. An
    /// object that would not change is not written. Each object, and each identity, occurs at most
    /// once in a request.
    ///
    /// Objects may exchange the values of a unique index, or take those of an object that is
    /// deleted later. Values that another object still has wait; see ``settleValues()``.
    ///
    /// - Returns: The object of each row, and what the merge did with it.
    /// - Throws: `StoreError.refused` if a constraint refuses a row, unless the request sets such
    ///   rows aside; `StoreError.identityTaken` if an update of a given object would give two
    ///   objects one identity; `StoreError.repeatedObject` if two rows are one object;
    ///   `StoreError.abstractEntity` for an insertion into an abstract entity;
    ///   `StoreError.batchOfOtherModel` and `StoreError.wrongMatchCount` if the request does not
    ///   fit the model or itself.
    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result

    /// Gives objects another entity of their family.
    ///
    /// The objects keep their numbers, and what both entities have: values of attributes, links of
    /// relationships, and links that lead to them. Other values and links are removed; the delete
    /// rules do not apply. An attribute that the objects gain has its default. Values of a unique
    /// index that they gain, and that another object has, wait; see ``settleValues()``.
    ///
    /// - Parameters:
    ///   - objects: Objects of the entity `former`. Others are ignored.
    ///   - former: The name of the entity that the objects have.
    ///   - entity: The name of the entity that they get; the same one changes nothing.
    /// - Throws: `StoreError.unrelatedEntities` if the entities have no ancestor in common;
    ///   `StoreError.abstractEntity`; `StoreError.identityTaken` if another object of the new
    ///   entity has the identity of one of the objects; `StoreError.refused` if a constraint of
    ///   another tool refuses the change, and then nothing has changed;
    ///   `ModelError.unknownEntity`.
    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws

    /// Links objects, and keeps the inverse relationships consistent.
    ///
    /// If a to-one inverse links a target to another source, the target is unlinked from that
    /// source. Sources and targets that do not exist are ignored. A repeated target counts once. A
    /// to-one relationship takes the last of its targets.
    ///
    /// - Returns: The sources that changed and the targets that were detached.
    /// - Throws: `StoreError.relationshipOfOtherModel` for a relationship of another model;
    ///   `StoreError.refused` if a constraint of another tool refuses a link. A store on a server
    ///   may throw this from the next call or the commit, and then commits nothing.
    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result

    /// Deletes objects, and applies the model's delete rules.
    ///
    /// The deletions of one call act together: objects that deny each other's deletion do not stop
    /// a call that deletes all of them.
    ///
    /// - Parameters:
    ///   - query: The objects; the ordering matters only with a limit.
    ///   - reportsKeys: Whether the result lists the keys of the deleted objects.
    /// - Returns: The numbers of deleted objects, and their keys if requested.
    /// - Throws: `StoreError.deletionDenied` and `RecordPredicateError`. Nothing is deleted then.
    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult

    /// Gives objects the values of unique indexes for which they wait, as far as these are free
    /// now.
    ///
    /// Until then, reads may return null or a placeholder for such a value. A store also settles
    /// values before it commits, and rolls back with `StoreError.refused` if it cannot. The default
    /// does nothing, for stores that refuse such values at once.
    ///
    /// - Returns: The objects whose values other objects have. Their attributes are null from then
    ///   on.
    /// - Throws: `StoreError.refused` if such an attribute cannot be null.
    func settleValues() async throws -> [StoreError.Refusal]
}

extension StoreTransaction {
    /// The default of 1,000.
    public var batchRowCount: Int { 1000 }

    /// The default, which does nothing.
    public func settleValues() async throws -> [StoreError.Refusal] { [] }
}
