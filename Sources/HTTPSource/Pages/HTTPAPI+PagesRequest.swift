import Foundation
import HTTPTransfer
import JSONMapper

extension HTTPAPI.Pages {
    /// The part of a source's fingerprint that depends on the pages.
    var fingerprint: String {
        let pointer =
            switch pointer {
            case .none: "single"
            case .linkHeader: "link"
            case .header(let name): "header \(name.lowercased())"
            case .field(let keyPath): "field \(keyPath)"
            case .linkList(let keyPath, let relation, let address): "links \(keyPath) \(relation) \(address)"
            case .lastElement(let keyPath): "last \(keyPath)"
            case .number(let first): "page \(first)"
            case .offset: "offset"
            case .automatic: "automatic"
            case .custom(let captures, _): "custom \(captures)"
            }
        let size = size.map { "\($0.parameter)=\($0.count)" } ?? ""
        return "\(pointer) \(place) \(size) \(ends)" + (continuation.map { " \($0)" } ?? "")
    }

    /// The key paths of values outside the objects that lead to the next page, or indicate the end.
    var captures: [String] {
        var captures: [String] =
            switch pointer {
            case .field(let keyPath), .linkList(let keyPath, _, _): [keyPath]
            case .custom(let captures, _): captures
            case .none, .linkHeader, .header, .lastElement, .number, .offset, .automatic: []
            }
        for end in ends {
            switch end {
            case .unset(let keyPath), .set(let keyPath), .total(let keyPath): captures.append(keyPath)
            case .shortPage, .pageCount, .status: break
            }
        }
        return captures
    }

    /// The key path of the value outside the objects that leads to the next page.
    var pointerKeyPath: String? {
        switch pointer {
        case .field(let keyPath), .linkList(let keyPath, _, _): keyPath
        default: nil
        }
    }

    /// The key paths of values that lead to the next page or indicate the end, and must be on some
    /// page.
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

    /// The same pages, for a list at a key path.
    func reading(listAt keyPath: String) -> HTTPAPI.Pages {
        var pages = self
        switch pointer {
        case .none: break
        case .automatic: pages.pointer = .automatic(keyPath: keyPath)
        default:
            let signs = UnreadPages(beside: keyPath)
            pages.usualSigns = signs.names.isEmpty ? nil : signs
        }
        return pages
    }

    /// Whether the next page is found by the usual signs.
    var isAutomatic: Bool {
        if case .automatic = pointer { true } else { false }
    }

    /// Whether only one response is requested.
    var isSingle: Bool {
        if case .none = pointer { true } else { false }
    }

    /// Whether the next page is known only after the whole page has arrived.
    var needsFacts: Bool {
        switch pointer {
        case .none, .linkHeader, .header: !ends.isEmpty
        case .field, .linkList, .lastElement, .number, .offset, .automatic, .custom: true
        }
    }

    /// Whether header fields, or the status of the next request, decide if another page follows. In
    /// this case, an unchanged body does not imply unchanged pages.
    var isSteeredBesideBody: Bool {
        switch pointer {
        case .linkHeader, .header, .automatic, .custom: true
        default:
            ends.contains { end in
                switch end {
                case .pageCount, .status: true
                case .shortPage, .unset, .set, .total: false
                }
            }
        }
    }

    /// Whether a server that ignores the parameter would return the same page endlessly.
    var isCounting: Bool {
        switch pointer {
        case .number, .offset, .automatic: true
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
    ///   - base: The request without parameters of pages.
    func request(_ token: String?, base: HTTPRequest) throws -> HTTPRequest {
        var request = base
        request.url = request.url.setting(size)
        if token != nil, let continuation {
            request.url = try HTTPAddress.parse(continuation, relativeTo: base.url)
            request.body = nil
        }
        switch place {
        case .address:
            if let token { request.url = try HTTPAddress.parse(token) }
        case .query(let parameter):
            if let token = token ?? firstToken { request.url = request.url.setting(parameter, to: token) }
        case .parameters:
            guard let token, case .object(let members) = try JSONValue(parsing: token) else { break }
            for (name, value) in members.entries { request.url = request.url.setting(name, to: value.token ?? "") }
        case .body(let keyPath):
            if let token { request.body = try Self.setting(keyPath, to: token, in: request.body) }
        }
        return request
    }

    /// The token of the page after a cursor.
    func token(ofCursor text: String) -> String {
        guard case .body = place else { return text }
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
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
            var object = JSONValue.Object()
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
