import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySyncSQLite
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// The limits that the guide "What can go wrong" lists, each met by an input.
@Suite(.endsInTime) struct LimitTests {
    private func elements(_ text: String, _ options: JSONReader.Options, lines: Bool = false) throws -> Int {
        let reader = JSONReader(bytes: Array(text.utf8), layout: lines ? .lines : .array(), options: options)
        while try reader.next({ cursor in try cursor.skipValue() }) != nil {}
        return reader.elementCount
    }

    @Test func depthOfJSON() throws {
        let text = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(try elements("[\(text(512))]", JSONReader.Options()) == 1)
        let error = #expect(throws: JSONError.self) { try elements("[\(text(513))]", JSONReader.Options()) }
        #expect(error?.reason == .depthLimit)
    }

    @Test(arguments: [true, false]) func sizeOfAnElement(isLine: Bool) throws {
        #expect(JSONReader.Options().maximumElementByteCount == 64 << 20)
        var options = JSONReader.Options()
        options.maximumElementByteCount = 1_000
        let text = { (count: Int) in "{\"a\":\"" + String(repeating: "x", count: count) + "\"}" }
        let list = { (count: Int) in isLine ? text(count) + "\n" : "[\(text(count))]" }
        #expect(try elements(list(900), options, lines: isLine) == 1)
        let error = #expect(throws: JSONError.self) { try elements(list(1_001), options, lines: isLine) }
        #expect(error?.reason == .elementSizeLimit)
    }

    @Test func sizeOfTheInput() throws {
        var options = JSONReader.Options()
        options.maximumTotalByteCount = 10
        #expect(try elements("[1,2,3,4]", options) == 4)
        let error = #expect(throws: JSONError.self) { try elements("[1,2,3,4,5,6]", options) }
        #expect(error?.reason == .totalSizeLimit)
    }

    private func sync(
        _ limits: HTTPClient.Limits = HTTPClient.Limits(), pages: HTTPAPI.Pages = .single,
        _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) async throws -> HTTPError.Problem? {
        let url = try #require(URL(string: "https://api.test/issues"))
        let client = HTTPClient(transport: Answering(answer), limits: limits, retry: RetryPolicy(maxAttempts: 1))
        var source = HTTPJSONSource(url, api: HTTPAPI(pages: pages), client: client)
        source.maximumPageCount = 3
        let store = try MemoryStore(Issue.self)
        return await #expect(throws: HTTPError.self) { try await store.sync(Issue.self, from: source) }?.problem
    }

    @Test func sizeOfABody() async throws {
        #expect(HTTPClient.Limits().bodyByteCount == 1 << 30)
        let problem = try await sync(HTTPClient.Limits(bodyByteCount: 10)) { _ in
            HTTPResponse(status: 200, bytes: Array("[{\"id\":1},{\"id\":2}]".utf8))
        }
        #expect(problem == .tooLarge(limit: 10))
    }

    @Test func numberOfRedirects() async throws {
        let problem = try await sync { _ in HTTPResponse(status: 302, headers: ["Location": "/issues"]) }
        #expect(problem == .tooManyRedirects(limit: 5))
    }

    @Test func numberOfPages() async throws {
        let url = try #require(URL(string: "https://api.test/issues"))
        #expect(HTTPJSONSource(url).maximumPageCount == 100_000)
        let problem = try await sync(pages: .page(parameter: "page")) { request in
            let page = request.url.query ?? "page=0"
            return HTTPResponse(status: 200, bytes: Array("[{\"id\":\(page.dropFirst(5))}]".utf8))
        }
        #expect(problem == .tooManyPages(limit: 3))
    }

    @Test func depthOfAnExport() async throws {
        let model = try DataModel {
            SyncEntity("Node", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("next", toOne: "Node")
            }
        }
        let store = try MemoryStore(model)
        let nested = (0..<200).reversed().reduce("null") { "{\"id\":\($1),\"next\":\($0)}" }
        try await store.sync("Node", .text("[\(nested)]"))
        await #expect(throws: MappingError.nestedTooDeep(entity: "Node", maximumDepth: 128)) {
            _ = try await store.export(StoreQuery("Node", where: PropertyPath("id") == 0))
        }
    }

    /// A predicate at its limit is one that databases accept.
    @Test func conditionsOfAPredicate() async throws {
        let store = try await SQLiteStore(Issue.self, at: .memory)
        try await store.sync(Issue.self, .text("[{\"id\":1},{\"id\":2}]"))
        for word in ["and", "or"] {
            let text = Array(repeating: "id = 1", count: 500).joined(separator: " \(word) ")
            let predicate = try RecordPredicate(parsing: text)
            #expect(try await store.count(StoreQuery("Issue", where: predicate)) == 1)
        }
        let list = Array(repeating: "1", count: 10_000).joined(separator: ",")
        #expect(
            try await store.count(StoreQuery("Issue", where: try RecordPredicate(parsing: "id in (\(list))"))) == 1)
        #expect(throws: RecordPredicateError.self) {
            try RecordPredicate(parsing: Array(repeating: "id = 1", count: 501).joined(separator: " or "))
        }
    }

    @Test func entriesOfADriftReport() async throws {
        let keys = (0..<600).map { "\"k\($0)\": 1" }.joined(separator: ", ")
        let result = try await MemoryStore(Issue.self).sync(Issue.self, .text("[{\"id\": 1, \(keys)}]"))
        #expect(result.drift.entries.count == 500 && result.drift.omittedCount == 100)
    }

    @Test func rejectedObjectsOfAResult() async throws {
        let list = (["{\"id\": 1}"] + Array(repeating: "{\"id\": null}", count: 1_200)).joined(separator: ",")
        let result = try await MemoryStore(Issue.self).sync(Issue.self, .text("[\(list)]"))
        #expect(result.rejected.count == 1_000 && result.rejectedCount == 1_200)
    }
}

/// A server that answers by a function.
struct Answering: HTTPClient.Transport {
    let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) {
        self.answer = answer
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { answer(request) }
}
