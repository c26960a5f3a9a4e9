import Foundation
import HTTPTransfer
import JSONMapper

extension HTTPJSONSource {
    /// The number of all objects that a page states; nil if it states none.
    func statedTotal(_ head: HTTPHead, _ facts: PageFacts) -> Int? {
        guard let keyPath = api.totalKeyPath ?? api.pages.totalKeyPath else {
            return Self.totalFields.lazy.compactMap { head.headers.integer($0) }.first ?? Self.rangeTotal(head)
        }
        return facts.captured[keyPath]?.wholeNumber
    }

    private static let totalFields = ["X-Total-Count", "X-Total", "X-WP-Total"]

    /// Whether a number of all objects by a usual name counts. Beside pages that are stated, it
    /// does not if the API states where the number is.
    var countsByUsualNames: Bool {
        guard api.isTotalExact else { return false }
        if api.pages.isSingle || api.pages.isAutomatic { return true }
        return api.totalKeyPath == nil && api.pages.totalKeyPath == nil
    }

    /// The number of all objects in a `Content-Range` field, as in `items 0-19/95`.
    private static func rangeTotal(_ head: HTTPHead) -> Int? {
        head.headers["Content-Range"].flatMap { field in
            field.split(separator: "/").last.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        }
    }

    /// Whether the number of all objects that a page states is exact.
    func statesExactTotal(_ facts: PageFacts) -> Bool {
        guard api.isTotalExact, let keyPath = api.totalRelationKeyPath else { return api.isTotalExact }
        return facts.captured[keyPath] == .string("eq")
    }

    /// The exact numbers with which a page describes the whole list, by what they count.
    func statedCounts(_ head: HTTPHead, _ facts: PageFacts) -> [String: Int] {
        var counts: [String: Int] = [:]
        if statesExactTotal(facts) { counts["objects"] = statedTotal(head, facts) }
        for case .pageCount(let header) in api.pages.ends { counts["pages"] = head.headers.integer(header) }
        return counts
    }
}

extension HTTPHeaders {
    /// The number in a field; nil if there is none.
    func integer(_ name: String) -> Int? {
        self[name].flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }
}
