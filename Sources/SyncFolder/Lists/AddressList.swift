import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// A list of addresses with http or https, one on each line; lines that begin with `#` are
/// comments.
///
/// It has at least one address: other texts can begin with `#`, too, and an empty list removes all
/// files. The JSON `[]` is an empty list.
///
/// The key of an address below the list's own folder is the rest of its path there. Every other key
/// is the host and the path. A query is part of the key.
enum AddressList {
    /// Parses a list.
    static func items(from page: ListPage) throws(FolderError) -> [FolderItem] {
        // A text has no end of its own.
        guard page.isFramed else { throw page.error("the response has no length, so that its end is not known") }
        guard let text = String(validating: page.bytes, as: UTF8.self) else { throw page.error("it is not UTF-8") }
        var items: [FolderItem] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let address = line.trimmingCharacters(in: .whitespaces.union(["\u{FEFF}"]))
            if address.isEmpty || address.hasPrefix("#") { continue }
            let place = "line \(index + 1)"
            let start = address.lowercased()
            guard start.hasPrefix("http://") || start.hasPrefix("https://") else {
                throw page.error("\(place): not an address with http or https")
            }
            let url = try page.resolve(address, place: place)
            items.append(FolderItem(key(of: url, in: page), at: url))
        }
        guard !items.isEmpty else { throw page.error("it has comments, but no address; an empty list is []") }
        return items
    }

    private static func key(of url: URL, in page: ListPage) -> SyncKey {
        let path = url.path(percentEncoded: true)
        let isBelow = url.origin == page.url.origin && path.hasPrefix(page.folderPath)
        let rest = isBelow ? String(path.dropFirst(page.folderPath.count)) : (url.host() ?? "") + path
        let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
        return SyncKey((rest.removingPercentEncoding ?? rest) + query)
    }
}
