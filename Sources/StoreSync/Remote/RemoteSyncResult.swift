/// What a sync from a source did.
public struct RemoteSyncResult: Hashable, Sendable {
    /// What the source had to say.
    public enum Coverage: String, Hashable, Sendable {
        /// That nothing has changed.
        case unchanged
        /// What has changed.
        case changes
        /// Everything.
        case everything
    }

    /// What was done to the store.
    public var result = StoreSyncResult()
    /// What the source had to say.
    public var coverage = Coverage.unchanged
    /// How many pages were read, those included that were read again.
    public var pageCount = 0
    /// How many bytes they had, decompressed.
    public var byteCount = 0
}

/// How far a sync from a source has come.
public struct RemoteSyncProgress: Hashable, Sendable {
    /// How many pages have been read.
    public var pageCount = 0
    /// How many objects they had.
    public var elementCount = 0
    /// How many objects there are in all, where the source says so.
    public var totalElementCount: Int?
    /// How many bytes have been read, decompressed.
    public var byteCount = 0

    /// Makes a beginning.
    public init() {}
}
