import JSONMapper
import StoreSync
import SyncModel

/// What a subject is told before the first step.
struct ScenarioWorld {
    /// The model, with the identities that its dialect finds.
    let model: DataModel
    let dialect: JSONDialect
    let transformers: [TransformerTable]
}

/// A `sync` step in the terms of a model.
struct SyncRequest {
    var entity: String
    /// One payload, or the pages of one.
    var pages: [[UInt8]]
    var options: StoreSyncOptions
    var parent: StoreSyncOptions.Parent?
}
