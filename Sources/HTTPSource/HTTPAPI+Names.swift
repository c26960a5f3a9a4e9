import HTTPTransfer
public import JSONMapper
import StoreSync

// Common APIs by name, and those that need more than a name.

extension HTTPAPI {
    /// Elasticsearch and OpenSearch: hits in the order of a field, by `search_after`.
    ///
    /// Every hit must have the field, and no two hits the same value, because `search_after`
    /// continues after a value. The number of all hits is compared with the hits that were read.
    ///
    /// - Parameter key: A field with doc values, such as a keyword with a copy of the identifier.
    public static func elasticsearch(sortedBy key: String) -> HTTPAPI {
        HTTPAPI(
            pages: .lastElement(keyPath: "sort", bodyKeyPath: "search_after"), keyPath: "hits.hits",
            check: .failing(ifSet: "timed_out").or(.failing(ifSet: "_shards.failed")), totalKeyPath: "hits.total.value",
            body: .object([
                "size": .integer(1000), "sort": .array([.object([key: .string("asc")])]),
                "track_total_hits": .bool(true),
            ])
        ).with { $0.totalRelationKeyPath = "hits.total.relation" }.named("elasticsearch")
    }

    /// A connection of a GraphQL API (Relay's specification): its nodes, with `pageInfo`.
    ///
    /// The query must have a variable `$after`, and request `pageInfo.endCursor`,
    /// `pageInfo.hasNextPage`, and its objects. A response with `errors` is an error, even if it
    /// has data, too.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - connection: The key path of the connection below `data`, such as `viewer.repositories`.
    ///   - objects: The key path of the objects in the connection: `nodes` by default, or
    ///     `edges[].node`.
    ///   - variables: Other variables of the query; none by default.
    public static func graphQL(
        _ query: String, connection: String, objects: String = "nodes", variables: JSONValue.Object = JSONValue.Object()
    ) -> HTTPAPI {
        graphQL(connection: connection, objects: objects).with {
            $0.body = .object(["query": .string(query), "variables": .object(variables)])
        }
    }

    private static func graphQL(connection: String, objects: String = "nodes") -> HTTPAPI {
        let path = "data.\(connection)"
        return HTTPAPI(
            pages: .cursor(keyPath: "\(path).pageInfo.endCursor", bodyKeyPath: "variables.after")
                .ending(.unset(keyPath: "\(path).pageInfo.hasNextPage")),
            keyPath: "\(path).\(objects)",
            check: .failing(ifSet: "errors").or(.failing(ifAbsent: "\(path).pageInfo.hasNextPage"))
        ).named("graphql")
    }

    /// Returns the API that a text names, as on a command line; nil if there is none.
    ///
    /// Elasticsearch is named with the field that sorts the hits (`elasticsearch:id`), GraphQL with
    /// the connection (`graphql:viewer.repositories`); its body with the query is to be set.
    ///
    /// - Parameter text: The name of the API.
    public static func common(_ text: String) -> HTTPAPI? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return all.first { $0.name == text } }
        guard !parts[1].isEmpty else { return nil }
        switch parts[0] {
        case "elasticsearch": return .elasticsearch(sortedBy: parts[1])
        case "graphql": return .graphQL(connection: parts[1])
        default: return nil
        }
    }

    /// The APIs that need only a name, sorted by name.
    public static let all: [HTTPAPI] = [
        airtable, asana, azureDevOps, bitbucket, confluence, contentful, contentfulSync, couchdb, datasette, discourse,
        drf, drfCursor, dropbox, fhir, firebase, github, gitlab, google, googleContacts, hubspot, jira, jsonapi, kinto,
        kubernetes, mastodon, mediawiki, notion, notionList, odata, postgrest, salesforce, shopify, slack, stac,
        strapi, stripe, twilio, wordpress, zendesk,
    ]
}
