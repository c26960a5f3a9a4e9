import Foundation
import HTTPTransfer

/// A parser of server lists.
///
/// A list is a JSON array of objects with `key` and `url`, and optionally `revision`, `order` and
/// `preview_url`:
///
///     [{ "key": "a.txt", "url": "items/a.txt", "revision": 7, "order": 1, "preview_url": null }]
enum MirrorList {
    /// An entry of the list, as decoded.
    private struct Entry: Decodable {
        let key: String
        let url: String
        let revision: Revision?
        let order: Int?
        let previewURL: String?

        enum CodingKeys: String, CodingKey {
            case key, url, revision, order
            case previewURL = "preview_url"
        }
    }

    /// A revision, which is a text or an integer in the list, as text.
    private struct Revision: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                text = String(number)
            } else {
                text = try container.decode(String.self)
            }
        }
    }

    /// Parses a list.
    ///
    /// - Parameters:
    ///   - data: The list as the server sent it.
    ///   - url: The address of the list, against which relative addresses in it are resolved.
    ///   - allowsHTTP: Whether a list that came by https may name items with http.
    ///   - secrets: The credentials of the request, which errors do not show.
    /// - Returns: The items in list order; keys can repeat.
    /// - Throws: ``MirrorListError`` with the URL and, if it concerns an entry, its index.
    static func items(
        from data: Data, url: URL, allowsHTTP: Bool = false, secrets: SentSecrets = SentSecrets()
    ) throws(MirrorListError) -> [MirrorItem] {
        let entries: [Entry]
        do {
            entries = try JSONDecoder().decode([Entry].self, from: data)
        } catch {
            throw MirrorListError(url: url, error: error, data: data, secrets: secrets)
        }
        var items: [MirrorItem] = []
        items.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            items.append(
                MirrorItem(
                    owsPrimaryKey: MirrorKey(entry.key), owsDownloadOrder: entry.order ?? 0,
                    url: try resolve(entry.url, against: url, allowsHTTP, secrets, place: "[\(index)].url"),
                    revision: entry.revision?.text,
                    previewURL: try entry.previewURL.map { text throws(MirrorListError) in
                        try resolve(text, against: url, allowsHTTP, secrets, place: "[\(index)].preview_url")
                    }))
        }
        return items
    }

    private static func resolve(
        _ text: String, against url: URL, _ allowsHTTP: Bool, _ secrets: SentSecrets, place: String
    ) throws(MirrorListError) -> URL {
        let resolved: URL
        do throws(HTTPAddressError) {
            guard !text.isEmpty else { throw HTTPAddressError("", .noHost) }
            resolved = try HTTPAddress.parse(text, relativeTo: url)
        } catch {
            let shown = HTTPAddress.displayName(secrets.redacted(text))
            throw MirrorListError(url: url, problem: "\(place): \"\(shown)\" is not an address with http or https")
        }
        if !allowsHTTP, url.scheme?.lowercased() == "https", resolved.scheme != "https" {
            throw MirrorListError(
                url: url, problem: "\(place): an address without https; --allow-http accepts it")
        }
        return resolved
    }
}

/// An error for an invalid list. Its description is one line that contains the URL.
struct MirrorListError: Error, Equatable, CustomStringConvertible {
    let url: URL
    /// The position and the problem, such as `[3].url: expected a string, found null`.
    let problem: String

    var description: String { "\(url.displayName): \(problem)" }

    init(url: URL, problem: String) {
        self.url = url
        self.problem = problem
    }

    /// Creates an error from a decoding error.
    ///
    /// - Parameters:
    ///   - url: The address of the list.
    ///   - error: The error that `JSONDecoder` threw.
    ///   - data: The decoded data; its beginning is quoted if it is not JSON.
    ///   - secrets: The credentials that are not quoted.
    fileprivate init(url: URL, error: any Error, data: Data, secrets: SentSecrets) {
        let problem =
            switch error {
            case DecodingError.keyNotFound(let key, let context):
                "\(Self.place(context.codingPath + [key])): is missing"
            case DecodingError.valueNotFound(let type, let context):
                "\(Self.place(context.codingPath)): expected \(Self.name(of: type)), found null"
            case DecodingError.typeMismatch(let type, let context):
                "\(Self.place(context.codingPath)): expected \(Self.name(of: type))"
            case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
                "\(Self.place(context.codingPath)): \(context.debugDescription)"
            default:
                "the list is not JSON; it begins with \"\(Self.beginning(of: data, secrets))\""
            }
        self.init(url: url, problem: problem)
    }

    /// Returns a path such as `[3].url`; `the list` for the root.
    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return text.isEmpty ? "the list" : text
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is any BinaryInteger.Type: "a whole number"
        case is [Any].Type: "an array"
        case is [String: Any].Type: "an object"
        default: "another type"
        }
    }

    private static func beginning(of data: Data, _ secrets: SentSecrets) -> String {
        let text = String(decoding: secrets.redacted(Array(data.prefix(200))), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return PrintableText.line(line, limit: 40)
    }
}
