extension SyncOptions {
    /// When a pass removes items that are absent from the source.
    public enum RemovalOrder: String, Sendable, Hashable, Codable, CaseIterable {
        /// Before anything is downloaded.
        case beforeDownloads

        /// After the last download, and only if nothing failed. Until then, nothing is removed.
        ///
        /// If the pass fails before that, absent items are kept, and the next pass finds them
        /// again. An item that the processor downloaded in the pass is not removed, even if the
        /// source does not list it.
        case afterDownloads
    }
}
