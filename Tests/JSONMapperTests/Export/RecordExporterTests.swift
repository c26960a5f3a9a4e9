import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct RecordExporterTests {
    private typealias DateFormat = RecordMapper.Exporter.Options.DateFormat

    private static func layout(
        _ attributes: [SyncAttribute], relationships: [SyncRelationship] = [], name: String = "Thing"
    ) throws -> (DataModel, EntityLayout) {
        let model = try DataModel([SyncEntity(name, attributes: attributes, relationships: relationships)])
        return (model, model.layouts[0])
    }

    private func export(
        _ type: AttributeType, _ value: AttributeValue,
        options: RecordMapper.Exporter.Options = RecordMapper.Exporter.Options()
    ) throws -> String {
        let (model, layout) = try Self.layout([SyncAttribute("x", type)])
        return try RecordMapper.Exporter(model, options: options).text(of: GraphNode(layout, ["x": value]))
    }

    @Test(
        arguments: [
            (.int64, .int(-9_223_372_036_854_775_808), "-9223372036854775808"),
            (.double, .double(12.5), "12.5"), (.double, .double(3), "3.0"),
            (.float, .double(Double(Float(12.2))), "12.2"),
            (.float, .double(Double(Float(1e-30))), "1e-30"), (.bool, .bool(true), "true"), (.string, .null, "null"),
            (.string, .string("a\"\u{1}ü"), #""a\"\u0001ü""#), (.uri, .uri("https://x.y/?a=1"), #""https://x.y/?a=1""#),
            (.decimal, .decimal(Decimal(string: "12345678901234567890.125") ?? 0), "12345678901234567890.125"),
            (
                .uuid, .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))),
                #""00010203-0405-0607-0809-0A0B0C0D0E0F""#
            ),
            (.date, .date(Timestamp(microseconds: 1_435_063_208_123_456)), #""2015-06-23T12:40:08.123456Z""#),
            (.date, .date(Timestamp(microseconds: -1)), #""1969-12-31T23:59:59.999999Z""#),
            (.binary, .binary(Data(#"{"a": [1]}"#.utf8)), #"{"a": [1]}"#),
            (.binary, .binary(Data("\"x\"".utf8)), #""x""#),
            (.json, CanonicalJSON(#"{"b":"\u0000","a":[1.0]}"#)?.value ?? .null, #"{"a":[1],"b":"\u0000"}"#),
            (.binary, .binary(Data([1, 2, 255])), #""AQL/""#), (.binary, .binary(Data()), #""""#),
            (.binary, .binary(Data("[1] ".utf8)), #""WzFdIA==""#),
        ] as [(AttributeType, AttributeValue, String)])
    func everyTypeIsWritten(type: AttributeType, value: AttributeValue, json: String) throws {
        #expect(try export(type, value) == #"{"x":\#(json)}"#)
    }

    @Test func datesHaveTheFormatOfTheOptions() throws {
        let moment = AttributeValue.date(Timestamp(microseconds: 1_435_063_208_123_456))
        var options = RecordMapper.Exporter.Options()
        options.dateFormat = .iso8601
        #expect(try export(.date, moment, options: options) == #"{"x":"2015-06-23T12:40:08.123456Z"}"#)
        options.dateFormat = .pattern("dd.MM.yyyy")
        #expect(try export(.date, moment, options: options) == #"{"x":"23.06.2015"}"#)
        #expect(
            RecordMapper.Exporter.Options.DateFormat.iso8601Seconds.string(from: Timestamp(microseconds: -1))
                == "1969-12-31T23:59:59Z")
    }

    /// Another date in its place would be one that nobody has written.
    @Test(
        arguments: [
            (-62_167_219_200_000_000, #""0000-01-01T00:00:00Z""#), (-62_167_219_200_000_001, "null"),
            (253_402_300_799_999_999, #""9999-12-31T23:59:59.999999Z""#), (253_402_300_800_000_000, "null"),
            (Int64.min, "null"), (Int64.max, "null"),
        ] as [(Int64, String)])
    func aDateWithoutATextIsNotExported(microseconds: Int64, json: String) throws {
        let moment = Timestamp(microseconds: microseconds)
        var writer = JSONWriter()
        writer.date(moment)
        let written = String(decoding: writer.bytes, as: UTF8.self)
        #expect(written == json)
        func styled(_ annotation: String, _ value: String, _ dates: DateFormat = .iso8601) throws -> String {
            let (model, layout) = try Self.layout([SyncAttribute("x", .date, userInfo: [annotation: value])])
            var options = RecordMapper.Exporter.Options()
            options.dateFormat = dates
            return try RecordMapper.Exporter(model, options: options).text(of: GraphNode(layout, ["x": .date(moment)]))
        }
        let (day, empty) = (JSONDialect.dateFormatAnnotation, JSONDialect.emptyAnnotation)
        if json == "null" {
            let error = MappingError.inexpressible(entity: "Thing", key: nil, attribute: "x")
            #expect(throws: error) { try export(.date, .date(moment)) }
            #expect(throws: error) { try styled(day, "yyyy-MM-dd") }
            #expect(throws: error) { try styled(empty, "omit") }
        } else {
            #expect(try export(.date, .date(moment)) == #"{"x":\#(json)}"#)
            #expect(try styled(day, "yyyy-MM-dd") != #"{"x":null}"#)
            #expect(try styled(empty, "omit") == #"{"x":\#(json)}"#)
        }
        #expect(try styled(empty, "omit", .pattern("'a day'")) == #"{"x":"a day"}"#)
        #expect(DateText.hasText(microseconds) == DateText.range.contains(microseconds))
    }

    @Test(arguments: [AttributeValue.double(.nan), .double(.infinity), .decimal(.nan)])
    func aNumberThatJSONLacksIsAnError(value: AttributeValue) throws {
        for type in [AttributeType.double, .float] {
            #expect(throws: MappingError.inexpressible(entity: "Thing", key: nil, attribute: "x")) {
                try export(type, value)
            }
        }
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("x", .double)
            }
        }
        let error = #expect(throws: MappingError.self) {
            try RecordMapper.Exporter(model).text(of: GraphNode(model.layouts[0], ["id": 7, "x": value]))
        }
        #expect(
            error?.description
                == "Thing 7 cannot be exported: x is infinite, NaN, or a date outside the years 0 to 9999, "
                + "which JSON cannot express")
    }

    @Test func keysAreThoseOfConventionAndAnnotation() throws {
        let (model, layout) = try Self.layout(
            [
                SyncAttribute("remoteID", .int64), SyncAttribute("createdAt", .string),
                SyncAttribute("userType", .string),
                SyncAttribute("secret", .string, userInfo: ["sync.nonExportable": ""]),
                SyncAttribute("other", .string, userInfo: ["sync.remoteKey": "some_Key"]),
                SyncAttribute("cache", .transformable), SyncAttribute("destroy", .bool),
            ], name: "User")
        var options = RecordMapper.Exporter.Options()
        options.relationships = .none
        let node = GraphNode(layout, ["remoteID": 1])
        #expect(
            try RecordMapper.Exporter(model, options: options).text(of: node)
                == #"{"id":1,"created_at":null,"type":null,"some_Key":null,"destroy":null}"#)
        options.keyStyle = .camelCase
        options.relationships = .nested
        #expect(
            try RecordMapper.Exporter(model, options: options).text(of: node)
                == #"{"id":1,"createdAt":null,"type":null,"some_Key":null,"_destroy":null}"#)
    }

    @Test func keyPathsThatBeginAlikeShareObjects() throws {
        let path = { (path: String) in ["sync.remoteKey": path] }
        let (model, layout) = try Self.layout([
            SyncAttribute("a", .int64, userInfo: path("p.a")), SyncAttribute("b", .int64),
            SyncAttribute("c", .int64, userInfo: path("p.q.c")), SyncAttribute("d", .int64, userInfo: path("p.d")),
            SyncAttribute("e", .int64, userInfo: path("p.q.e")),
        ])
        let node = GraphNode(layout, ["a": 1, "b": 2, "c": 3, "d": 4, "e": 5])
        #expect(try RecordMapper.Exporter(model).text(of: node) == #"{"p":{"a":1,"q":{"c":3,"e":5},"d":4},"b":2}"#)
    }

    @Test func ofTwoClaimsToAKeyTheFirstStays() throws {
        let path = { (path: String) in ["sync.remoteKey": path] }
        let (model, layout) = try Self.layout([
            SyncAttribute("a", .int64), SyncAttribute("b", .int64, userInfo: path("a")),
            SyncAttribute("c", .int64, userInfo: path("a.c")), SyncAttribute("d", .int64, userInfo: path("e.d")),
            SyncAttribute("e", .int64),
        ])
        let node = GraphNode(layout, ["a": 1, "b": 2, "c": 3, "d": 4, "e": 5])
        #expect(try RecordMapper.Exporter(model).text(of: node) == #"{"a":1,"e":{"d":4}}"#)
    }

    @Test func valuesGoThroughTheReverseOfTheirTransformer() throws {
        let (model, layout) = try Self.layout([
            SyncAttribute("two", .int64, userInfo: ["sync.valueTransformer": "two"]),
            SyncAttribute("one", .int64, userInfo: ["sync.valueTransformer": "one"]),
            SyncAttribute("none", .int64, userInfo: ["sync.valueTransformer": "two"]),
        ])
        var transformers = RecordMapper.Transformers()
        transformers.register("two", forward: { _ in nil }, reverse: { .array([.string($0 == .int(2) ? "ii" : "")]) })
        transformers.register("one", forward: { _ in nil })
        let node = GraphNode(layout, ["two": 2, "one": 1])
        let exporter = try RecordMapper.Exporter(model, transformers: transformers)
        #expect(try exporter.text(of: node) == #"{"two":["ii"],"one":1,"none":null}"#)
        #expect(throws: MappingError.unknownTransformer(entity: "Thing", attribute: "two", name: "two")) {
            try RecordMapper.Exporter(model)
        }
    }

    @Test func aTransformerThatThrowsIsAnErrorWithItsPlace() throws {
        let (model, layout) = try Self.layout([SyncAttribute("x", .int64, userInfo: ["sync.valueTransformer": "t"])])
        var transformers = RecordMapper.Transformers()
        transformers.register("t", forward: { _ in nil }, reverse: { _ in throw GraphNode.Unreachable() })
        let exporter = try RecordMapper.Exporter(model, transformers: transformers)
        #expect(
            throws: MappingError.irreversible(entity: "Thing", attribute: "x", by: "t", "\(GraphNode.Unreachable())")
        ) {
            try exporter.bytes(of: GraphNode(layout, ["x": 1]))
        }
    }

    @Test func grootExportsWhatHasAKeyPath() throws {
        let path = { (path: String) in ["JSONKeyPath": path] }
        let model = try DataModel([
            SyncEntity(
                "A",
                attributes: [
                    SyncAttribute("identifier", .int64, userInfo: path("id")), SyncAttribute("note", .string),
                    SyncAttribute("deep", .string, userInfo: path("x.y")),
                ],
                relationships: [
                    SyncRelationship("one", toOne: "A", userInfo: path("one")),
                    SyncRelationship("many", toMany: "A", userInfo: path("m.any")),
                    SyncRelationship("mute", toOne: "A"),
                ])
        ])
        let node = GraphNode(model.layouts[0], ["identifier": 1, "note": "n", "deep": "d"])
        #expect(
            try RecordMapper.Exporter(model, dialect: .groot).text(of: node)
                == #"{"id":1,"x":{"y":"d"},"one":null,"m":{"any":[]}}"#)
    }

    @Test func aSubEntityHasItsOwnKeys() throws {
        let model = try DataModel([
            SyncEntity(
                "Root", attributes: [SyncAttribute("a", .int64)],
                relationships: [SyncRelationship("roots", toMany: "Root")]),
            SyncEntity("Leaf", parent: "Root", attributes: [SyncAttribute("b", .int64)], relationships: []),
        ])
        let node = GraphNode(model.layouts[0], ["a": 1])
        node["roots"] = [GraphNode(model.layouts[1], ["a": 2, "b": 3])]
        #expect(try RecordMapper.Exporter(model).text(of: node) == #"{"a":1,"roots":[{"a":2,"b":3,"roots":[]}]}"#)
    }

    @Test func anObjectOfAnotherModelIsAnError() throws {
        let (model, _) = try Self.layout([SyncAttribute("a", .int64)])
        let (_, stranger) = try Self.layout([SyncAttribute("a", .int64)], name: "Stranger")
        #expect(throws: MappingError.unknownEntity("Stranger")) {
            try RecordMapper.Exporter(model).bytes(of: GraphNode(stranger))
        }
    }

    @Test func anExportServesTheModelWithOtherIdentities() throws {
        let (model, _) = try Self.layout([SyncAttribute("id", .int64)])
        let identified = try JSONDialect.sync.identified(model)
        #expect(try RecordMapper.Exporter(model).text(of: GraphNode(identified.layouts[0], ["id": 4])) == #"{"id":4}"#)
    }

    @Test func relationshipsThatAreNotKnownAreLeftOut() throws {
        let (model, layout) = try Self.layout(
            [SyncAttribute("a", .int64)],
            relationships: [SyncRelationship("ones", toMany: "Thing"), SyncRelationship("twos", toMany: "Thing")])
        let node = GraphNode(layout, ["a": 1])
        node.unknown = ["ones"]
        #expect(try RecordMapper.Exporter(model).text(of: node) == #"{"a":1,"twos":[]}"#)
        var record = Record(of: layout)
        record["a"] = 1
        #expect(String(decoding: try RecordMapper.Exporter(model).bytes(of: record), as: UTF8.self) == #"{"a":1}"#)
    }

    @Test func aSourceThatFailsEndsTheExport() throws {
        let (model, layout) = try Self.layout([], relationships: [SyncRelationship("ones", toMany: "Thing")])
        let node = GraphNode(layout)
        node.fails = true
        #expect(throws: GraphNode.Unreachable.self) { try RecordMapper.Exporter(model).bytes(of: node) }
    }

    /// A kept key replaces an empty property of the same name, but not one inside of a group.
    @Test func keptKeysOfTheObjectAreNotThoseOfItsGroups() throws {
        let (model, layout) = try Self.layout([
            SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "address.city"]),
            SyncAttribute("name", .string),
            SyncAttribute("rest", .json, userInfo: ["sync.otherKeys": ""]),
        ])
        let rest = CanonicalJSON(#"{"city":1,"name":2}"#)?.value ?? .null
        let json = try RecordMapper.Exporter(model).text(of: GraphNode(layout, ["rest": rest]))
        #expect(json == #"{"address":{"city":null},"city":1,"name":2}"#)
    }
}
