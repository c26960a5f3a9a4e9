import Foundation
import HTTPTransfer
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

@testable import HTTPSource

/// JSON:API, whose pages include related resources.
@Suite(.endsInTime) struct JSONAPITests {
    private static func flattened(_ text: String) throws -> JSONValue? {
        JSONAPIDocument.flattened(try JSONValue(parsing: text))["data"]
    }

    private static let included = #"""
        "included": [
          {"type": "people", "id": "9", "attributes": {"name": "B", "age": 1.50},
           "relationships": {"employer": {"data": {"type": "companies", "id": "c"}},
                             "articles": {"data": [{"type": "articles", "id": "1"}]}}},
          {"type": "companies", "id": "c", "attributes": {"name": "C"},
           "relationships": {"owner": {"data": {"type": "people", "id": "9"}}}}
        ]
        """#

    @Test func attributesAndRelationshipsBecomeFields() throws {
        let text = #"""
            {"data": [{"type": "articles", "id": "1", "links": {"self": "/1"}, "meta": {"x": 1},
              "attributes": {"title": "A", "tags": ["x"]},
              "relationships": {
                "author": {"data": {"type": "people", "id": "9"}, "links": {}},
                "editor": {"data": null}, "reviewer": {"data": {"type": "people", "id": "8"}},
                "comments": {"data": [{"type": "comments", "id": "5"}, {"type": "comments", "id": "6"}]},
                "readers": {"data": [{"type": "people", "id": "9"}, {"type": "people", "id": "7"}]},
                "likes": {"data": []}, "more": {"links": {"related": "/more"}}}}],
            """# + Self.included + "}"
        let expected = #"""
            [{"type": "articles", "id": "1", "title": "A", "tags": ["x"],
              "author": {"type": "people", "id": "9", "name": "B", "age": 1.5, "articles_ids": ["1"],
                "employer": {"type": "companies", "id": "c", "name": "C", "owner_id": "9"}},
              "editor": null, "reviewer_id": "8", "comments_ids": ["5", "6"],
              "readers_ids": ["9", "7"],
              "likes": []}]
            """#
        #expect(try Self.flattened(text) == JSONValue(parsing: expected))
    }

    /// Resources of which each refers to all.
    private static func mesh(_ count: Int) -> String {
        let links = (0..<count).map { #"{"type":"n","id":"\#($0)"}"# }.joined(separator: ",")
        let nodes = (0..<count).map {
            #"{"type":"n","id":"\#($0)","attributes":{"name":"\#($0)"},"relationships":{"next":{"data":[\#(links)]}}}"#
        }
        let data = #"{"type":"m","id":"0","relationships":{"all":{"data":[\#(links)]}}}"#
        return #"{"data":[\#(data)],"included":[\#(nodes.joined(separator: ","))]}"#
    }

    @Test(arguments: [1, 10, 40, 160]) func theResultIsNoLargerThanTheDocument(count: Int) throws {
        let text = Self.mesh(count)
        var writer = JSONWriter()
        try writer.value(try #require(try Self.flattened(text)))
        #expect(writer.bytes.count <= text.utf8.count)
        // Each resource is there once as a whole.
        let written = String(decoding: writer.bytes, as: UTF8.self)
        #expect(written.split(separator: "\"name\":").count == count + 1)
    }

    /// Each reply of a thread names only the one before it.
    @Test(arguments: [1, 17, JSONAPIDocument.depthLimit, JSONAPIDocument.depthLimit + 1], [true, false])
    func aChainOfIncludedResourcesIsThereAsAWhole(count: Int, isArray: Bool) throws {
        func linkage(_ id: Int) -> String {
            guard id <= count else { return "" }
            let link = #"{"type":"n","id":"\#(id)"}"#
            return #","relationships":{"before":{"data":\#(isArray ? "[\(link)]" : link)}}"#
        }
        let nodes = (1...count).map { #"{"type":"n","id":"\#($0)","attributes":{"name":"n"}\#(linkage($0 + 1))}"# }
        let text = #"{"data":[{"type":"n","id":"0"\#(linkage(1))}],"included":[\#(nodes.joined(separator: ","))]}"#
        var writer = JSONWriter()
        try writer.value(try #require(try Self.flattened(text)))
        let written = String(decoding: writer.bytes, as: UTF8.self)
        #expect(written.split(separator: "\"name\":").count - 1 == min(count, JSONAPIDocument.depthLimit))
        #expect(try JSONValue(parsing: writer.bytes, exactDecimals: true) != .null)
    }

    @Test func numbersAreIdentifiersAndAttributesReplaceNone() throws {
        let text = #"""
            {"data": [{"type": "a", "id": "u", "attributes": {"id": 7, "type": "x"}, "relationships": {
              "tags": {"data": [{"type": "t", "id": 1}, {"type": "t", "id": 2}]},
              "owner": {"data": {"type": "p", "id": 9}}, "boss": {"data": {"type": "p", "id": 8}},
              "odd": {"data": [{"type": "t", "id": 1}, {"type": "t"}]}}}],
             "included": [{"type": "p", "id": 9, "attributes": {"name": "N"}}]}
            """#
        let expected = #"""
            [{"id": "u", "type": "a", "tags_ids": [1, 2], "owner": {"name": "N", "type": "p", "id": 9}, "boss_id": 8,
              "odd": [{"type": "t", "id": 1}, {"type": "t"}]}]
            """#
        #expect(try Self.flattened(text) == JSONValue(parsing: expected))
    }

    @Test(arguments: [
        "7", "{}", #"{"data":null}"#, #"{"data":7,"included":7}"#, #"{"data":[7,null,{"id":1}],"included":[7]}"#,
        #"{"data":[{"attributes":7,"relationships":7}]}"#, #"{"data":[{"relationships":{"a":7,"b":{"data":7}}}]}"#,
    ])
    func anyDocumentIsAccepted(text: String) throws {
        _ = JSONAPIDocument.flattened(try JSONValue(parsing: text))
    }

    private static let model = Result {
        try DataModel {
            SyncEntity("Article", identity: "id") {
                SyncAttribute("id", .string)
                SyncAttribute("title", .string)
                SyncRelationship("author", toOne: "Person", inverse: "articles")
            }
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .string)
                SyncAttribute("name", .string)
                SyncRelationship("articles", toMany: "Article", inverse: "author")
            }
        }
    }

    /// The resources of a page are behind the objects that refer to them.
    @Test func includedResourcesAreStoredAndRelated() async throws {
        let world = try await SourceWorld(Self.model.get())
        let server = ScriptedServer { _, _ in
            .json(
                #"""
                {"data": [
                  {"type": "articles", "id": "1", "attributes": {"title": "A"},
                   "relationships": {"author": {"data": {"type": "people", "id": "9"}}}},
                  {"type": "articles", "id": "2", "attributes": {"title": "B"},
                   "relationships": {"author": {"data": {"type": "people", "id": "9"}}}}],
                """# + Self.included + "}")
        }
        var source = try HTTPJSONSource.users(server)
        source.api = .jsonapi
        let result = try await world.json.sync(from: source, into: "Article")
        #expect(result.counts.inserted == 2)
        let people = try await world.json.store.records(StoreQuery("Person"))
        #expect(people.map { $0.record["name"] } == [.string("B")])
        let written = try await world.json.store.count(
            StoreQuery("Article", where: PropertyPath("author.id") == "9"))
        #expect(written == 2)
        #expect(try await world.json.sync(from: source, into: "Article").isUnchanged)
    }

    /// A document must not have both data and errors, but some servers send both.
    @Test(arguments: [
        #"{"errors":[{"status":"503","title":"boom"}],"data":[]}"#,
        #"{"data":[],"errors":[{"status":"503","detail":"boom"}]}"#, #"{"errors":[{"title":"boom"}]}"#,
    ])
    func aDocumentWithErrorsIsAnErrorAndDeletesNothing(text: String) async throws {
        let world = try await SourceWorld()
        try await world.sync(.users(ScriptedServer { _, _ in .json(usersJSON(1...4)) }))
        var source = try HTTPJSONSource.users(ScriptedServer { _, _ in .json(text) })
        source.api = .jsonapi
        let error = await #expect(throws: HTTPError.self) { try await world.sync(source) }
        #expect(error?.problem == .refused("errors is an array", text: "boom"))
        #expect(try await world.users().count == 4)
    }

    @Test(arguments: [#""errors":[]"#, #""errors":null"#, #""meta":{"errors":7}"#])
    func aDocumentWithoutErrorsIsRead(member: String) async throws {
        let world = try await SourceWorld(Self.model.get())
        let data = #"[{"type":"articles","id":"1","attributes":{"title":"A"}}]"#
        var source = try HTTPJSONSource.users(ScriptedServer { _, _ in .json(#"{"data":\#(data),\#(member)}"#) })
        source.api = .jsonapi
        let result = try await world.json.sync(from: source, into: "Article")
        #expect(result.counts.inserted == 1 && result.warnings.isEmpty)
    }

    /// The limits of an element are not those of the document, which has more around it.
    @Test func anElementOfTheGreatestDepthIsFlattened() throws {
        let depth = 505
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        var recoder = try #require(BodyRecoder(.jsonAPI))
        let body = #"{"data":[{"type":"a","id":"1","attributes":{"deep":\#(deep)}}]}"#
        let written = recoder.recode(Array(body.utf8)) + recoder.finish()
        #expect(!String(decoding: written, as: UTF8.self).contains("attributes"))
    }

    @Test(arguments: [#"{"data":["#, #"{"data":[{"id":1},]}"#, ""])
    func aDocumentThatIsNotValidIsAnError(text: String) async throws {
        let world = try await SourceWorld()
        var source = try HTTPJSONSource.users(ScriptedServer { _, _ in .json(text) })
        source.api = .jsonapi
        await #expect(throws: HTTPError.self) { try await world.sync(source) }
    }
}
