import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// A sync processor that mirrors a server's items into a folder.
struct MirrorProcessor: SyncProcessor {
    let listURL: URL
    let folder: MirrorFolder
    let client: HTTPClient
    /// The header fields of each request to the list's origin.
    var headers = HTTPHeaders()
    /// Whether a list that came by https may name items with http.
    var allowsHTTP = false

    /// The maximum size of a list in bytes. A list is held in memory.
    private static let listByteCount = 256 << 20

    /// A client for lists and files; how many requests run at a time, and which are made again, is
    /// the synchronizer's business.
    ///
    /// - Parameter limits: The limits of each request; files of 64 GiB by default, which may take
    ///   as long as 16 KiB per second need.
    static func client(
        limits: HTTPClient.Limits = HTTPClient.Limits(bodyByteCount: 64 << 30, slowestByteRate: 16 << 10),
        requestsPerSecond: Double? = nil
    ) -> HTTPClient {
        HTTPClient(limits: limits, requestsPerSecond: requestsPerSecond, connectionCount: 4_096)
    }

    /// The header fields for an address: none for another origin than the list's.
    private func headers(for url: URL) -> HTTPHeaders {
        guard url.origin == listURL.origin else { return HTTPHeaders() }
        var fields = listURL.authorization
        fields.merge(headers)
        return fields
    }

    func owsSyncBegin() async throws {
        try folder.beginPass()
    }

    func owsFetchSourceList() async throws -> SourceList<MirrorItem> {
        let fields = headers(for: listURL)
        let list = try await client.data(from: listURL, limit: Self.listByteCount, headers: fields)
        let items = try MirrorList.items(
            from: Data(list), url: listURL.withoutUser, allowsHTTP: allowsHTTP,
            secrets: SentSecrets(headers: fields, url: listURL))
        return SourceList(items)
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
        let file = try await folder.receive { file in
            _ = try await client.download(from: url, to: file, headers: headers(for: url))
        }
        try folder.storePreview(file, of: item)
    }

    func owsDownloadItem(for item: MirrorItem) async throws {
        var byteCount = 0
        let file = try await folder.receive { file in
            byteCount = try await client.download(from: item.url, to: file, headers: headers(for: item.url))
        }
        try folder.storeContent(file, byteCount: byteCount, of: item)
    }

    func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
        folder.endPass()
    }
}
