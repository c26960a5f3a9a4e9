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

    @Test(arguments: relationships.keys.sorted())
    func aSyncOfNestedObjectsWaitsForTwoOrThreeAnswers(kind: String) async throws {
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
        let server = try await PostgresServer(.init(configuration: ["log_statement": "all"]))
        // On a slow machine, signs of life would count.
        var options = PostgresStore.Options()
        options.silenceLimit = .seconds(3600)
        let store = try await PostgresStore(exactly: model, at: server.url(), options: options)
        let json = try JSONStore(store, mapper: RecordMapper(model))
        // Each fourth user has no notes.
        let users = (0..<50).map { id in
            let notes = (0..<id % 4).map { #"{"id":\#(id * 10 + $0)}"# }.joined(separator: ",")
            return #"{"id":\#(id),"name":"user \#(id)","notes":[\#(notes)]}"#
        }
        let text = "[\(users.joined(separator: ","))]"
        let payload = JSONSource.bytes(Array(text.utf8))
        let changed = JSONSource.bytes(Array(text.replacing("user", with: "User").utf8))
        let start = try server.statementCount(without: "COMMIT")
        try await json.sync(payload, into: "User")
        // Links of a join table are written after both ends.
        #expect(try server.statementCount(without: "COMMIT") - start == (kind == "owned" ? 3 : 5))
        // The server may log the end later: it is not waited for.
        let before = try server.statementCount(without: "COMMIT")
        #expect(try await json.sync(payload, into: "User").isUnchanged)
        // The beginning with the users, their notes with links and counts.
        let unchangedCount = try server.statementCount(without: "COMMIT") - before
        #expect(unchangedCount == 2)
        #expect(try await json.sync(changed, into: "User").counts.updated == 50)
        // The commit, too.
        #expect(try server.statementCount(without: "COMMIT") - before == unchangedCount + 3)
        let fewer = JSONSource.bytes(Array("[\(users.dropFirst(4).joined(separator: ","))]".utf8))
        let last = try server.statementCount(without: "COMMIT")
        #expect(try await json.sync(fewer, into: "User").counts.deleted == 4)
        #expect(try server.statementCount(without: "COMMIT") - last == unchangedCount + 7)
        await server.close()
    }
}
#endif
