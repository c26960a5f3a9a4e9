import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ModelInferenceTests {
    @Test(arguments: [
        ("1", AttributeType.int64), ("1|-9223372036854775808", .int64), ("1|null", .int64), ("null", .string),
        ("1|2.5", .double), ("1e3", .double), ("18446744073709551615", .decimal), ("1|18446744073709551615", .decimal),
        ("1.5|123456789012345678901234567890", .decimal), ("18446744073709551615|0.5", .decimal),
        ("1.5|9007199254740993", .decimal), ("1.5|9007199254740992", .double),
        ("1.5|1|9007199254740993", .decimal), ("1.5|-9007199254740993|1", .decimal), ("1e300|9007199254740993", .json),
        ("1e300|0.5", .double),
        ("3.141592653589793238462643", .decimal), ("0.30000000000000004", .double), ("1e400", .json),
        ("true|false", .bool), ("true|1", .json), (#"true|"yes""#, .json),
        (#""a""#, .string), (#""a"|1"#, .json), (#""1""#, .string), (#""1441888808""#, .string),
        (#""2014-01-02"|"2014-01-02T10:00:00Z""#, .string), (#""2014-01-02"|null"#, .date),
        (#""2014-01-02T10:00:00Z"|"2014-01-02T10:00:00.120Z""#, .date), (#""2014-01-02T10:00:00.1Z""#, .date),
        (#""2014-01-02"|"soon""#, .string), (#""2014-13-02""#, .string),
        (#""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#, .uuid), (#""e621e1f8-c36c-495a-93fc-0c247a3e6e5f""#, .uuid),
        (#""e621e1f8-c36c-495a-93fc-0c247A3E6E5F""#, .string),
        (#""E621E1F8-C36C-495A-93FC-0C247A3E6E5F"|"x""#, .string),
        ("[1,2]", .json), ("[]", .json), (#"["a"]|"a""#, .json), (#"[{"a":1}]|[2]"#, .json),
        (#"{"a":1}|5"#, .json), (#"{"a":1}|[{"a":1}]"#, .json), ("{}", .json), ("[[1]]", .json),
        (#"{"10":1}"#, .json), (#"[{"a":1},null]"#, .json),
    ])
    func theTypeIsTheNarrowestThatHoldsAll(values: String, expected: AttributeType) throws {
        #expect(try DataModel.inferredType(ofValues: values) == expected)
    }

    @Test func attributesAreNamedByConvention() throws {
        let json =
            #"{"id": 1, "first_name": "a", "lastName": "b", "type": "c", "ID": 2, "a b": 3, "$ref": 4, "e-mail": 5, "_": 6}"#
        let layout = try DataModel.inferred(from: json, entity: "User").layout(of: "User")
        #expect(
            layout.attributes.map(\.name) == [
                "id", "firstName", "lastName", "type", "id2", "aB", "ref", "eMail", "value",
            ])
        let keys = EntityKeys(layout, in: try DataModel([layout.entity]))
        let written = zip(
            ["id", "first_name", "lastName", "type", "ID", "a b", "$ref", "e-mail", "_"], keys.attributes)
        for (key, attribute) in written {
            #expect(attribute.spellings.contains([key]), "\(key)")
            #expect(attribute.path() == [key], "\(key)")
        }
    }

    @Test func twoSpellingsOfAKeyAreTwoAttributes() throws {
        let json = #"[{"id": 1, "first_name": "a"}, {"id": 2, "firstName": 5}]"#
        let layout = try DataModel.inferred(from: json, entity: "User").layout(of: "User")
        #expect(layout.attributes.map(\.name) == ["id", "firstName", "firstName2"])
        #expect(layout.attributes.map(\.type) == [.int64, .string, .int64])
    }

    @Test func valuesAreKeptAsJSONOnRequest() throws {
        let json = #"[{"id":1,"bin":"x","spec":{"raw":{"a":1},"list":[{"b":{"c":1}}]}},{"id":2,"bin":{"y":"z"}}]"#
        let options = InferredModel.Options(jsonKeyPaths: ["spec.raw", "spec.list.b", "bin"])
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Package", options: options)
        #expect(inferred.model.layouts.map(\.name) == ["Package", "Spec", "List"])
        for (entity, name) in [("Package", "bin"), ("Spec", "raw"), ("List", "b")] {
            let layout = try inferred.model.layout(of: entity)
            #expect(layout.column(of: name).map { layout.attributes[$0].type } == .json, "\(entity)")
        }
        #expect(inferred.findings.count { $0.kind == .json(.requested) } == 3)
    }

    @Test func aWordAfterTheEntityKeepsItsKey() throws {
        let layout = try DataModel.inferred(from: #"{"type": "a", "user_type": "b"}"#, entity: "User").layout(
            of: "User")
        let keys = EntityKeys(layout, in: try DataModel([layout.entity]))
        #expect(keys.attribute("type")?.path() == ["type"])
        #expect(keys.attribute("userType")?.path() == ["user_type"])
    }

    /// Numbers under names of times, just within and just beyond 1990 and 2100.
    @Test(arguments: [
        ("created_at", "631152000", true), ("created_at", "631151999", false), ("created_at", "4102444800", true),
        ("created_at", "4102444801", false), ("created_at", "631152000000", true),
        ("created_at", "631151999999", false), ("created_at", "4102444800000", true),
        ("created_at", "4102444800001", false), ("created_at", "1700000000.0", true),
        ("created_at", "1700000000.5", false), ("created_at", "1700000000000.0", false), ("start", "1700000000", false),
        ("start", "1700000000000", true), ("size", "1700000000000", false),
    ])
    func numbersUnderNamesOfTimesAreDates(key: String, value: String, isDate: Bool) throws {
        let layout = try DataModel.inferred(from: #"[{"id": 1, "\#(key)": \#(value)}]"#, entity: "Thing").layout(
            of: "Thing")
        #expect(layout.attributes.contains { $0.type == .date } == isDate)
    }

    @Test func aDocumentMayBeOneObject() throws {
        let model = try DataModel.inferred(from: Array(#"{"id": 1}"#.utf8), entity: "Thing")
        #expect(try model.layout(of: "Thing").entity.identity == ["id"])
    }

    @Test(arguments: [(1, ["id"]), (2, ["id", "a"]), (3, ["id", "a", "b"]), (4, ["id", "a", "b"])])
    func theSampleEndsAtItsLimit(limit: Int, attributes: [String]) throws {
        let json = #"[{"id": 1}, {"id": 2, "a": 1}, {"id": 3, "b": 1}]"#
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8)), entity: "User",
            options: InferredModel.Options(sampleCount: limit))
        #expect(try inferred.model.layout(of: "User").attributes.map(\.name) == attributes)
        #expect(inferred.elementCount == min(limit, 3) && inferred.isPartial == (limit < 3))
    }

    /// A key is written into the model only where the name does not lead to it.
    @Test func aConventionalKeyNeedsNoAnnotation() throws {
        let one = try DataModel.inferred(from: #"[{"id": 1, "max_size": 2}]"#, entity: "User").layout(of: "User")
        #expect(one.attributes.map(\.userInfo) == [[:], [:]])
        let both = try DataModel.inferred(from: #"[{"id": 1, "max_size": 2, "maxSize": 3}]"#, entity: "User")
        let keys = EntityKeys(try both.layout(of: "User"), in: both)
        #expect(keys.attributes[1].spellings == [["max_size"]])
        #expect(keys.attributes[2].path() == ["maxSize"] && !keys.attributes[2].spellings.contains(["max_size"]))
    }

    /// A key that would be read as a path, or not at all, is annotated as it is.
    @Test(
        arguments: [
            ("sub_thing", nil), ("Sub Thing", "sync.remoteKey"), ("sub_Thing", "sync.remoteKey"),
            ("x.y", JSONDialect.literalKeyAnnotation), (".", JSONDialect.literalKeyAnnotation),
            ("", JSONDialect.literalKeyAnnotation),
        ] as [(String, String?)])
    func aKeyIsAnnotatedInTheFormThatItNeeds(key: String, annotation: String?) throws {
        let expected = annotation.map { [$0: key] } ?? [:]
        let one = try DataModel.inferred(from: #"[{"id": 1, "\#(key)": 2}]"#, entity: "User").layout(of: "User")
        #expect(one.attributes.map(\.userInfo) == [[:], expected])
        let objects = #"[{"id": 1, "\#(key)": {"a": 1}}, {"id": 2, "\#(key)": {"a": 2}}]"#
        let two = try DataModel.inferred(from: objects, entity: "User").layout(of: "User")
        #expect(two.relationships.map { $0.declaration.userInfo.filter { $0.value == key } } == [expected])
    }

    /// A key that has the name by convention comes before one that is only similar.
    @Test(arguments: [("max__size", "max_size"), ("max__size", "maxSize"), ("max_size_", "max_size")])
    func aConventionalKeyHasTheName(similar: String, conventional: String) throws {
        for keys in [[similar, conventional], [conventional, similar]] {
            let values = keys.map { "\"\($0)\": \($0 == similar ? "\"x\"" : "2")" }.joined(separator: ", ")
            let layout = try DataModel.inferred(from: "[{\"id\": 1, \(values)}]", entity: "User").layout(of: "User")
            #expect(layout.column(of: "maxSize").map { layout.attributes[$0].type } == .int64, "\(keys)")
        }
    }

    @Test func theSameSampleGivesTheSameModel() throws {
        let json = #"[{"b": 1, "a": [{"z": 1, "y": {"q": 1}}]}, {"c": {"id": 1}}]"#
        let model = try DataModel.inferred(from: json, entity: "Root")
        for _ in 0..<5 { #expect(try DataModel.inferred(from: json, entity: "Root") == model) }
    }

    @Test func theModelCompilesToKeysThatFindWhatWasThere() throws {
        let json = #"{"ID": 1, "sub_Thing": {"Weird Key": 1}, "x.y": 2}"#
        let model = try DataModel.inferred(from: json, entity: "Root")
        let keys = EntityKeys(try model.layout(of: "Root"), in: model)
        #expect(keys.relationships.contains { $0.spellings.contains(["sub_Thing"]) })
        #expect(keys.attributes.contains { $0.spellings.contains(["x.y"]) })
    }

    /// Strings are equal if their characters are, but the keys of an object are different.
    @Test func keysOfEqualCharactersAreKeptApart() throws {
        let json = #"[{"id": 1, "\u00e9": 1, "e\u0301": 2}]"#
        let model = try DataModel.inferred(from: json, entity: "Thing")
        #expect(model.layouts[0].attributes.map(\.name) == ["id", "\u{e9}", "otherKeys"])
    }

    @Test func listsAndObjectsThatAreAlwaysEmptyAreFindings() throws {
        let json = #"[{"id":1,"a":[],"o":{}},{"id":2,"a":[],"o":{}}]"#
        let inferred = try InferredModel(from: JSONReader(bytes: Array(json.utf8)), entity: "Thing")
        let text = "is kept as JSON: its values are always empty"
        #expect(inferred.findings.map(\.description) == ["Thing.a \(text)", "Thing.o \(text)"])
    }

    /// Model files are XML, which has no control characters.
    @Test func keysWithControlCharactersAreKeptAsJSON() throws {
        let json = #"[{"id": 1, "a\u0000b": 1, "c\u0001": {"d": 1}, "tab\t": 2, "o": {"\uffff": 1, "p": 1}}]"#
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Thing")
        #expect(inferred.model.layouts[0].attributes.map(\.name) == ["id", "tab", "otherKeys"])
        #expect(inferred.model.entities.map(\.name) == ["Thing", "O"])
        #expect(
            inferred.findings.map(\.description) == [
                "other keys of Thing are kept as JSON: no property can have their names",
                "other keys of O are kept as JSON: no property can have their names",
            ])
    }

    @Test(arguments: [
        ("[]", InferredModel.Failure.emptySample), ("[1]", .notAnObject(index: 0)),
        (#"[{"a": 1}, null]"#, .notAnObject(index: 1)), ("[{}]", .noKeys(entity: "Root")),
    ])
    func aSampleThatTellsNothingIsAnError(json: String, error: InferredModel.Failure) {
        #expect(throws: error) { try DataModel.inferred(from: json, entity: "Root") }
    }

    @Test(arguments: ["SyncPass", "syncmodel"]) func aReservedNameIsAnError(entity: String) {
        #expect(throws: InferredModel.Failure.reservedName(entity: entity)) {
            try DataModel.inferred(from: #"[{"id": 1}]"#, entity: entity)
        }
    }

    @Test func aSampleThatIsNoJSONIsAnError() {
        #expect(throws: JSONError.self) { try DataModel.inferred(from: "[{", entity: "Root") }
        #expect(throws: JSONError.self) { try DataModel.inferred(from: "5", entity: "Root") }
    }

    @Test func elementsAreFoundAtAKeyPath() throws {
        let json = #"{"data": {"users": [{"id": 1}]}}"#
        let model = try DataModel.inferred(from: json, entity: "User", layout: .array(at: "data.users"))
        #expect(model.entities.map(\.name) == ["User"])
    }

    /// Whole numbers among others are written as they came, unless one had a fraction of zero.
    @Test(arguments: [("1|1.5", true), ("1.5|2.5", false), ("1.0|1.5", false), ("1|2.0|1.5", false)])
    func wholeNumbersAreWrittenWithoutAFraction(values: String, isWhole: Bool) throws {
        let elements = values.split(separator: "|").enumerated().map { #"{"id": \#($0), "x": \#($1)}"# }
        let layout = try DataModel.inferred(from: "[\(elements.joined(separator: ","))]", entity: "Thing")
            .layout(of: "Thing")
        let attribute = try #require(layout.attributes.first { $0.name == "x" })
        #expect((attribute.userInfo[JSONDialect.wholeNumbersAnnotation] == "YES") == isWhole)
        // A later document may lack the key.
        #expect(attribute.isOptional)
    }
}
