import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import Testing

@testable import SyncFolder

@Suite(.endsInTime) struct FolderListTests {
    private func page(_ text: String, from address: String = "http://host/dir/list.json") throws -> ListPage {
        ListPage(url: try #require(URL(string: address)), bytes: Array(text.utf8), allowsHTTP: false)
    }

    private func items(_ json: String) throws -> [FolderItem] {
        try JSONFileList.items(from: page(json))
    }

    private func problem(_ json: String) throws -> String {
        let error = try #require(throws: FolderError.self) { try items(json) }
        #expect(error.description.hasPrefix("http://host/dir/list.json: "))
        guard case .unusableList(_, let problem, let found) = error else { throw error }
        // Only what is no JSON is unknown enough to show its beginning.
        if problem.hasPrefix("[") || problem.hasPrefix("the list: ") {
            #expect(found?.hasPrefix("[") != true && found?.hasPrefix("{") != true)
        }
        return problem
    }

    @Test func anEntryIsRead() throws {
        let item = try #require(
            try items(
                """
                [{"key": "a", "url": "x/a", "revision": 7, "order": -2, "preview_url": "/p?a=1", "size": 5,
                  "sha256": "\(String(repeating: "Ab", count: 32))", "more": {}}]
                """
            ).first)
        #expect(item.key == "a")
        #expect(item.byteCount == 5)
        #expect(item.sha256 == String(repeating: "ab", count: 32))
        #expect(item.url.absoluteString == "http://host/dir/x/a")
        #expect(item.revision == "7")
        #expect(item.order == -2)
        #expect(item.previewURL?.absoluteString == "http://host/p?a=1")
    }

    @Test func whatIsOptionalMayBeAbsentOrNull() throws {
        let items = try items(
            """
            [{"key": "a", "url": "https://other/a", "revision": null, "order": null, "preview_url": null},
             {"key": "b", "url": "b", "revision": "etag"}]
            """)
        #expect(items.map(\.revision) == [nil, "etag"])
        #expect(items.map(\.order) == [0, 0])
        #expect(items.map(\.previewURL) == [nil, nil])
        #expect(items[0].url.absoluteString == "https://other/a")
    }

    @Test func keysAreComparedByteByByte() throws {
        let items = try items(#"[{"key": "\u00e9", "url": "a"}, {"key": "e\u0301", "url": "b"}]"#)
        #expect(items[0].owsPrimaryKey != items[1].owsPrimaryKey)
        #expect(Set(items.map(\.owsPrimaryKey)).count == 2)
    }

    @Test(arguments: [
        ("token s3cretTOKEN123 invalid", "token [redacted] invalid"),
        (#"[{"key": "a", "url": "ftp://u:p@host/s3cretTOKEN123"}]"#, "ftp://host/[redacted]?…"),
        (#"[{"key": "a", "url": "ftp://host/a?token=other"}]"#, "ftp://host/a?…"),
    ])
    func anErrorShowsNoCredential(json: String, expected: String) throws {
        let url = try #require(URL(string: "http://host/dir/list.json"))
        let secrets = SentSecrets(allOf: [["Authorization": "Bearer s3cretTOKEN123"]], url: url)
        let error = try #require(throws: FolderError.self) {
            try JSONFileList.items(
                from: ListPage(url: url, bytes: Array(json.utf8), secrets: secrets, allowsHTTP: false))
        }
        guard case .unusableList(_, _, let found) = error else { throw error }
        #expect(found == expected)
        #expect(error.debugDescription.hasSuffix("\"\(expected)\"") && !error.description.contains(expected))
    }

    @Test(arguments: [
        (#"{"items": []}"#, "the list: expected an array"),
        (#"[7]"#, "[0]: expected an object"),
        (#"[{"key": "a", "url": "a"}, {"url": "b"}]"#, "[1].key: is missing"),
        (#"[{"key": null, "url": "a"}]"#, "[0].key: expected a string, found null"),
        (#"[{"key": 7, "url": "a"}]"#, "[0].key: expected a string"),
        (#"[{"key": "a", "url": "a", "order": "first"}]"#, "[0].order: expected a whole number"),
        (#"[{"key": "a", "url": "a", "revision": []}]"#, "[0].revision: expected a string or a whole number"),
        (#"[{"key": "a", "url": "a", "revision": 1.5}]"#, "[0].revision: expected a string or a whole number"),
        (
            #"[{"key": "a", "url": "a", "revision": 9223372036854775808}]"#,
            "[0].revision: the number has more than 64 bits"
        ),
        (#"[{"key": "a", "url": "a"}, {"key": "b", "url": "b", "size": 1.5}]"#, "[1].size: expected a whole number"),
        (
            #"[{"key": "a", "url": "a", "size": 1180591620717411303424}]"#,
            "[0].size: the number has more than 64 bits"
        ),
        (#"[{"key": "a", "url": "a", "order": 1e30}]"#, "[0].order: the number has more than 64 bits"),
        (#"[{"key": "a", "url": "a", "order": true}]"#, "[0].order: expected a whole number"),
        (#"[{"key": "a", "url": ""}]"#, "[0].url: not an address with http or https"),
        (#"[{"key": "a", "url": "file:///etc/passwd"}]"#, "[0].url: not an address with http or https"),
        (
            #"[{"key": "a", "url": "a", "preview_url": "ftp://host/a"}]"#,
            "[0].preview_url: not an address with http or https"
        ),
        (#"[{"key": "a", "url": "a", "size": -1}]"#, "[0].size: a negative number is not a size"),
        (#"[{"key": "a", "url": "a", "size": "1"}]"#, "[0].size: expected a whole number"),
        (#"[{"key": "a", "url": "a", "sha256": "abc"}]"#, "[0].sha256: expected 64 hexadecimal digits"),
        ("<!DOCTYPE html>\n<html>", "the list is not JSON"), ("", "the list is not JSON"),
        (#"[{"key": "a", "#, "the list is not JSON"),
    ])
    func aBadListIsNamedAtItsPlace(json: String, expected: String) throws {
        #expect(try problem(json) == expected)
    }

    @Test(arguments: [false, true]) func aListByHTTPSNamesItemsByHTTPOnlyIfAllowed(isAllowed: Bool) throws {
        var page = try page(#"[{"key":"a","url":"http://host/a"}]"#, from: "https://host/list")
        page.allowsHTTP = isAllowed
        if isAllowed {
            #expect(try JSONFileList.items(from: page).count == 1)
        } else {
            #expect(throws: FolderError.self) { try JSONFileList.items(from: page) }
        }
    }

    @Test func addressesOfAListKeepTheirEscapes() throws {
        let items = try JSONFileList.items(
            from: page(#"[{"key":"a","url":"x y?f[a]=%3D"}]"#, from: "https://host/dir/list"))
        #expect(items.map(\.url.absoluteString) == ["https://host/dir/x%20y?f%5Ba%5D=%3D"])
    }

    @Test(arguments: [
        ("[]", ListPage.Form.json), (" \n{", .json), ("", .json), ("hello", .json), ("<html>", .index),
        ("\u{FEFF}\n<!DOCTYPE html>", .index), ("# a list\nhttp://host/a", .addresses),
        ("HTTPS://host/a", .addresses), (" <html>", .index), ("ftp://host/a", .json),
    ]) func theFormIsSeenAtTheBeginning(text: String, form: ListPage.Form) throws {
        #expect(try page(text).form == form)
    }

    // MARK: Addresses

    @Test func anAddressHasItsPathBelowTheListAsItsKey() throws {
        let text = """
            # Two folders
            http://host/dir/a%20b.txt

              http://host/dir/sub/c?v=1
            http://host/other/d\r
            https://elsewhere/dir/e
            """
        let items = try AddressList.items(from: page(text))
        #expect(items.map(\.key) == ["a b.txt", "sub/c?v=1", "host/other/d", "elsewhere/dir/e"])
        #expect(items.map(\.url.absoluteString).first == "http://host/dir/a%20b.txt")
    }

    @Test(arguments: [
        ("http://host/a\nService Unavailable", "line 2: not an address with http or https"),
        ("http://host/a\n/b", "line 2: not an address with http or https"),
        ("http://host/a\nhttp://", "line 2: not an address with http or https"),
        ("# nothing", "it has comments, but no address; an empty list is []"),
        ("# Maintenance\n\n##\n", "it has comments, but no address; an empty list is []"),
    ]) func aLineThatIsNoAddressIsAnError(text: String, problem: String) throws {
        let page = try page(text)
        let error = #expect(throws: FolderError.self) { try AddressList.items(from: page) }
        #expect(error?.description.hasSuffix(": \(problem)") == true)
    }

    @Test func aTextWithoutAKnownEndIsAnError() throws {
        var page = try page("http://host/a")
        page.isFramed = false
        #expect(throws: page.error("the response has no length, so that its end is not known")) {
            try AddressList.items(from: page)
        }
        page.isFramed = true
        page.bytes += [0xFF]
        #expect(throws: page.error("it is not UTF-8")) { try AddressList.items(from: page) }
    }

    @Test func aTextCanBeginWithAByteOrderMark() throws {
        let page = try page("\u{FEFF}HTTP://host/dir/a\nhttp://host:81/dir/b\n")
        #expect(page.form == .addresses)
        #expect(try AddressList.items(from: page).map(\.key) == ["a", "host/dir/b"])
    }

    // MARK: Indexes

    /// As nginx 1.26 writes it.
    private static let nginx = """
        <html>
        <head><title>Index of /dir/</title></head>
        <body>
        <h1>Index of /dir/</h1><hr><pre><a href="../">../</a>
        <a href="sub%20folder/">sub folder/</a>                     24-Nov-2026 10:00                   -
        <a href="%3Cb%3E%26.txt">&lt;b&gt;&amp;.txt</a>             24-Nov-2026 10:00                1234
        <a href="README.md">README.md</a>                           24-Nov-2026 10:00                   5
        </pre><hr></body>
        </html>

        """

    /// As Apache 2.4 writes it, with fancy indexing.
    private static let apache = """
        <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
        <html>
         <head>
          <title>Index of /dir</title>
         </head>
         <body>
        <h1>Index of /dir</h1>
          <table>
           <tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
        <tr><td><a href="/">Parent Directory</a></td><td>&nbsp;</td></tr>
        <tr><td><a href="sub%20folder/"><img src="/icons/folder.gif"></a></td>\
        <td><a href="sub%20folder/">sub folder/</a></td></tr>
        <tr><td><a class='x' href='%3cb%3e&amp;.txt'>b</a></td><td align="right">2026-11-24 10:00  </td><td>1.2K</td></tr>
        <tr><td><a href="README.md">README.md</a></td><td align="right">2026-11-24 10:00  </td></tr>
        </table>
        </body></html>

        """

    @Test(arguments: [nginx, apache]) func anIndexHasFilesAndFolders(text: String) throws {
        let list = try IndexList(page(text, from: "http://host/dir/"), prefix: "p/", trustsDates: true)
        #expect(list.items.map(\.key) == ["p/<b>&.txt", "p/README.md"])
        #expect(list.items.last?.url.absoluteString == "http://host/dir/README.md")
        #expect(list.items.allSatisfy { $0.owsRevision == nil && $0.byteCount == nil })
        // Apache rounds the size of the first file, and leaves out that of the other one.
        #expect(list.items.map { $0.listed?.byteCount } == (text == Self.nginx ? [1234, 5] : [nil, nil]))
        #expect(list.folders.map(\.prefix) == ["p/sub folder/"])
        #expect(list.folders.map(\.url.absoluteString) == ["http://host/dir/sub%20folder/"])
    }

    private static let listings: [(String, [String]?)] = [
        ("<a href=a>x</a> 24-Nov-2026 10:00 5", ["24-Nov-2026", "10:00", "5"]),
        (
            "<td><A class=b HREF = 'a'>x</A></td><td>2026-11-24 10:00:59 </td><td>5</td>",
            ["2026-11-24", "10:00:59", "5"]
        ),
        ("<a href=\"a\">x</a> 24-Nov-2026 10:00 5\r\n", ["24-Nov-2026", "10:00", "5"]),
        ("<a href=\"a\">x</a><i>24-Nov-2026</i><i>10:00</i><i>5</i>", ["24-Nov-2026", "10:00", "5"]),
        ("<a href=\"a\">x</a> 24-Nov-2026 10:00 5K", nil), ("<a href=\"a\">x</a> 24-Nov-2026 10:00 -", nil),
        ("<a href=\"a\">x</a> 24-Nov-26 10:00 5", nil),
        ("<a href=\"a\">x</a> 24-Nov-2026 5 7", nil), ("<a href=\"a\">x</a> 10:00 5", nil),
        ("<a href=\"a\">x</a> 2 hours ago", nil), ("<a href=\"a\">24-Nov-2026 10:00 5</a>", nil),
        ("<a href=\"a\"><abbr>x</abbr> 24-Nov-2026 10:00 5", nil),
        ("<a href=\"a\">x 24-Nov-2026 10:00 5", nil), ("<a href=\"a\">x</a>\n24-Nov-2026 10:00 5", nil),
        ("<a href=\"a\">x</a> 24-Nov-2026 10:00 5 <a href=\"?d\">6</a>", ["24-Nov-2026", "10:00", "5"]),
        ("<abbr href=\"b\">x</abbr> <a name=\"b\">x</a> <a href=\"a\">x</a>", nil),
    ]

    @Test(arguments: listings)
    func anIndexHasTheDateAndSizeOfAFileOrNothing(link: String, words: [String]?) throws {
        let list = try IndexList(
            page("<title>Index of /</title>\(link)</html>", from: "http://host/"), prefix: "", trustsDates: true)
        #expect(list.items.map(\.key) == ["a"])
        let item = try #require(list.items.first)
        #expect((item.listed == nil) == (words == nil))
        if let words { #expect(item.listed == ListedFile(words, of: item.url)) }
    }

    /// A connection that ends in the middle of a tag, a name or a quote.
    @Test(arguments: [nginx, apache]) func anIndexThatIsCutOffAnywhereIsAnError(text: String) throws {
        let bytes = Array(text.utf8)
        let end = try #require(text.range(of: "</html>")).upperBound
        for count in 0..<text.utf8.distance(from: text.startIndex, to: end) {
            var page = try page("", from: "http://host/dir/")
            page.bytes = Array(bytes.prefix(count))
            #expect(throws: FolderError.self, "\(count)") { try IndexList(page, prefix: "", trustsDates: true) }
            // A page can also go on behind its end, until the middle of a tag.
            for rest in ["<!-- </html> <a href", "</html><a", "</html><a href=x>x</a><b", "</html><a href=x>x</a> <"] {
                page.bytes = bytes.prefix(count) + Array(rest.utf8)
                _ = try? IndexList(page, prefix: "", trustsDates: true)
            }
        }
    }

    /// Each folder of the server has two others.
    @Test(arguments: [(5, true), (6, false)])
    func aServerThatInventsFoldersIsAnError(folderCountLimit: Int, isError: Bool) async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            let links = request.path.count < 6 ? "<a href=\"a/\">a</a><a href=\"b/\">b</a>" : "<a href=\"c\">c</a>"
            return .text("<title>Index of /</title>\(links)</html>", type: "text/html")
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let list = FolderList(
                url: try #require(URL(string: "\(server.baseURL)/x/")), client: HTTPClient(),
                headers: { _ in HTTPHeaders() }, allowsHTTP: false, trustsDates: true,
                folderCountLimit: folderCountLimit)
            guard isError else {
                #expect(try await list.items().count == 4)
                return
            }
            let error = try await #require(throws: FolderError.self) { try await list.items() }
            #expect(error.description == "\(list.url): the index has more than 5 folders")
        }
    }

    @Test(arguments: ["a%20b.txt", "/my%20dir%2F/a%20b.txt", "http://host/my%20dir%2F/a%20b.txt"])
    func theAddressOfAFolderCanHaveEscapes(link: String) throws {
        let page = try page(
            "<title>Index of /</title><a href=\"\(link)\">x</a></html>", from: "http://host/my%20dir%2F/")
        #expect(try IndexList(page, prefix: "", trustsDates: true).items.map(\.key) == ["a b.txt"])
        let addresses = try self.page("http://host/my%20dir%2F/a%20b.txt", from: "http://host/my%20dir%2F/list")
        #expect(try AddressList.items(from: addresses).map(\.key) == ["a b.txt"])
    }

    @Test func linksElsewhereAreNotPartOfAnIndex() throws {
        let links = [
            "http://other/dir/a", "//other/dir/a", "/a", "/dir/sub/a", "..", "../", ".", "./", "", "#top", "?C=N",
            "javascript:alert(1)", "mailto:me@host", "ftp://host/dir/a", "/dir", "/directory/a", "http://[", "own",
        ]
        let others = #"<link href="style.css"><area href="b"><b href="c">x</b> a href="d" <aa href="e">"#
        let anchors = links.map { "<a href=\"\($0)\">x</a>" }.joined() + others
        let list = try IndexList(
            page("<title>Index of /dir</title>\(anchors)</html>", from: "http://host/dir/"), prefix: "",
            trustsDates: true)
        #expect(list.items.map(\.key) == ["own"] && list.folders.isEmpty)
    }

    /// Another form of the links would remove all files.
    @Test(arguments: [
        ("", true), ("<a href=\"../\">../</a>", true), ("<a href=\"?C=N;O=D\">Name</a><a href=\"/\">up</a>", true),
        ("<a href=\"/dir\">here</a><a href=\"https://nginx.org/\">nginx</a>", true),
        ("<!-- <a href=\"/files/dir/a.txt\">a</a> -->", true),
        ("<a href=\"../\">../</a><a href=\"/files/dir/a.txt\">a</a>", false),
        ("<!--><a href=\"/files/dir/a.txt\">a</a>", false), ("<a href=\"a.txt\">a</a><!-- x", false),
        ("<a href=\"https://host/dir/a.txt\">a</a>", false), ("<a href=\"ftp://host/dir/a.txt\">a</a>", false),
        ("<a href=\" MailTo:me@host\">me</a><a href=\"javascript:sort()\">Name</a>", true),
        ("<a href=\"a.txt?v=1\">a</a>", false),
        ("<a href=\"a&eacute;.txt\">a</a>", false), ("<a href=\"a.txt\">a</a><a href=\"a&#xD800;\">b</a>", false),
    ])
    func anIndexWithoutFilesHasNoLinksToOtherPlaces(links: String, isEmpty: Bool) throws {
        let page = try page("<title>Index of /dir/</title>\(links)</html>", from: "http://host/dir/")
        if isEmpty {
            let list = try IndexList(page, prefix: "", trustsDates: true)
            #expect(list.items.isEmpty && list.folders.isEmpty)
        } else {
            #expect(throws: FolderError.self) { try IndexList(page, prefix: "", trustsDates: true) }
        }
    }

    /// Without the file, the index would remove it.
    @Test(
        arguments: [
            ("x:y.txt", "x:y.txt"), ("http:a.txt", "http:a.txt"), ("http:///a.txt", "http:///a.txt"),
            ("data:1.txt?token=1", "data:1.txt?…"), ("///a.txt", "///a.txt"), ("mailto", nil), ("./x:y.txt", nil),
            ("x%3Ay.txt", nil), ("1:2.txt", nil),
        ] as [(String, String?)])
    func aLinkThatCanBeAFileIsResolvedOrAnError(link: String, found: String?) throws {
        let page = try page(
            "<title>Index of /</title><a href=\"a.txt\">a</a><a href=\"\(link)\">x</a></html>", from: "http://host/")
        guard let found else {
            #expect(try IndexList(page, prefix: "", trustsDates: true).items.count == 2)
            return
        }
        let error = try #require(throws: FolderError.self) { try IndexList(page, prefix: "", trustsDates: true) }
        let problem = "the index of the folder has a link without http or https; a name with a colon begins with ./"
        #expect(error == page.error(problem, found: found))
    }

    /// A name that is not UTF-8 keeps its escapes, which another name can have as its text.
    @Test(arguments: ["%e9.txt", "%e9/"]) func twoLinksWithOneNameAreAnError(name: String) throws {
        func list(_ links: String...) throws -> IndexList {
            let anchors = links.map { "<a href=\"\($0)\">x</a>" }.joined()
            return try IndexList(
                page("<title>Index of /</title>\(anchors)</html>", from: "http://host/"), prefix: "", trustsDates: true)
        }
        let one = try list(name, name, "./" + name)
        #expect(one.items.count + one.folders.count == 1)
        let error = #expect(throws: FolderError.self) { try list(name, "%25" + name.dropFirst()) }
        #expect(error?.description == "http://host/: the index of the folder has two links with one name")
    }

    @Test func characterReferencesOfLinksAreRead() throws {
        let links = [
            "lib&#43;a", "b&#46;txt", "sub&#x2F;", "it&#039;s", "x&amp;y", "p&q", "r&s;t;", "&lt;&apos;&quot;&gt;",
        ]
        .map { "<a href='\($0.replacing("&s;t;", with: "&amp;s;t;"))'>x</a>" }.joined()
        let list = try IndexList(
            page("<h1 class=x> Index of /</h1>\(links)</html>", from: "http://host/"), prefix: "", trustsDates: true)
        #expect(list.items.map(\.key) == ["lib+a", "b.txt", "it's", "x&y", "p&q", "r&s;t;", "<'\">"])
        #expect(list.folders.map(\.prefix) == ["sub/"])
    }

    /// Object stores can have both.
    @Test func aFileAndAFolderOfOneNameAreBothFound() throws {
        let list = try IndexList(
            page("<title>Index of /</title><a href=\"sub\">x</a><a href=\"sub/\">x</a></html>", from: "http://host/"),
            prefix: "", trustsDates: true)
        #expect(list.items.map(\.key) == ["sub"] && list.folders.map(\.prefix) == ["sub/"])
    }

    @Test(arguments: [
        ("<html><title>Log in</title></html>", "it is an HTML page, but not an index of a folder"),
        (
            "<html><title>x</title><p>Sign in to see the index of your files</p></html>",
            "it is an HTML page, but not an index of a folder"
        ),
        (
            "<?xml version=\"1.0\"?>\n<ListBucketResult><Name>b</Name></ListBucketResult>",
            "it is XML, which is not a list"
        ),
        (
            "<?xml version=\"1.0\"?><html><title>Log in</title></html>",
            "it is an HTML page, but not an index of a folder"
        ),
        ("<html><title>Index of /</title><a href=\"a\">a</a>", "the index of the folder has no end"),
        (
            "<title>Index of /</title><a href=\"a\">a</a><a href='b\">b</a></html>",
            "the index of the folder has a quote"
        ),
    ]) func anotherPageIsNoIndex(text: String, problem: String) throws {
        let page = try page(text)
        let error = try #require(throws: FolderError.self) { try IndexList(page, prefix: "", trustsDates: true) }
        guard case .unusableList(_, let found, _) = error else { throw error }
        #expect(found.hasPrefix(problem))
    }

    /// What another attempt can change is tried again.
    @Test(arguments: [
        (FolderError.wrongSize("a", expected: 1, received: nil), true),
        (.wrongChecksum("a", expected: "x", received: "y"), true), (.inTheWay(path: "a"), false),
        (.damagedIndex(path: "a"), false), (.collision("a", "A"), false), (.system("x"), false),
        (.unusableList(URL(filePath: "/"), problem: "x", found: nil), false),
    ])
    func onlyWhatMayChangeIsRetried(error: FolderError, isRetryable: Bool) {
        #expect(error.isRetryable == isRetryable)
    }
}
