public import Foundation
public import OneWaySynchronizer

/// A file of the source: its place in the folder, its address, and what is known about its content.
public struct FolderItem: SyncItem, Hashable {
    /// The place of the file: its path in the folder, such as `photos/a.jpg`.
    ///
    /// Any text is a valid key; ``FolderMirror`` describes the file that it stands for.
    public var key: SyncKey

    /// The address of the content, http or https.
    public var url: URL

    /// A text that changes with the content, such as an entity tag; `nil`, the default, if there is
    /// none.
    ///
    /// Without a revision, ``sha256`` takes its place. Without both, the mirror asks the server
    /// whether the content changed.
    public var revision: String?

    /// The size of the content in bytes; `nil`, the default, if it is not known.
    ///
    /// Content of another size is not stored.
    public var byteCount: Int?

    /// The SHA-256 of the content as 64 hexadecimal digits; `nil`, the default, if it is not known.
    ///
    /// Content with another one is not stored.
    public var sha256: String?

    /// The place in the download order: lower numbers first; 0 by default.
    public var order: Int

    /// The address of the preview; `nil`, the default, if there is none.
    public var previewURL: URL?

    /// What an index of a folder says about the file; nil for any other list.
    var listed: ListedFile?

    /// Creates an item.
    public init(
        _ key: SyncKey, at url: URL, revision: String? = nil, byteCount: Int? = nil, sha256: String? = nil,
        order: Int = 0, previewURL: URL? = nil
    ) {
        self.key = key
        self.url = url
        self.revision = revision
        self.byteCount = byteCount
        self.sha256 = sha256
        self.order = order
        self.previewURL = previewURL
    }

    /// The key.
    public var owsPrimaryKey: SyncKey { key }

    /// The place in the download order.
    public var owsDownloadOrder: Int { order }

    /// The revision, or the checksum in its place.
    public var owsRevision: String? { revision ?? sha256?.lowercased() }
}
