import JSONMapper
import OneWayTestLimits
import Testing

/// Lists whose elements contain their objects under a key.
@Suite(.endsInTime) struct ObjectPathTests {
    private static let connection = """
        {"data": {"users": {"edges": [
          {"cursor": "a", "node": {"id": 1, "name": "A"}}, {"node": {"id": 2, "name": "B"}, "cursor": "b"},
          {"node": null}, {"node": {"id": 3, "name": "}"}}
        ], "pageInfo": {"hasNextPage": false}}}}
        """

    /// The elements of a document that arrives in pieces.
    private static func elements(_ text: String, at keyPath: String, by count: Int = .max) throws -> [JSONValue] {
        let reader = JSONReader(layout: .array(at: keyPath).capturing(["data.users.pageInfo.hasNextPage"]))
        var found: [JSONValue] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try reader.append(rest.prefix(count))
            rest = rest.dropFirst(count)
            while let value = try reader.nextValue() { found.append(value) }
        }
        reader.finish()
        while let value = try reader.nextValue() { found.append(value) }
        #expect(reader.isFinished)
        #expect(reader.elementCount == found.count)
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 50, .max]) func objectsAreReadWithinTheirElements(count: Int) throws {
        let found = try Self.elements(Self.connection, at: "data.users.edges[].node", by: count)
        #expect(found.map { $0["id"] } == [.integer(1), .integer(2), nil, .integer(3)])
        #expect(found[2] == .null)
    }

    @Test func objectsCanBeDeeper() throws {
        let found = try Self.elements(#"[{"a": {"b.c": 7}}, {"a": null}, null]"#, at: "[].a.b\\.c")
        #expect(found == [.integer(7), .null, .null])
    }

    @Test(arguments: [
        (#"[{"node": 1}, {"other": 2}]"#, "there is nothing at [1].node"), (#"[{"node": 1}, 7]"#, "object"),
        (#"[{"node": 1}, {"node": 2]"#, "byte 24"), (#"[{"node": 1}, {"a": 1, "node": tru}]"#, "byte 34"),
        (#"[{"node": 1, "a": 2, "node": 3}]"#, "repeated key"),
    ])
    func anElementWithoutTheKeyIsAnError(text: String, said: String) throws {
        let error = #expect(throws: JSONError.self) { try Self.elements(text, at: "[].node") }
        #expect(error.map { "\($0)".contains(said) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: [
        (#"{"data": {"items": [1], "total": 1}}"#, "there is nothing at data.list; data has items, total at line 1"),
        (#"{"error": {"code": 4}}"#, "there is nothing at data.list; the JSON has error at line 1"),
        (#"{"data": {}}"#, "there is nothing at data.list at line 1"),
        (#"{"data": {"list": null, "total": 1}}"#, "there is nothing at data.list at line 1"),
        (#"{"data": {"a\u0007": 1, "b\u00e9": 2}}"#, "there is nothing at data.list; data has bé at line 1"),
    ])
    func anErrorNamesTheKeyPathAndTheKeysThatAreThere(text: String, said: String) throws {
        for count in [1, 7, .max] {
            let error = #expect(throws: JSONError.self) { try Self.elements(text, at: "data.list", by: count) }
            #expect(error.map { "\($0)".contains(said) } == true, "\(error.map { "\($0)" } ?? "")")
        }
    }

    /// Whatever an object has instead, an error is short.
    @Test func anErrorNamesAFewShortKeys() throws {
        let keys = [String(repeating: "x", count: 41), "a", "b", "c", "d", "e", "f", "g", "h", "i"]
        let text = "{\(keys.map { "\"\($0)\": 1" }.joined(separator: ", "))}"
        let error = #expect(throws: JSONError.self) { try Self.elements(text, at: "list") }
        #expect(
            error?.location?.missing
                == JSONError.Missing(keyPath: "list", presentKeys: ["a", "b", "c", "d", "e", "f", "g", "h"]))
    }

    /// A list of one element may stand there as that element.
    @Test func aSingleElementIsEntered() throws {
        let reader = JSONReader(
            bytes: Array(#"{"edges": {"id": 7, "node": {"id": 1}}}"#.utf8),
            layout: .array(at: "edges[].node", acceptsSingleObject: true))
        #expect(try reader.nextValue()?["id"] == .integer(1))
        #expect(try reader.nextValue() == nil && reader.isFinished)
    }

    @Test func aKeyCanEndWithBrackets() throws {
        let reader = JSONReader(bytes: Array(#"{"items[]": [1]}"#.utf8), layout: .array(at: ["items[]"]))
        #expect(try reader.nextValue() == .integer(1))
    }
}
