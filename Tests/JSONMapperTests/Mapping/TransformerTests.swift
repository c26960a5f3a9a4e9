import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct TransformerTests {
    private func model() throws -> DataModel {
        try DataModel {
            SyncEntity("A") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string, userInfo: ["hyper.valueTransformer": "First"])
                SyncAttribute("blob", .transformable, transformer: "Stamp")
                SyncAttribute("amount", .decimal, userInfo: ["sync.valueTransformer": "Text"])
            }
        }
    }

    private func transformers() -> RecordMapper.Transformers {
        var transformers = RecordMapper.Transformers()
        transformers.register("First") { (texts: [String]) in
            texts.first
        } reverse: { (text: String) in
            [text]
        }
        transformers.register("Stamp") { (text: String) in
            Int64(text.dropFirst(6).dropLast(2)).map { Timestamp(microseconds: $0 * 1000) }
        }
        transformers.register("Text") { (json: JSONValue) -> AttributeValue? in .string("12.50") }
        return transformers
    }

    private func filled(_ json: String, contract: ValueContract? = nil) throws -> Record {
        let mapper = try RecordMapper(try model(), JSONMapping(transformers: transformers(), contract: contract))
        return try #require(try mapper.records(of: "A", bytes: Array("[\(json)]".utf8)).first)
    }

    @Test func aTransformerMakesTheValue() throws {
        #expect(try filled(#"{"name":["Bob","Dylan"]}"#)["name"] == "Bob")
        #expect(try filled(#"{"name":[]}"#)["name"] == .null)
        #expect(try filled(#"{"name":null}"#)["name"] == .null)
    }

    @Test func aValueOfAnotherKindIsOfWrongType() throws {
        #expect(try filled(#"{"name":"Bob"}"#)["name"] == .null)
        #expect(throws: MappingError.self) { try filled(#"{"name":"Bob"}"#, contract: ValueContract(wrongType: .fail)) }
    }

    // MARK: Closures of declarations

    private struct Refusal: LocalizedError {
        let errorDescription: String? = "a color has a name"
    }

    private struct Order: SyncObject {
        var id: Int
        var price: Int?
        var shippedOn: Date?
        var color: String?

        static let declaration = SyncDeclaration<Order>(
            .attribute(\.id, remoteKey: "number"),
            .attribute(\.price, remoteKey: "cost.gross") { (text: String) in
                Double(text).map { Int(($0 * 100).rounded()) }
            } reverse: { (cents: Int) in
                "\(cents / 100).\(cents % 100)"
            },
            .attribute(\.shippedOn) { (text: String) in text.split(separator: "/").reversed().joined(separator: "-") },
            .attribute(\.color, default: "red") { (text: String) -> String? in
                if text.isEmpty { throw Refusal() }
                return text == "none" ? nil : text
            })
    }

    /// Its own attribute of the same name has its own closure.
    private struct LargeOrder: SyncObject {
        var id: Int
        var price: Int?
        var shippedOn: Date?
        var color: String?
        var weight: Int?

        static let declaration = SyncDeclaration<LargeOrder>(
            .parent(Order.self), .attribute(\.weight) { (grams: Int) in grams / 1_000 })
    }

    @Test func aDeclarationStatesAConversion() throws {
        let mapper = try RecordMapper(try DataModel(Order.self))
        let json =
            #"[{"number": 7, "cost": {"gross": "12.50"}, "shipped_on": "31/12/1999", "color": "none"}, {"number": 8}]"#
        let records = try mapper.records(of: "Order", bytes: Array(json.utf8))
        #expect(records.count == 2)
        #expect(records.first?["price"] == 1_250 && records.first?["color"] == .null)
        #expect(records.first?["shippedOn"] == .date(Timestamp(microseconds: 946_598_400_000_000)))
        #expect(records.last?["price"] == .null)

        let exporter = try RecordMapper.Exporter(try DataModel(Order.self))
        let exported = try exporter.bytes(ofRecords: Array(records.prefix(1)))
        #expect(String(decoding: exported, as: UTF8.self).contains(#""gross":"12.50""#))
    }

    @Test(arguments: ["7", "\"\"", "[]"]) func aFailedConversionIsOfWrongType(value: String) throws {
        let mapper = try RecordMapper(
            try DataModel(Order.self), JSONMapping(contract: ValueContract(wrongType: .fail)))
        let error = #expect(throws: MappingError.self) {
            try mapper.records(of: "Order", bytes: Array(#"[{"number": 7, "color": \#(value)}]"#.utf8))
        }
        guard case .unfit(let problem) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        if value == "\"\"" { #expect(problem.reason == .refused(by: "Order.color", "a color has a name")) }
    }

    /// The closures belong to the model, whatever is derived from it.
    @Test func aSubEntityInheritsAConversion() throws {
        let model = try DataModel(LargeOrder.self).adding([SyncEntity("Other") { SyncAttribute("id", .int64) }])
        let mapper = try RecordMapper(try RecordMapper(model).model)
        let json = #"[{"number": 7, "cost": {"gross": "12.50"}, "weight": 2500}]"#
        let record = try #require(try mapper.records(of: "LargeOrder", bytes: Array(json.utf8)).first)
        #expect(record["price"] == 1_250 && record["weight"] == 2)
    }

    /// A transformer applies to attributes of every type, and may be named outside the annotations.
    @Test func aDeclaredTransformerAppliesToEveryType() throws {
        let model = try DataModel {
            SyncEntity("A") {
                SyncAttribute("cents", .int64, transformer: "Cents")
                SyncAttribute("born", .date, transformer: "DayFirst")
            }
        }
        #expect(throws: MappingError.unknownTransformer(entity: "A", attribute: "cents", name: "Cents")) {
            try RecordMapper(model)
        }
        var transformers = RecordMapper.Transformers()
        transformers.register("Cents") { (text: String) in Double(text).map { Int64(($0 * 100).rounded()) } }
        transformers.register("DayFirst") { (text: String) in
            text.split(separator: "/").reversed().joined(separator: "-")
        }
        let mapper = try RecordMapper(model, JSONMapping(transformers: transformers))
        let json = #"[{"cents":"12.50","born":"31/12/1999"},{"cents":null,"born":"x"}]"#
        let records = try mapper.records(of: "A", bytes: Array(json.utf8))
        #expect(records.map { $0["cents"] } == [1250, .null])
        #expect(records.map { $0["born"] } == [.date(Timestamp(microseconds: 946_598_400_000_000)), .null])
    }

    @Test func whatATransformerMakesIsConvertedToTheAttributesType() throws {
        #expect(try filled(#"{"amount":"x"}"#)["amount"] == .decimal(try #require(Decimal(string: "12.5"))))
    }

    @Test func aTransformableAttributeKeepsWhatATransformerMakesAsJSON() throws {
        #expect(
            try filled(#"{"blob":"/Date(1451606400000)/"}"#)["blob"] == .binary(Data(#""2016-01-01T00:00:00Z""#.utf8)))
    }

    @Test(arguments: [
        "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData", "", " ",
    ])
    func theTransformersOfFoundationKeepTheJSON(name: String) throws {
        let model = try DataModel {
            SyncEntity("A", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("blob", .transformable, transformer: name)
            }
        }
        let json = #"[{"id":1,"blob":{"b": [1.50,"é"]}},{"id":2,"blob":null}]"#
        let mapper = try RecordMapper(model)
        let records = try mapper.records(of: "A", bytes: Array(json.utf8))
        #expect(records[0]["blob"] == .binary(Data(#"{"b": [1.50,"é"]}"#.utf8)))
        #expect(records[1]["blob"] == .null)
        let exported = try RecordMapper.Exporter(model).bytes(ofRecords: records)
        #expect(String(decoding: exported, as: UTF8.self).contains(#""b""#))
        // One that is registered under the name replaces it.
        var transformers = RecordMapper.Transformers()
        transformers.register(name) { (_: JSONValue) -> AttributeValue? in .binary(Data([1])) }
        let replaced = try RecordMapper(model, JSONMapping(transformers: transformers)).records(
            of: "A", bytes: Array(json.utf8))
        #expect(replaced[0]["blob"] == .binary(Data([1])))
    }

    @Test func reverseTakesTheTypeThatForwardMakes() throws {
        let transformer = try #require(transformers().transformer("First"))
        #expect(try transformer.reverse?(.string("Bob")) == .array([.string("Bob")]))
        #expect(throws: (any Error).self) { try transformer.reverse?(.int(1)) }
        #expect(transformers().transformer("Stamp")?.reverse == nil)
    }

    @Test func anUnregisteredNameIsAnErrorWhenTheMapperIsMade() throws {
        let model = try model()
        #expect(throws: MappingError.unknownTransformer(entity: "A", attribute: "name", name: "First")) {
            try RecordMapper(model)
        }
    }
}

@Suite(.endsInTime) struct GrootMappingTests {
    private struct Refusal: Error {}

    private func mapper(contract: ValueContract? = nil) throws -> RecordMapper {
        let model = try DataModel {
            SyncEntity(
                "Message", abstract: true,
                userInfo: [
                    "identityAttributes": "identifier", "entityMapperName": "Kind",
                    "JSONDictionaryTransformerName": "Legacy",
                ]
            ) {
                SyncAttribute("identifier", .int64, optional: false, userInfo: ["JSONKeyPath": "id"])
                SyncAttribute("note", .string)
            }
            SyncEntity("Text", parent: "Message") {
                SyncAttribute("text", .string, userInfo: ["JSONKeyPath": "content.text"])
            }
            SyncEntity("Picture", parent: "Message") { SyncAttribute("url", .string, userInfo: ["JSONKeyPath": "url"]) }
            SyncEntity("Other") { SyncAttribute("a", .string, userInfo: ["JSONKeyPath": "a"]) }
        }
        var transformers = RecordMapper.Transformers()
        transformers.registerEntityMapper("Kind") { object in
            switch object["type"] {
            case .string("boom"): throw Refusal()
            case .string(let type): type
            default: nil
            }
        }
        transformers.registerObjectTransformer("Legacy") { object in
            var object = object
            if let legacy = object["legacy_id"] { object["id"] = legacy }
            return object
        }
        return try RecordMapper(model, JSONMapping(dialect: .groot, transformers: transformers, contract: contract))
    }

    @Test func anEntityMapperTellsSubEntitiesApart() throws {
        let json =
            #"[{"id":1,"type":"Text","content":{"text":"a"}},{"id":2,"type":"Picture","url":"u"},{"legacy_id":3,"text":"c"},null]"#
        let batch = try #require(try mapper().reader(of: "Message", bytes: Array(json.utf8)).next())
        let groups = Dictionary(uniqueKeysWithValues: batch.groups.map { ($0.mapping.layout.name, $0) })
        #expect(groups["Text"]?.makeRecords().map { $0["text"] } == ["a"])
        #expect(groups["Picture"]?.makeRecords().map { $0["url"] } == ["u"])
        #expect(groups["Picture"]?.elementIndices == [1])
        #expect(groups["Message"]?.makeRecords().map { $0["identifier"] } == [3])
        #expect(groups["Message"]?.undetermined.keys.sorted() == [0])
    }

    @Test func aPropertyWithoutAKeyPathIsNotRead() throws {
        let records = try mapper().records(
            of: "Text", bytes: Array(#"[{"id":1,"note":"n","text":"t","type":"Text"}]"#.utf8))
        #expect(records.first?["note"] == .null)
        #expect(records.first?["text"] == .null)
    }

    @Test func bareIdentifiersAreStubs() throws {
        let batch = try #require(try mapper().reader(of: "Message", bytes: Array(#"["7",8]"#.utf8)).next())
        #expect(batch.groups.first?.makeRecords().map { $0["identifier"] } == [7, 8])
        #expect(batch.groups.first?.stubRows == [0, 1])
    }

    @Test func bareIdentifiersFailWithoutAnIdentity() throws {
        let problem = MappingError.Problem(entity: "Other", index: 0, reason: .noIdentity)
        #expect(throws: MappingError.unfit(problem)) { try mapper().records(of: "Other", bytes: Array(#"["7"]"#.utf8)) }
    }

    @Test func anAnswerThatIsNoSubEntityIsAnError() throws {
        #expect(throws: MappingError.unrelatedEntity(entity: "Message", answer: "Other")) {
            try mapper().records(of: "Message", bytes: Array(#"[{"id":1,"type":"Other"}]"#.utf8))
        }
    }

    @Test func anObjectThatAMapperRefusesIsRejected() throws {
        let mapper = try mapper(contract: ValueContract())
        let (records, rejected) = try mapper.reader(
            of: "Message", bytes: Array(#"[{"id":1,"type":"boom"},{"id":2}]"#.utf8)
        ).readAll()
        #expect(records.count == 1)
        #expect(rejected.map(\.index) == [0])
    }

    @Test(arguments: ["entityMapperName", "JSONDictionaryTransformerName"])
    func anUnregisteredNameOfAnEntityIsAnError(annotation: String) throws {
        let model = try DataModel { SyncEntity("A", userInfo: [annotation: "Missing"]) { SyncAttribute("a", .string) } }
        #expect(throws: MappingError.unknownTransformer(entity: "A", attribute: nil, name: "Missing")) {
            try RecordMapper(model, JSONMapping(dialect: .groot))
        }
    }

    @Test func aBareIdentifierOfWrongTypeIsNoStub() throws {
        let mapper = try mapper(contract: ValueContract())
        let (records, rejected) = try mapper.reader(of: "Message", bytes: Array(#"["x",3]"#.utf8)).readAll()
        #expect(records.map { $0["identifier"] } == [3])
        #expect(rejected.map(\.reason) == [.wrongType(.int64)])
    }
}
