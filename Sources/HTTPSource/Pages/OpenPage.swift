import Foundation
import HTTPTransfer
import JSONMapper
import StoreSync

/// A page whose response has begun.
struct OpenPage: Sendable {
    /// The token with which the page was requested; nil for the first page.
    let token: String?
    /// The index of the page, from 0.
    let index: Int
    let fetch: HTTPFetch<PageScanner>
    let head: HTTPHead
    /// The retries of the page.
    let retries: RequestRetries
    /// The number of objects of the previous page; nil for the first page.
    var elementCountBefore: Int?
    /// The number of objects of all previous pages.
    var elementCountUpTo = 0
    /// The digest of the previous page.
    var digestBefore: Int?
    /// The tombstones of the previous page.
    var tombstonesBefore: [JSONValue] = []

    /// Whether the server reports the page as unchanged.
    var isUnchanged: Bool { head.status == 304 }

    /// The token of the next page; nil after the last.
    ///
    /// - Parameter facts: The findings in this page, if the pages need them.
    func nextToken(_ pages: HTTPAPI.Pages, facts: PageFacts) throws -> String? {
        try located { try pages.token(after: self, facts: facts) }
    }

    /// The page's signs that more pages follow or not.
    func signs(_ pages: HTTPAPI.Pages, facts: PageFacts) throws -> PageSigns {
        try located { try pages.signs(of: self, facts: facts) }
    }

    private func located<Result>(_ read: () throws -> Result) throws -> Result {
        do { return try read() } catch let problem as HTTPError.Problem { throw error(problem) }
    }

    /// The error of the page, without the credentials that were sent.
    func error(_ problem: HTTPError.Problem) -> HTTPError {
        fetch.secrets.error(at: head.url, problem)
    }

    /// The error that the body reports.
    func refusal(_ failure: HTTPAPI.ReplyCheck.Failure) -> HTTPError {
        error(
            .refused(failure.sign, text: PrintableText.line(fetch.secrets.redacted(failure.text), limit: 200)))
    }

    /// The findings of the scanner, once the whole page has arrived.
    func facts() async throws -> PageFacts {
        try await fetch.facts() ?? PageFacts()
    }

    /// The validators of the page for a bookmark.
    ///
    /// A validator that no request can send back counts as missing.
    /// A modification date counts only if the server responded at least a second later. Until then,
    /// the page could change again and keep its date (RFC 9110, section 8.8.2.2). The same applies
    /// to the entity tag, which servers of files derive from the date and the size.
    var bookmark: SyncBookmark.Page {
        var bookmark = SyncBookmark.Page(token: token, entityTag: head.headers.returnable("ETag"))
        if head.headers.isJustModified { bookmark.entityTag = nil }
        guard let text = head.headers.returnable("Last-Modified"), HTTPDate.parse(text) != nil,
            head.headers["Date"].flatMap({ HTTPDate.parse($0) }) != nil, !head.headers.isJustModified
        else { return bookmark }
        bookmark.lastModified = text
        return bookmark
    }
}
