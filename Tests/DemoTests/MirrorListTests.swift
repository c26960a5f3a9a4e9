import Foundation
import HTTPTransfer
import Testing

@testable import Demo

@Suite struct MirrorListTests {
    private let url = URL(filePath: "/").appending(path: "unused")

    private func items(_ json: String, from address: String = "http://host/dir/list.json") throws -> [MirrorItem] {
        try MirrorList.items(from: Data(json.utf8), url: try #require(URL(string: address)))
    }

    private func problem(_ json: String) throws -> String {
        let error = try #require(throws: MirrorListError.self) { try items(json) }
        #expect(error.description.hasPrefix("http://host/dir/list.json: "))
        return error.problem
    }

    @Test func anEntryIsRead() throws {
        let item = try #require(
            try items(
                """
                [{"key": "a", "url": "x/a", "revision": 7, "order": -2, "preview_url": "/p?a=1", "more": {}}]
                """
            ).first)
        #expect(item.owsPrimaryKey == MirrorKey("a"))
        #expect(item.url.absoluteString == "http://host/dir/x/a")
        #expect(item.revision == "7")
        #expect(item.owsDownloadOrder == -2)
        #expect(item.previewURL?.absoluteString == "http://host/p?a=1")
    }

    @Test func whatIsOptionalMayBeAbsentOrNull() throws {
        let items = try items(
            """
            [{"key": "a", "url": "https://other/a", "revision": null, "order": null, "preview_url": null},
             {"key": "b", "url": "b", "revision": "etag"}]
            """)
        #expect(items.map(\.revision) == [nil, "etag"])
        #expect(items.map(\.owsDownloadOrder) == [0, 0])
        #expect(items.map(\.previewURL) == [nil, nil])
        #expect(items[0].url.absoluteString == "https://other/a")
    }

    @Test func keysAreComparedByteByByte() throws {
        let items = try items(#"[{"key": "\u00e9", "url": "a"}, {"key": "e\u0301", "url": "b"}]"#)
        #expect(items[0].owsPrimaryKey != items[1].owsPrimaryKey)
        #expect(Set(items.map(\.owsPrimaryKey)).count == 2)
    }

    @Test(arguments: [
        ("token s3cretTOKEN123 invalid", #"the list is not JSON; it begins with "token [redacted] invalid""#),
        (
            #"[{"key": "a", "url": "ftp://u:p@host/s3cretTOKEN123"}]"#,
            #"[0].url: "ftp://host/[redacted]?…" is not an address with http or https"#
        ),
        (
            #"[{"key": "a", "url": "ftp://host/a?token=other"}]"#,
            #"[0].url: "ftp://host/a?…" is not an address with http or https"#
        ),
    ])
    func anErrorShowsNoCredential(json: String, expected: String) throws {
        let url = try #require(URL(string: "http://host/dir/list.json"))
        let secrets = SentSecrets(headers: ["Authorization": "Bearer s3cretTOKEN123"], url: url)
        let error = try #require(throws: MirrorListError.self) {
            try MirrorList.items(from: Data(json.utf8), url: url, secrets: secrets)
        }
        #expect(error.problem == expected)
    }

    @Test(arguments: [
        (#"{"items": []}"#, "the list: expected an array"),
        (#"[7]"#, "[0]: expected an object"),
        (#"[{"key": "a", "url": "a"}, {"url": "b"}]"#, "[1].key: is missing"),
        (#"[{"key": null, "url": "a"}]"#, "[0].key: expected a string, found null"),
        (#"[{"key": 7, "url": "a"}]"#, "[0].key: expected a string"),
        (#"[{"key": "a", "url": "a", "order": "first"}]"#, "[0].order: expected a whole number"),
        (#"[{"key": "a", "url": "a", "revision": []}]"#, "[0].revision: expected a string"),
        (#"[{"key": "a", "url": ""}]"#, #"[0].url: "" is not an address with http or https"#),
        (
            #"[{"key": "a", "url": "file:///etc/passwd"}]"#,
            #"[0].url: "file:///etc/passwd" is not an address with http or https"#
        ),
        (
            #"[{"key": "a", "url": "a", "preview_url": "ftp://host/a"}]"#,
            #"[0].preview_url: "ftp://host/a" is not an address with http or https"#
        ),
        ("<!DOCTYPE html>\n<html>", #"the list is not JSON; it begins with "<!DOCTYPE html>""#),
        ("", #"the list is not JSON; it begins with """#),
        (#"[{"key": "a", "#, #"the list is not JSON; it begins with "[{"key": "a", ""#),
    ])
    func aBadListIsNamedAtItsPlace(json: String, expected: String) throws {
        #expect(try problem(json) == expected)
    }
}
