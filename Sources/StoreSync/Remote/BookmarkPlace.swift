import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// Identifies the bookmark of a source in a store.
struct BookmarkPlace: Sendable {
    /// The number of bookmarks kept in a store.
    private static let limit = 1_000

    /// The entity and the name of the source.
    let name: String
    /// A digest of everything that the bookmark depends on. If there is a scope, a period and a
    /// digest of the scope follow.
    let fingerprint: String

    /// Creates the place of a source's bookmark.
    ///
    /// - Parameter fingerprint: A digest of everything that the bookmark depends on except the
    ///   scope.
    init(of sourceName: String, _ request: SyncRequest, fingerprint: Fingerprint) {
        name = "\(request.entity) from \(sourceName)"
        self.fingerprint = ([fingerprint.text] + [Self.text(of: request.options.scope)].compactMap(\.self))
            .joined(separator: ".")
    }

    /// A digest of a scope; nil for all objects.
    private static func text(of scope: RecordPredicate) -> String? {
        guard scope != .constant(true) else { return nil }
        var fingerprint = Fingerprint()
        fingerprint.combine(scope)
        return fingerprint.text
    }

    /// Reads the bookmark; nil if there is none for this place.
    func read(_ reader: any StoreReader) async throws -> SyncBookmark? {
        guard let layout = reader.model.bookmarks,
            let record = try await reader.record(layout.name, key: .identity([.string(name)]))?.record,
            record["fingerprint"] == .string(fingerprint)
        else { return nil }
        var bookmark = SyncBookmark()
        if case .string(let cursor) = record["cursor"] { bookmark.cursor = cursor }
        if case .date(let date) = record["lastFullPass"] { bookmark.lastFullPass = date.date }
        if case .string(let pages) = record["pages"] { bookmark.pages = SyncBookmark.Page.list(parsing: pages) }
        return bookmark
    }

    /// Replaces the bookmark; nil removes it. Does nothing if the model lacks the entity.
    func write(_ bookmark: SyncBookmark?, _ transaction: any StoreTransaction) async throws {
        guard let layout = transaction.model.bookmarks else { return }
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
        let object = try await transaction.insert(record)
        try await Self.removeOldest(except: object, layout, transaction)
    }

    /// Removes the bookmarks beyond the limit. Those that began the earliest full passes go first.
    ///
    /// A source without its bookmark is read in full by its next sync.
    private static func removeOldest(
        except latest: ObjectID, _ layout: EntityLayout, _ transaction: any StoreTransaction
    ) async throws {
        let surplus = try await transaction.count(StoreQuery(layout.name)) - limit
        guard surplus > 0 else { return }
        let oldest = try await transaction.records(
            StoreQuery(layout.name, orderedBy: [Ordering("lastFullPass")], limit: surplus + 1))
        let removed = oldest.map(\.object).filter { $0 != latest }.prefix(surplus)
        _ = try await transaction.remove(StoreQuery(layout.name, objects: .only(removed.sorted())))
    }

    /// Invalidates the bookmarks of other syncs for the objects that a sync changed.
    ///
    /// Otherwise, a source that answers "unchanged" could not correct values that another list, a
    /// file or a push stored. Bookmarks of a changed entity lose their entity tags. If a list
    /// replaced all objects that another list covers too, the other list's bookmark is removed.
    ///
    /// - Parameters:
    ///   - isList: Whether the sync deleted absent objects.
    ///   - own: The place of the sync's own bookmark; nil if it has none.
    static func noteChanges(
        in result: StoreSyncResult, by request: SyncRequest, asList isList: Bool, except own: BookmarkPlace? = nil,
        _ transaction: any StoreTransaction
    ) async throws {
        let model = transaction.model
        let changed = result.countsByEntity.compactMap { $1.isUnchanged ? nil : model[$0] }
        guard !changed.isEmpty, let listed = model[request.entity],
            let bookmarks = model.bookmarks
        else { return }
        let scope = text(of: request.options.scope)
        for stored in try await transaction.records(StoreQuery(bookmarks.name)) {
            var record = stored.record
            guard case .string(let name) = record["name"], name != own?.name,
                let entity = name.firstRange(of: " from ").flatMap({ model[String(name[..<$0.lowerBound])] }),
                case .string(let fingerprint) = record["fingerprint"]
            else { continue }
            let otherScope = fingerprint.firstIndex(of: ".").map { String(fingerprint[$0...].dropFirst()) }
            // Lists with different scopes have no object in common.
            let isApart = scope != nil && otherScope != nil && scope != otherScope
            if isList, !isApart, !result.counts.isUnchanged, entity.overlaps(listed) {
                _ = try await transaction.remove(StoreQuery(bookmarks.name, objects: .only([stored.object])))
            } else if record["pages"] != .null,
                changed.contains(where: { entity.overlaps($0) && !(isApart && $0.overlaps(listed)) })
            {
                record["pages"] = .null
                try await transaction.insert(record)
            }
        }
    }
}

extension EntityLayout {
    /// Whether an object can be of both entities.
    fileprivate func overlaps(_ other: EntityLayout) -> Bool {
        isKind(of: other) || other.isKind(of: self)
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
