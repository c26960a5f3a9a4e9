extension StoreSyncOptions {
    /// The progress of a sync from a source.
    public struct Progress: Hashable, Sendable, Codable {
        /// The number of pages that have been read, in all readings.
        public var pageCount = 0
        /// The number of the current reading of the pages, from 1.
        ///
        /// Pages that are not of one moment are read again before objects are deleted.
        public var readingNumber = 1
        /// The number of objects in the current reading so far.
        public var elementCount = 0
        /// The number of objects of all pages; nil if the source does not report it.
        public var totalElementCount: Int?
        /// The number of bytes that have been read, decompressed, in all readings.
        public var byteCount = 0

        /// Creates the progress of a sync that has read nothing.
        public init() {}
    }
}
