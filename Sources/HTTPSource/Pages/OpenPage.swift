import Foundation
import HTTPTransfer
import StoreSync

/// A page that answers.
struct OpenPage: Sendable {
    /// What it was asked for by; nil for the first.
    let token: String?
    /// Its place, from 0.
    let index: Int
    let fetch: HTTPFetch<PageScanner>
    let head: HTTPHead
    /// How often it has been asked for.
    let attempt: Int

    /// Whether it is as it was.
    var isUnchanged: Bool { head.status == 304 }

    /// What the next page is asked for by; nil after the last.
    ///
    /// - Parameter facts: What was found in this one, where that is needed.
    func nextToken(_ pages: HTTPPages, facts: PageFacts) throws -> String? {
        do {
            return try pages.token(after: head, index: index, token: token, facts: facts)
        } catch let problem as HTTPError.Problem {
            throw HTTPError(url: head.url, problem: problem)
        }
    }

    /// The findings of the scanner, once the whole page has arrived.
    func facts() async throws -> PageFacts {
        try await fetch.facts() ?? PageFacts()
    }

    /// What is kept of it, to ask for it conditionally.
    ///
    /// A date of change is of use only if the server answered a second later or more: until then
    /// the page could change again and have the same date (RFC 9110, section 8.8.2.2).
    var bookmark: SyncBookmark.Page {
        var bookmark = SyncBookmark.Page(token: token, entityTag: head.headers["ETag"])
        if let text = head.headers["Last-Modified"], let modified = HTTPDate.parse(text),
            let date = head.headers["Date"].flatMap({ HTTPDate.parse($0) }), date.timeIntervalSince(modified) >= 1
        {
            bookmark.lastModified = text
        }
        return bookmark
    }
}
