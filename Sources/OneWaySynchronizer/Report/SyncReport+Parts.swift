extension SyncReport {
    /// The groups of keys in a report, by their result in a pass.
    public enum KeyGroup: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
        /// It was not stored, and was downloaded.
        case inserted
        /// It was stored, and was downloaded again.
        case updated
        /// It was stored and absent from the source, and was deleted.
        case deleted
        /// It was stored and absent from the source, and was kept.
        case kept
    }

    /// Local items that a pass kept although they are absent from the source.
    public struct Kept: Sendable, Hashable, Codable {
        /// Why the items were kept.
        public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
            /// The source's list was partial: a missing item may exist.
            case partialList
            /// There were more removals than ``SyncOptions/removalLimit`` allows, and its action is
            /// to keep the items.
            case removalLimit
            /// With ``SyncOptions/RemovalOrder/afterDownloads``, the pass failed or was cancelled
            /// before its removals were due.
            case incompletePass
        }

        /// The number of items; above 0.
        public var count: Int

        /// Why they were kept.
        public var reason: Reason

        /// Creates a number of kept items, with the reason.
        public init(count: Int, reason: Reason) {
            self.count = count
            self.reason = reason
        }
    }

    /// The number of errors of one kind in one stage.
    public struct ErrorCount: Sendable, Hashable, Codable {
        /// The stage.
        public var stage: SyncStage

        /// The type of the underlying error, such as `Foundation.URLError`; `other` beyond 32 kinds
        /// per pass.
        public var kind: String

        /// The number of errors; above 0.
        public var count: Int

        /// Creates a count.
        public init(stage: SyncStage, kind: String, count: Int) {
            self.stage = stage
            self.kind = kind
            self.count = count
        }
    }
}
