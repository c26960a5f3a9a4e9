import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// An index in several shards, which is read by `search_after`.
@Suite(.endsInTime) struct ElasticsearchTests {
    /// Answers searches as Elasticsearch does: each shard sorts its documents by the field, and
    /// continues after a value, so that it skips documents with the same value.
    private struct Index {
        /// The documents of each shard.
        var shards: [[(id: Int, group: Int)]]
        var relation = "eq"

        init(count: Int, shardCount: Int = 5) {
            shards = (0..<shardCount).map { shard in
                (1...count).filter { $0 % shardCount == shard }.map { (id: $0, group: $0 / 7) }
            }
        }

        mutating func remove(_ ids: Set<Int>) {
            shards = shards.map { $0.filter { !ids.contains($0.id) } }
        }

        func answer(to request: HTTPRequest) throws -> HTTPResponse {
            let body = try JSONValue(parsing: String(decoding: request.body ?? [], as: UTF8.self))
            guard case .object(let sort)? = body["sort"]?[0], let key = sort.entries.first?.key,
                case .integer(let size)? = body["size"], body["track_total_hits"] == .bool(true)
            else { return HTTPResponse(status: 400) }
            var after: Int?
            if case .integer(let value)? = body["search_after"]?[0] { after = Int(value) }
            func value(_ document: (id: Int, group: Int)) -> Int { key == "id" ? document.id : document.group }
            let found = shards.flatMap { shard in
                shard.filter { document in after.map { value(document) > $0 } ?? true }
                    .sorted { (value($0), $0.id) < (value($1), $1.id) }.prefix(Int(size))
            }
            let hits = found.sorted { (value($0), $0.id % 5) < (value($1), $1.id % 5) }.prefix(Int(size)).map {
                #"{"_id":"\#($0.id)","_source":{"id":\#($0.id),"name":"user \#($0.id)"},"sort":[\#(value($0))]}"#
            }
            let total = #"{"value":\#(shards.reduce(0) { $0 + $1.count }),"relation":"\#(relation)"}"#
            let list = #"{"total":\#(total),"hits":[\#(hits.joined(separator: ","))]}"#
            return .json(#"{"timed_out":false,"_shards":{"total":5,"failed":0},"hits":\#(list)}"#)
        }
    }

    private let index = Locked(Index(count: 3_400))

    private func sync(sortedBy key: String, into world: SourceWorld) async throws -> StoreSyncResult {
        let server = ScriptedServer { [index] request, _ in try index.withLock { try $0.answer(to: request) } }
        let url = try #require(URL(string: "https://search.test/users/_search"))
        let source = HTTPJSONSource(
            url, api: .elasticsearch(sortedBy: key),
            client: HTTPClient(transport: server, clock: ManualClock(), date: { testDate }))
        return try await world.sync(source)
    }

    private func world() async throws -> SourceWorld {
        try await SourceWorld(
            try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64, userInfo: ["sync.remoteKey": "_source.id"])
                    SyncAttribute("name", .string, userInfo: ["sync.remoteKey": "_source.name"])
                }
                SyncEntity.bookmark
            })
    }

    @Test func aUniqueKeyFindsEachDocumentOfEachShard() async throws {
        let world = try await world()
        let first = try await sync(sortedBy: "id", into: world)
        #expect(first.counts.inserted == 3_400 && first.warnings.isEmpty, "\(first)")
        index.withLock { $0.remove([1, 1_700, 3_400]) }
        let second = try await sync(sortedBy: "id", into: world)
        #expect(second.counts.deleted == 3 && second.warnings.isEmpty, "\(second)")
        #expect(try await world.users().count == 3_397)
    }

    /// Documents with equal values beside the end of a page are in no page.
    @Test func tiesAreNoticedByTheNumberOfHits() async throws {
        let world = try await world()
        try await world.sync(.users(ScriptedServer { _, _ in .json(Self.sources(1...3_400)) }))
        #expect(try await world.users().count == 3_400)
        let result = try await sync(sortedBy: "group", into: world)
        #expect(result.counts.deleted == 0 && result.counts.kept > 0, "\(result)")
        #expect(
            result.warnings.contains { $0.contains("the source counts 3400 objects, and its pages had") },
            "\(result.warnings)")
        // What is missing is told before anything could be deleted, too.
        let empty = try await self.world()
        let first = try await sync(sortedBy: "group", into: empty)
        #expect(first.counts.inserted < 3_400)
        #expect(
            first.warnings.contains { $0.contains("the source counts 3400 objects, and its pages had") },
            "\(first.warnings)")
    }

    private static func sources(_ ids: ClosedRange<Int>) -> String {
        "[\(ids.map { #"{"_source":{"id":\#($0),"name":"user \#($0)"}}"# }.joined(separator: ","))]"
    }
}
