import Foundation
import HTTPTransfer
import JSONMapper
import StoreSync

/// Signs that a response is one page of a list, although the source requests only one.
enum UnreadPages {
    /// The usual key paths of the address of the next page, or of a cursor that requests it.
    private static let pointers = [
        "next", "links.next", "_links.next", "meta.next", "paging.next", "pagination.next", "next_page", "nextPage",
        "next_page_url", "next_url", "nextLink", #"@odata\.nextLink"#, "nextRecordsUrl", "meta.next_page",
        "pagination.next_page", "next_cursor", "nextCursor", "meta.next_cursor", "meta.nextCursor",
        "pagination.next_cursor", "response_metadata.next_cursor", "next_page_token", "nextPageToken",
        "next_token", "nextToken", "continuation", "paging.next.after", "paging.cursors.after", "metadata.continue",
    ]
    /// The usual key paths of a value that is true if more pages follow.
    private static let flags = [
        "has_more", "hasMore", "has_next", "hasNext", "hasNextPage", "pageInfo.hasNextPage", "meta.has_more",
        "pagination.has_more", "isTruncated", "more",
    ]
    /// The usual key paths of the number of all objects.
    private static let totals = [
        "total", "count", "totalCount", "total_count", "totalItems", "total_items", "totalSize", "totalResults",
        "total_results", "meta.total", "meta.total_count", "meta.count", "meta.pagination.total", "pagination.total",
        "paging.total", #"@odata\.count"#, "page.totalElements", "totalElements", "numberMatched",
    ]
    /// The header fields with the number of pages. Fields with the number of objects are compared
    /// with the objects of all sources.
    private static let pageCountFields = ["X-Total-Pages", "X-WP-TotalPages"]

    /// The key paths of values outside the objects that can be such a sign.
    static let captures = pointers + flags + totals

    /// A readable sentence about pages that were not read; nil if the response is the whole list.
    static func sign(_ head: HTTPHead, _ facts: PageFacts) -> String? {
        for keyPath in pointers {
            guard let value = facts.captured[keyPath], value.isSet else { continue }
            if case .bool = value { continue }
            return "\(keyPath) leads to a next page, which was not read: " + scheme(of: value, at: keyPath)
        }
        if let next = head.headers["X-Next-Page"], !next.trimmingCharacters(in: .whitespaces).isEmpty {
            return "X-Next-Page leads to a next page, which was not read: " + numbered
        }
        for keyPath in flags where facts.captured[keyPath] == .bool(true) {
            return "\(keyPath) says that more pages follow, which were not read: " + other
        }
        let stated = totals.compactMap { keyPath -> (String, Int)? in
            guard case .integer(let count) = facts.captured[keyPath] else { return nil }
            return (keyPath, Int(count))
        }
        let elementCount = facts.elementCount + facts.tombstones.count
        for (name, count) in stated where count > elementCount {
            return "\(name) counts \(count) objects, and the response had \(elementCount): " + other
        }
        for name in pageCountFields {
            guard let count = head.headers.integer(name), count > 1 else { continue }
            return "\(name) counts \(count) pages, and one was read: " + numbered
        }
        return nil
    }

    private static let numbered = "choose the pages, such as .page(parameter: \"page\")"
    private static let other =
        "choose the pages, such as .page(parameter: \"page\") or .offset(parameter: \"offset\")"

    /// The pages that a pointer suggests.
    private static func scheme(of value: JSONValue, at keyPath: String) -> String {
        var target = value
        if case .object(let object) = value, let inner = object["href"] { target = inner }
        if case .string(let text) = target, text.hasPrefix("/") || text.hasPrefix("?") || text.contains("://") {
            return "choose the pages .linkField(keyPath: \"\(keyPath)\")"
        }
        return "choose the pages .cursor(keyPath: \"\(keyPath)\", parameter: …), with the parameter that takes it"
    }
}
