/// The settings of a history of the latest syncs, which a store keeps in itself.
///
/// The history is a table that any SQL tool can read.
///
///     let store = try await SQLiteStore(User.self, at: .file(file), history: SyncHistory())
///     try await store.sync(User.self, from: .url(url))
///     let passes = try await store.passes(of: User.self)
///
/// The record of a successful sync is committed with its changes. The record of a failed or
/// cancelled sync is written in a separate transaction after the rollback. Plans and changes of
/// single objects are not recorded.
public struct SyncHistory: Sendable {
    /// The number of passes kept for each name, at least 1; 100 by default.
    public var limit: Int
    /// Whether syncs without changes are recorded; true by default.
    ///
    /// If false, a sync without changes leaves the store's files unchanged to the last byte.
    public var recordsUnchanged: Bool

    /// Creates a history.
    ///
    /// - Parameters:
    ///   - limit: The number of passes kept for each name, at least 1.
    ///   - recordsUnchanged: Whether syncs without changes are recorded.
    public init(limit: Int = 100, recordsUnchanged: Bool = true) {
        self.limit = max(limit, 1)
        self.recordsUnchanged = recordsUnchanged
    }

    /// The outcome of a pass.
    public enum Status: String, Hashable, Sendable, Codable {
        /// It wrote changes.
        case succeeded
        /// It succeeded without changes.
        case unchanged
        /// It failed, and nothing was written.
        case failed
        /// It was cancelled, and nothing was written.
        case cancelled
    }
}
