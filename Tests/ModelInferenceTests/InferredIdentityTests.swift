import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import Testing

/// What identifies the objects of an inferred entity.
@Suite(.endsInTime) struct InferredIdentityTests {
    @Test func theLimitOfComparedKeysIsStated() throws {
        func findings(_ count: Int) throws -> [InferredModel.Finding.Kind] {
            let json = "[" + (1...count).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"
            return try InferredModel(from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Film")
                .findings.map(\.kind)
        }
        #expect(try findings(1000) == [])
        #expect(try findings(70_000) == [.partlyComparedKey])
    }

    @Test(arguments: [
        (#"[{"id": 1}, {"id": 2}]"#, "id"), (#"[{"id": 1}, {"name": "b"}]"#, nil), (#"[{"_id": "x"}]"#, "id"),
        (#"[{"user_id": 1, "name": "u"}]"#, "userID"), (#"[{"userId": 1}]"#, "userId"), (#"[{"guid": "g"}]"#, "guid"),
        (#"[{"remote_id": 5}]"#, "remoteID"), (#"[{"user_id": 1}, {"user_id": 1}]"#, nil),
        (#"[{"user_id": 1}, {"name": "x"}]"#, nil), (#"[{"uuid": 1.5}]"#, nil), (#"[{"note_id": 1}]"#, nil),
        (#"[{"id": 1, "a": 2}, {"id": 1, "a": 2}]"#, nil), (#"[{"id": 1}, {"id": null}]"#, nil),
        (#"[{"slug": "a", "code": 1}, {"slug": "b", "code": 1}]"#, "slug"), (#"[{"slug": "a", "id": 1}]"#, "id"),
        // Some endings only tell the first of several keys.
        (#"[{"invoice_number": "a", "n": 1}]"#, "invoiceNumber"), (#"[{"n": 1, "invoice_number": "a"}]"#, nil),
    ])
    func thePrimaryKeyIsFound(json: String, expected: String?) throws {
        let model = try DataModel.inferred(from: json, entity: "User")
        let layout = try model.layout(of: "User")
        // Without a key, the whole content identifies an object.
        #expect(layout.identityColumns.map { layout.attributes[$0].name } == [expected ?? "contentHash"])
        #expect(try JSONDialect.sync.identified(model) == model)
    }

    /// A key path leads to no property of the objects themselves.
    @Test func theErrorOfAKeyPathSaysWhatToDo() {
        let path = InferredModel.Failure.incompleteKey(entity: "Entry", key: ["sys.id"])
        #expect(path.description.hasSuffix("state a model whose identity has the remote key sys.id"))
        let other = InferredModel.Failure.incompleteKey(entity: "Entry", key: ["title", "year"])
        #expect(other.description == "a Entry of the sample lacks a value of its key title, year")
    }

    /// Of several keys that may identify nested objects, the usual one does.
    @Test(arguments: [
        (#"{"code":"x","id":1}"#, #"{"code":"y","id":2}"#, "id"),
        (#"{"slug":"x","code":1}"#, #"{"slug":"y","code":2}"#, "code"),
    ])
    func theKeyOfNestedObjectsIsFound(first: String, second: String, expected: String) throws {
        let model = try DataModel.inferred(
            from: #"[{"id":1,"o":\#(first)},{"id":2,"o":\#(second)},{"id":3,"o":\#(first)}]"#, entity: "Thing")
        #expect(try model.layout(of: "O").entity.identity == [expected])
    }

    /// Neither of the two keys is unique, but both together are.
    @Test(arguments: [
        (
            #"[{"country_code": "A", "year": 1}, {"country_code": "A", "year": 2}, {"country_code": "B", "year": 1}]"#,
            ["countryCode", "year"]
        ),
        (#"[{"country_code": "A", "year": 1}, {"country_code": "A", "year": 2}]"#, ["contentHash"]),
        (
            #"[{"country_code": "A", "year": 1}, {"country_code": "A", "year": 1}, {"country_code": "B", "year": 1}]"#,
            ["contentHash"]
        ),
    ])
    func twoKeysIdentifyTogether(json: String, expected: [String]) throws {
        #expect(try DataModel.inferred(from: json, entity: "Figure").layout(of: "Figure").entity.identity == expected)
    }
}
