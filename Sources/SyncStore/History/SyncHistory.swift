/// The settings of a history of the latest syncs, which a store keeps in itself.
///
/// The history is a table that any SQL tool can read.
///
///     let store = try await SQLiteStore(User.self, at: .file(file), history: SyncHistory())
///     try await store.sync(User.self, from: .url(url))
///     let passes = try await store.passes(of: User.self)
///
/// The record of a successful sync is committed with its changes. The record of a failed or
/// cancelled sync is written in a separate transaction after the rollback. A record that could not
/// be written is kept in memory, and written with the next pass. Plans and changes of single
/// objects are not recorded.
public struct SyncHistory: Sendable {
    /// The number of passes kept for each name; 100 by default. A value below 1 becomes 1.
    public var limit: Int {
        didSet { limit = max(limit, 1) }
    }
    /// The number of passes kept in all; 1,000 by default. A value below 1 becomes 1.
    public var totalLimit: Int {
        didSet { totalLimit = max(totalLimit, 1) }
    }
    /// Whether syncs without changes are recorded; true by default.
    ///
    /// If false, a sync without changes leaves the store's files unchanged to the last byte, unless
    /// an earlier record could not be written.
    public var recordsUnchanged: Bool
    /// The longest time that a cancelled sync waits until the store has recorded it; 100 ms by
    /// default. Zero records each cancelled sync with the next pass.
    public var cancellationLimit: Duration

    /// Creates a history.
    ///
    /// - Parameters:
    ///   - limit: The number of passes kept for each name, at least 1.
    ///   - totalLimit: The number of passes kept in all, at least 1.
    ///   - recordsUnchanged: Whether syncs without changes are recorded.
    ///   - cancellationLimit: The longest time that a cancelled sync waits to be recorded.
    public init(
        limit: Int = 100, totalLimit: Int = 1_000, recordsUnchanged: Bool = true,
        cancellationLimit: Duration = .milliseconds(100)
    ) {
        self.limit = max(limit, 1)
        self.totalLimit = max(totalLimit, 1)
        self.recordsUnchanged = recordsUnchanged
        self.cancellationLimit = cancellationLimit
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
