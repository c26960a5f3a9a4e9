import HTTPTransfer

/// Whether the pages of a reading are all that the server has, by what they say themselves.
struct PageCompleteness: Sendable {
    private let pages: HTTPPages
    /// The key paths of values that lead on, and were on no page yet.
    private var unseen: [String]
    /// How a page contradicts itself; nil if none does.
    private var contradiction: String?
    /// Whether the `Link` field of the latest page leads to a next one.
    private var leadsOnByLink = false

    init(_ pages: HTTPPages) {
        self.pages = pages
        unseen = pages.steeringKeyPaths
    }

    /// Takes note of a page that has been read.
    mutating func note(_ page: OpenPage, _ facts: PageFacts) throws {
        unseen.removeAll { facts.captured[$0] != nil }
        let signs = try page.signs(pages, facts: facts)
        let isEmpty = facts.elementCount == 0 && facts.tombstones.isEmpty
        contradiction = contradiction ?? signs.doubt(page: page.index, isEmpty: isEmpty)
        let link = page.head.headers["Link"]
        leadsOnByLink = link.flatMap { LinkHeader.target(of: "next", in: $0) } != nil
    }

    /// Why the pages do not prove what is absent; nil if nothing contradicts them.
    ///
    /// - Parameter isDelta: Whether the pages have changes only.
    func doubt(isDelta: Bool) -> String? {
        if let contradiction { return contradiction }
        if leadsOnByLink { return Self.linkWarning }
        return isDelta ? nil : unseen.first.map { "\($0), which leads to the next page, was on no page" }
    }

    /// Sentences for people about what was not followed.
    ///
    /// - Parameter isDelta: Whether the pages have changes only.
    func warnings(isDelta: Bool) -> [String] {
        var warnings = leadsOnByLink ? [Self.linkWarning] : []
        if !isDelta {
            warnings += unseen.map {
                "the pointer to the next page, \($0), was on no page: is its key path right?"
            }
        }
        return warnings
    }

    private static let linkWarning = "the Link field of the last page leads to a next one, which was not read"
}
