public import Foundation
import JSONMapper
public import SyncModel
import SyncStore

/// What a source is to be told at the next run, so that it need not say again what the store has.
///
/// Kept as an object of the store itself, so that it is committed with the data it speaks of, and erased with it. A model makes room for
/// it by ``entity``:
///
///     let mapper = try RecordMapper(model.adding([SyncBookmark.entity]))
///
/// Without that, every run is one over everything.
public struct SyncBookmark: Hashable, Sendable {
    /// What a page of the last run is told unchanged by (RFC 9110, section 8.8).
    public struct Page: Hashable, Sendable {
        /// What the page was asked for by; nil for the first.
        public var token: String?
        /// Its entity tag as the server wrote it, quotes included.
        public var entityTag: String?
        /// Its date of last change as the server wrote it.
        public var lastModified: String?

        /// Makes a page.
        public init(token: String?, entityTag: String? = nil, lastModified: String? = nil) {
            self.token = token
            self.entityTag = entityTag
            self.lastModified = lastModified
        }
    }

    /// Where what has changed begins, in the source's own words; nil if that was not asked for.
    public var cursor: String?
    /// When the last run over everything began, by this machine's clock; nil if there was none.
    public var lastFullRun: Date?
    /// All pages of the last run, in order; empty unless each can be told unchanged.
    public var pages: [Page]

    /// Makes a bookmark.
    public init(cursor: String? = nil, lastFullRun: Date? = nil, pages: [Page] = []) {
        self.cursor = cursor
        self.lastFullRun = lastFullRun
        self.pages = pages
    }

    /// The entity that bookmarks are objects of.
    public static let entity = SyncEntity("SyncBookmark", identity: "name") {
        SyncAttribute("name", .string, optional: false)
        SyncAttribute("fingerprint", .string)
        SyncAttribute("cursor", .string)
        SyncAttribute("lastFullRun", .date)
        SyncAttribute("pages", .string)
    }
}

/// The place of a bookmark in a store.
struct BookmarkPlace: Sendable {
    /// The source's name and the entity that it is synced into.
    let name: String
    /// All that must be as it was for the bookmark to apply.
    let fingerprint: String

    /// The bookmark that is kept here and applies; nil if there is none.
    func read(_ reader: any StoreReader) async throws -> SyncBookmark? {
        guard reader.model[SyncBookmark.entity.name]?.entity.attributes == SyncBookmark.entity.attributes,
            let record = try await reader.record(SyncBookmark.entity.name, key: .identity([.string(name)]))?.record,
            record["fingerprint"] == .string(fingerprint)
        else { return nil }
        var bookmark = SyncBookmark()
        if case .string(let cursor) = record["cursor"] { bookmark.cursor = cursor }
        if case .date(let date) = record["lastFullRun"] { bookmark.lastFullRun = date.date }
        if case .string(let pages) = record["pages"] { bookmark.pages = SyncBookmark.Page.list(parsing: pages) }
        return bookmark
    }

    /// Keeps a bookmark in place of the one there is; nil for none. Does nothing in a store that has no room for it.
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
        record["lastFullRun"] = bookmark.lastFullRun.map { .date(Timestamp($0)) } ?? .null
        record["pages"] = bookmark.pages.isEmpty ? .null : .string(SyncBookmark.Page.text(bookmark.pages))
        try await transaction.insert(record)
    }
}

extension SyncBookmark.Page {
    /// Pages as they are kept: a JSON array of arrays of token, entity tag and date.
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

    /// None where the text is not one of ``text(_:)``.
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
