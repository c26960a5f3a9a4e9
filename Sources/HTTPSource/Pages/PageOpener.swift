import Foundation
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncBase

/// Requests pages, and repeats requests after temporary failures.
struct PageOpener: Sendable {
    let source: HTTPJSONSource
    let keyPath: String
    /// The cursor after which changes are requested; nil to request everything.
    var since: String?
    /// When the pass must have ended, by the client's clock; nil for no limit.
    let deadline: Duration?
    /// Whether caches must not respond, because the pages are read again as proof. For formats that
    /// end with their body, compression is declined as well, because it could hide a truncated
    /// page.
    var bypassesCaches = false

    private var client: HTTPClient { source.client }

    /// Requests a page until it responds.
    ///
    /// - Parameters:
    ///   - known: The validators for a conditional request; nil for an unconditional one.
    ///   - retries: The retries of the page; nil, the default, for a page that was not requested
    ///     before.
    func open(
        _ token: String?, index: Int, known: SyncBookmark.Page? = nil, retries: RequestRetries? = nil
    ) async throws -> OpenPage {
        let retries = retries ?? RequestRetries(by: client, deadline: deadline)
        while true {
            let order = HTTPOrder(
                json: try request(token, known: known), secrets: source.allHeaders, source: source.url,
                retries: retries, makeInspector: inspector)
            let fetch = HTTPFetch(order, by: client)
            do {
                return OpenPage(
                    token: token, index: index, fetch: fetch, head: try await fetch.head(), retries: retries)
            } catch {
                try await retries.wait(after: error)
            }
        }
    }

    private func request(_ token: String?, known: SyncBookmark.Page?) throws -> HTTPRequest {
        var request = HTTPRequest(source.url, headers: ["Accept": "application/json"])
        switch source.api.format {
        case .array, .jsonAPI: break
        case .lines: request.headers["Accept"] = "application/x-ndjson, application/json"
        case .events: request.headers["Accept"] = "text/event-stream, application/json"
        }
        if let body = source.api.body {
            var writer = JSONWriter()
            try writer.value(body)
            request.method = "POST"
            request.body = writer.bytes
            request.headers["Content-Type"] = "application/json"
        }
        do {
            if let since, let delta = source.api.delta {
                if case .address = delta.cursor {
                    request.url = try HTTPAddress.parse(since, relativeTo: source.url)
                } else if !delta.continuesPages {
                    request.url = request.url.setting(delta.parameter, to: since)
                }
            }
            request = try source.api.pages.request(token ?? continuedToken, base: request)
        } catch let error as HTTPAddressError {
            throw HTTPError(url: source.url, problem: .forbiddenAddress("\(error.reason)", target: error.name))
        }
        guard request.url.isHTTP else {
            throw HTTPError(
                url: source.url,
                problem: .forbiddenAddress("cannot be requested", target: HTTPAddress.displayName(token ?? "")))
        }
        if bypassesCaches {
            request.headers["Cache-Control"] = "no-cache"
            if source.api.format.isOpenEnded { request.headers["Accept-Encoding"] = "identity" }
        }
        if let known {
            // A bookmark is data of the store. Without validators, the page is read again.
            request.headers["If-None-Match"] = known.entityTag.flatMap { HTTPHeaders.isValue($0) ? $0 : nil }
            request.headers["If-Modified-Since"] = known.lastModified.flatMap { HTTPHeaders.isValue($0) ? $0 : nil }
        }
        return request
    }

    /// The token of the first page of changes, if it is requested as the page after the last one.
    private var continuedToken: String? {
        guard let since, source.api.delta?.continuesPages == true else { return nil }
        return source.api.pages.token(ofCursor: since)
    }

    /// Creates the scanner of a page; nil if there is nothing to find.
    private var inspector: @Sendable () -> PageScanner? {
        let pages = source.api.pages
        var plan = PageScanner.Plan(keyPath: keyPath, format: source.api.format, captures: pages.captures)
        plan.endSign = source.api.endSign
        if case .lastElement(let keyPath) = pages.pointer { plan.lastElement = keyPath }
        plan.wantsDigest = pages.isCounting
        if case .element(let keyPath) = source.api.delta?.cursor { plan.cursor = keyPath }
        if let keyPath = source.api.delta?.cursor.pageKeyPath { plan.captures.append(keyPath) }
        if case .list(let keyPath) = source.api.delta?.tombstones { plan.tombstones = keyPath }
        plan.captures += [source.api.totalKeyPath, source.api.totalRelationKeyPath].compactMap(\.self)
        plan.names = usualNames
        if source.api.format.isOpenEnded {
            plan.check = source.api.check
        } else {
            plan.captures += source.api.check?.captures ?? []
        }
        plan.captures = plan.captures.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        let isNeeded = needsFacts
        return { [plan] in isNeeded ? PageScanner(plan) : nil }
    }

    /// Key paths of values beside the objects that may show more pages than are requested, or may
    /// report an error; empty if nothing is beside the objects.
    private var usualNames: [String] {
        guard !source.api.format.isOpenEnded else { return [] }
        return UnreadPages(beside: keyPath).names + (ErrorSigns(source, beside: keyPath)?.names ?? [])
    }

    /// Whether there is something to find in a page.
    var needsFacts: Bool {
        if case .events = source.api.format { return true }
        return source.api.endSign != nil || source.api.pages.needsFacts || source.api.delta != nil
            || source.api.totalKeyPath != nil || source.api.check != nil || !usualNames.isEmpty
    }
}
