import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// A sync processor that mirrors a server's items into a folder.
struct MirrorProcessor: SyncProcessor {
    let listURL: URL
    let folder: MirrorFolder
    let client: HTTPClient

    /// The maximum size of a list in bytes. A list is held in memory.
    private static let listByteCount = 256 << 20

    /// Creates an HTTP client for lists and files; the synchronizer controls concurrency and
    /// retries.
    ///
    /// - Parameter limits: Size, time and redirect limits of a request; files of up to 4 GiB by
    ///   default.
    static func client(limits: HTTPClient.Limits = HTTPClient.Limits(bodyByteCount: 4 << 30)) -> HTTPClient {
        HTTPClient(limits: limits, connectionCount: 4_096)
    }

    func owsSyncBegin() async throws {
        try folder.beginPass()
    }

    func owsFetchSourceList() async throws -> SourceList<MirrorItem> {
        let list = try await client.data(from: listURL, limit: Self.listByteCount)
        return SourceList(try MirrorList.items(from: Data(list), url: listURL))
    }

    func owsGetLocalKeys() async throws -> Set<MirrorKey> {
        try folder.keys()
    }

    func owsRemoveLocalItems(for keys: Set<MirrorKey>) async throws {
        for key in keys { try folder.remove(key) }
    }

    func owsShouldUpdateItem(forKey key: MirrorKey, with item: MirrorItem) async throws -> Bool {
        try !folder.isCurrent(item)
    }

    func owsDownloadItemPreview(for item: MirrorItem) async throws {
        guard let url = item.previewURL else { return }
        let file = try await folder.receive { file in _ = try await client.download(from: url, to: file) }
        try folder.storePreview(file, of: item)
    }

    func owsDownloadItem(for item: MirrorItem) async throws {
        var byteCount = 0
        let file = try await folder.receive { file in byteCount = try await client.download(from: item.url, to: file) }
        try folder.storeContent(file, byteCount: byteCount, of: item)
    }

    func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
        folder.endPass()
    }
}
