public import Foundation
import JSONMapper
import StoreSync
import HTTPTransfer

/// How a server hands out a list page by page.
///
///     .link                                                  // Link: <…>; rel="next"
///     .cursor(keyPath: "meta.next", parameter: "after")
///     .page(parameter: "page").ending(.shortPage)
///
/// The order of the pages does not matter, and an object may be on several of them. A key path has
/// dots between its keys. A backslash escapes a dot within a key, as in `@odata\.nextLink`.
///
/// The pages end where a sign of the last page is, or where nothing leads on. If a value says that
/// more pages follow, such as `has_more`, and nothing leads there, the sync fails. If the pages
/// contradict themselves otherwise, absent objects are kept and the result says why: fewer objects
/// were read than the server counts, a value that leads on was on no page, or the `Link` field of
/// the last page leads on.
public struct HTTPPages: Sendable {
    /// The value that leads to the next page.
    enum Pointer: Sendable {
        case none
        /// The `Link` field of the head.
        case linkHeader
        /// A value beside the objects.
        case field(keyPath: String)
        /// A value of the last object.
        case lastElement(keyPath: String)
        /// The page's number.
        case number(first: Int)
        /// The number of objects before the page.
        case offset
        case custom(capturing: [String], next: @Sendable (Page) throws -> URL?)
    }

    /// Where the value goes in the request for the next page.
    enum Place: Hashable, Sendable {
        /// The value is the address itself.
        case address
        case query(parameter: String)
        case body(keyPath: String)
    }

    /// A query parameter that asks for a number of objects per page.
    public struct Size: Hashable, Sendable {
        /// The name of the parameter.
        public var parameter: String
        /// The number of objects.
        public var count: Int

        /// Creates a size.
        public init(parameter: String, count: Int) {
            self.parameter = parameter
            self.count = count
        }
    }

    /// A sign that a page is the last one.
    public enum End: Hashable, Sendable {
        /// The page has fewer objects than the page before it, and nothing says that more pages
        /// follow.
        case shortPage
        /// A value beside the objects is false or absent, such as `has_more`. If it is true, more
        /// pages follow.
        case unset(keyPath: String)
        /// A value beside the objects is true, such as `done`. If it is false, more pages follow.
        case set(keyPath: String)
        /// The page's number has reached the number of pages in a header field, such as
        /// `X-WP-TotalPages`. Until then more pages follow.
        case pageCount(header: String)
        /// As many objects have been read as a value beside the objects counts.
        case total(keyPath: String)
        /// The request for the next page fails with one of these statuses, and nothing says that
        /// more pages follow.
        case status(Set<Int>)
    }

    let pointer: Pointer
    let place: Place
    let size: Size?
    private(set) var ends: [End] = []
    /// Whether the last page is expected to lack the pointer, so that its absence is not reported.
    private(set) var mayLackPointer = false

    private init(_ pointer: Pointer, at place: Place = .address, size: Size? = nil) {
        self.pointer = pointer
        self.place = place
        self.size = size
    }

    /// One response with all objects.
    public static let single = HTTPPages(.none)
    /// The `Link` field of each response leads to the next page by `rel="next"` (RFC 8288).
    public static let link = HTTPPages(.linkHeader)

    /// A value of each response is the address of the next page.
    ///
    /// The value may also be an object with an `href`, as in JSON:API. Null, false, an empty text
    /// and absence mean the last page. Any other value is an error.
    public static func linkField(keyPath: String) -> HTTPPages {
        HTTPPages(.field(keyPath: keyPath))
    }

    /// A value of each response becomes a query parameter of the next request.
    ///
    /// The value is a text or a number. Null, false, an empty text and absence mean the last page.
    /// Any other value is an error.
    public static func cursor(keyPath: String, parameter: String) -> HTTPPages {
        HTTPPages(.field(keyPath: keyPath), at: .query(parameter: parameter))
    }

    /// A value of each response becomes a value in the body of the next request, as in GraphQL.
    public static func cursor(keyPath: String, bodyKeyPath: String) -> HTTPPages {
        HTTPPages(.field(keyPath: keyPath), at: .body(keyPath: bodyKeyPath))
    }

    /// A value of each page's last object becomes a query parameter of the next request. An empty
    /// page is the last.
    public static func lastElement(keyPath: String, parameter: String, size: Size? = nil) -> HTTPPages {
        HTTPPages(.lastElement(keyPath: keyPath), at: .query(parameter: parameter), size: size)
    }

    /// A value of each page's last object becomes a value in the body of the next request, as in
    /// Elasticsearch's `search_after`. An empty page is the last.
    public static func lastElement(keyPath: String, bodyKeyPath: String) -> HTTPPages {
        HTTPPages(.lastElement(keyPath: keyPath), at: .body(keyPath: bodyKeyPath))
    }

    /// Pages are asked for by their numbers. An empty page is the last.
    public static func page(parameter: String, first: Int = 1, size: Size? = nil) -> HTTPPages {
        HTTPPages(.number(first: first), at: .query(parameter: parameter), size: size)
    }

    /// Pages are asked for by the number of objects before them. An empty page is the last.
    ///
    /// Each page begins where the page before it ended, however many objects the server returned.
    public static func offset(parameter: String, size: Size? = nil) -> HTTPPages {
        HTTPPages(.offset, at: .query(parameter: parameter), size: size)
    }

    /// A function returns the address of the next page; nil after the last.
    ///
    /// It receives the values at some key paths of the page before, beside its objects.
    public static func custom(
        capturing: [String] = [], next: @escaping @Sendable (Page) throws -> URL?
    ) -> HTTPPages {
        HTTPPages(.custom(capturing: capturing, next: next))
    }

    /// Returns the same pages with more signs of the last page.
    public func ending(_ ends: End...) -> HTTPPages {
        var pages = self
        pages.ends += ends
        return pages
    }

    /// Returns the same pages, for a server that leaves the pointer, or the value of an
    /// ``End/unset(keyPath:)``, out of the last page.
    ///
    /// Without this, such a value that is on no page of a full pass is reported and absent objects
    /// are kept, because its key path may be misspelt.
    public func omittingLastPointer() -> HTTPPages {
        var pages = self
        pages.mayLackPointer = true
        return pages
    }
}

extension HTTPPages {
    /// The part of a source's fingerprint that depends on the pages.
    var fingerprint: String {
        let pointer =
            switch pointer {
            case .none: "single"
            case .linkHeader: "link"
            case .field(let keyPath): "field \(keyPath)"
            case .lastElement(let keyPath): "last \(keyPath)"
            case .number(let first): "page \(first)"
            case .offset: "offset"
            case .custom(let captures, _): "custom \(captures)"
            }
        let size = size.map { "\($0.parameter)=\($0.count)" } ?? ""
        return "\(pointer) \(place) \(size) \(ends)"
    }

    /// The key paths of values beside the objects that lead to the next page, or to the end.
    var captures: [String] {
        var captures: [String] =
            switch pointer {
            case .field(let keyPath): [keyPath]
            case .custom(let captures, _): captures
            case .none, .linkHeader, .lastElement, .number, .offset: []
            }
        for end in ends {
            switch end {
            case .unset(let keyPath), .set(let keyPath), .total(let keyPath): captures.append(keyPath)
            case .shortPage, .pageCount, .status: break
            }
        }
        return captures
    }

    /// The key path of the value of the last object that leads to the next page.
    var elementKeyPath: String? {
        if case .lastElement(let keyPath) = pointer { keyPath } else { nil }
    }

    /// The key path of the value beside the objects that leads to the next page.
    var pointerKeyPath: String? {
        if case .field(let keyPath) = pointer { keyPath } else { nil }
    }

    /// The key paths of the values that lead on, or to the end, and must be on some page.
    var steeringKeyPaths: [String] {
        guard !mayLackPointer else { return [] }
        var keyPaths = pointerKeyPath.map { [$0] } ?? []
        for case .unset(let keyPath) in ends { keyPaths.append(keyPath) }
        return keyPaths
    }

    /// The key path of the number of all objects, if it is a sign of the last page.
    var totalKeyPath: String? {
        for case .total(let keyPath) in ends { return keyPath }
        return nil
    }

    /// Whether the next page is known only after the whole page has arrived.
    var needsFacts: Bool {
        switch pointer {
        case .none, .linkHeader: !ends.isEmpty
        case .field, .lastElement, .number, .offset, .custom: true
        }
    }

    /// Whether header fields lead to the next page, so that an unchanged body does not mean
    /// unchanged pages.
    var isSteeredByHeaders: Bool {
        switch pointer {
        case .linkHeader, .custom: true
        default: ends.contains { if case .pageCount = $0 { true } else { false } }
        }
    }

    /// Whether a server that ignores the parameter would return the same page for ever.
    var isCounting: Bool {
        switch pointer {
        case .number, .offset: true
        default: false
        }
    }

    /// The statuses that mean that there is no next page.
    var endStatuses: Set<Int> {
        ends.reduce(into: []) { statuses, end in
            if case .status(let more) = end { statuses.formUnion(more) }
        }
    }

    /// The request for a page.
    ///
    /// - Parameters:
    ///   - token: The token of the page; nil for the first page.
    ///   - base: The request without anything about pages.
    func request(_ token: String?, base: HTTPRequest) throws -> HTTPRequest {
        var request = base
        request.url = request.url.setting(size)
        switch place {
        case .address:
            if let token { request.url = try HTTPAddress.parse(token) }
        case .query(let parameter):
            if let token = token ?? firstToken { request.url = request.url.setting(parameter, to: token) }
        case .body(let keyPath):
            if let token { request.body = try Self.setting(keyPath, to: token, in: request.body) }
        }
        return request
    }

    /// The token of the first page, if it has one.
    private var firstToken: String? {
        switch pointer {
        case .number(let first): String(first)
        case .offset: "0"
        default: nil
        }
    }

    /// Sets a value in a JSON object.
    ///
    /// - Parameter token: The value as JSON.
    static func setting(_ keyPath: String, to token: String, in body: [UInt8]?) throws -> [UInt8] {
        func set(_ keys: ArraySlice<String>, in value: JSONValue?, to new: JSONValue) -> JSONValue {
            guard let key = keys.first else { return new }
            var object = JSONObject()
            if case .object(let known) = value { object = known }
            object[key] = set(keys.dropFirst(), in: object[key], to: new)
            return .object(object)
        }
        let document = try body.map { try JSONValue(parsing: String(decoding: $0, as: UTF8.self)) }
        var writer = JSONWriter()
        try writer.value(set(JSONKeyPath.keys(of: keyPath)[...], in: document, to: try JSONValue(parsing: token)))
        return writer.bytes
    }
}

extension JSONValue {
    /// The value as a query parameter; nil if it cannot be one.
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

    /// The kind of the value, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer, .unsigned, .double, .decimal: "a number"
        case .string(let text): text.isEmpty ? "an empty text" : "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
