package import OneWaySynchronizer

extension SyncOptions {
    /// The options with changes.
    package func with(_ change: (inout SyncOptions) -> Void) -> SyncOptions {
        var options = self
        change(&options)
        return options
    }
}
