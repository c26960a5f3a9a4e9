import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// The files and folders of an HTML index: its links to addresses directly below its own.
///
/// The dates of an index have minutes only, and its sizes are often rounded. They only tell that a
/// file is as before; see ``ListedFile``.
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
    /// - Parameters:
    ///   - prefix: What the keys of the files begin with.
    ///   - trustsDates: Whether the items have what the index says about their files.
    /// - Throws: An error for other pages, such as a form to log in, and for an index without its
    ///   end.
    init(_ page: ListPage, prefix: String, trustsDates: Bool) throws(FolderError) {
        let beginning = String(decoding: page.bytes.prefix(4_096), as: UTF8.self).lowercased()
        guard beginning.contains("index of") || beginning.contains("directory listing for") else {
            throw page.error("it is an HTML page, but not an index of a folder", found: page.beginning)
        }
        guard String(decoding: page.bytes.suffix(4_096), as: UTF8.self).lowercased().contains("</html>") else {
            throw page.error("the index of the folder has no end")
        }
        var known: Set<SyncKey> = []
        let (origin, folderPath) = (page.url.origin, page.folderPath)
        let isWhole = IndexLink.forEach(in: page.bytes) { link in
            guard let url = try? HTTPAddress.parse(link.target, relativeTo: page.url), url.origin == origin,
                url.query(percentEncoded: true) == nil
            else { return }
            let path = url.path(percentEncoded: true)
            guard path.hasPrefix(folderPath) else { return }
            let rest = path.dropFirst(folderPath.count)
            let name = rest.hasSuffix("/") ? rest.dropLast() : rest
            guard !name.isEmpty, !name.contains("/") else { return }
            let isEncoded = name.utf8.contains(UInt8(ascii: "%"))
            let key = prefix + (isEncoded ? name.removingPercentEncoding ?? String(name) : String(name))
            // Some indexes link an icon and a name.
            guard known.insert(SyncKey(key)).inserted else { return }
            if rest.hasSuffix("/") {
                folders.append(Folder(url: url, prefix: key + "/"))
            } else {
                var item = FolderItem(SyncKey(key), at: url)
                if trustsDates { item.listed = ListedFile(link.words, of: url) }
                items.append(item)
            }
        }
        guard isWhole else { throw page.error("the index of the folder has a quote without an end") }
    }
}
