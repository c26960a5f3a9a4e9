import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import Testing

extension APITests {
    struct Imitation: CustomTestStringConvertible, Sendable {
        let api: HTTPAPI
        var keyPath = ""
        /// Answers with page 0, 1 or 2 of five users.
        let respond: @Sendable (HTTPRequest) throws -> HTTPResponse

        var testDescription: String { api.name }

        init(
            _ api: HTTPAPI, _ keyPath: String = "", _ respond: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse
        ) {
            self.api = api
            self.keyPath = keyPath
            self.respond = respond
        }
    }

    /// Pages of two users each: 1 and 2, 3 and 4, 5.
    static func users(_ page: Int) -> String { usersJSON([[1, 2], [3, 4], [5]][page]) }

    /// The entries of a bundle of FHIR.
    private static func entries(_ page: Int) -> String {
        let ids = [[1, 2], [3, 4], [5]][page]
        let entries = ids.map { #"{"fullUrl":"u/\#($0)","resource":{"id":\#($0),"name":"user \#($0)"}}"# }
        return "[\(entries.joined(separator: ","))]"
    }

    private static func body(_ request: HTTPRequest, _ key: String...) throws -> JSONValue? {
        var value: JSONValue? = try JSONValue(parsing: String(decoding: request.body ?? [], as: UTF8.self))
        for part in key { value = value?[part] }
        return value
    }

    private static func linked(_ request: HTTPRequest) -> HTTPResponse {
        let page = Int(request.query("page") ?? "1") ?? 1
        let link = "<https://api.test/users?page=\(page + 1)>; rel=\"next\""
        return .json(users(page - 1), headers: page < 3 ? ["Link": link] : [:])
    }

    static let imitations: [Imitation] = [
        Imitation(.github, "", linked), Imitation(.gitlab, "", linked), Imitation(.mastodon, "", linked),
        Imitation(.shopify, "users") { request in
            let page = Int(request.query("page_info") ?? "0") ?? 0
            let link = "<https://api.test/users?page_info=\(page + 1)>; rel=\"next\""
            return .json(#"{"users":\#(users(page))}"#, headers: page < 2 ? ["Link": link] : [:])
        },
        Imitation(.stripe) { request in
            let page = (Int(request.query("starting_after") ?? "0") ?? 0) / 2
            return .json(#"{"object":"list","data":\#(users(page)),"has_more":\#(page < 2)}"#)
        },
        Imitation(.slack, "members") { request in
            let page = Int(request.query("cursor") ?? "0") ?? 0
            let next = page < 2 ? "\(page + 1)" : ""
            return .json(#"{"ok":true,"members":\#(users(page)),"response_metadata":{"next_cursor":"\#(next)"}}"#)
        },
        Imitation(.odata) { request in
            let page = Int(request.query("$skiptoken") ?? "0") ?? 0
            let next =
                page < 2
                ? #""@odata.nextLink":"https://api.test/users?$skiptoken=\#(page + 1)""#
                : #""@odata.deltaLink":"https://api.test/users?$deltatoken=x""#
            if request.query("$deltatoken") != nil {
                return .json(
                    #"{"value":[{"id":5,"@removed":{"reason":"deleted"}}],"@odata.deltaLink":"https://api.test/users?$deltatoken=y"}"#
                )
            }
            return .json(#"{"@odata.context":"c","value":\#(users(page)),\#(next)}"#)
        },
        Imitation(.jsonapi) { request in
            let page = Int(request.query("page[number]") ?? "0") ?? 0
            let next = page < 2 ? #""next":{"href":"/users?page[number]=\#(page + 1)"}"# : #""next":null"#
            return .json(#"{"data":\#(users(page)),"links":{\#(next)}}"#)
        },
        Imitation(.salesforce) { request in
            let page = Int(request.url.path.split(separator: "-").last ?? "") ?? 0
            let next = page < 2 ? #","nextRecordsUrl":"/services/data/query/01g-\#(page + 1)""# : ""
            return .json(#"{"totalSize":5,"done":\#(page == 2),"records":\#(users(page))\#(next)}"#)
        },
        Imitation(.elasticsearch(sortedBy: "id")) { request in
            guard try body(request, "sort")?[0]?["id"] != nil, try body(request, "track_total_hits") == .bool(true),
                request.method == "POST"
            else { return HTTPResponse(status: 405) }
            var page = 0
            if case .array(let after) = try body(request, "search_after"), case .integer(let last) = after.first {
                page = Int(last) / 2 + (last == 5 ? 1 : 0)
            }
            guard page < 3 else { return .json(#"{"hits":{"hits":[]}}"#) }
            let hits = [[1, 2], [3, 4], [5]][page].map { #"{"id":\#($0),"name":"user \#($0)","sort":[\#($0)]}"# }
            return .json(#"{"hits":{"total":{"value":5},"hits":[\#(hits.joined(separator: ","))]}}"#)
        },
        Imitation(.wordpress) { request in
            let page = Int(request.query("page") ?? "0") ?? 0
            guard page <= 3, request.query("per_page") == "100" else { return HTTPResponse(status: 400) }
            return .json(users(page - 1), headers: ["X-WP-TotalPages": "3"])
        },
        Imitation(.drf) { request in
            let page = Int(request.query("page") ?? "1") ?? 1
            let next = page < 3 ? #""https://api.test/users?page=\#(page + 1)""# : "null"
            return .json(#"{"count":5,"next":\#(next),"previous":null,"results":\#(users(page - 1))}"#)
        },
        Imitation(.hubspot) { request in
            let page = Int(request.query("after") ?? "0") ?? 0
            let paging = page < 2 ? #","paging":{"next":{"after":"\#(page + 1)","link":"x"}}"# : ""
            return .json(#"{"results":\#(users(page))\#(paging)}"#)
        },
        Imitation(.couchdb) { request in
            guard request.query("since") == nil else {
                return .json(#"{"results":[{"id":5,"seq":"9-x","deleted":true}],"last_seq":"9-x","pending":0}"#)
            }
            return .json(#"{"results":\#(usersJSON(1...5)),"last_seq":"5-x","pending":0}"#)
        },
        Imitation(.couchdb) { request in
            // The address has a `limit`, which each page obeys.
            switch request.query("since") {
            case nil: .json(#"{"results":\#(users(0)),"last_seq":"2-x","pending":3}"#)
            case "2-x"?: .json(#"{"results":\#(users(1)),"last_seq":"4-x","pending":1}"#)
            case "4-x"?: .json(#"{"results":\#(users(2)),"last_seq":"5-x","pending":0}"#)
            default: .json(#"{"results":[{"id":5,"seq":"6-x","deleted":true}],"last_seq":"6-x","pending":0}"#)
            }
        },
        Imitation(.couchdb, "results[].doc") { request in
            guard request.query("since") == nil else {
                return .json(
                    #"{"results":[{"id":"5","seq":"9-x","deleted":true,"doc":{"id":5,"_deleted":true}}],"#
                        + #""last_seq":"9-x","pending":0}"#)
            }
            let results = (1...5).map { #"{"id":"\#($0)","seq":"\#($0)-x","doc":{"id":\#($0),"name":"user \#($0)"}}"# }
            return .json(#"{"results":[\#(results.joined(separator: ","))],"last_seq":"5-x","pending":0}"#)
        },
        Imitation(.googleContacts) { request in
            guard request.query("pageSize") == "1000" else { return HTTPResponse(status: 400) }
            guard request.query("syncToken") == nil else {
                return .json(#"{"connections":[{"id":5,"metadata":{"deleted":true}}],"nextSyncToken":"t2"}"#)
            }
            let page = Int(request.query("pageToken") ?? "0") ?? 0
            let next = page < 2 ? #""nextPageToken":"\#(page + 1)""# : #""nextSyncToken":"t1""#
            return .json(#"{"connections":\#(users(page)),\#(next),"totalItems":5}"#)
        },
        Imitation(.google) { request in
            guard request.query("syncToken") == nil else {
                return .json(#"{"items":[{"id":5,"status":"cancelled"}],"nextSyncToken":"t2"}"#)
            }
            let page = Int(request.query("pageToken") ?? "0") ?? 0
            let next = page < 2 ? #""nextPageToken":"\#(page + 1)""# : #""nextSyncToken":"t1""#
            return .json(#"{"items":\#(users(page)),\#(next)}"#)
        },
        Imitation(.firebase) { _ in
            .json(
                #" {"1": {"name":"user 1"},"2":{ "name": "user } 2"}, "3":{"name":"u\"3","x":{"y":[1,{}]}},"4":{},"5":{"name":null}}"#
            )
        },
        Imitation(.airtable) { request in
            let page = Int(request.query("offset") ?? "0") ?? 0
            let next = page < 2 ? #","offset":"\#(page + 1)""# : ""
            return .json(#"{"records":\#(users(page))\#(next)}"#)
        },
        Imitation(.notion) { request in
            guard request.method == "POST", request.headers["Notion-Version"] == "2026-03-11" else {
                return HTTPResponse(status: 400)
            }
            var page = 0
            if case .string(let cursor) = try body(request, "start_cursor") { page = Int(cursor) ?? 0 }
            let next = page < 2 ? #""\#(page + 1)""# : "null"
            return .json(#"{"results":\#(users(page)),"next_cursor":\#(next),"has_more":\#(page < 2)}"#)
        },
        Imitation(.graphQL("query($after: String) { users }", connection: "users")) { request in
            guard request.method == "POST" else { return HTTPResponse(status: 405) }
            var page = 0
            if case .string(let cursor) = try body(request, "variables", "after") { page = Int(cursor) ?? 0 }
            let info = #"{"endCursor":"\#(page + 1)","hasNextPage":\#(page < 2)}"#
            return .json(#"{"data":{"users":{"nodes":\#(users(page)),"pageInfo":\#(info)}}}"#)
        },
        Imitation(
            .graphQL(
                "query($after: String) { users(after: $after) { edges { node { id name } } pageInfo { endCursor } } }",
                connection: "users", objects: "edges[].node")
        ) { request in
            var page = 0
            if case .string(let cursor) = try body(request, "variables", "after") { page = Int(cursor) ?? 0 }
            let edges = [[1, 2], [3, 4], [5]][page].map { #"{"cursor":"x","node":{"id":\#($0),"name":"user \#($0)"}}"# }
            let info = #"{"endCursor":"\#(page + 1)","hasNextPage":\#(page < 2)}"#
            return .json(#"{"data":{"users":{"edges":[\#(edges.joined(separator: ","))],"pageInfo":\#(info)}}}"#)
        },
        Imitation(.jsonapi) { request in
            let page = Int(request.query("page") ?? "0") ?? 0
            let data = [[1, 2], [3, 4], [5]][page].map {
                #"{"type":"users","id":"\#($0)","attributes":{"name":"user \#($0)"}}"#
            }
            let next = page < 2 ? #""/users?page=\#(page + 1)""# : "null"
            return .json(#"{"data":[\#(data.joined(separator: ","))],"links":{"next":\#(next)}}"#)
        },
        Imitation(.dropbox) { request in
            let isFirst = request.url.path == "/users"
            guard isFirst || request.url.path == "/list_folder/continue", request.method == "POST",
                try body(request, "recursive") == (isFirst ? .bool(true) : nil)
            else { return HTTPResponse(status: 400) }
            var page = 0
            if case .string(let cursor) = try body(request, "cursor") { page = Int(cursor) ?? 0 }
            let entries = page < 3 ? users(page) : #"[{"id":5,".tag":"deleted"}]"#
            return .json(#"{"entries":\#(entries),"cursor":"\#(page + 1)","has_more":\#(page < 2)}"#)
        },
        Imitation(.asana) { request in
            guard request.query("limit") == "100" else { return HTTPResponse(status: 400) }
            let page = Int(request.query("offset") ?? "0") ?? 0
            let next = page < 2 ? #"{"offset":"\#(page + 1)","path":"/users","uri":"x"}"# : "null"
            return .json(#"{"data":\#(users(page)),"next_page":\#(next)}"#)
        },
        Imitation(.azureDevOps) { request in
            let page = Int(request.query("continuationToken") ?? "0") ?? 0
            return .json(
                #"{"count":2,"value":\#(users(page))}"#,
                headers: page < 2 ? ["X-MS-ContinuationToken": "\(page + 1)"] : [:])
        },
        Imitation(.bitbucket) { request in
            // Pull requests accept no more than 50.
            guard request.query("pagelen") == "50" else { return HTTPResponse(status: 400) }
            let page = Int(request.query("page") ?? "1") ?? 1
            let next = page < 3 ? #","next":"https://api.test/users?pagelen=50&page=\#(page + 1)""# : ""
            return .json(#"{"values":\#(users(page - 1)),"pagelen":50\#(next)}"#)
        },
        Imitation(.confluence) { request in
            let page = Int(request.query("cursor") ?? "0") ?? 0
            let links = page < 2 ? #"{"next":"/wiki/api/v2/users?limit=250&cursor=\#(page + 1)","base":"x"}"# : "{}"
            return .json(#"{"results":\#(users(page)),"_links":\#(links)}"#)
        },
        Imitation(.contentful) { request in
            let skip = Int(request.query("skip") ?? "0") ?? 0
            guard skip < 5 else { return .json(#"{"total":5,"skip":\#(skip),"limit":1000,"items":[]}"#) }
            return .json(#"{"total":5,"skip":\#(skip),"limit":1000,"items":\#(users(skip / 2))}"#)
        },
        Imitation(.datasette) { request in
            let page = Int(request.query("_next") ?? "0") ?? 0
            let next = page < 2 ? #""https://api.test/users?_next=\#(page + 1)""# : "null"
            return .json(#"{"ok":true,"rows":\#(users(page)),"next_url":\#(next),"truncated":false}"#)
        },
        Imitation(.discourse) { request in
            let page = Int(request.query("page") ?? "0") ?? 0
            guard page > 0 || request.query("per_page") == "100" else { return HTTPResponse(status: 400) }
            let more = page < 2 ? #","more_topics_url":"/latest?page=\#(page + 1)""# : ""
            return .json(#"{"users":[],"topic_list":{"per_page":30,"topics":\#(users(page))\#(more)}}"#)
        },
        Imitation(.drfCursor) { request in
            let page = Int(request.query("cursor") ?? "0") ?? 0
            let next = page < 2 ? #""https://api.test/users?cursor=\#(page + 1)""# : "null"
            return .json(#"{"next":\#(next),"previous":null,"results":\#(users(page))}"#)
        },
        Imitation(.contentfulSync) { request in
            let page = Int(request.query("sync_token") ?? "0") ?? 0
            let (name, next) = page < 2 ? ("nextPageUrl", page + 1) : ("nextSyncUrl", 9)
            let items =
                page < 9
                ? users(page) : #"[{"id":5,"sys":{"type":"DeletedAsset","deletedAt":"2013-09-09T16:17:12.600Z"}}]"#
            return .json(#"{"items":\#(items),"\#(name)":"/users?sync_token=\#(next)"}"#)
        },
        Imitation(.fhir) { request in
            let page = Int(request.query("page") ?? "0") ?? 0
            let next = page < 2 ? #",{"relation":"next","url":"https://api.test/users?page=\#(page + 1)"}"# : ""
            return .json(
                #"{"resourceType":"Bundle","link":[{"relation":"self","url":"x"}\#(next)],"entry":\#(entries(page))}"#)
        },
        Imitation(.jira) { request in
            let page = Int(request.query("nextPageToken") ?? "0") ?? 0
            let next = page < 2 ? #""nextPageToken":"\#(page + 1)","isLast":false"# : #""isLast":true"#
            return .json(#"{"issues":\#(users(page)),\#(next)}"#)
        },
        Imitation(.kinto) { request in
            guard request.query("_since") == nil else {
                return .json(#"{"data":[{"id":5,"deleted":true,"last_modified":9}]}"#)
            }
            let page = Int(request.query("_token") ?? "0") ?? 0
            let data = [[1, 2], [3, 4], [5]][page].map { #"{"id":\#($0),"name":"user \#($0)","last_modified":\#($0)}"# }
            return .json(
                #"{"data":[\#(data.joined(separator: ","))]}"#,
                headers: page < 2 ? ["Next-Page": "https://api.test/users?_token=\(page + 1)"] : [:])
        },
        Imitation(.kubernetes) { request in
            guard request.query("limit") == "500" else { return HTTPResponse(status: 400) }
            let page = Int(request.query("continue") ?? "0") ?? 0
            let next = page < 2 ? #","continue":"\#(page + 1)""# : ""
            return .json(#"{"kind":"List","metadata":{"resourceVersion":"9"\#(next)},"items":\#(users(page))}"#)
        },
        Imitation(.mediawiki, "query.allpages") { request in
            guard request.query("apcontinue") == nil || request.query("continue") == "-||" else {
                return HTTPResponse(status: 400)
            }
            let page = Int(request.query("apcontinue") ?? "0") ?? 0
            let next = page < 2 ? #""continue":{"apcontinue":"\#(page + 1)","continue":"-||"},"# : ""
            return .json(#"{"batchcomplete":true,\#(next)"query":{"allpages":\#(users(page))}}"#)
        },
        Imitation(.notionList) { request in
            guard request.method == "GET", request.query("page_size") == "100" else { return HTTPResponse(status: 405) }
            let page = Int(request.query("start_cursor") ?? "0") ?? 0
            let next = page < 2 ? #""\#(page + 1)""# : "null"
            return .json(#"{"results":\#(users(page)),"next_cursor":\#(next),"has_more":\#(page < 2)}"#)
        },
        Imitation(.postgrest) { request in
            guard request.headers["Prefer"] == "count=exact" else { return HTTPResponse(status: 400) }
            let offset = Int(request.query("offset") ?? "0") ?? 0
            // The status of each page that is not the whole table.
            return HTTPResponse(
                status: 206,
                headers: ["Content-Range": offset < 5 ? "\(offset)-\(min(offset + 1, 4))/5" : "*/5"],
                bytes: Array((offset < 5 ? users(offset / 2) : "[]").utf8))
        },
        Imitation(.stac) { request in
            let page = Int(request.query("token") ?? "0") ?? 0
            guard page > 0 || request.query("limit") == "100",
                request.headers["Accept"]?.hasPrefix("application/geo+json") == true
            else { return HTTPResponse(status: 406) }
            let next = page < 2 ? #",{"rel":"next","href":"/users?token=\#(page + 1)"}"# : ""
            return .json(
                #"{"type":"FeatureCollection","features":\#(users(page)),"links":[{"rel":"self","href":"x"}\#(next)]}"#)
        },
        Imitation(.strapi) { request in
            let page = Int(request.query("pagination[page]") ?? "0") ?? 0
            guard page <= 3, request.query("pagination[pageSize]") == "100" else { return HTTPResponse(status: 400) }
            return .json(#"{"data":\#(users(page - 1)),"meta":{"pagination":{"page":\#(page),"total":5}}}"#)
        },
        Imitation(.twilio, "users") { request in
            let page = Int(request.query("Page") ?? "0") ?? 0
            let next = page < 2 ? #""/users?PageSize=1000&Page=\#(page + 1)""# : "null"
            return .json(#"{"users":\#(users(page)),"next_page_uri":\#(next)}"#)
        },
        Imitation(.zendesk, "users") { request in
            let page = Int(request.query("page[after]") ?? "0") ?? 0
            guard request.query("page[size]") == "100" else { return HTTPResponse(status: 400) }
            return .json(
                #"{"users":\#(users(page)),"meta":{"has_more":\#(page < 2),"after_cursor":"\#(page + 1)"}}"#)
        },
    ]
}
