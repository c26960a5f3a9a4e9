import Foundation
import HTTPTransfer

/// A server's list of files in one of three forms: JSON, a plain list of addresses, or an HTML
/// index of nginx, Apache and similar servers.
struct FolderList: Sendable {
    /// The maximum size of a list in bytes. A list is held in memory.
    private static let byteCountLimit = 256 << 20
    /// The maximum depth of folders in HTML indexes. A server that follows links may have circles.
    private static let depthLimit = 64

    let url: URL
    let client: HTTPClient
    /// The header fields for an address.
    let headers: @Sendable (URL) -> HTTPHeaders
    /// Whether a list that came by https may name addresses with http.
    let allowsHTTP: Bool
    /// Whether the dates and sizes of an index tell that files are as before.
    let trustsDates: Bool
    /// The maximum number of folders in HTML indexes. A server can invent any number of them.
    var folderCountLimit = 100_000

    /// Fetches the list.
    ///
    /// - Throws: `HTTPError`, or ``FolderError/unusableList(_:problem:found:)``.
    func items() async throws -> [FolderItem] {
        let page = try await page(at: url)
        switch page.form {
        case .json: return try JSONFileList.items(from: page)
        case .addresses: return try AddressList.items(from: page)
        case .index: return try await items(of: page)
        }
    }

    /// Fetches the indexes of folders, too.
    private func items(of first: ListPage) async throws -> [FolderItem] {
        var items: [FolderItem] = []
        var folders: [(folder: IndexList.Folder, depth: Int)] = []
        var folderCount = 0
        func take(_ page: ListPage, prefix: String, depth: Int) throws {
            let found = try IndexList(page, prefix: prefix, trustsDates: trustsDates)
            folderCount += found.folders.count
            guard folderCount <= folderCountLimit else {
                throw first.error("the index has more than \(folderCountLimit) folders")
            }
            items += found.items
            folders += found.folders.map { ($0, depth + 1) }
        }
        try take(first, prefix: "", depth: 0)
        while let (folder, depth) = folders.popLast() {
            guard depth <= Self.depthLimit else {
                throw FolderError.unusableList(folder.url, problem: "folders are nested too deeply", found: nil)
            }
            let page = try await page(at: folder.url)
            guard page.form == .index else { throw page.error("it is not an index of a folder") }
            try take(page, prefix: folder.prefix, depth: depth)
        }
        return items
    }

    private func page(at url: URL) async throws -> ListPage {
        let order = HTTPOrder(plain: url, limit: Self.byteCountLimit, secrets: headers(url))
        let fetch = HTTPFetch(order, by: client)
        let head = try await fetch.head()
        var bytes: [UInt8] = []
        while let piece = try await fetch.nextPiece() { bytes += piece }
        return ListPage(
            url: head.url.withoutUser, bytes: bytes, secrets: fetch.secrets, allowsHTTP: allowsHTTP,
            isFramed: head.isFramed)
    }
}

/// A response with a list, or a part of one.
struct ListPage: Sendable {
    /// The forms of a list.
    enum Form: Hashable {
        case json, addresses, index
    }

    /// The address that it came from.
    var url: URL
    var bytes: [UInt8]
    /// The credentials of the request, which errors do not show.
    var secrets = SentSecrets()
    /// Whether addresses with http are allowed in a list that came by https.
    var allowsHTTP: Bool
    /// Whether a truncated body would have been detected.
    var isFramed = true

    /// The form, by the beginning. An unknown beginning is taken for JSON, which reports it.
    var form: Form {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
        let beginning = text.drop { $0 <= 0x20 }.prefix(16)
        let start = String(decoding: beginning, as: UTF8.self).lowercased()
        if start.hasPrefix("http://") || start.hasPrefix("https://") || start.hasPrefix("#") { return .addresses }
        return start.hasPrefix("<") ? .index : .json
    }

    /// Whether it is XML, but not an HTML page, which can be XML, too.
    var isXML: Bool {
        let start = String(decoding: bytes.prefix(1_024), as: UTF8.self).lowercased()
        return start.contains("<?xml") && !start.contains("<html")
    }

    /// Resolves an address of the list.
    ///
    /// - Parameter place: Where it is in the list, such as `[3].url`.
    func resolve(_ text: String, place: String) throws(FolderError) -> URL {
        let resolved: URL
        do throws(HTTPAddressError) {
            guard !text.isEmpty else { throw HTTPAddressError("", .noHost) }
            resolved = try HTTPAddress.parse(text, relativeTo: url)
        } catch {
            throw self.error(
                "\(place): not an address with http or https", found: HTTPAddress.displayName(secrets.redacted(text)))
        }
        if !allowsHTTP, url.scheme?.lowercased() == "https", resolved.scheme != "https" {
            throw self.error("\(place): an address without https in a list that came by https")
        }
        return resolved
    }

    /// An error with the address of the list.
    func error(_ problem: String, found: String? = nil) -> FolderError {
        .unusableList(url, problem: problem, found: found)
    }

    /// The beginning of the body, for debugging.
    var beginning: String {
        let text = String(decoding: secrets.redacted(Array(bytes.prefix(200))), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return PrintableText.line(line, limit: 40)
    }

    /// The path that the list is in, with a slash at its end, as it is in the address.
    var folderPath: String {
        let path = url.path(percentEncoded: true)
        return String(path[...(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
