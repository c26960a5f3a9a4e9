public import Foundation
public import SyncModel

/// The state of a source after a pass, from which the next pass asks only for changes.
///
/// A bookmark is kept as an object of the store itself, so that it is committed with the data and
/// erased with it. A model makes room for it by ``entity``:
///
///     let mapper = try RecordMapper(model.adding([SyncBookmark.entity]))
///
/// Without that, every pass reads everything.
public struct SyncBookmark: Hashable, Sendable {
    /// The validators of a page, by which a server can report it unchanged (RFC 9110, section 8.8).
    public struct Page: Hashable, Sendable {
        /// The token the page was asked for by; nil for the first page.
        public var token: String?
        /// The entity tag as the server wrote it, including quotes.
        public var entityTag: String?
        /// The date of the last change as the server wrote it.
        public var lastModified: String?

        /// Creates a page.
        public init(token: String?, entityTag: String? = nil, lastModified: String? = nil) {
            self.token = token
            self.entityTag = entityTag
            self.lastModified = lastModified
        }
    }

    /// The start of the next changes in the source's own terms; nil if changes are not asked for.
    public var cursor: String?
    /// When the last full pass began, by this machine's clock; nil if there was none.
    public var lastFullPass: Date?
    /// All pages of the last pass, in order; empty unless each can be reported unchanged.
    public var pages: [Page]

    /// Creates a bookmark.
    public init(cursor: String? = nil, lastFullPass: Date? = nil, pages: [Page] = []) {
        self.cursor = cursor
        self.lastFullPass = lastFullPass
        self.pages = pages
    }

    /// The entity that bookmarks are objects of.
    public static let entity = SyncEntity(
        "SyncBookmark", identity: "name", userInfo: [SyncEntity.bookkeepingAnnotation: "true"]
    ) {
        SyncAttribute("name", .string, optional: false)
        SyncAttribute("fingerprint", .string)
        SyncAttribute("cursor", .string)
        SyncAttribute("lastFullPass", .date)
        SyncAttribute("pages", .string)
    }
}
