import Foundation
import OneWaySynchronizer

/// Mirrors the items that a server lists into a folder.
struct MirrorProcessor: SyncProcessor {
    let listURL: URL
    let folder: MirrorFolder
    let client: HTTPClient

    func owsSyncBegin() async throws {
        try folder.beginPass()
    }

    func owsFetchSourceList() async throws -> SourceList<MirrorItem> {
        SourceList(try MirrorList.items(from: try await client.list(from: listURL), url: listURL))
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
