import Foundation
import HTTPTransfer
import JSONMapper
import StoreSync

extension HTTPAPI.Pages {
    /// The token of the next page; nil after the last.
    ///
    /// - Throws: `HTTPError.Problem` if the pointer has an unsuitable value, or if more pages
    ///   follow and nothing leads there.
    func token(after page: OpenPage, facts: PageFacts) throws -> String? {
        let signs = try signs(of: page, facts: facts)
        guard !signs.isLast else { return nil }
        let token = try pointerToken(after: page, facts, isEmptyPageLast: !signs.isBeforeLastNumber)
        if token == nil, let more = signs.more {
            let (pointer, found) = missingPointer(facts)
            throw HTTPError.Problem.unsuitablePointer(
                keyPath: pointer, found: "\(found), although \(more) says that more pages follow")
        }
        return token
    }

    /// The token that the pointer contains; nil if it leads to no page.
    private func pointerToken(after page: OpenPage, _ facts: PageFacts, isEmptyPageLast: Bool) throws -> String? {
        switch pointer {
        case .none: return nil
        case .linkHeader:
            let field = page.head.headers["Link"] ?? ""
            return try LinkHeader.target(of: "next", in: field).map { try address($0, on: page) }
        case .header(let name):
            guard let value = page.head.headers[name], !value.isEmpty else { return nil }
            return try place == .address ? address(value, on: page) : value
        case .linkList(let keyPath, let relation, let address):
            guard let value = facts.captured[keyPath], value != .null else { return nil }
            guard case .array(let links) = value else {
                throw HTTPError.Problem.unsuitablePointer(keyPath: keyPath, found: value.kindName)
            }
            guard let link = links.first(where: { $0[relation] == .string("next") }) else { return nil }
            guard case .string(let target) = link[address] else {
                throw HTTPError.Problem.unsuitablePointer(
                    keyPath: "\(keyPath).\(address)", found: link[address]?.kindName ?? "absent")
            }
            return try self.address(target, on: page)
        case .field(let keyPath):
            guard let value = facts.captured[keyPath] else { return nil }
            return try token(of: value, at: keyPath, on: page)
        case .lastElement(let keyPath):
            guard facts.elementCount > 0 else { return nil }
            guard let value = facts.lastElement else {
                throw HTTPError.Problem.unsuitablePointer(keyPath: keyPath, found: "nothing in the last object")
            }
            return try token(of: value, at: keyPath, on: page)
        case .number(let first):
            if facts.elementCount == 0, isEmptyPageLast, !Self.hasNewTombstones(page, facts) { return nil }
            return String((page.token.flatMap { Int($0) } ?? first) + 1)
        case .offset:
            // The server may not count tombstones outside the objects. An overlap loses nothing.
            var count = facts.elementCount
            if count == 0, Self.hasNewTombstones(page, facts) { count = facts.tombstones.count }
            return count == 0 ? nil : String((page.token.flatMap { Int($0) } ?? 0) + count)
        case .automatic(let keyPath):
            let schemes = UnreadPages(beside: keyPath).schemes(on: page, facts)
            return try schemes.count == 1 ? schemes.first.map { try address($0.address, on: page) } : nil
        case .custom(_, let next):
            let info = Page(
                url: page.head.url, index: page.index, elementCount: facts.elementCount, headers: page.head.headers,
                captured: facts.captured)
            return try next(info)?.absoluteString
        }
    }

    /// The address to which a link on a page leads.
    private func address(_ link: String, on page: OpenPage) throws -> String {
        let origin = page.head.url
        guard upgradesLinks, origin.scheme?.lowercased() == "https",
            var parts = (try? HTTPAddress.parse(link, relativeTo: origin)).flatMap({
                URLComponents(url: $0, resolvingAgainstBaseURL: true)
            }), parts.scheme?.lowercased() == "http", parts.host?.lowercased() == origin.host?.lowercased()
        else { return try origin.following(link).absoluteString }
        parts.scheme = "https"
        parts.port = origin.port
        return parts.url?.absoluteString ?? link
    }

    /// The pointer, and the value found in its place, on a page where it leads to no next page.
    private func missingPointer(_ facts: PageFacts) -> (pointer: String, found: String) {
        switch pointer {
        case .none: ("single", "only one page is requested")
        case .linkHeader: ("Link", "absent")
        case .header(let name): (name, "absent")
        case .linkList(let keyPath, _, _): (keyPath, "no link with the relation next")
        case .field(let keyPath): (keyPath, facts.captured[keyPath]?.kindName ?? "absent")
        case .lastElement(let keyPath): (keyPath, "the page is empty")
        case .number: ("the page's number", "the page is empty")
        case .offset: ("the number of objects", "the page is empty")
        case .automatic: ("automatic", "no usual sign")
        case .custom: ("the custom function's", "none")
        }
    }

    /// Whether a page has tombstones that the previous page does not have. Some servers repeat them
    /// on each page.
    private static func hasNewTombstones(_ page: OpenPage, _ facts: PageFacts) -> Bool {
        !facts.tombstones.isEmpty && facts.tombstones != page.tombstonesBefore
    }

    /// The signs of the last page that a page shows.
    func signs(of page: OpenPage, facts: PageFacts) throws -> PageSigns {
        var signs = PageSigns()
        for end in ends {
            switch end {
            case .shortPage:
                if let before = page.elementCountBefore, facts.elementCount < before { signs.isShort = true }
            case .unset(let keyPath):
                signs.note(isLast: !(facts.captured[keyPath]?.isSet ?? false), by: keyPath)
            case .set(let keyPath):
                guard let value = facts.captured[keyPath], value != .null else { continue }
                signs.note(isLast: value.isSet, by: keyPath)
            case .pageCount(let header):
                guard let text = page.head.headers[header] else { continue }
                guard let count = Int(text.trimmingCharacters(in: .whitespaces)) else {
                    throw HTTPError.Problem.unsuitablePointer(keyPath: header, found: "a text that is not a number")
                }
                signs.note(isLast: page.index + 1 >= count, by: header)
                if page.index + 1 < count { signs.isBeforeLastNumber = true }
            case .total(let keyPath):
                guard let value = facts.captured[keyPath] else { continue }
                guard let total = value.wholeNumber else {
                    throw HTTPError.Problem.unsuitablePointer(keyPath: keyPath, found: value.kindName)
                }
                // Fewer objects than counted do not prove that a page remains: some may have been
                // deleted.
                if page.elementCountUpTo + facts.elementCount >= total { signs.isStatedLast = true }
            case .status: break
            }
        }
        // What the API states itself was noted above.
        for keyPath in usualSigns?.flags(in: facts) ?? [] where !captures.contains(keyPath) {
            signs.note(isLast: false, by: keyPath)
        }
        return signs
    }

    /// The token in a pointer's value; nil for a value that indicates the last page.
    private func token(of value: JSONValue, at keyPath: String, on page: OpenPage) throws -> String? {
        var value = value
        if place == .address, case .object(let object) = value, let inner = object["href"] { value = inner }
        switch (value, place) {
        case (.null, _), (.bool(false), _), (.string(""), _): return nil
        case (.string(let text), .address): return try address(text, on: page)
        case (.object(let members), .parameters)
        where members.entries.allSatisfy { $0.value.token != nil || $0.value == .string("") }:
            guard members.count > 0 else { return nil }
            var writer = JSONWriter()
            try writer.value(value)
            return String(decoding: writer.bytes, as: UTF8.self)
        case (.string, .body), (.array, .body), (.object, .body), (.integer, .body), (.unsigned, .body),
            (.double, .body),
            (.decimal, .body):
            var writer = JSONWriter()
            try writer.value(value)
            return String(decoding: writer.bytes, as: UTF8.self)
        case (_, .query):
            if let token = value.token { return token }
        default: break
        }
        throw HTTPError.Problem.unsuitablePointer(keyPath: keyPath, found: value.kindName)
    }
}
