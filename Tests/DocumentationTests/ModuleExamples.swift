import CoreDataModel
import Foundation
import HTTPTransfer
import JSONMapper
import ModelInference
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// The first lines of the modules' documentation.
@Suite(.endsInTime) struct ModuleExamples {
    private static func model() throws -> DataModel {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("email", .string)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        return model
    }

    private let bytes = Array(#"[{"id": 1, "email": "ada@example.com"}]"#.utf8)

    @Test func recordsComeAndGo() throws {
        let model = try Self.model()
        let mapper = try RecordMapper(model)
        let users = try mapper.records(of: "User", bytes: bytes)
        let json = try RecordMapper.Exporter(model).bytes(ofRecords: users)
        #expect(String(decoding: json, as: UTF8.self).contains("ada@example.com"))
    }

    @Test func transformersReadFormatsOfTheirOwn() throws {
        var transformers = RecordMapper.Transformers()
        transformers.register("Cents") { (text: String) in
            Double(text).map { Int64(($0 * 100).rounded()) }
        } reverse: { (cents: Int64) in
            String(format: "%.2f", Double(cents) / 100)
        }
        transformers.register("DayFirst") { (text: String) in  // 31/12/1999
            text.split(separator: "/").reversed().joined(separator: "-")
        }
        let orders = try RecordMapper(
            DataModel {
                SyncEntity("Order", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncAttribute("price", .int64, transformer: "Cents")
                    SyncAttribute("shippedOn", .date, transformer: "DayFirst")
                }
            }, JSONMapping(transformers: transformers))
        let json = #"[{"id":1,"price":"12.50","shipped_on":"31/12/1999"}]"#
        let records = try orders.records(of: "Order", bytes: Array(json.utf8))
        #expect(records[0]["price"] == 1250)
        #expect(records[0]["shippedOn"] == .date(Timestamp(microseconds: 946_598_400_000_000)))
    }

    private struct Order: SyncObject {
        var id: Int
        var price: Int?

        static let declaration = SyncDeclaration<Order>(
            .attribute(\.price) { (text: String) in
                Double(text).map { Int(($0 * 100).rounded()) }
            } reverse: { (cents: Int) in
                String(format: "%.2f", Double(cents) / 100)
            })
    }

    @Test func aDeclarationStatesAConversion() async throws {
        let json = #"[{"id":1,"price":"12.50"}]"#
        let store = try MemoryStore(Order.self)
        try await store.sync(Order.self, .text(json))
        #expect(try await store.first(Order.self)?.price == 1_250)
        #expect(try JSONValue(parsing: await store.export(Order.self)) == JSONValue(parsing: Array(json.utf8)))
    }

    struct Party: SyncObject {
        var id: Int
        var name: String

        static let declaration = SyncDeclaration<Party>(.abstract, .userInfo(["entityMapper": "PartyKind"]))
    }

    struct Person: SyncObject {
        var id: Int
        var name: String
        var birthday: Date?

        static let declaration = SyncDeclaration<Person>(.parent(Party.self))
    }

    struct Firm: SyncObject {
        var id: Int
        var name: String
        var industry: String?

        static let declaration = SyncDeclaration<Firm>(.parent(Party.self))
    }

    private static let parties = """
        [{"id": 1, "name": "Ada", "birthday": "1815-12-10"},
         {"id": 2, "kind": "firm", "name": "Apple", "industry": "computers"}]
        """

    @Test func aListMixesEntities() async throws {
        let json = Self.parties
        var dialect = JSONDialect.sync
        dialect.annotations.entityMapper = ["entityMapper"]
        var transformers = RecordMapper.Transformers()
        transformers.registerEntityMapper("PartyKind") { object in
            object["kind"] == .string("firm") ? "Firm" : "Person"
        }
        let store = try MemoryStore(
            Person.self, Firm.self, mapping: JSONMapping(dialect: dialect, transformers: transformers))
        try await store.sync(Party.self, .text(json))  // [{"id": 1, "name": "Ada"}, {"id": 2, "kind": "firm", …}]
        let firms = try await store.all(Firm.self)
        let parties = try await store.count(Party.self)  // firms and persons
        #expect(firms.map(\.industry) == ["computers"] && parties == 2)
    }

    @Test func aNewObjectOfAnAbstractEntityIsAnErrorWithTheWayOut() async throws {
        let store = try MemoryStore(Person.self, Firm.self)
        let error = try await #require(throws: StoreError.self) {
            try await store.sync(Party.self, .text(Self.parties))
        }
        #expect(error == .abstractEntity(entity: "Party"))
        #expect(
            "\(error)" == "Party is abstract; only objects of its sub-entities can exist. "
                + "To sync JSON, register an entity mapper that names the sub-entity of each object")
    }

    /// An identity is unique among the objects of one entity.
    @Test func siblingsMayHaveOneIdentity() async throws {
        let store = try MemoryStore(Person.self, Firm.self)
        try await store.sync(Person.self, .text(#"[{"id": 1, "name": "Ada"}]"#))
        try await store.sync(Firm.self, .text(#"[{"id": 1, "name": "Apple"}]"#))
        #expect(try await store.count(Party.self) == 2)
    }

    @Test func aStoreIsRead() async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("age", .int64)
            }
        }
        let store = try MemoryStore(model)
        let users = try await store.records(StoreQuery("User", where: PropertyPath("age") > 21))
        #expect(users.isEmpty)
    }

    @Test func modelsAreInferred() throws {
        let model = try DataModel.inferred(from: bytes, entity: "User")
        #expect(model["User"] != nil)
    }

    @Test func modelFilesAreRead() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(path: "App.xcdatamodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Self.model().coreDataXML().write(to: url.appending(path: "contents"))
        let file = try ModelFile(contentsOf: url)  // .xcdatamodeld, .xcdatamodel or the XML inside
        for warning in file.warnings { print(warning) }
        let model = file.model
        #expect(model["User"] != nil)
    }

    @Test func aClientSendsRequests() async throws {
        let folder = try TemporaryDirectory()
        let destination = folder.url.appending(path: "file")
        try await LoopbackHTTPServer.serving({ _ in .json("[1]") }) { server in
            let url = try #require(URL(string: server.baseURL))
            let file = url
            let client = HTTPClient(requestsPerSecond: 10)
            let list = try await client.data(from: url)
            let byteCount = try await client.download(from: file, to: destination)
            #expect(list.count == 3)
            #expect(byteCount == 3)
        }
    }

    @Test func aClientStaysWhereItMay() async throws {
        try await LoopbackHTTPServer.serving({ _ in .json("[1]") }) { server in
            let url = try #require(URL(string: server.baseURL))
            let client = HTTPClient(destinations: .sameOrigin.and(.publicAddresses))
            await #expect(throws: HTTPError.self) { try await client.data(from: url) }
        }
    }

    @Test func aClientRequestsParts() async throws {
        let text = String(repeating: "x", count: 2_000)
        try await LoopbackHTTPServer.serving({ _ in .text(text) }) { server in
            let file = try #require(URL(string: server.baseURL))
            let client = HTTPClient()
            let head = try await client.data(from: file, range: 0..<1024)
            let rest = try await client.data(from: file, range: 1024..<Int.max)
            #expect(head.count == 1_024 && rest.count == 976)
        }
    }

    @Test func aClientSignsRequests() async throws {
        let (accessKey, secretKey) = ("key", "secret")
        try await LoopbackHTTPServer.serving({ request in
            .text(request.header("authorization") ?? "")
        }) { server in
            let bucket = try #require(URL(string: server.baseURL))
            let signature = AWSSignature(accessKey: accessKey, secretKey: secretKey, region: "eu-central-1")
            let client = HTTPClient(sign: { signature.sign(&$0) })
            let object = try await client.data(from: bucket.appending(path: "photos/1.jpg"))
            #expect(String(decoding: object, as: UTF8.self).contains("Credential=key/"))
        }
    }

    @Test func aClientHasOptionsOfItsConnections() async throws {
        let (authorities, certificate) = (URL(filePath: "/ca.pem"), URL(filePath: "/client.pem"))
        try await LoopbackHTTPServer.serving({ _ in .text("") }) { server in
            let proxy = try #require(URL(string: server.baseURL))
            let options = HTTPClient.ConnectionOptions(authorities: authorities, certificate: certificate, proxy: proxy)
            let client = HTTPClient(transport: HTTPClient.systemTransport(options))
            let url = try #require(URL(string: "http://host.invalid/"))
            // The server is no proxy.
            await #expect(throws: HTTPError.self) { _ = try await client.data(from: url) }
        }
    }

    /// A token that was read from a file ends in a line end.
    @Test func aTokenFromAFileIsSentWithoutItsLineEnd() async throws {
        let text = "secret\n"
        try await LoopbackHTTPServer.serving({ request in
            .json(request.header("authorization") == "Bearer secret" ? "[1]" : "[]")
        }) { server in
            let url = try #require(URL(string: server.baseURL))
            let client = HTTPClient()
            let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
            let list = try await client.data(from: url, headers: ["Authorization": "Bearer \(token)"])
            #expect(String(decoding: list, as: UTF8.self) == "[1]")
        }
    }
}
