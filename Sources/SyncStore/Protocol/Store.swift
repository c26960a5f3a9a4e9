public import SyncModel

/// A place that keeps the objects of a model and changes them in transactions.
///
/// A store gives each object an *object number* when it inserts it; see `ObjectID`.
///
/// **Identity.** If an entity has identity attributes, no two objects of that entity have the same
/// values in them. An object with a null in one of them has no identity, and there can be any
/// number of such objects. A merge by an entity finds objects of the entity and of its sub-entities
/// that have the same identity attributes. If several objects match, the merge finds the object of
/// the entity itself or, if there is none, the object with the lowest number.
public protocol Store: Sendable {
    /// The model of the objects; never changes.
    var model: DataModel { get }

    /// Runs a body in a transaction and commits its changes: all of them or none.
    ///
    /// Transactions run one at a time, in the order of the calls. When the call returns, the
    /// changes are visible to everyone. If the body throws, no change is ever visible.
    ///
    /// - Parameter body: Receives the transaction, which ends when the body returns.
    /// - Returns: The result of the body.
    /// - Throws: The body's error; `CancellationError` if the task is cancelled before the commit;
    ///   `StoreError.nestedTransaction` from inside a transaction of the same store; the store's
    ///   own errors.
    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result

    /// Runs a body that reads one snapshot: the state of the last commit.
    ///
    /// Reads never wait for a transaction.
    ///
    /// - Parameter body: Receives a reader, which ends when the body returns.
    /// - Returns: The result of the body.
    /// - Throws: The body's error, and the store's own errors.
    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) async throws -> Result) async throws -> Result
}
