import HTTPTransfer

/// What the index knows about a key.
struct IndexEntry: Hashable, Sendable {
    /// The stamps that the content file can have, at most ``stampCount``, the newest last.
    ///
    /// A stamp is recorded before its file is moved into place. If the process ends in between, the
    /// file has an older one.
    var content: [FileStamp] = []
    /// What was listed and received with the newest stamp.
    var version = ContentVersion()
    /// The same for the preview; empty without a preview.
    var preview: [FileStamp] = []
    /// A part of a download that can be continued.
    var part: DownloadPart?
    /// Whether the system may have lost data of the files, so that they are the mirror's, whatever
    /// their stamps, and have to be downloaded again.
    var isDoubtful = false

    private static let stampCount = 4

    /// Whether files of the key may exist.
    var isStored: Bool { !content.isEmpty || !preview.isEmpty || isDoubtful }

    var isEmpty: Bool { !isStored && part == nil }

    /// Whether a file in the place of the content or of the preview is the mirror's.
    func owns(_ status: FileStatus, as stamps: KeyPath<IndexEntry, [FileStamp]>) -> Bool {
        status.isFile && (isDoubtful || self[keyPath: stamps].contains(status.stamp))
    }

    mutating func addContent(_ stamp: FileStamp, _ version: ContentVersion) {
        content = (content + [stamp]).suffix(Self.stampCount)
        self.version = version
        isDoubtful = false
    }

    mutating func addPreview(_ stamp: FileStamp) {
        preview = (preview + [stamp]).suffix(Self.stampCount)
    }
}

/// Which version of a content is stored.
struct ContentVersion: Hashable, Sendable {
    /// The revision of the list; nil if it gave none.
    var revision: String?
    /// The entity tag of the response; nil if it had none.
    var tag: String?
    /// The field `Last-Modified` of the response; nil if it had none.
    var modified: String?
    /// The mark of the ``ListedFile`` that only this content has; nil if there is none.
    var listed: String?
    /// The mark of the ``ContentAddress`` that the content came from, after redirects, because only
    /// there its tag and its date mean this content; nil if it is not known.
    var address: String?
    /// The listed SHA-256 in lowercase; nil if there was none.
    var sha256: String?

    /// Whether a listed SHA-256 is that of the stored content. One that the list did not have when
    /// the content came is not known to be.
    func agrees(with item: FolderItem) -> Bool {
        guard let listed = item.sha256 else { return true }
        return sha256 == listed.lowercased()
    }

    /// The condition that asks for another version; nil if this one has no sign, or if its address
    /// is not known.
    var condition: DownloadCondition? {
        guard let address else { return nil }
        if let tag { return DownloadCondition(["If-None-Match": tag], at: address) }
        return modified.map { DownloadCondition(["If-Modified-Since": $0], at: address) }
    }
}

/// A file with the beginning of a content.
struct DownloadPart: Hashable, Sendable {
    /// The largest number that is read from an index. Larger ones are free for new parts.
    static let maximumNumber = Int.max / 2

    /// The number that is its name.
    var number: Int
    /// The mark of the ``ContentAddress`` that the part came from, after redirects.
    var address: String
    /// The strong entity tag of the content.
    var tag: String
    /// The size of the whole content; nil if it is not known.
    var byteCount: Int?
    /// The revision of the list; nil if it gave none.
    var revision: String?
    /// The listed SHA-256 in lowercase; nil if there was none.
    var sha256: String?

    /// Whether the part is the beginning of an item's content, as far as the list tells. The server
    /// tells whether its address leads to the same content.
    func isBeginning(of item: FolderItem) -> Bool {
        guard revision == item.revision, byteCount == item.byteCount ?? byteCount else { return false }
        guard let sha256, let listed = item.sha256 else { return true }
        return sha256 == listed.lowercased()
    }
}
