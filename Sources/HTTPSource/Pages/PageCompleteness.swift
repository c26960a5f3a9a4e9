import Foundation
import HTTPTransfer

/// Whether the pages of a reading are complete, by their own statements.
struct PageCompleteness: Sendable {
    private let source: HTTPJSONSource
    private let unreadPages: UnreadPages
    private let errorSigns: ErrorSigns?
    /// The key paths of pointers that were on no page so far.
    private var unseen: [String]
    /// The first page that may report an error, and why; nil if there is none.
    private var reportedError: String?
    /// The contradiction in a page; nil if there is none.
    private var contradiction: String?
    /// Why a page may follow the latest one by its `Link` field; nil if none does.
    private var linkDoubt: String?
    /// Signs of pages that the source does not request; nil if there are none.
    private var unread: String?
    /// The usual number of all objects that is higher than theirs, beside stated pages; nil if
    /// there is none.
    private var uncounted: String?
    /// The number of all objects of the latest page by the usual names; nil if it has none, or if
    /// another sign shows more pages.
    private(set) var usualTotal: Int?
    /// The scheme that was found automatically; nil if there is none.
    private var scheme: HTTPAPI.Advice?
    /// The numbers that describe the whole list, by what they count.
    private(set) var statements: [String: Statement] = [:]

    /// The number on the first page that has it.
    struct Statement: Sendable {
        let count: Int
        let page: Int
    }

    /// - Parameter keyPath: The key path of the list.
    init(_ source: HTTPJSONSource, keyPath: String) {
        self.source = source
        unreadPages = UnreadPages(beside: keyPath, adviceText: source.api.adviceText)
        errorSigns = ErrorSigns(source, beside: keyPath)
        unseen = source.api.pages.steeringKeyPaths
    }

    /// Records a page that has been read.
    mutating func note(_ page: OpenPage, _ facts: PageFacts) throws {
        unseen.removeAll { facts.captured[$0] != nil }
        reportedError = reportedError ?? errorSigns?.sign(in: facts).map { "page \(page.index + 1) \($0)" }
        let signs = try page.signs(source.api.pages, facts: facts)
        let isEmpty = facts.elementCount == 0 && facts.tombstones.isEmpty
        contradiction = contradiction ?? signs.doubt(page: page.index, isEmpty: isEmpty)
        if source.api.endSign != nil, !facts.hasEndSign {
            contradiction = contradiction ?? "page \(page.index + 1) lacks the sign of its end"
        }
        note(statedBy: page, facts)
        let isFollowed = noteUsualSigns(of: page, facts, signs)
        linkDoubt = isFollowed ? nil : page.head.headers["Link"].flatMap { doubt(about: $0, on: page) }
    }

    /// Why a page may follow by a `Link` field; nil if none does.
    private func doubt(about link: String, on page: OpenPage) -> String? {
        do throws(HTTPError.Problem) {
            if try LinkHeader.target(of: "next", in: link) != nil {
                return "the Link field of the last page leads to a next one, which was not read"
            }
            guard let target = try LinkHeader.target(of: "last", in: link),
                let last = Self.number(in: try page.head.url.following(target)),
                last > Self.number(in: page.head.url) ?? page.index + 1
            else { return nil }
            return "the Link field names \(last) as the number of the last page, and leads to no next one: "
                + unreadPages.numberedAdvice
        } catch {
            return "the Link field of the last page cannot be read, so that it may lead to a next one"
        }
    }

    /// The number of a page in its address, by the usual names; nil if there is none.
    private static func number(in url: URL) -> Int? {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        return items.lazy.filter { pageNumberNames.contains($0.name) }.compactMap { $0.value.flatMap { Int($0) } }.first
    }

    private static let pageNumberNames: Set = ["page", "p", "_page", "page[number]", "pageNumber", "page_number"]

    /// Records the usual signs of further pages. Those of the latest page count.
    ///
    /// - Returns: Whether the only known scheme that fits leads to a next page.
    private mutating func noteUsualSigns(of page: OpenPage, _ facts: PageFacts, _ signs: PageSigns) -> Bool {
        let countsObjects = source.countsByUsualNames
        // Tombstones may be counted or not.
        usualTotal = countsObjects && facts.tombstones.isEmpty ? unreadPages.total(facts) : nil
        guard source.api.pages.isSingle || source.api.pages.isAutomatic else {
            unread = unreadPages.signBeyondStatedPages(on: page, facts, isStatedLast: signs.isStatedLast)
            uncounted =
                countsObjects ? unreadPages.totalSign(on: page, facts).map { "\($0): \(unreadPages.totalAdvice)" } : nil
            return false
        }
        if source.api.pages.isAutomatic {
            let schemes = unreadPages.schemes(on: page, facts)
            if let only = schemes.first, schemes.count == 1 {
                scheme = scheme ?? only.advice
                unread = nil
                return true
            }
        }
        unread = unreadPages.sign(on: page, facts, countsObjects: countsObjects)
        if unread != nil { usualTotal = nil }
        return false
    }

    /// Records the numbers that describe the whole list. They are the same on all pages of one
    /// state.
    private mutating func note(statedBy page: OpenPage, _ facts: PageFacts) {
        for (name, count) in source.statedCounts(page.head, facts) {
            guard let known = statements[name] else {
                statements[name] = Statement(count: count, page: page.index)
                continue
            }
            guard known.count != count else { continue }
            contradiction =
                contradiction
                ?? "the server counts \(known.count) \(name) on page \(known.page + 1) and \(count) on page "
                + "\(page.index + 1)"
        }
    }

    /// Why two readings of the pages may not show the same list; nil if their statements are equal.
    func doubt(after before: PageCompleteness) -> String? {
        for (name, statement) in statements.sorted(by: { $0.key < $1.key }) {
            guard let earlier = before.statements[name], earlier.count != statement.count else { continue }
            return "the server counted \(earlier.count) \(name) in one reading and \(statement.count) in the next"
        }
        return nil
    }

    /// Why the pages do not prove that objects are absent; nil if nothing contradicts them.
    ///
    /// - Parameter isDelta: Whether the pages contain only changes.
    func doubt(isDelta: Bool) -> String? {
        if let reportedError { return reportedError }
        if let contradiction { return contradiction }
        if let unread { return unread }
        if let linkDoubt { return linkDoubt }
        if isDelta { return nil }
        return uncounted ?? unseen.first.map { "\($0), which leads to the next page, was on no page" }
    }

    /// What to do about a list with more objects than its pages have.
    var advice: String {
        source.api.pages.isSingle || source.api.pages.isAutomatic ? unreadPages.advice : unreadPages.totalAdvice
    }

    /// Readable sentences about errors that pages may report, and about pointers that were not
    /// followed.
    ///
    /// - Parameter isDelta: Whether the pages contain only changes.
    func warnings(isDelta: Bool) -> [String] {
        var warnings = [reportedError, unread ?? linkDoubt].compactMap { $0 }
        if let scheme {
            warnings.append(
                "the pages were found by their usual signs; choose \(source.api.adviceText(scheme)), "
                    + "so that no other way is taken")
        }
        if !isDelta {
            warnings += unseen.map {
                "the pointer to the next page, \($0), was on no page: is its key path right?"
            }
        }
        return warnings
    }
}
