public import Foundation
public import HTTPTransfer
public import OneWaySynchronizer
import SyncBase

/// Makes a folder equal to a list of files on HTTP servers.
///
/// ```swift
/// let mirror = FolderMirror(of: listURL, in: folder)
/// let report = try await Synchronizer(processor: mirror).sync()
/// ```
///
/// - **Names.** A key is a path in the folder: `a/b.txt` is the file `b.txt` in the folder `a`.
///   Names are as in the key. Only what the system cannot have as a name is replaced: control
///   characters, and `%` before two hexadecimal digits, `_` or `~`, become `%` and two hexadecimal
///   digits; an empty name becomes `%_`, `.` becomes `%2E`, `..` becomes `%2E.`. A name of more
///   than 255 bytes is cut and gets its SHA-256, which also replaces what follows 128 names or
///   3,072 bytes. Keys whose files cannot exist together end the pass before anything is changed: a
///   file in the place of a folder and, where the file system ignores case, names that differ only
///   in case or Unicode normalization.
/// - **Whole files.** A file appears in its place with its whole content, of the listed size and
///   SHA-256. The files of a pass are on the disk when the pass ends.
/// - **Changes.** An item is downloaded again if its listed revision, size or checksum changed, or
///   if its file is not as it was written. Without a revision, the mirror asks the server, with the
///   entity tag or the date of the last response, unless an index shows the same date and exact
///   size as before. If its address then leads elsewhere, also by a redirect and apart from a
///   signature, the item is downloaded again, too.
/// - **Interruptions.** Downloads of more than 1 MiB continue where they ended, in a later attempt,
///   pass or process, if the server identified the content with a strong entity tag. Other remains
///   of killed processes are removed when a pass begins.
/// - **Other files.** Files that the mirror did not write, or that were changed since, are neither
///   overwritten nor removed, unless they have the content that is to be written. Symbolic links in
///   the folder are not followed. Folders that are empty after a removal are removed, and so are
///   folders without files in the place of a file.
/// - **Other passes.** A pass locks the folder. A second one ends with
///   ``FolderError/inUse(path:holder:)``, also one of another process.
///
/// The mirror's own files are in the folder `.mirror`. A copy of the folder that has the times of
/// the files is a mirror, too. A copy that consists of hard links shares the lock: while a pass has
/// one of the folders, the other one is in use.
public final class FolderMirror: SyncProcessor {
    /// The number of items whose servers are asked for changes at the same time.
    private static let checkCount = 16

    private struct State {
        /// The folder during a pass.
        var open: OpenFolder?
        /// The pass that has the folder, of several that use the mirror at the same time.
        var pass: ObjectIdentifier?
        /// The keys of the list; nil if it may be incomplete.
        var listed: Set<SyncKey>?
        /// The keys whose previews were requested on their own in this pass.
        var previewed: Set<SyncKey> = []
        /// The notes of ended passes.
        var notes: [String] = []
    }

    /// The folder.
    public let folder: URL

    private let client: HTTPClient
    private let headers: @Sendable (URL) async throws -> HTTPHeaders
    private let list: @Sendable () async throws -> SourceList<FolderItem>
    private let state = Locked(State())
    /// Waits for the disk.
    private let executor = BlockingExecutor(label: "FolderMirror")

    /// Creates a mirror of the files that a function lists. Neither the folder nor the network is
    /// accessed.
    ///
    /// - Parameters:
    ///   - folder: The folder, which need not exist.
    ///   - client: The client for all requests; by default
    ///     ``client(limits:requestsPerSecond:transport:sign:)``.
    ///   - headers: Returns the header fields for an address, such as credentials, which only its
    ///     origin may see; none by default.
    ///   - list: Lists the files. Keys are unique.
    public init(
        in folder: URL, client: HTTPClient = FolderMirror.client(),
        headers: @escaping @Sendable (URL) async throws -> HTTPHeaders = { _ in HTTPHeaders() },
        list: @escaping @Sendable () async throws -> SourceList<FolderItem>
    ) {
        self.folder = folder
        self.client = client
        self.headers = headers
        self.list = list
    }

    /// Creates a mirror of a server's list. Neither the folder nor the network is accessed.
    ///
    /// The list is one of these:
    /// - a JSON array of objects with `key` and `url`, and optionally `revision` (a text or a whole
    ///   number), `size` (in bytes), `sha256`, `order` and `preview_url`;
    /// - the HTML index of a folder, as of nginx and Apache, with the indexes of its sub-folders;
    /// - a text with an address on each line. The key is the path below the folder of the list, and
    ///   elsewhere the host and the path. Lines that begin with `#` are comments. It has at least
    ///   one address; an empty list is the JSON `[]`.
    ///
    /// Addresses in it can be relative. Any other response ends the pass before anything is
    /// changed.
    ///
    /// - Parameters:
    ///   - list: The address of the list. Its user name and password are sent to its origin.
    ///   - folder: The folder, which need not exist.
    ///   - client: The client for all requests; by default
    ///     ``client(limits:requestsPerSecond:transport:sign:)``.
    ///   - headers: The header fields of each request to the list's origin; none by default.
    ///   - allowsHTTP: Whether a list that came by https may name addresses with http; false by
    ///     default.
    ///   - trustsDates: Whether a file of an index is unchanged if its date and its exact size are;
    ///     `true` by default. With false, each pass asks the server about every file: a file that
    ///     was replaced by one of the same size, with its time set to the same minute, is noticed.
    public convenience init(
        of list: URL, in folder: URL, client: HTTPClient = FolderMirror.client(), headers: HTTPHeaders = HTTPHeaders(),
        allowsHTTP: Bool = false, trustsDates: Bool = true
    ) {
        var own = list.authorization
        own.merge(headers)
        let fields: @Sendable (URL) -> HTTPHeaders = { [own] url in
            // Most servers need none, and origins take time to compare.
            own != HTTPHeaders() && url.hasOrigin(of: list) ? own : HTTPHeaders()
        }
        let source = FolderList(
            url: list, client: client, headers: fields, allowsHTTP: allowsHTTP, trustsDates: trustsDates)
        self.init(in: folder, client: client, headers: { fields($0) }, list: { SourceList(try await source.items()) })
    }

    /// Creates a client for files of any size. The synchronizer decides how many requests run at a
    /// time, and which are made again.
    ///
    /// A mirror uses the retry policy of its client, this one or another, only for downloads that
    /// are interrupted after a new mebibyte. They continue within one attempt of the synchronizer.
    ///
    /// - Parameters:
    ///   - limits: The limits of each request; by default files of 64 GiB, which may take as long
    ///     as 16 KiB per second need.
    ///   - requestsPerSecond: The maximum number of requests that begin per second; nil, the
    ///     default, for no limit.
    ///   - transport: The transport that carries requests; by default that of the system.
    ///   - sign: Adds header fields to a complete request, right before it is sent, such as a
    ///     signature; none by default.
    public static func client(
        limits: HTTPClient.Limits = HTTPClient.Limits(bodyByteCount: 64 << 30, slowestByteRate: 16 << 10),
        requestsPerSecond: Double? = nil, transport: any HTTPClient.Transport = HTTPClient.systemTransport(),
        sign: (@Sendable (inout HTTPRequest) async throws -> Void)? = nil
    ) -> HTTPClient {
        HTTPClient(
            transport: transport, limits: limits, requestsPerSecond: requestsPerSecond, connectionCount: 4_096,
            sign: sign)
    }

    /// Returns the file of an item's content, whether or not it exists.
    public func file(for key: SyncKey) -> URL {
        FilePath(of: key).names.reduce(folder) { $0.appending(component: $1) }
    }

    /// Returns the file of an item's preview, whether or not it exists.
    public func previewFile(for key: SyncKey) -> URL {
        let previews = folder.appending(component: FilePath.internals).appending(component: OpenFolder.previewsName)
        return FilePath(of: key).names.reduce(previews) { $0.appending(component: $1) }
    }

    /// Returns and forgets what a person should know of past passes, such as files that were left
    /// alone; empty if there is nothing.
    public func takeNotes() -> [String] {
        let (notes, open) = state.withLock { state in
            defer { state.notes = [] }
            return (state.notes, state.open)
        }
        return notes + (open?.takeNotes() ?? [])
    }

    // MARK: The calls of a pass

    /// Makes the folder if needed, locks it, and removes remains of killed processes.
    public func owsSyncBegin() async throws {
        let open = try OpenFolder.writing(folder)
        state.withLock { state in
            state.open = open
            state.pass = PassScope.id
            state.listed = nil
            state.previewed = []
        }
    }

    /// Lists the files, and checks that they can exist together.
    public func owsFetchSourceList() async throws -> SourceList<FolderItem> {
        let list = try await list()
        let keys = list.items.map(\.key)
        try NameCollisions.check(keys, ignoresCase: try current()?.ignoresCase ?? false)
        state.withLock { state in
            // A plan can be made during a pass.
            if state.pass == PassScope.id { state.listed = list.isPartial ? nil : Set(keys) }
        }
        return list
    }

    /// Returns the keys of complete and incomplete files.
    public func owsGetLocalKeys() async throws -> Set<SyncKey> {
        try current()?.keys() ?? []
    }

    /// Removes files that the mirror wrote, and leaves others alone. A file that cannot be removed
    /// is an error, and stays an item of the folder; the others are removed.
    public func owsRemoveLocalItems(for keys: Set<SyncKey>) async throws {
        if let open = state.withLock(\.open) {
            return try open.remove(keys)
        }
        let open = try OpenFolder.writing(folder)
        let result = Result<Void, any Error> { try open.remove(keys) }
        try await close(open, after: result)
    }

    /// Compares revisions and files, and asks servers about items without a revision. An item whose
    /// server gives no answer counts as changed, so that its download reports the error.
    public func owsShouldUpdateItems(_ items: [FolderItem]) async throws -> Set<SyncKey>? {
        guard let open = try current() else { return Set(items.map(\.key)) }
        var changed: Set<SyncKey> = []
        var unknown: [(item: FolderItem, stored: IndexEntry)] = []
        for item in items {
            guard let stored = open.intactContent(of: item), open.hasIntactPreview(of: item) else {
                changed.insert(item.key)
                continue
            }
            if let revision = item.owsRevision {
                if stored.version.revision != revision { changed.insert(item.key) }
            } else if item.listed.map({ $0.mark != stored.version.listed }) ?? true {
                unknown.append((item, stored))
            }
        }
        let checks = Locked((rest: unknown[...], failureCount: 0))
        return try await withThrowingTaskGroup(of: [SyncKey].self) { group in
            for _ in 0..<Self.checkCount {
                group.addTask {
                    var changed: [SyncKey] = []
                    while let (item, stored) = checks.withLock({ $0.rest.popFirst() }) {
                        // A server that is away would have each item wait for the time limit.
                        guard checks.withLock({ $0.failureCount < Self.checkCount }) else {
                            changed.append(item.key)
                            continue
                        }
                        do {
                            if try await !self.isUnchanged(item, stored, in: open) { changed.append(item.key) }
                            checks.withLock { $0.failureCount = 0 }
                        } catch let error as HTTPError {
                            // The download will say what is wrong, or that nothing changed.
                            changed.append(item.key)
                            if error.isRetryable { checks.withLock { $0.failureCount += 1 } }
                        }
                    }
                    return changed
                }
            }
            for try await keys in group { changed.formUnion(keys) }
            return changed
        }
    }

    /// Puts on the disk which files will change.
    public func owsPrepareDownload(of items: [FolderItem]) async throws -> [FolderItem] {
        let (open, listed) = state.withLock { ($0.open, $0.listed) }
        try await executor.run { try open?.plan(items, listed: listed) }
        return items
    }

    /// Downloads a preview into the folder of previews.
    public func owsDownloadItemPreview(for item: FolderItem) async throws {
        state.withLock { _ = $0.previewed.insert(item.key) }
        try await downloadPreview(of: item, into: try openInPass())
    }

    private func downloadPreview(of item: FolderItem, into open: OpenFolder) async throws {
        guard let url = item.previewURL else { return }
        let part = try open.previewPart()
        do {
            _ = try await client.download(
                url, into: part, resuming: Resumption(), headers: try await headers(url), isRepeated: true)
            try open.storePreview(part, of: item)
        } catch {
            open.abandon(part)
            // The content that follows ends the doubt about both files.
            if open.entry(of: item.key)?.isDoubtful == true { try open.removePreview(of: item.key) }
            throw error
        }
    }

    /// Downloads a file, and its preview if that was not requested in this pass. The file is stored
    /// even if the server does not have the preview, which is an error.
    public func owsDownloadItem(for item: FolderItem) async throws {
        let open = try openInPass()
        var previewError: (any Error)?
        if item.previewURL == nil {
            try open.removePreview(of: item.key)
        } else if !state.withLock({ $0.previewed.contains(item.key) }) {
            do {
                try await downloadPreview(of: item, into: open)
            } catch {
                if Task.isCancelled { throw error }
                previewError = error
            }
        }
        // Only the preview may be missing.
        if item.owsRevision == nil || open.intactContent(of: item)?.version.revision != item.owsRevision {
            try await downloadContent(of: item, into: open)
        }
        if let previewError { throw previewError }
    }

    private func downloadContent(of item: FolderItem, into open: OpenFolder) async throws {
        let part = try open.contentPart(of: item)
        do {
            try await download(item, into: part, in: open)
        } catch let error as HTTPError where part.isKept && error.isRefusal {
            // Some servers refuse what continues a part, instead of sending the whole content. If
            // the server refuses that, too, the part stays for another attempt.
            try await download(item, into: try open.newContentPart(of: item), in: open)
        }
    }

    private func download(_ item: FolderItem, into part: PartFile, in open: OpenFolder) async throws {
        do {
            let stored = item.owsRevision == nil ? open.intactContent(of: item) : nil
            let end = try await client.download(
                item.url, into: part, resuming: part.resumption,
                condition: stored?.version.condition,
                headers: try await headers(item.url), limit: item.byteCount ?? .max,
                ownEncodings: CompressedName.encodings(of: item.key), isRepeated: true)
            guard case .whole(let byteCount, let head) = end else {
                open.abandon(part)
                return try open.dropPart(of: item.key)
            }
            do throws(FolderError) {
                try Self.check(part, byteCount, of: item)
            } catch {
                try open.dropPart(of: item.key)
                throw error
            }
            let fields = head.headers
            let tag = fields.returnable("ETag")
            let version = ContentVersion(
                revision: item.owsRevision, tag: tag, modified: tag == nil ? fields.lastModified : nil,
                listed: item.listed.flatMap { $0.byteCount == byteCount && $0.isSettled(by: fields) ? $0.mark : nil },
                address: ContentAddress.mark(of: head.url), sha256: item.sha256?.lowercased())
            try open.storeContent(part, of: item, version)
        } catch let error as HTTPError {
            open.abandon(part)
            guard let byteCount = item.byteCount, error.problem == .tooLarge(limit: byteCount) else { throw error }
            try open.dropPart(of: item.key)
            throw FolderError.wrongSize(item.key, expected: byteCount, received: nil)
        } catch {
            open.abandon(part)
            throw error
        }
    }

    private static func check(_ part: PartFile, _ byteCount: Int, of item: FolderItem) throws(FolderError) {
        if let expected = item.byteCount, expected != byteCount {
            throw .wrongSize(item.key, expected: expected, received: byteCount)
        }
        if let expected = item.sha256?.lowercased(), let digest = part.digest, expected != digest {
            throw .wrongChecksum(item.key, expected: expected, received: digest)
        }
    }

    /// Has the system write the files to the disk, and releases the folder, unless another pass has
    /// it.
    public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
        let open = state.withLock { state -> OpenFolder? in
            guard state.pass == PassScope.id else { return nil }
            defer { (state.open, state.pass) = (nil, nil) }
            return state.open
        }
        if let open { try await close(open, after: .success(())) }
    }

    // MARK: The folder

    private func close(_ open: OpenFolder, after result: Result<Void, any Error>) async throws {
        let end = await executor.run { Result { try open.sync() } }
        state.withLock { $0.notes += open.takeNotes() }
        await open.release()
        try result.get()
        try end.get()
    }

    /// The folder of the pass, or the folder as it is on the disk; nil if there is none.
    private func current() throws -> OpenFolder? {
        try state.withLock(\.open) ?? OpenFolder.reading(folder)
    }

    private func openInPass() throws -> OpenFolder {
        guard let open = state.withLock(\.open) else { throw FolderError.system("no pass has begun") }
        return open
    }

    // MARK: Changes

    /// Asks the server whether it still has the stored version.
    private func isUnchanged(
        _ item: FolderItem, _ stored: IndexEntry, in open: OpenFolder
    ) async throws -> Bool {
        let version = stored.version
        guard let condition = version.condition else { return false }
        let fields = try await headers(item.url)
        let head: HTTPHead
        do {
            head = try await client.head(of: item.url, condition: condition.headers, headers: fields)
        } catch let error as HTTPError where error.isRefusal {
            // Some servers, and addresses that are signed for GET, have no HEAD.
            head = try await client.head(of: item.url, by: "GET", condition: condition.headers, headers: fields)
        }
        // Some servers answer conditional requests as others.
        guard condition.isAbout(head.url),
            head.status == 304 || version.tag.map({ $0 == head.headers["ETag"] }) ?? false
        else { return false }
        // A plan can be made during a pass, and writes nothing.
        let isOfPass = state.withLock { $0.pass == PassScope.id }
        // Where this cannot be written, as on a full disk, the next pass asks again.
        if isOfPass, let listed = item.listed, listed.isSettled(by: head.headers) {
            try? open.note(listed, of: item.key, stored)
        }
        return true
    }
}

extension HTTPHeaders {
    /// `Last-Modified`, if a later change would have another one: it has whole seconds, and the
    /// response is younger (RFC 9110, section 8.8.2.2).
    fileprivate var lastModified: String? {
        guard let text = returnable("Last-Modified"), let modified = HTTPDate.parse(text),
            let date = self["Date"].flatMap({ HTTPDate.parse($0) }), date.timeIntervalSince(modified) >= 2
        else { return nil }
        return text
    }
}

extension HTTPError {
    /// Whether the status can be due to the form of the request, such as its method or its range. A
    /// busy server is not asked for more.
    fileprivate var isRefusal: Bool {
        guard case .status(let status, _, let retryAfter) = problem else { return false }
        return retryAfter == nil && ![408, 425, 429, 503].contains(status)
    }
}
