import JSONMapper
import StoreSync

extension HTTPJSONSource {
    /// Whether a page without a list is empty, because it leads to the next page or to the next
    /// changes.
    func isListless(_ facts: PageFacts) -> Bool {
        guard api.omitsEmptyLists else { return false }
        return [api.pages.pointerKeyPath, api.delta?.cursor.pageKeyPath].contains { keyPath in
            keyPath.flatMap { facts.captured[$0]?.isSet } ?? false
        }
    }

    /// The body of a page without a list, with an empty list and the page's tombstones.
    func emptyBody(at keyPath: String, _ facts: PageFacts) throws -> [UInt8] {
        let list = JSONKeyPath.text(of: JSONKeyPath.list(at: keyPath).list)
        var body = try HTTPAPI.Pages.setting(list, to: "[]", in: nil)
        if case .list(let tombstones) = api.delta?.tombstones {
            var writer = JSONWriter()
            try writer.value(.array(facts.tombstones))
            body = try HTTPAPI.Pages.setting(tombstones, to: String(decoding: writer.bytes, as: UTF8.self), in: body)
        }
        return body
    }
}
