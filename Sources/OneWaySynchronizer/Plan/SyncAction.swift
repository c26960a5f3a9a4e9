/// What a pass would do with a key, including its reason.
public enum SyncAction: Sendable, Hashable {
    /// In the source and not stored: downloaded.
    case insert
    /// In the source and stored, and the processor wants it again: downloaded.
    case update
    /// In the source and stored, and the processor does not want it again: left alone.
    case leave
    /// Stored and absent from the source: deleted.
    case delete
    /// Stored and absent from the source, but kept.
    case keep(SyncReport.Kept.Reason)
    /// Stored and absent from the source. There are so many such keys that the pass would end with
    /// an error instead of deleting any.
    case refuse
}

extension SyncAction: CustomStringConvertible {
    /// The action and its reason as text, such as `delete: absent from the source`.
    public var description: String {
        switch self {
        case .insert: "insert: not stored yet"
        case .update: "update: the processor says it changed"
        case .leave: "leave: stored and unchanged"
        case .delete: "delete: absent from the source"
        case .keep(.partialList): "keep: absent from the source, but the list is partial"
        case .keep(.removalLimit): "keep: absent from the source, but too many are"
        case .keep(.incompletePass): "keep: absent from the source, but the pass did not succeed"
        case .refuse: "refuse: absent from the source, but too many are, so that the pass would end"
        }
    }
}
