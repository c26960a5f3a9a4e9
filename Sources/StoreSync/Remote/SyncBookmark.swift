public import Foundation

/// The state of a source after a pass, from which the next pass asks only for changes.
///
/// A bookmark is an object of the store itself, so it is committed and erased with the data.
public struct SyncBookmark: Hashable, Sendable {
    /// The validators of a page, with which a server can report it as unchanged (RFC 9110, section
    /// 8.8).
    public struct Page: Hashable, Sendable {
        /// The token that requests the page; nil for the first page.
        public var token: String?
        /// The entity tag as sent by the server, including quotes.
        public var entityTag: String?
        /// The date of the last change as sent by the server.
        public var lastModified: String?

        /// Creates a page.
        public init(token: String?, entityTag: String? = nil, lastModified: String? = nil) {
            self.token = token
            self.entityTag = entityTag
            self.lastModified = lastModified
        }
    }

    /// The start of the next changes, in the source's own format; nil if the next pass cannot ask
    /// for changes.
    public var cursor: String?
    /// When the last full pass began, by the local clock; nil if there was none.
    public var lastFullPass: Date?
    /// All pages of the last pass, in order; empty unless each of them can be reported as
    /// unchanged.
    public var pages: [Page]

    /// Creates a bookmark.
    public init(cursor: String? = nil, lastFullPass: Date? = nil, pages: [Page] = []) {
        self.cursor = cursor
        self.lastFullPass = lastFullPass
        self.pages = pages
    }
}
