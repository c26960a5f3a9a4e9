import JSONMapper
import SyncModel

/// What a subject is told before the first step.
struct ScenarioWorld {
    /// The model, with the identities that its dialect finds.
    let model: DataModel
    let dialect: JSONDialect
    let transformers: [TransformerTable]
}

/// What a `sync` step asks for.
struct SyncRequest {
    var entity: String
    var json: [UInt8]
    /// Nil for all.
    var operations: [String]?
    var filter: RecordPredicate?
    var parent: (entity: String, filter: RecordPredicate)?
    var relationship: String?
    /// What the insert hook adds to each object.
    var willInsert: JSONObject?
}
