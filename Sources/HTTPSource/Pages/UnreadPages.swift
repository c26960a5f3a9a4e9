import Foundation
import HTTPTransfer
import JSONMapper
import StoreSync

/// Signs of further pages in a response, by the usual names in the usual places: header fields, and
/// values at the root of the document or beside the list.
struct UnreadPages: Sendable {
    /// A scheme that fits a page, and where it leads.
    struct Scheme: Sendable {
        let advice: HTTPAPI.Advice
        /// The address of the next page.
        let address: String
    }

    /// The usual key paths of the address of the next page, or of its number. The keys of these and
    /// all other usual key paths are compared by their names; see `JSONNameProbe`.
    private static let links = [
        "next", "links.next", "meta.next", "pages.next", "paging.next", "pagination.next", "next_page",
        "next_page_url", "next_page_uri", "next_page_link", "next_url", "next_link", #"@odata\.next_link"#,
        "next_records_url", "meta.next_page", "pagination.next_page",
    ]
    /// The usual key paths of a cursor that requests the next page. A cursor may look like an
    /// address, such as `/9k=` in Base64.
    private static let cursors = [
        "next_cursor", "meta.next_cursor", "pagination.next_cursor", "response_metadata.next_cursor",
        "next_page_token", "next_token", "continuation", "paging.next.after", "metadata.continue",
    ]
    /// The usual key paths of a cursor that the last page may have as well. It says nothing beside
    /// pages that are stated.
    private static let lastingCursors = ["paging.cursors.after", "continuation_token"]
    /// The usual key paths of a list of links by relation, with the keys of a relation and an
    /// address.
    private static let linkLists = [("links", "rel", "href"), ("link", "relation", "url")]
    /// Cursors for which only one parameter is usual.
    private static let parameters = [
        "paging.next.after": "after", "response_metadata.next_cursor": "cursor", "metadata.continue": "continue",
    ]
    /// The usual key paths of the number of the next page.
    private static let nextNumbers = ["next_page", "meta.next_page", "pagination.next_page"]
    /// The usual key paths of the number of a page and of the number of pages, and the number of
    /// the first page.
    private static let numbers = [
        ("page", "total_pages", 1), ("page", "pages", 1), ("page", "page_count", 1), ("current_page", "last_page", 1),
        ("current_page", "total_pages", 1), ("meta.page", "meta.total_pages", 1),
        ("meta.current_page", "meta.last_page", 1), ("meta.current_page", "meta.total_pages", 1),
        ("pagination.page", "pagination.total_pages", 1), ("pagination.page", "pagination.pages", 1),
        ("number", "total_pages", 0), ("page.number", "page.total_pages", 0),
    ]
    /// The usual key paths of a value that is true if more pages follow.
    private static let moreFlags = [
        "has_more", "has_next", "has_next_page", "page_info.has_next_page", "meta.has_more", "pagination.has_more",
        "is_truncated", "more", "more_items",
    ]
    /// The usual key paths of a value that is false if more pages follow.
    private static let lastFlags = ["last", "is_last", "is_last_page", "done"]
    /// The usual key paths of the number of all objects.
    private static let totals = [
        "total", "count", "total_count", "total_items", "total_size", "total_results", "total_records",
        "records_total", "meta.total", "meta.total_count", "meta.count", "meta.pagination.total", "meta.page.total",
        "pagination.total", "paging.total", #"@odata\.count"#, "page.total_elements", "total_elements",
        "number_matched",
    ]
    /// The usual key paths of the number of objects on later pages.
    private static let remainders = ["metadata.remaining_item_count"]
    /// The header fields with the number of pages. Fields with the number of objects are compared
    /// with the objects of all sources.
    private static let pageCountFields = ["X-Total-Pages", "X-WP-TotalPages"]

    /// The places of the usual names: the root, and beside the list. None if the list is the whole
    /// document.
    private let places: [String]
    /// How sentences write a setting.
    private let adviceText: @Sendable (HTTPAPI.Advice) -> String

    /// - Parameters:
    ///   - keyPath: The key path of the list.
    ///   - adviceText: How sentences write a setting; in Swift by default.
    init(beside keyPath: String, adviceText: @escaping @Sendable (HTTPAPI.Advice) -> String = { "\($0)" }) {
        self.adviceText = adviceText
        places = Self.places(beside: keyPath)
    }

    /// The places of usual names around the list at a key path, as beginnings of key paths.
    static func places(beside keyPath: String) -> [String] {
        let list = JSONKeyPath.list(at: keyPath).list
        guard list.count > 1 else { return list.map { _ in "" } }
        return ["", JSONKeyPath.text(of: Array(list.dropLast())) + "."]
    }

    /// The key paths of values outside the objects that can be such a sign, by the names of their
    /// keys.
    var names: [String] {
        let pages = Self.links + Self.cursors + Self.lastingCursors + Self.moreFlags + Self.lastFlags
        let counts = Self.totals + Self.remainders + Self.numbers.flatMap { [$0.0, $0.1] }
        return keyPaths(pages + counts + Self.linkLists.map(\.0))
    }

    private func keyPaths(_ usual: [String]) -> [String] {
        places.flatMap { place in usual.map { place + $0 } }
    }

    /// The values at usual key paths.
    private func values(_ usual: [String], _ facts: PageFacts) -> [PageFacts.Named] {
        keyPaths(usual).flatMap { facts.values(named: $0) }
    }

    /// The key paths of values that say that more pages follow.
    func flags(in facts: PageFacts) -> [String] {
        let more = values(Self.moreFlags, facts).filter(\.value.isTrue)
        // A number of this name counts something.
        let last = values(Self.lastFlags, facts).filter { $0.value.isFalse && $0.value.wholeNumber == nil }
        return (more + last).map(\.keyPath)
    }

    // MARK: Schemes

    /// The known schemes that fit a page, each with another next page; empty if nothing leads on.
    ///
    /// An address of the next page takes precedence over a number or a cursor, which most servers
    /// send in addition.
    func schemes(on page: OpenPage, _ facts: PageFacts) -> [Scheme] {
        let addresses = distinct(addresses(on: page, facts))
        return addresses.isEmpty ? distinct(numbersAndCursors(on: page, facts)) : addresses
    }

    /// The schemes without those that lead to the page of an earlier one.
    private func distinct(_ schemes: [Scheme]) -> [Scheme] {
        schemes.reduce(into: []) { kept, scheme in
            if !kept.contains(where: { $0.address == scheme.address }) { kept.append(scheme) }
        }
    }

    private func addresses(on page: OpenPage, _ facts: PageFacts) -> [Scheme] {
        var found: [(scheme: HTTPAPI.Advice.Scheme, target: String)] = []
        if let target = Self.linkTarget(page.head) {
            found.append((.link, target))
        }
        for named in values(Self.links, facts) {
            guard let target = Self.address(named.value) else { continue }
            found.append((.linkField(keyPath: named.keyPath), target))
        }
        for (name, relation, address) in Self.linkLists {
            for named in values([name], facts) {
                guard case .array(let links) = named.value,
                    let link = links.first(where: { $0[relation] == .string("next") }),
                    case .string(let target) = link[address]
                else { continue }
                found.append((.links(keyPath: named.keyPath, relation: relation, address: address), target))
            }
        }
        return found.compactMap { scheme, target in
            (try? page.head.url.following(target)).map { Scheme(advice: .pages(scheme), address: $0.absoluteString) }
        }
    }

    /// The target of the next page in the `Link` field; nil if there is none, or if the field
    /// cannot be read.
    private static func linkTarget(_ head: HTTPHead) -> String? {
        head.headers["Link"].flatMap { try? LinkHeader.target(of: "next", in: $0) }
    }

    private func numbersAndCursors(on page: OpenPage, _ facts: PageFacts) -> [Scheme] {
        // A number that leads past the last page would lead on for ever.
        guard facts.elementCount > 0 || !facts.tombstones.isEmpty else { return [] }
        let url = page.fetch.url
        func numbered(_ number: Int, first: Int = 1) -> Scheme {
            Scheme(
                advice: .pages(.page(parameter: "page", first: first)),
                address: url.setting("page", to: String(number)).absoluteString)
        }
        var found: [Scheme] = []
        if let next = page.head.headers.integer("X-Next-Page"), next > 0 { found.append(numbered(next)) }
        for name in Self.pageCountFields {
            guard let count = page.head.headers.integer(name), page.index + 1 < count else { continue }
            // Other servers may count from 0, so that the second page has the number 1.
            guard name == "X-WP-TotalPages" || page.head.headers.integer("X-Page") == page.index + 1 else { continue }
            found.append(numbered(page.index + 2))
        }
        for place in places {
            for (name, count, first) in Self.numbers {
                guard let number = facts.number(named: place + name)?.value,
                    let count = facts.number(named: place + count)?.value, number >= first,
                    count > 0, number - first < count - 1
                else { continue }
                found.append(numbered(number + 1, first: first))
            }
            for name in Self.nextNumbers {
                guard let next = facts.number(named: place + name)?.value, next > 0 else { continue }
                found.append(numbered(next))
            }
            for (name, parameter) in Self.parameters.sorted(by: { $0.key < $1.key }) {
                for named in facts.values(named: place + name) {
                    guard let cursor = named.value.token else { continue }
                    let advice = HTTPAPI.Advice.pages(.cursor(keyPath: named.keyPath, parameter: parameter))
                    found.append(Scheme(advice: advice, address: url.setting(parameter, to: cursor).absoluteString))
                }
            }
        }
        return found
    }

    /// The address in a value, or in the `href` of an object; nil for a cursor.
    private static func address(_ value: JSONValue) -> String? {
        var value = value
        if case .object(let object) = value, let inner = object["href"] { value = inner }
        guard case .string(let text) = value,
            text.hasPrefix("/") || text.hasPrefix("?") || text.hasPrefix("http://") || text.hasPrefix("https://")
        else { return nil }
        return text
    }

    // MARK: Advice

    private func choosing(_ settings: [HTTPAPI.Advice]) -> String {
        "choose " + settings.map(adviceText).joined(separator: " or ")
    }

    /// Advice about a list with further pages of an unknown kind.
    var advice: String {
        "\(numberedAdvice) or \(adviceText(.pages(.offset(parameter: "offset"))))"
    }

    /// Advice about a list of numbered pages.
    var numberedAdvice: String {
        "state how the next page is found, such as \(adviceText(.pages(.page(parameter: "page", first: 1))))"
    }

    /// Advice about a number of all objects that stated pages never have.
    var totalAdvice: String {
        "if it is an estimate, or counts objects that are not listed, choose \(adviceText(.isTotalExact(false)))"
    }

    // MARK: Signs

    /// A readable sentence about pages that are not requested, if no pages are stated; nil if the
    /// pages so far are the whole list.
    ///
    /// - Parameter countsObjects: Whether a usual number of all objects counts.
    func sign(on page: OpenPage, _ facts: PageFacts, countsObjects: Bool) -> String? {
        let schemes = schemes(on: page, facts)
        if schemes.count > 1 {
            let choice = choosing(schemes.map(\.advice))
            return "several ways lead to a next page, which was not read: \(choice)"
        }
        let choice = schemes.first.map { choosing([$0.advice]) }
        if let sign = pointerSign(on: page, facts, cursors: Self.cursors + Self.lastingCursors, choice) { return sign }
        if let keyPath = flags(in: facts).first {
            return "\(keyPath) says that more pages follow, which were not read: " + (choice ?? advice)
        }
        if countsObjects, let sign = totalSign(on: page, facts) { return sign + ": " + (choice ?? advice) }
        if let sign = pageCountSign(on: page) { return sign + ": " + (choice ?? numberedAdvice) }
        if page.index == 0, page.head.status == 206 {
            return "status 206 says that the page is a part of the list, the rest of which was not read: "
                + (choice ?? advice)
        }
        return remainderSign(facts) ?? choice.map { "there is a next page, which was not read: \($0)" }
    }

    /// A readable sentence about pages to which the stated pages did not lead; nil without a sign
    /// of any.
    ///
    /// - Parameter isStatedLast: Whether a stated sign shows that the page is the last. It then may
    ///   have an address or a cursor, as a position for later.
    func signBeyondStatedPages(on page: OpenPage, _ facts: PageFacts, isStatedLast: Bool) -> String? {
        if !isStatedLast {
            let choice = schemes(on: page, facts).first.map { choosing([$0.advice]) }
            if let sign = pointerSign(on: page, facts, cursors: Self.cursors, choice) { return sign }
        }
        return pageCountSign(on: page) ?? pageNumberSign(on: page, facts) ?? remainderSign(facts)
    }

    /// A sentence about an address, a cursor or a number of a next page.
    private func pointerSign(
        on page: OpenPage, _ facts: PageFacts, cursors: [String], _ choice: String?
    ) -> String? {
        let head = page.head
        if Self.linkTarget(head) != nil {
            return "the Link field of the last page leads to a next one, which was not read: "
                + (choice ?? advice)
        }
        for named in values(Self.links + cursors, facts) where named.value.isSet {
            if case .bool = named.value { continue }
            let cursor = choosing([.pages(.cursor(keyPath: named.keyPath, parameter: nil))])
            return "\(named.keyPath) leads to a next page, which was not read: "
                + (choice ?? "\(cursor), with the parameter that takes it")
        }
        if let next = head.headers["X-Next-Page"], !next.trimmingCharacters(in: .whitespaces).isEmpty {
            return "X-Next-Page leads to a next page, which was not read: " + (choice ?? numberedAdvice)
        }
        return nil
    }

    /// A sentence about a usual number of all objects that is higher than the number of objects so
    /// far.
    func totalSign(on page: OpenPage, _ facts: PageFacts) -> String? {
        let elementCount = page.elementCountUpTo + facts.elementCount + facts.tombstones.count
        let total = totals(facts).first { $0.count > elementCount }
        return total.map { "\($0.keyPath) counts \($0.count) objects, and the response had \(elementCount)" }
    }

    /// The highest of the usual numbers of all objects; nil without any.
    func total(_ facts: PageFacts) -> Int? { totals(facts).map(\.count).max() }

    private func totals(_ facts: PageFacts) -> [(keyPath: String, count: Int)] {
        values(Self.totals, facts).compactMap { named in
            named.value.wholeNumber.map { (named.keyPath, $0) }
        }
    }

    private func pageCountSign(on page: OpenPage) -> String? {
        for name in Self.pageCountFields {
            guard let count = page.head.headers.integer(name), count > page.index + 1 else { continue }
            return "\(name) counts \(count) pages, and \(page.index + 1) were read"
        }
        return nil
    }

    private func pageNumberSign(on page: OpenPage, _ facts: PageFacts) -> String? {
        for place in places {
            for (number, count, _) in Self.numbers {
                guard facts.number(named: place + number) != nil,
                    let total = facts.number(named: place + count), total.value > page.index + 1
                else { continue }
                return "\(total.keyPath) counts \(total.value) pages, and \(page.index + 1) were read"
            }
        }
        return nil
    }

    private func remainderSign(_ facts: PageFacts) -> String? {
        for named in values(Self.remainders, facts) {
            guard let count = named.value.wholeNumber, count > 0 else { continue }
            return "\(named.keyPath) counts \(count) more objects, which were not read"
        }
        return nil
    }
}
