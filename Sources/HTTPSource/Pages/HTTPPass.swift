import Foundation
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncBase

/// A run through the pages of an HTTP source: hands out one page, while it asks for the next.
actor HTTPPass: RemotePass {
    private let source: HTTPJSONSource
    private let bookmark: SyncBookmark?
    private let beginDate: Date
    private var opener: PageOpener
    private var isDelta: Bool

    /// The pages of the last run, in their order, if each can be asked for conditionally.
    private var known: [SyncBookmark.Page]
    /// The page that was handed out last.
    private var current: OpenPage?
    /// The page that comes next, if it answers already: the first, or one that is to be read again.
    private var ready: OpenPage?
    /// The page after the current one, on its way.
    private var ahead: Task<OpenPage?, any Error>?
    private var trail = PageTrail()
    /// The pages that were read, for the bookmark.
    private var visited: [SyncBookmark.Page] = []
    /// How far what was read reaches.
    private var reach = CursorReach()
    /// How far what was read the time before reaches; nil the first time.
    private var reachBefore: CursorReach?
    /// How many objects there are in all, as the page before said.
    private var total: Int?
    /// The server's clock at the begin of the run.
    private var serverDate: Date?

    init(_ source: HTTPJSONSource, after bookmark: SyncBookmark?, keyPath: String) {
        self.source = source
        self.bookmark = bookmark
        let client = source.client
        beginDate = client.date()
        var since: String?
        if let delta = source.delta, let cursor = bookmark?.cursor,
            Self.isFresh(bookmark?.lastFullPass, beginDate, delta)
        {
            switch delta.cursor {
            case .element: since = SyncCursor(text: cursor).earlier(by: delta.overlap).text
            case .document: since = cursor
            }
        }
        isDelta = since != nil
        opener = PageOpener(
            source: source, keyPath: keyPath, since: since, deadline: source.timeout.map { client.clock.now() + $0 })
        // The pages of another question say nothing about this one.
        known = bookmark?.pages.first?.token == since ? bookmark?.pages ?? [] : []
        if !known.isEmpty { known[0].token = nil }
    }

    deinit {
        ahead?.cancel()
    }

    /// Whether changes since the last run over everything will do.
    private static func isFresh(_ lastFullPass: Date?, _ now: Date, _ delta: HTTPDelta) -> Bool {
        guard let lastFullPass else { return false }
        guard let interval = delta.fullPassInterval else { return true }
        // A date in the future, by more than a store may have rounded it, says that a clock was
        // set: nobody knows how long ago that was.
        let age = now.timeIntervalSince(lastFullPass)
        return age > -1 && age < interval / .seconds(1)
    }

    // MARK: Begin

    /// Asks for the pages there were, or else for the first one.
    ///
    /// - Returns: Whether there may be something new.
    func begin() async throws -> Bool {
        guard try await !isUnchanged() else { return false }
        visited = []
        if ready == nil { ready = try await open(nil, index: 0) }
        return true
    }

    /// Whether all pages of the last run are as they were.
    private func isUnchanged() async throws -> Bool {
        for (index, page) in known.enumerated() {
            let token = page.token
            let answer = try await open(token, index: index, known: page)
            guard answer.isUnchanged else {
                // Only the first page can be gone on from: those before have not been read.
                if index == 0 { ready = answer }
                return false
            }
            if index == known.count - 1, case .link = source.pages, try await hasGrown(answer, page) { return false }
            visited.append(page)
        }
        return !known.isEmpty
    }

    /// Whether the last of linked pages leads to another one now, which its being unchanged does
    /// not tell.
    private func hasGrown(_ answer: OpenPage, _ page: SyncBookmark.Page) async throws -> Bool {
        var answer = answer
        if answer.head.headers["Link"] == nil {
            answer = try await open(answer.token, index: answer.index)
            guard answer.bookmark == page else { return true }
        }
        return try answer.nextToken(source.pages, facts: PageFacts()) != nil
    }

    /// Asks for a page; where the server says that the cursor is too old, for the first of all
    /// pages instead.
    private func open(_ token: String?, index: Int, known: SyncBookmark.Page? = nil) async throws -> OpenPage {
        do {
            return try await opener.open(token, index: index, known: known)
        } catch let error as HTTPError where isDelta && source.delta?.isTooOld(error) == true {
            return try await openAll()
        }
    }

    /// Goes over from what has changed to everything.
    private func openAll() async throws -> OpenPage {
        isDelta = false
        opener.since = nil
        startOver()
        reachBefore = nil
        return try await opener.open(nil, index: 0)
    }

    private func startOver() {
        ahead?.cancel()
        (ahead, current, ready) = (nil, nil, nil)
        trail = PageTrail()
        visited = []
        reach = CursorReach()
    }

    // MARK: Pages

    func next() async throws -> RemotePage? {
        try await finishCurrent()
        guard let page = try await nextPage() else { return nil }
        try trail.visit(page, limit: source.maximumPageCount)
        current = page
        if let date = page.head.headers["Date"].flatMap({ HTTPDate.parse($0) }), serverDate == nil { serverDate = date }
        let (source, opener, trail) = (source, opener, trail)
        ahead = Task { try await Self.page(after: page, source, opener, trail) }
        return RemotePage(
            .chunks(FetchedBody(fetch: page.fetch)), tombstones: source.delta?.tombstones,
            totalElementCount: total ?? page.head.headers["X-Total-Count"].flatMap { Int($0) })
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
        } catch let error as HTTPError where isDelta && source.delta?.isTooOld(error) == true {
            return try await openAll()
        }
    }

    /// Asks for the page after another one; nil after the last.
    private static func page(
        after page: OpenPage, _ source: HTTPJSONSource, _ opener: PageOpener, _ trail: PageTrail
    ) async throws -> OpenPage? {
        let facts = source.pages.needsFacts ? try await page.facts() : PageFacts()
        guard let token = try page.nextToken(source.pages, facts: facts) else { return nil }
        try trail.check(token, index: page.index + 1, url: page.head.url)
        return try await opener.open(token, index: page.index + 1)
    }

    /// Takes note of what the page that was handed out had, now that it has been read.
    private func finishCurrent() async throws {
        guard let page = current else { return }
        current = nil
        visited.append(page.bookmark)
        guard source.delta != nil || source.totalKeyPath != nil else { return }
        let facts = try await page.facts()
        if let keyPath = source.totalKeyPath, case .integer(let count) = facts.captured[keyPath] { total = Int(count) }
        guard let delta = source.delta else { return }
        switch delta.cursor {
        case .element: reach.extend(by: facts.cursors, isFirstPage: page.index == 0)
        case .document(let keyPath):
            reach.latest = reach.latest ?? facts.captured[keyPath].flatMap { SyncCursor($0) }
        }
    }

    func recover(from error: any Error) async throws {
        guard let page = current else { throw error }
        var error = error
        if let json = error as? JSONError, case .malformed(.unexpectedEnd, let location) = json {
            error = HTTPError(url: page.head.url, problem: .cutShort(received: location.byteOffset, expected: nil))
        }
        try await opener.wait(after: error, attempt: page.attempt)
        ahead?.cancel()
        (ahead, current) = (nil, nil)
        ready = try await opener.open(page.token, index: page.index, attempt: page.attempt + 1)
    }

    // MARK: End

    func rewind() async throws {
        try await finishCurrent()
        reachBefore = reach
        startOver()
    }

    func end() async throws -> RemoteEnd {
        try await finishCurrent()
        var end = SyncBookmark()
        if !visited.contains(where: { $0.entityTag == nil && $0.lastModified == nil }) {
            end.pages = visited
            if !end.pages.isEmpty { end.pages[0].token = opener.since }
        }
        guard let delta = source.delta else {
            return RemoteEnd(.everything, isSnapshot: source.isSnapshot, bookmark: end)
        }
        let kept = bookmark?.cursor.map { SyncCursor(text: $0) }
        end.lastFullPass = isDelta ? bookmark?.lastFullPass : beginDate
        var cursor = reach.latest
        if case .element = delta.cursor { cursor = certainReach }
        // Nothing new, or nothing but what the overlap brought again.
        if let kept, isDelta || visited == bookmark?.pages, cursor.map({ $0 < kept }) ?? true { cursor = kept }
        end.cursor = cursor?.text
        guard isDelta, var cautious = bookmark else {
            return RemoteEnd(.everything, isSnapshot: source.isSnapshot, bookmark: end)
        }
        // Of changes in their order, what the first page had cannot have been passed over, whatever
        // moved between the others.
        if reach.isAscending, let first = reach.latestOfFirstPage?.limited(to: serverDate ?? beginDate),
            kept.map({ $0 < first }) ?? true
        {
            cautious.cursor = first.text
            cautious.pages = []
        }
        return RemoteEnd(.changes, isSnapshot: source.isSnapshot, bookmark: end, cautiousBookmark: cautious)
    }

    /// The latest cursor before which no object can have changed unseen: one that changed after its
    /// page was read has a later one.
    private var certainReach: SyncCursor? {
        guard let latest = reach.latest else { return nil }
        if let serverDate { return latest.limited(to: serverDate) }
        // Nobody knows the server's clock; but what one page has was there when the page was read,
        // and what all pages had the time before was there before they were read again.
        let certain = reachBefore == nil ? reach.latestOfFirstPage : reachBefore?.latest
        return certain.map { .earlier(latest, $0).limited(to: beginDate) }
    }
}
