import HTTPTransfer

/// Whether the pages of a reading are complete, by their own statements.
struct PageCompleteness: Sendable {
    private let pages: HTTPPages
    /// The key paths of pointers that were on no page so far.
    private var unseen: [String]
    /// The contradiction in a page; nil if there is none.
    private var contradiction: String?
    /// Whether the `Link` field of the latest page leads to a next page.
    private var leadsOnByLink = false

    init(_ pages: HTTPPages) {
        self.pages = pages
        unseen = pages.steeringKeyPaths
    }

    /// Records a page that has been read.
    mutating func note(_ page: OpenPage, _ facts: PageFacts) throws {
        unseen.removeAll { facts.captured[$0] != nil }
        let signs = try page.signs(pages, facts: facts)
        let isEmpty = facts.elementCount == 0 && facts.tombstones.isEmpty
        contradiction = contradiction ?? signs.doubt(page: page.index, isEmpty: isEmpty)
        let link = page.head.headers["Link"]
        leadsOnByLink = link.flatMap { LinkHeader.target(of: "next", in: $0) } != nil
    }

    /// Why the pages do not prove that objects are absent; nil if nothing contradicts them.
    ///
    /// - Parameter isDelta: Whether the pages contain only changes.
    func doubt(isDelta: Bool) -> String? {
        if let contradiction { return contradiction }
        if leadsOnByLink { return Self.linkWarning }
        return isDelta ? nil : unseen.first.map { "\($0), which leads to the next page, was on no page" }
    }

    /// Readable sentences about pointers that were not followed.
    ///
    /// - Parameter isDelta: Whether the pages contain only changes.
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
