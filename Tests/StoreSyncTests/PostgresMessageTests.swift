#if Postgres
import JSONMapper
import OneWayPostgresTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStorePostgres
import Testing

/// How many messages of a sync wait for the server's answer, each for a round trip.
@Suite(.enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresMessageTests {
    /// Children that belong to one parent or to several, with and without an order.
    private static let relationships: [String: SyncRelationship] = [
        "owned": SyncRelationship("notes", toMany: "Note", inverse: "user"),
        "shared": SyncRelationship("notes", toMany: "Note"),
        "ordered": SyncRelationship("notes", toOrdered: "Note"),
    ]

    @Test(
        "A sync of nested objects waits for two to four answers of a near server, and a long one of a far server, too",
        arguments: relationships.keys.sorted(), [50, 3000])
    func messagesAreFew(kind: String, count: Int) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                Self.relationships[kind] ?? SyncRelationship("notes", toMany: "Note")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                if kind == "owned" { SyncRelationship("user", toOne: "User", inverse: "notes") }
            }
            SyncEntity.pendingLink
        }
        let server = try await PostgresServer()
        let proxy = try TestProxy(to: server)
        defer { proxy.close() }
        // On a slow machine, signs of life would count.
        var options = PostgresStore.Options()
        options.silenceLimit = .seconds(3600)
        options.farRoundTrip = count > 50 ? .zero : .seconds(60)
        let store = try await PostgresStore(exactly: model, at: proxy.url(), options: options)
        let json = try JSONStore(store, mapper: RecordMapper(model))
        // Each fourth user has no notes.
        let users = (0..<count).map { id in
            let notes = (0..<id % 4).map { #"{"id":\#(id * 10 + $0)}"# }.joined(separator: ",")
            return #"{"id":\#(id),"name":"user \#(id)","notes":[\#(notes)]}"#
        }
        let text = "[\(users.joined(separator: ","))]"
        let payload = JSONSource.bytes(Array(text.utf8))
        let changed = JSONSource.bytes(Array(text.replacing("user", with: "User").utf8))
        /// Syncs, and returns for how many answers it waited.
        func answerCount(_ payload: JSONSource, _ isRight: (StoreSyncResult) -> Bool) async throws -> Int {
            let before = proxy.answerCount
            let result = try await json.sync(payload, into: "User")
            #expect(isRight(result))
            return proxy.answerCount - before
        }
        // The beginning with the users, their notes, and the commit. It has the links of a join
        // table if the server is far.
        let first = try await answerCount(payload) { $0.counts.inserted == count }
        #expect(first == (kind == "owned" || count > 50 ? 3 : 4))
        // The beginning with the users, their notes with links and counts. The commit is not waited
        // for, and may be counted with the sync after it, which waits for its own.
        let unchangedCount = try await answerCount(payload) { $0.isUnchanged }
        let changedCount = try await answerCount(changed) { $0.counts.updated == count }
        #expect(unchangedCount + changedCount == 2 + 1 + 3)
        let fewer = JSONSource.bytes(Array("[\(users.dropFirst(4).joined(separator: ","))]".utf8))
        // The deletion is one message more.
        let deletedCount = try await answerCount(fewer) { $0.counts.deleted == 4 }
        #expect(deletedCount == 4)
        await server.close()
    }
}
#endif
