import JSONMapper
import Testing

@Suite struct JSONValueTests {
    @Test func aDocumentBecomesATree() throws {
        let value = try JSONValue(parsing: #"{"a": [1, -2.5, "x\u00e9\n", true, null], "b": {}}"#)
        #expect(value == .object(["a": .array([.integer(1), .double(-2.5), .string("xé\n"), .bool(true), .null]), "b": .object([:])]))
    }
}
