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
    /// - Throws: An error for other pages, such as a form to log in, for an index without its end,
    ///   and for one that only has links to other places of the server.
    init(_ page: ListPage, prefix: String, trustsDates: Bool) throws(FolderError) {
        guard Self.isIndex(page) else {
            throw page.error(
                page.isXML ? "it is XML, which is not a list" : "it is an HTML page, but not an index of a folder",
                found: page.beginning)
        }
        guard String(decoding: page.bytes.suffix(4_096), as: UTF8.self).lowercased().contains("</html>") else {
            throw page.error("the index of the folder has no end")
        }
        // Whether the name of each file and folder is the text of its address without escapes.
        var known: [SyncKey: Bool] = [:]
        var unfit: String?
        var unusable: (problem: String, target: String)?
        let (origin, folderPath) = (page.url.origin, page.folderPath)
        let problem = IndexLink.forEach(in: page.bytes) { link in
            let url: URL
            do throws(HTTPAddressError) {
                url = try HTTPAddress.parse(link.target, relativeTo: page.url)
            } catch {
                if link.hasHost, error.reason != .noHost {
                    unfit = unfit ?? link.target
                } else if !link.isMailOrScript {
                    let problem = "a link without http or https; a name with a colon begins with ./"
                    unusable = unusable ?? (problem, link.target)
                }
                return
            }
            let path = url.path(percentEncoded: true)
            let rest = path.hasPrefix(folderPath) ? path.dropFirst(folderPath.count) : ""
            let name = rest.hasSuffix("/") ? rest.dropLast() : rest
            guard url.origin == origin, url.query(percentEncoded: true) == nil, !name.isEmpty, !name.contains("/")
            else {
                // Beside files, an index has links to itself in another order, and to the folders
                // around it.
                let isElsewhere = url.origin == origin ? !folderPath.hasPrefix(path) : !name.isEmpty
                if unfit == nil, isElsewhere { unfit = link.target }
                return
            }
            let isEncoded = name.utf8.contains(UInt8(ascii: "%"))
            // A name that is not UTF-8 keeps its escapes.
            let text = isEncoded ? name.removingPercentEncoding : String(name)
            let key = prefix + (text ?? String(name))
            let place = SyncKey(rest.hasSuffix("/") ? key + "/" : key)
            if let isText = known.updateValue(text != nil, forKey: place) {
                // Some indexes link an icon and a name.
                if isText != (text != nil) { unusable = unusable ?? ("two links with one name", link.target) }
                return
            }
            if rest.hasSuffix("/") {
                folders.append(Folder(url: url, prefix: key + "/"))
            } else {
                var item = FolderItem(SyncKey(key), at: url)
                if trustsDates { item.listed = ListedFile(link.words, of: url) }
                items.append(item)
            }
        }
        if let problem { throw page.error("the index of the folder has \(problem)") }
        if let unusable {
            throw page.error(
                "the index of the folder has \(unusable.problem)",
                found: HTTPAddress.displayName(page.secrets.redacted(unusable.target)))
        }
        if let unfit, known.isEmpty {
            throw page.error(
                "the index of the folder has links, but none to what is in it",
                found: HTTPAddress.displayName(page.secrets.redacted(unfit)))
        }
    }

    /// Whether the title or a heading of a page is that of an index.
    private static func isIndex(_ page: ListPage) -> Bool {
        let beginning = String(decoding: page.bytes.prefix(4_096), as: UTF8.self).lowercased()
        return ["<title", "<h1"].contains { tag in
            beginning.split(separator: tag, omittingEmptySubsequences: false).dropFirst().contains { rest in
                guard let end = rest.firstIndex(of: ">") else { return false }
                let words = rest[end...].dropFirst().drop(while: \.isWhitespace)
                return words.hasPrefix("index of") || words.hasPrefix("directory listing for")
            }
        }
    }
}
