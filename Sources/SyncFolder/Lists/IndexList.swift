import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// The files and folders of an HTML index: its links to addresses directly below its own.
///
/// The dates of an index have minutes only, and its sizes are often rounded. They are not used:
/// each pass asks the server which files changed.
struct IndexList {
    /// A folder of an index.
    struct Folder: Hashable {
        var url: URL
        /// What the keys of its files begin with.
        var prefix: String
    }

    private(set) var items: [FolderItem] = []
    private(set) var folders: [Folder] = []

    /// Parses an index.
    ///
    /// - Parameter prefix: What the keys of the files begin with.
    /// - Throws: An error for other pages, such as a form to log in, and for an index without its
    ///   end.
    init(_ page: ListPage, prefix: String) throws(FolderError) {
        let text = String(decoding: page.bytes, as: UTF8.self)
        let beginning = text.prefix(4_096).lowercased()
        guard beginning.contains("index of") || beginning.contains("directory listing for") else {
            throw page.error("it is an HTML page, but not an index of a folder", found: page.beginning)
        }
        guard text.suffix(4_096).lowercased().contains("</html>") else {
            throw page.error("the index of the folder has no end")
        }
        var known: Set<SyncKey> = []
        let (origin, folderPath) = (page.url.origin, page.folderPath)
        for link in Self.links(in: text) {
            guard let url = try? HTTPAddress.parse(link, relativeTo: page.url), url.origin == origin,
                url.query(percentEncoded: true) == nil
            else { continue }
            let path = url.path(percentEncoded: true)
            guard path.hasPrefix(folderPath) else { continue }
            let rest = path.dropFirst(folderPath.count)
            let name = rest.hasSuffix("/") ? rest.dropLast() : rest
            guard !name.isEmpty, !name.contains("/") else { continue }
            let key = prefix + (name.removingPercentEncoding ?? String(name))
            // Some indexes link an icon and a name.
            guard known.insert(SyncKey(key)).inserted else { continue }
            if rest.hasSuffix("/") {
                folders.append(Folder(url: url, prefix: key + "/"))
            } else {
                items.append(FolderItem(SyncKey(key), at: url))
            }
        }
    }

    /// The values of `href` of all links, in order.
    private static func links(in text: String) -> [String] {
        text.matches(of: #/(?i)<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')/#).map { match in
            unescaped(String(match.output.1 ?? match.output.2 ?? ""))
        }
    }

    /// Replaces the character references that occur in addresses.
    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&#x27;", with: "'").replacing("&amp;", with: "&")
    }
}
