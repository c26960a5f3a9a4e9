import JSONMapper
import ModelInference
import OneWayTestLimits
import Testing

/// Where the objects of a document are, without a model.
@Suite(.endsInTime) struct DocumentListsTests {
    @Test(
        arguments: [
            (#"{"3166-1":[{"a":1},{"a":2}]}"#, ["3166-1"], "3166-1"),
            (#"{"data":{"page":{"n":1},"items":[{"id":1}]}}"#, ["data.items"], "data.items"),
            (#"{"a":[{"x":1}],"b":[{"x":1}]}"#, ["a", "b"], nil), (#"{"id":1,"notes":[{"x":1}]}"#, ["notes"], nil),
            (#"{"code":200,"data":[{"x":1}]}"#, ["data"], "data"), (#"{"data":[1]}"#, [], nil), ("{}", [], nil),
            (#"[{"a":[{"x":1}]},{"a":[{"x":1}]}]"#, [], nil), (#"{"a.b":[{"x":1}]}"#, [], nil), ("[1]", [], nil),
            (#"{"a{b}":[{"x":1}]}"#, [#"a\{b}"#], #"a\{b}"#),
        ] as [(String, [String], String?)])
    func theOnlyListOfADocumentIsFound(json: String, keyPaths: [String], only: String?) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country")
        #expect(lists.keyPaths == keyPaths)
        #expect(lists.only == only)
    }

    /// Without known keys, the usual names of keys tell.
    @Test(
        arguments: [
            (#"{"id":1,"list":[{"x":1}]}"#, [], true), (#"{"id":1,"list":[{"x":1}]}"#, ["ref"], false),
            (#"{"ref":1,"list":[{"x":1}]}"#, [], false), (#"{"ref":1,"list":[{"x":1}]}"#, ["ref"], true),
            (#"{"ref":null,"list":[{"x":1}]}"#, ["ref"], false),
            // The weakest key that is the object's own, and a stronger one of lists.
            (#"{"objectId":1,"list":[{"x":1}]}"#, [], true), (#"{"key":1,"list":[{"x":1}]}"#, [], false),
        ] as [(String, [String], Bool)])
    func anObjectWithAKeyOfItsOwnIsMeantItself(json: String, keys: [String], isIdentified: Bool) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country", keys: keys)
        #expect(lists.isIdentified == isIdentified)
        #expect(lists.only == (isIdentified ? nil : "list"))
    }

    /// Whatever is not exactly one object has neither lists nor members, and is not meant itself.
    @Test(arguments: ["[]", "[5]", #"["x",{"id":1}]"#, #"[{"id":1,"list":[{"x":1}]},{"id":2}]"#])
    func onlyOneObjectIsExamined(json: String) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country")
        #expect(!lists.isIdentified && lists.keyPaths.isEmpty)
        #expect(lists.members == nil && lists.only == nil)
    }

    /// A list within one of the members is not what the document stands for.
    @Test(
        arguments: [
            (#"{"1":{"a":1},"2":{"a":2,"list":[{"x":1}]}}"#, "{id}"), (#"{"DE":{"id":1},"FR":{"id":2}}"#, "{key}"),
            (#"{"a":{"x":1},"b":{"x":2},"c":{"x":3},"d":{"x":4}}"#, "{id}"), (#"{"1":{"a":[{"x":1}]}}"#, nil),
            (#"{"user":{"name":"a"},"page":{"number":1},"list":{"items":[{"x":1}]}}"#, nil),
            (#"{"1":1,"2":2}"#, "{key:value}"),
            (#"{"DE":"Germany","FR":"France","IT":null}"#, "{key:value}"), (#"{"1":[1],"2":[2]}"#, nil),
            (#"{"1":[{"x":1}],"2":[{"x":1}]}"#, nil), (#"[{"1":{"a":1},"2":{"a":2}}]"#, "{id}"),
        ] as [(String, String?)])
    func theMembersOfADocumentAreFound(json: String, members: String?) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country")
        #expect(lists.members == members)
        #expect(members == nil || lists.only == nil)
    }
}
