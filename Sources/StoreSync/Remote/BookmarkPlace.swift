import JSONMapper
import SyncModel
import SyncStore

/// The place of a bookmark in a store.
struct BookmarkPlace: Sendable {
    /// The source's name and the entity that it is synced into.
    let name: String
    /// A digest of everything that the bookmark depends on.
    let fingerprint: String

    /// Reads the bookmark; nil if there is none that applies.
    func read(_ reader: any StoreReader) async throws -> SyncBookmark? {
        guard reader.model[SyncBookmark.entity.name]?.entity.attributes == SyncBookmark.entity.attributes,
            let record = try await reader.record(SyncBookmark.entity.name, key: .identity([.string(name)]))?.record,
            record["fingerprint"] == .string(fingerprint)
        else { return nil }
        var bookmark = SyncBookmark()
        if case .string(let cursor) = record["cursor"] { bookmark.cursor = cursor }
        if case .date(let date) = record["lastFullPass"] { bookmark.lastFullPass = date.date }
        if case .string(let pages) = record["pages"] { bookmark.pages = SyncBookmark.Page.list(parsing: pages) }
        return bookmark
    }

    /// Replaces the bookmark, or removes it for nil. Does nothing if the model lacks the entity.
    func write(_ bookmark: SyncBookmark?, _ transaction: any StoreTransaction) async throws {
        guard let layout = transaction.model[SyncBookmark.entity.name] else { return }
        var record = Record(of: layout)
        record["name"] = .string(name)
        guard let bookmark else {
            if let kept = try await transaction.record(layout.name, key: .identity([.string(name)])) {
                _ = try await transaction.remove(StoreQuery(layout.name, objects: .only([kept.object])))
            }
            return
        }
        record["fingerprint"] = .string(fingerprint)
        record["cursor"] = bookmark.cursor.map { .string($0) } ?? .null
        record["lastFullPass"] = bookmark.lastFullPass.map { .date(Timestamp($0)) } ?? .null
        record["pages"] = bookmark.pages.isEmpty ? .null : .string(SyncBookmark.Page.text(bookmark.pages))
        try await transaction.insert(record)
    }
}

extension SyncBookmark.Page {
    /// Encodes pages as a JSON array of arrays of token, entity tag and date.
    fileprivate static func text(_ pages: [Self]) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        for page in pages {
            writer.beginArray()
            for part in [page.token, page.entityTag, page.lastModified] {
                if let part { writer.string(part) } else { writer.null() }
            }
            writer.endArray()
        }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Decodes pages; empty if the text was not written by `text(_:)`.
    fileprivate static func list(parsing text: String) -> [Self] {
        guard case .array(let pages) = try? JSONValue(parsing: text) else { return [] }
        return pages.map { page in
            let parts = (0..<3).map { index -> String? in
                if case .string(let text) = page[index] { text } else { nil }
            }
            return Self(token: parts[0], entityTag: parts[1], lastModified: parts[2])
        }
    }
}
