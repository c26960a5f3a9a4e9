import Foundation
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncBase

/// A pass through the pages of an HTTP source. It requests the next page while the current one is
/// read.
actor HTTPPass: RemotePass {
    private let source: HTTPJSONSource
    private let secrets: SecretParameters
    private let bookmark: SyncBookmark?
    private let beginDate: Date
    private var opener: PageOpener
    private var isDelta: Bool

    /// The pages of the last pass in order, if each can be requested conditionally.
    private var known: [SyncBookmark.Page]
    /// The current page: the last one that was returned.
    private var current: OpenPage?
    /// A page without a list, which is returned as an empty page.
    private var listless: (page: OpenPage, facts: PageFacts)?
    /// The next page, if its response has arrived: the first page, or one that is read again.
    private var ready: OpenPage?
    /// The request for the page after the current one.
    private var ahead: Task<OpenPage?, any Error>?
    private var trail = PageTrail()
    private var freshness = PageFreshness()
    /// The pages that were read, for the bookmark.
    private var visited: [SyncBookmark.Page] = []
    /// The latest cursors of this reading.
    private var reach: CursorReach
    /// The latest cursors of the previous reading; nil in the first one.
    private var reachBefore: CursorReach?
    /// The number of all objects, as stated by the previous page.
    private var total: Int?
    /// Whether all pages stated an exact number.
    private var isTotalExact = true
    /// The credentials that the pass has sent.
    private var sent = SentSecrets()
    /// The server's clock at the beginning of the pass.
    private var serverDate: Date?
    private var completeness: PageCompleteness
    /// The completeness of the previous reading; nil in the first one.
    private var completenessBefore: PageCompleteness?

    init(_ source: HTTPJSONSource, after bookmark: SyncBookmark?, keyPath: String) throws {
        var source = source
        source.api.pages = source.api.pages.reading(listAt: keyPath)
        if let inner = source.api.delta?.innerTombstones, !JSONKeyPath.list(at: keyPath).object.isEmpty {
            source.api.delta?.tombstones = inner
        }
        try source.checkFormat(keyPath: keyPath)
        self.source = source
        self.bookmark = bookmark
        let secrets = SecretParameters(of: source)
        self.secrets = secrets
        completeness = PageCompleteness(source, keyPath: keyPath)
        let client = source.client
        beginDate = client.date()
        var since: String?
        if let delta = source.api.delta, let cursor = bookmark?.cursor,
            Self.isFresh(bookmark?.lastFullPass, beginDate, delta)
        {
            switch delta.cursor {
            case .element: since = SyncCursor(text: cursor).earlier(by: delta.overlap).text
            case .document: since = cursor
            case .address: since = secrets.restored(cursor)
            }
        }
        isDelta = since != nil
        reach = CursorReach(since: since)
        opener = PageOpener(
            source: source, keyPath: keyPath, since: since, deadline: source.timeout.map { client.clock.now() + $0 })
        // The bookmark's pages apply only to a request for the same changes.
        let asked = since.map { secrets.removed(from: $0, sent: SentSecrets()) ?? "" }
        known = bookmark?.pages.first?.token == asked ? bookmark?.pages ?? [] : []
        if !known.isEmpty { known[0].token = nil }
        for index in known.indices {
            known[index].token = known[index].token.map { secrets.restored($0) }
        }
    }

    deinit {
        ahead?.cancel()
    }

    /// Whether it is sufficient to read the changes since the last full pass.
    private static func isFresh(_ lastFullPass: Date?, _ now: Date, _ delta: HTTPAPI.Delta) -> Bool {
        guard let lastFullPass else { return false }
        guard let interval = delta.fullPassInterval else { return true }
        // A date in the future, by more than a store's rounding, means that a clock was set back.
        let age = now.timeIntervalSince(lastFullPass)
        return age > -1 && age < interval / .seconds(1)
    }

    // MARK: Begin

    /// Requests the pages of the last pass, or else the first page.
    ///
    /// - Returns: Whether there may be changes.
    func begin() async throws -> Bool {
        do {
            guard try await !isUnchanged() else { return false }
        } catch let error as HTTPError where !error.isRetryable {
            // A page that is gone, a cursor that has expired, or a condition that the server
            // refuses: only a request without conditions tells what is wrong.
        }
        visited = []
        if ready == nil { ready = try await open(nil, index: 0) }
        return true
    }

    /// Whether all pages of the last pass are unchanged.
    private func isUnchanged() async throws -> Bool {
        for (index, page) in known.enumerated() {
            let token = page.token
            let answer = try await open(token, index: index, known: page)
            guard answer.isUnchanged else {
                // Reading cannot continue from a later page, because the pages before it have not
                // been read.
                if index == 0 { ready = answer }
                return false
            }
            let isLast = index == known.count - 1
            if isLast, source.api.pages.isSteeredBesideBody, try await hasGrown(answer, page) { return false }
            if !isLast, answer.head.headers["Link"] != nil, case .linkHeader = source.api.pages.pointer,
                try answer.nextToken(source.api.pages, facts: PageFacts()) != known[index + 1].token
            {
                return false
            }
            visited.append(page)
        }
        return !known.isEmpty
    }

    /// Whether another page now follows the last one, although the body of the last one is
    /// unchanged.
    private func hasGrown(_ answer: OpenPage, _ page: SyncBookmark.Page) async throws -> Bool {
        if case .linkHeader = source.api.pages.pointer, answer.head.headers["Link"] != nil {
            return try answer.nextToken(source.api.pages, facts: PageFacts()) != nil
        }
        // A response with status 304 may lack the fields that lead to the next page.
        let whole = try await open(answer.token, index: answer.index)
        while try await whole.fetch.nextPiece() != nil {}
        guard whole.bookmark == page else { return true }
        return try await Self.page(after: whole, source, opener, trail) != nil
    }

    /// Requests a page. If the server reports that the cursor is too old, requests the first of all
    /// pages instead.
    private func open(_ token: String?, index: Int, known: SyncBookmark.Page? = nil) async throws -> OpenPage {
        do {
            return try await opener.open(token, index: index, known: known)
        } catch let error as HTTPError where isDelta && source.api.delta?.isTooOld(error) == true {
            return try await openAll()
        }
    }

    /// Requests all objects after a request for changes.
    private func openAll() async throws -> OpenPage {
        isDelta = false
        opener.since = nil
        startOver()
        (reachBefore, completenessBefore) = (nil, nil)
        return try await opener.open(nil, index: 0)
    }

    private func startOver() {
        ahead?.cancel()
        (ahead, current, ready, listless) = (nil, nil, nil, nil)
        trail = PageTrail()
        freshness.beginAgain()
        completeness = PageCompleteness(source, keyPath: opener.keyPath)
        visited = []
        reach = CursorReach(since: opener.since)
    }

    // MARK: Pages

    func next() async throws -> RemotePage? {
        if let (page, facts) = listless {
            (current, listless) = (page, nil)
            let body = try source.emptyBody(at: opener.keyPath, facts)
            return RemotePage(.bytes(body), tombstones: source.api.delta?.tombstones)
        }
        try await finishCurrent()
        guard let page = try await nextPage() else { return nil }
        try trail.visit(page, limit: source.maximumPageCount)
        current = page
        freshness.note(page.head, isOpenEnded: source.api.format.isOpenEnded)
        if serverDate == nil { serverDate = page.head.headers["Date"].flatMap { HTTPDate.parse($0) } }
        let (source, opener, trail) = (source, opener, trail)
        ahead = Task { try await Self.page(after: page, source, opener, trail) }
        var remotePage = RemotePage(
            .chunks(FetchedBody(fetch: page.fetch, format: source.api.format, endSign: source.api.endSign)),
            tombstones: source.api.delta?.tombstones,
            totalElementCount: total ?? source.statedTotal(page.head, PageFacts()))
        remotePage.isOpenEnded = source.api.format.isOpenEnded
        return remotePage
    }

    /// The findings in a page that was not read to its end; empty if the rest does not arrive.
    private func factsOfRest(of page: OpenPage) async throws -> PageFacts {
        guard source.api.check != nil || source.api.omitsEmptyLists || source.api.format.isOpenEnded else {
            return PageFacts()
        }
        do {
            // The scanner sees the bytes that were taken, and a few more.
            while try await page.fetch.nextPiece() != nil {}
            return try await page.facts()
        } catch {
            try Task.checkCancellation()
            return PageFacts()
        }
    }

    private func nextPage() async throws -> OpenPage? {
        if let ready {
            self.ready = nil
            return ready
        }
        guard let ahead else { return try await open(nil, index: 0) }
        self.ahead = nil
        do {
            return try await withTaskCancellationHandler {
                try await ahead.value
            } onCancel: {
                ahead.cancel()
            }
        } catch let error as HTTPError where isDelta && source.api.delta?.isTooOld(error) == true {
            // The store has merged pages of changes, which are no part of the whole list.
            throw ExpiredCursor()
        }
    }

    /// Requests the page after another one; nil after the last.
    private static func page(
        after page: OpenPage, _ source: HTTPJSONSource, _ opener: PageOpener, _ trail: PageTrail
    ) async throws -> OpenPage? {
        let facts = source.api.pages.needsFacts ? try await page.facts() : PageFacts()
        if let digest = facts.digest, digest == page.digestBefore, facts.elementCount > 0 {
            throw page.error(.repeatedPage)
        }
        guard let token = try page.nextToken(source.api.pages, facts: facts) else {
            // Without a link in the head, the body may still say that more pages follow.
            if !source.api.pages.needsFacts, source.api.pages.usualSigns != nil {
                _ = try page.nextToken(source.api.pages, facts: try await page.facts())
            }
            return nil
        }
        try trail.check(token, index: page.index + 1, url: page.head.url)
        do {
            var next = try await opener.open(token, index: page.index + 1)
            next.elementCountBefore = facts.elementCount
            next.elementCountUpTo = page.elementCountUpTo + facts.elementCount
            next.digestBefore = facts.digest
            next.tombstonesBefore = facts.tombstones
            return next
        } catch let error as HTTPError {
            // A failure is not the end if the server indicates that more pages follow.
            guard case .status(let status, _, _) = error.problem, source.api.pages.endStatuses.contains(status),
                try page.signs(source.api.pages, facts: facts).more == nil
            else { throw error }
            return nil
        }
    }

    /// Processes the findings in the current page, after it has been read.
    private func finishCurrent() async throws {
        guard let page = current else { return }
        current = nil
        visited.append(page.bookmark)
        if visited.count == 1 { sent = page.fetch.secrets }
        let facts = opener.needsFacts ? try await page.facts() : PageFacts()
        if let failure = source.failure(in: facts, isWhole: true) { throw page.refusal(failure) }
        try completeness.note(page, facts)
        total = source.statedTotal(page.head, facts) ?? total
        if !source.statesExactTotal(facts) { isTotalExact = false }
        guard let delta = source.api.delta else { return }
        switch delta.cursor {
        case .element: reach.extend(by: facts.cursors, isFirstPage: page.index == 0)
        case .document(let keyPath):
            let found = facts.captured[keyPath].flatMap { SyncCursor($0) }
            // A cursor that leads on covers the pages before it. Another one is safe if it is
            // early.
            reach.stated = delta.continuesPages ? found ?? reach.stated : reach.stated ?? found
        case .address(let keyPath):
            guard let value = facts.captured[keyPath], value != .null else { return }
            guard case .string(let text) = value else {
                throw page.error(.unsuitablePointer(keyPath: keyPath, found: value.kindName))
            }
            do throws(HTTPError.Problem) {
                reach.stated = SyncCursor(text: try page.head.url.following(text).absoluteString)
            } catch {
                throw page.error(error)
            }
        }
    }

    func recover(from error: any Error) async throws {
        guard let page = current else { throw error }
        var error = error
        if let json = error as? JSONError {
            if source.api.format.isOpenEnded, let failure = try await factsOfRest(of: page).failure {
                throw page.refusal(failure)
            }
            if case .malformed(.unexpectedEnd, let location) = json {
                let isEmpty = location.byteOffset == 0 && page.fetch.firstLine.isEmpty
                error = page.error(isEmpty ? .emptyBody : .cutShort(received: location.byteOffset, expected: nil))
            } else {
                let facts = try await factsOfRest(of: page)
                if let failure = source.failure(in: facts, isWhole: false) { throw page.refusal(failure) }
                // An element without the inner key of a path such as `items[].value` is in a list.
                let isInElement = json.location?.keyPath.contains("[") == true
                if json.reason == .keyPathNotFound, !isInElement, source.isListless(facts) {
                    listless = (page, facts)
                    current = nil
                    return
                }
                // The key path of deeply nested JSON is long.
                var reason = PrintableText.line("\(json)", limit: 600)
                if json.reason == .notAnArray {
                    let place = opener.keyPath.isEmpty ? "the page" : opener.keyPath
                    reason =
                        "\(place) is no list; the key path must lead to the list, or end with {id} for members: \(reason)"
                }
                throw page.error(.unsuitableJSON(reason, firstLine: page.fetch.firstLine))
            }
        }
        try await page.retries.wait(after: error)
        ahead?.cancel()
        (ahead, current) = (nil, nil)
        var again = try await opener.open(page.token, index: page.index, retries: page.retries)
        again.elementCountBefore = page.elementCountBefore
        again.elementCountUpTo = page.elementCountUpTo
        again.digestBefore = page.digestBefore
        again.tombstonesBefore = page.tombstonesBefore
        ready = again
    }

    // MARK: End

    func rewind() async throws {
        try await finishCurrent()
        (reachBefore, completenessBefore) = (reach, completeness)
        opener.bypassesCaches = true
        startOver()
    }

    func end() async throws -> RemoteEnd {
        try await finishCurrent()
        var remoteEnd = lastBookmarks()
        guard !visited.isEmpty else { return remoteEnd }
        remoteEnd.doubt =
            freshness.doubt ?? completeness.doubt(isDelta: isDelta)
            ?? completenessBefore.flatMap { completeness.doubt(after: $0) }
        // A proxy can end a body that broke off between two lines as if it were whole.
        if source.api.format.isOpenEnded { remoteEnd.proof = source.api.endSign == nil ? nil : .endSign }
        remoteEnd.warnings += completeness.warnings(isDelta: isDelta)
        if isTotalExact { remoteEnd.totalElementCount = total ?? completeness.usualTotal }
        remoteEnd.advice = completeness.advice
        return remoteEnd
    }

    private func lastBookmarks() -> RemoteEnd {
        var end = SyncBookmark()
        if !visited.contains(where: { $0.entityTag == nil && $0.lastModified == nil }) {
            end.pages = visited
            if !end.pages.isEmpty { end.pages[0].token = opener.since }
            // A secret in a link or in a returned tag must not be stored.
            let tokens = end.pages.map { page in
                page.token.map { bareAddress($0) }
            }
            let hasSecretTag = end.pages.contains { sent.isFound(in: ($0.entityTag ?? "") + ($0.lastModified ?? "")) }
            if hasSecretTag || tokens.contains(where: { $0 == .some(nil) }) {
                end.pages = []
            } else {
                for (index, token) in tokens.enumerated() { end.pages[index].token = token ?? nil }
            }
        }
        guard let delta = source.api.delta else {
            return RemoteEnd(.everything, isSnapshot: source.api.isSnapshot, bookmark: end)
        }
        let kept = bookmark?.cursor.map { SyncCursor(text: $0) }
        end.lastFullPass = isDelta ? bookmark?.lastFullPass : beginDate
        var cursor = reach.latest
        switch delta.cursor {
        case .element: cursor = certainReach
        case .document: break
        case .address:
            cursor = cursor.flatMap { bareAddress($0.text) }.map { SyncCursor(text: $0) }
            end.cursor = cursor?.text ?? (isDelta ? kept?.text : nil)
            return RemoteEnd(
                isDelta ? .changes : .everything, isSnapshot: source.api.isSnapshot, bookmark: end,
                cautiousBookmark: isDelta ? bookmark : delta.coversFullPass ? end : nil)
        }
        // Nothing is new, or the overlap returned only known objects.
        if let found = cursor, sent.isFound(in: found.text) { cursor = nil }
        if let kept, isDelta || visited == bookmark?.pages, cursor.map({ isEarlier($0, kept, delta) }) ?? true {
            cursor = kept
        }
        end.cursor = cursor?.text
        // If changes are ordered, none on the first page can have been missed, even if objects
        // moved between the other pages.
        let certain =
            reach.isAscending && !source.api.format.isOpenEnded
            ? reach.latestOfFirstPage?.limited(to: serverDate ?? beginDate) : nil
        guard isDelta, var cautious = bookmark else {
            var cautious = end
            if !delta.coversFullPass { cautious.cursor = certain?.text }
            return RemoteEnd(.everything, isSnapshot: source.api.isSnapshot, bookmark: end, cautiousBookmark: cautious)
        }
        if let certain, let kept, kept < certain {
            cautious.cursor = certain.text
            cautious.pages = []
        }
        return RemoteEnd(.changes, isSnapshot: source.api.isSnapshot, bookmark: end, cautiousBookmark: cautious)
    }

    /// Whether the objects reach less far than before. A cursor that the server states for the
    /// whole list has no order.
    private func isEarlier(_ cursor: SyncCursor, _ kept: SyncCursor, _ delta: HTTPAPI.Delta) -> Bool {
        if case .element = delta.cursor { cursor < kept } else { false }
    }

    /// The address without credentials; nil if it contains one that cannot be restored.
    private func bareAddress(_ address: String) -> String? {
        secrets.removed(from: address, sent: sent)
    }

    /// The latest cursor before which no change can have been missed.
    private var certainReach: SyncCursor? {
        guard let latest = reach.latest else { return nil }
        if let serverDate { return latest.limited(to: serverDate) }
        // Without the server's clock, only the first page, or the previous reading, is certain to
        // be complete.
        let certain = reachBefore == nil ? reach.latestOfFirstPage : reachBefore?.latest
        return certain.map { .earlier(latest, $0).limited(to: beginDate) }
    }
}
