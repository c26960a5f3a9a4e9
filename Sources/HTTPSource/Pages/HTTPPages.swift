public import Foundation
import HTTPTransfer
import JSONMapper

/// How a server hands out a list page by page.
///
/// The order of the pages does not matter, nor does it if an object is in several of them.
public enum HTTPPages: Sendable {
    /// One response has everything.
    case single
    /// The `Link` field of each response leads to the next page by `rel="next"` (RFC 8288).
    case link
    /// A field of each response has the address of the next page; null, empty or absent in the last
    /// one.
    case linkField(keyPath: String)
    /// A field of each response has what the next page is asked for by, as a query parameter; null,
    /// empty or absent in the last one.
    case cursor(keyPath: String, parameter: String)
    /// Pages are asked for by their numbers, until one is empty. `size` adds a query parameter that
    /// says how many objects a page has.
    case page(parameter: String, first: Int = 1, size: Size? = nil)
    /// Pages are asked for by the number of objects before them, until one is empty. Each begins
    /// where the one before has ended, however many objects the server gave.
    case offset(parameter: String, size: Size? = nil)
    /// A function says where the next page is; nil after the last. It sees the values at some key
    /// paths of the page before, beside its objects.
    case custom(capturing: [String] = [], next: @Sendable (HTTPPageInfo) throws -> URL?)

    /// A query parameter that says how many objects a page is to have.
    public struct Size: Hashable, Sendable {
        /// The parameter's name.
        public var parameter: String
        /// How many objects.
        public var count: Int

        /// Makes a parameter.
        public init(parameter: String, count: Int) {
            self.parameter = parameter
            self.count = count
        }
    }
}

extension HTTPPages {
    /// What the fingerprint of a source says of it.
    var fingerprint: String {
        switch self {
        case .single: "single"
        case .link: "link"
        case .linkField(let keyPath): "link \(keyPath)"
        case .cursor(let keyPath, let parameter): "cursor \(keyPath) \(parameter)"
        case .page(let parameter, let first, let size): "page \(parameter) \(first) \(size.map { "\($0)" } ?? "")"
        case .offset(let parameter, let size): "offset \(parameter) \(size.map { "\($0)" } ?? "")"
        case .custom(let captures, _): "custom \(captures)"
        }
    }

    /// The values of a page that tell where the next one is.
    var captures: [String] {
        switch self {
        case .linkField(let keyPath), .cursor(let keyPath, _): [keyPath]
        case .custom(let captures, _): captures
        case .single, .link, .page, .offset: []
        }
    }

    /// Whether a page must have arrived to its end before it is known where the next one is.
    var needsFacts: Bool {
        switch self {
        case .single, .link: false
        case .linkField, .cursor, .page, .offset, .custom: true
        }
    }

    /// The address of a page.
    ///
    /// - Parameters:
    ///   - token: What ``token(after:token:facts:)`` said; nil for the first page.
    ///   - base: The address without anything about pages.
    func url(_ token: String?, base: URL) -> URL? {
        switch self {
        case .single: base
        case .link, .linkField, .custom: token.map { URL(string: $0) } ?? base
        case .cursor(_, let parameter): token.map { base.setting(parameter, to: $0) } ?? base
        case .page(let parameter, let first, let size):
            base.setting(size).setting(parameter, to: token ?? String(first))
        case .offset(let parameter, let size): base.setting(size).setting(parameter, to: token ?? "0")
        }
    }

    /// What the next page is asked for by; nil after the last.
    func token(after page: HTTPHead, index: Int, token: String?, facts: PageFacts) throws -> String? {
        switch self {
        case .single: return nil
        case .link:
            guard let field = page.headers["Link"], let target = LinkHeader.target(of: "next", in: field) else {
                return nil
            }
            return try page.url.following(target).absoluteString
        case .linkField(let keyPath):
            guard case .string(let target) = facts.captured[keyPath], !target.isEmpty else { return nil }
            return try page.url.following(target).absoluteString
        case .cursor(let keyPath, _):
            return facts.captured[keyPath]?.token
        case .page(_, let first, _):
            return facts.elementCount == 0 ? nil : String((token.flatMap { Int($0) } ?? first) + 1)
        case .offset:
            return facts.elementCount == 0 ? nil : String((token.flatMap { Int($0) } ?? 0) + facts.elementCount)
        case .custom(_, let next):
            let info = HTTPPageInfo(
                url: page.url, index: index, elementCount: facts.elementCount, headers: page.headers,
                captured: facts.captured)
            return try next(info)?.absoluteString
        }
    }
}

extension JSONValue {
    /// The value as a query parameter has it; nil where it says that there is none.
    var token: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .double(let number): "\(number)"
        case .decimal(let text): text
        case .null, .bool, .array, .object: nil
        }
    }
}
