/// The progress of a sync from a source.
public struct RemoteSyncProgress: Hashable, Sendable {
    /// The number of pages that have been read.
    public var pageCount = 0
    /// The number of objects in those pages.
    public var elementCount = 0
    /// The number of objects of all pages, if the source reports it.
    public var totalElementCount: Int?
    /// The number of bytes that have been read, decompressed.
    public var byteCount = 0

    /// Creates the progress of a sync that has read nothing.
    public init() {}
}
