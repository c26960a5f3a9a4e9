package import SyncBase
package import SyncModel

/// What all syncs of an open store share. It accompanies the store's model.
package final class SharedSyncs: Sendable {
    /// The turns of the passes and changes of live syncs.
    package let turns = TransactionQueue()

    /// The passes that the history lacks, because the store was busy or failed; oldest first.
    package let unrecordedPasses = Locked<[Record]>([])

    /// Creates the shared state of a store that was just opened.
    package init() {}
}
