import JSONMapper
import OneWayTestLimits
import Testing

@testable import HTTPSource

@Suite(.endsInTime) struct GraphQLQueryTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let fields: Set<String>?

        init(_ query: String, _ fields: Set<String>?) {
            (testDescription, self.fields) = (query, fields)
        }
    }

    static let cases = [
        Case("{ viewer { repositories { nodes { id } pageInfo { endCursor } } } }", ["nodes", "pageInfo"]),
        Case(
            #"""
            query Q($after: String = "}{", $o: [X!]! = [{a: "\""}]) @live(if: true) {
              viewer { # { comment }
                repositories(first: 100, after: $after, filter: {name: "a)b"}) @include(if: $x) {
                  edges { cursor, node { id } }
                }
              }
            }
            """#, ["edges"]),
        Case("{ viewer { repositories: repos { items: nodes { id } } } }", ["items"]),
        Case(
            "{ viewer { ...V ... on User { repositories { edges { node { id } } } } } } fragment V on User { a }",
            ["edges"]),
        Case(
            "query { viewer { ...V } } fragment V on User @x { ...W } fragment W on User { repositories { ...C ...W } }"
                + " fragment C on Connection { nodes { id } }", ["nodes", "repositories"]),
        Case("{ viewer { repositories } }", []), Case("{ viewer { name } }", nil), Case("", nil),
        Case("{ viewer { repositories { nodes { id ", ["nodes"]), Case("}}}", nil), Case("(((", nil),
        Case(String(repeating: "{ a ", count: 100_000), nil),
        Case(#"{ viewer(a: """{"}""") { repositories { x } } }"#, ["x"]),
    ]

    @Test(arguments: cases) func theFieldsOfASelectionAreFound(test: Case) {
        #expect(GraphQLQuery(test.testDescription).fields(at: ["viewer", "repositories"]) == test.fields)
    }

    @Test func theBodyOfACommandLineDecidesAboutTheList() throws {
        let query = "query($after: String) { a { b(after: $after) { edges { node { id } } } } }"
        let body = JSONValue.object(["query": .string(query), "variables": .object(["x": .integer(1)])])
        let api = try #require(HTTPAPI.common("graphql:a.b", body: body))
        #expect(api.keyPath == "data.a.b.edges[].node")
        #expect(api.body == body)
        #expect(HTTPAPI.common("graphql:a.b")?.keyPath == "data.a.b.nodes")
        #expect(HTTPAPI.common("notion", body: body)?.body == body)
        #expect(HTTPAPI.common("other", body: body) == nil)
    }
}
