import Foundation
import OneWaySynchronizer
import SyncBase

/// A list as a JSON array of objects with `key` and `url`, and optionally `revision`, `size`,
/// `sha256`, `order` and `preview_url`:
///
///     [{ "key": "a.txt", "url": "items/a.txt", "revision": 7, "size": 1024, "sha256": "9f86…" }]
enum JSONFileList {
    private struct Entry: Decodable {
        let key: String
        let url: String
        let revision: Revision?
        let size: WholeNumber?
        let sha256: String?
        let order: WholeNumber?
        let previewURL: String?

        enum CodingKeys: String, CodingKey {
            case key, url, revision, size, sha256, order
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
            } else if let string = try? container.decode(String.self) {
                text = string
            } else {
                throw Unfit(container, expected: "a string or a whole number")
            }
        }
    }

    private struct WholeNumber: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let number = try? container.decode(Int.self) else {
                throw Unfit(container, expected: "a whole number")
            }
            value = number
        }
    }

    /// A value that is not a whole number of 64 bits where one is expected. The decoder's own error
    /// has no place if the value is another number.
    private struct Unfit: Error {
        let problem: String

        init(_ container: any SingleValueDecodingContainer, expected: String) {
            let number = try? container.decode(Double.self)
            let isWhole = number.map { $0.rounded() == $0 } ?? false
            let reason = isWhole ? "the number has more than 64 bits" : "expected \(expected)"
            problem = "\(JSONFileList.place(container.codingPath)): \(reason)"
        }
    }

    /// Parses a list.
    ///
    /// - Returns: The items in list order; keys can repeat.
    static func items(from page: ListPage) throws(FolderError) -> [FolderItem] {
        let entries: [Entry]
        do {
            entries = try JSONDecoder().decode([Entry].self, from: Data(page.bytes))
        } catch let error as Unfit {
            throw page.error(error.problem)
        } catch {
            let isJSON = (error as? DecodingError).map { if case .dataCorrupted = $0 { false } else { true } } ?? false
            throw page.error(problem(error), found: isJSON ? nil : page.beginning)
        }
        var items: [FolderItem] = []
        items.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            var item = FolderItem(SyncKey(entry.key), at: try page.resolve(entry.url, place: "[\(index)].url"))
            item.revision = entry.revision?.text
            item.order = entry.order?.value ?? 0
            item.byteCount = entry.size?.value
            if let size = item.byteCount, size < 0 {
                throw page.error("[\(index)].size: a negative number is not a size")
            }
            if let sha256 = entry.sha256 {
                guard Hexadecimal.bytes(of: sha256)?.count == 32 else {
                    throw page.error("[\(index)].sha256: expected 64 hexadecimal digits")
                }
                item.sha256 = sha256.lowercased()
            }
            if let text = entry.previewURL {
                item.previewURL = try page.resolve(text, place: "[\(index)].preview_url")
            }
            items.append(item)
        }
        return items
    }

    private static func problem(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context): "\(place(context.codingPath + [key])): is missing"
        case DecodingError.valueNotFound(let type, let context):
            "\(place(context.codingPath)): expected \(name(of: type)), found null"
        case DecodingError.typeMismatch(let type, let context):
            "\(place(context.codingPath)): expected \(name(of: type))"
        case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            "\(place(context.codingPath)): is not valid"
        default: "the list is not JSON"
        }
    }

    /// Returns a path such as `[3].url`; `the list` for the root.
    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return text.isEmpty ? "the list" : text
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is [Any].Type: "an array"
        case is [String: Any].Type: "an object"
        default: "another type"
        }
    }
}
