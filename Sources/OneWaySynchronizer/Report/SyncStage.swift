/// The stages of a pass, in their order.
public enum SyncStage: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
    /// `owsSyncBegin`.
    case begin
    /// `owsFetchSourceList`.
    case list
    /// `owsGetLocalKeys`.
    case localKeys
    /// The comparison of the source's keys with the local ones.
    case compare
    /// `owsRemoveLocalItems`.
    case remove
    /// `owsGetLocalRevisions`, `owsShouldUpdateItems` and `owsShouldUpdateItem`.
    case shouldUpdate
    /// `owsPrepareDownload`.
    case prepare
    /// `owsDownloadItemPreview`.
    case preview
    /// `owsDownloadItem`.
    case content
    /// `owsSyncEnd`.
    case end

    /// The position among the stages, from 0.
    var ordinal: Int {
        switch self {
        case .begin: 0
        case .list: 1
        case .localKeys: 2
        case .compare: 3
        case .remove: 4
        case .shouldUpdate: 5
        case .prepare: 6
        case .preview: 7
        case .content: 8
        case .end: 9
        }
    }
}
