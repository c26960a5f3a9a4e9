import Foundation
import HTTPTransfer
import SyncBase

/// The pages that a pass has read, to detect cycles.
struct PageTrail: Sendable {
    private let places = Locked<[String: Int]>([:])

    /// - Throws: ``HTTPError`` if the page was already read at another index.
    func check(_ token: String, index: Int, url: URL) throws {
        let place = places.withLock { $0[token] }
        if let place, place != index { throw HTTPError(url: url, problem: .pageLoop) }
    }

    /// - Throws: ``HTTPError`` if there are more pages than the limit.
    func visit(_ page: OpenPage, limit: Int) throws {
        if page.index >= limit { throw page.error(.tooManyPages(limit: limit)) }
        let token = page.token ?? page.fetch.url.absoluteString
        places.withLock { $0[token] = page.index }
    }
}
