/// The result of a sync from a source.
public struct RemoteSyncResult: Hashable, Sendable {
    /// Which objects the source reported.
    public enum Coverage: String, Hashable, Sendable {
        /// None: nothing has changed.
        case unchanged
        /// The objects that have changed.
        case changes
        /// All objects.
        case everything
    }

    /// What was done to the store.
    public var result = StoreSyncResult()
    /// Which objects the source reported.
    public var coverage = Coverage.unchanged
    /// The number of pages that were read, including pages that were read again.
    public var pageCount = 0
    /// The size of those pages in bytes, decompressed.
    public var byteCount = 0
    /// Sentences for people about the pages, such as why absent objects were kept.
    public var warnings: [String] = []
}
