import Foundation
import HTTPTransfer
import OneWaySynchronizer
import StoreSync
import SyncBase

/// Asks for pages, as often as they fail in a way that may pass.
struct PageOpener: Sendable {
    let source: HTTPJSONSource
    let keyPath: String
    /// What changes are asked for from; nil where everything is.
    var since: String?
    /// When the run must have ended, by the client's clock; nil for never.
    let deadline: Duration?

    private var client: HTTPClient { source.client }

    /// Asks for a page until it answers.
    ///
    /// - Parameters:
    ///   - known: What the page is told unchanged by; nil if it is wanted in any case.
    ///   - attempt: How often it was asked for, this time included.
    func open(
        _ token: String?, index: Int, known: SyncBookmark.Page? = nil, attempt: Int = 1
    ) async throws -> OpenPage {
        var attempt = attempt
        while true {
            let fetch = HTTPFetch(try order(token, known: known), by: client)
            do {
                return OpenPage(
                    token: token, index: index, fetch: fetch, head: try await fetch.head(), attempt: attempt)
            } catch {
                try await wait(after: error, attempt: attempt)
                attempt += 1
            }
        }
    }

    /// Waits before a page is asked for again.
    ///
    /// - Throws: The error, where there is no use in that.
    func wait(after error: any Error, attempt: Int) async throws {
        guard let delay = client.retry.delay(afterAttempt: attempt, error: error, random: client.random()) else {
            throw error
        }
        if let deadline, client.clock.now() + delay >= deadline { throw error }
        if let asked = (error as? HTTPError)?.retryAfter { client.pacer.pause(min(asked, delay)) }
        try await client.clock.sleep(delay)
    }

    private func order(_ token: String?, known: SyncBookmark.Page?) throws -> HTTPOrder<PageScanner> {
        var base = source.url
        if let since, let delta = source.delta { base = base.setting(delta.parameter, to: since) }
        guard let url = source.pages.url(token, base: base), url.isHTTP else {
            throw HTTPError(url: source.url, problem: .forbiddenAddress(PrintableText.line(token ?? "")))
        }
        var headers: HTTPHeaders = ["Accept": "application/json"]
        if let known {
            headers["If-None-Match"] = known.entityTag
            headers["If-Modified-Since"] = known.lastModified
        }
        var captures = source.pages.captures
        var element: String?
        switch source.delta?.cursor {
        case .document(let keyPath): captures.append(keyPath)
        case .element(let keyPath): element = keyPath
        case nil: break
        }
        if let total = source.totalKeyPath { captures.append(total) }
        let needsScan = source.pages.needsFacts || source.delta != nil || source.totalKeyPath != nil
        return HTTPOrder(
            json: HTTPRequest(url, headers: headers), secrets: source.headers, origin: source.url.origin,
            deadline: deadline,
            makeInspector: { [keyPath, captures, element] in
                needsScan ? PageScanner(keyPath: keyPath, captures: captures, cursor: element) : nil
            })
    }
}
