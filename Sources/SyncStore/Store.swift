public import SyncModel

/// A place that keeps the objects of a model, and changes them in transactions.
///
/// Objects are known to callers by a *row*: a number above 0 that a store gives an object when it is inserted, unique among all
/// objects of the entities that share a root, and never given to another object while the first one exists.
///
/// **Identity.** Where an entity has identity attributes, no two objects of that very entity hold the same values there; an
/// object with null in one of them has no identity, and there may be as many of those as were inserted. A merge by an entity
/// finds its objects among those of the entity and of all its sub-entities that have the same identity attributes; where two of
/// different entities hold the same values, that of the entity itself is found, else that of the lowest row.
public protocol Store: Sendable {
    /// What the objects are of; never changes.
    var model: DataModel { get }

    /// Changes the store, all or nothing.
    ///
    /// Transactions run one after another, in the order in which they were asked for. What the body did is there for everyone as soon as
    /// this returns; if it throws, nothing of it ever is.
    ///
    /// - Parameter body: Gets the transaction, which is of no use once it has returned.
    /// - Returns: What the body returned.
    /// - Throws: What the body throws; `CancellationError` where the task was cancelled while it waited or before the commit;
    ///   `StoreError.nestedTransaction` from inside a transaction of the same store, which would wait for itself; the store's own errors.
    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result

    /// Reads what was committed last, all reads of one body from the same state, whether or not a transaction runs.
    ///
    /// - Parameter body: Gets a reader, which is of no use once it has returned.
    /// - Returns: What the body returned.
    /// - Throws: What the body throws, and the store's own errors.
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) async throws -> Result) async throws -> Result
}

/// Reads the objects of a store.
public protocol StoreReader: Sendable {
    /// The store's model.
    var model: DataModel { get }

    /// Fetches objects, a batch at a time.
    ///
    /// - Parameters:
    ///   - query: Which objects, in what order; those of sub-entities included, each record with its own entity's layout.
    ///   - batchRowCount: How many objects a batch has at most; at least 1.
    ///   - body: Gets the batches in order, none of them empty; nothing may be written through the same transaction until it is done.
    /// - Throws: `RecordPredicateError` where the query does not fit the model; what the body throws.
    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws

    /// How many objects a query finds, its limit and offset applied.
    ///
    /// - Throws: `RecordPredicateError` where the query does not fit the model.
    func count(_ query: StoreQuery) async throws -> Int

    /// Which objects a relationship leads to.
    ///
    /// - Parameters:
    ///   - relationship: A relationship of the model, as any entity that has it holds it.
    ///   - sources: The rows to start from; those that do not exist lead nowhere.
    /// - Returns: A link for every pair, in no particular order of sources; those of one source in the relationship's order where it is
    ///   ordered, else by their rows.
    /// - Throws: `StoreError.foreignRelationship` for a relationship of another model.
    func links(_ relationship: RelationshipLayout, of sources: [Int64]) async throws -> [StoreLink]
}

/// Reads and changes the objects of a store, as one of a series of steps of which all or none come to pass.
///
/// Reads see what the transaction has written so far. A transaction is used by one task at a time. One in which a change failed in the middle
/// throws that error from then on, and is undone in the end, whether or not the error was caught; errors that say that nothing was done
/// leave it as it was.
public protocol StoreTransaction: StoreReader {
    /// How many records a batch of many should have, so that a merge is worth its way to the store and back; 1,000 where a store does not
    /// say. Batches of any size are right.
    var batchRowCount: Int { get }

    /// Matches records with the objects there are, and inserts and updates what the policy allows.
    ///
    /// A row of the batch is matched by its handle if it is given one, else by the identity of the batch's entity; a row with an absent
    /// or null identity attribute, and every row of an entity without identity, matches nothing. Absent cells leave an object as it is; on
    /// insertion they become the attributes' defaults, those of identity attributes null. An object that would not change is not written. Rows act in their order, so
    /// that of several of one identity the later one wins, and all of them are one object.
    ///
    /// - Parameters:
    ///   - batch: Records of one entity, which must not be abstract if it comes to an insertion; its cells hold what the attributes accept.
    ///   - handles: For each row of the batch the object it is for, 0 where that is to be found by identity; nil if that is so for all. The
    ///     handle of no object, such as -1, leaves its row of the batch out.
    ///   - links: What new objects are related to from the start; an object that was there keeps what it has. Of several rows of one new
    ///     object the first one's counts. Nil for nothing.
    ///   - policy: What may be done.
    /// - Returns: What became of each row of the batch.
    /// - Throws: `StoreError.identityTaken` if an update by handle would give two objects one identity; `StoreError.abstractEntity`;
    ///   `StoreError.foreignBatch` and `StoreError.unsuitableHandles` where what is given does not fit the model or itself.
    func merge(
        _ batch: RecordBatch, handles: [Int64]?, links: InitialLinks?, policy: MergePolicy
    ) async throws -> MergeResult

    /// Relates objects, and keeps inverse relationships in step.
    ///
    /// A target that a to-one inverse ties to another source leaves that one. Sources and targets that do not exist are passed over; a target that
    /// is named twice for one source counts once; a to-one relationship takes the last of its targets.
    ///
    /// - Returns: What changed.
    /// - Throws: `StoreError.foreignRelationship` for a relationship of another model.
    func link(_ batch: LinkBatch) async throws -> LinkResult

    /// Deletes objects, applying the model's delete rules.
    ///
    /// Deletions of one call act together: objects that refuse to let one another go (deny) do not hinder a call that deletes both.
    ///
    /// - Parameters:
    ///   - query: Which objects; its ordering matters only with a limit.
    ///   - reportsKeys: Whether the result names the deleted objects, beside counting them.
    /// - Returns: What was deleted.
    /// - Throws: `StoreError.deletionDenied`, and nothing has been deleted; `RecordPredicateError`.
    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult
}

extension StoreTransaction {
    /// 1,000.
    public var batchRowCount: Int { 1000 }
}
