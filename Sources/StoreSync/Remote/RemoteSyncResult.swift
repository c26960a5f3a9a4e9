/// The result of a sync from a source.
public struct RemoteSyncResult: Hashable, Sendable, Codable {
    /// The objects that the source reported.
    public enum Coverage: String, Hashable, Sendable, Codable {
        /// None: nothing has changed.
        case unchanged
        /// The objects that have changed.
        case changes
        /// All objects.
        case everything
    }

    /// The counts, rejected objects and drift.
    public var result = StoreSyncResult()
    /// The objects that the source reported.
    public var coverage = Coverage.unchanged
    /// The number of pages that were read, including pages that were read again.
    public var pageCount = 0
    /// The size of these pages in bytes, decompressed.
    public var byteCount = 0
    /// Readable sentences about the pages, such as why absent objects were kept.
    public var warnings: [String] = []

    /// Creates a result; by default, the result of a sync that read nothing.
    public init(
        result: StoreSyncResult = StoreSyncResult(), coverage: Coverage = .unchanged, pageCount: Int = 0,
        byteCount: Int = 0, warnings: [String] = []
    ) {
        self.result = result
        self.coverage = coverage
        self.pageCount = pageCount
        self.byteCount = byteCount
        self.warnings = warnings
    }
}
