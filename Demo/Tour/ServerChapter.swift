import SyncBase
import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite

extension Chapter {
    static let remoteSync = Chapter(title: "A database mirrors an API") { stage in
        let server = try UsersServer()
        defer { Task { await server.stop() } }
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("updatedAt", .date)
            }
        }
        let store = try await SQLiteStore(model, at: .memory)
        let today = Locked(Date())
        let source = HTTPJSONSource(
            server.url,
            api: HTTPAPI(
                pages: .link, delta: HTTPAPI.Delta(cursor: .element(keyPath: "updated_at"), parameter: "since")),
            client: HTTPClient(
                retry: RetryPolicy(maxAttempts: 5, baseDelay: .milliseconds(5)), clock: ContinuousClock(),
                date: { today.withLock { $0 } }))
        func sync() async throws -> (StoreSyncResult, requests: Int) {
            let result = try await store.sync("User", from: source) { progress in
                stage.console.show(ServerSync.line(progress, after: .zero), indentation: "   ")
            }
            stage.console.clear()
            let (requests, failures) = server.takeCounts()
            stage.say("\(Quantity.count(requests, "request")) (\(failures) failed): \(SyncSummary.text(result.counts))")
            return (result, requests)
        }

        stage.say(
            "The server has 20,000 users in pages of 500. Some requests fail with status 503, and some responses break off."
        )
        let (first, _) = try await sync()
        try stage.check("all 20,000 users were inserted", first.counts.inserted == UsersServer.userCount)

        stage.say("From now on, only changes are requested, with an overlap of a minute.")
        let (second, _) = try await sync()
        try stage.check("nothing was written", second.coverage == .changes && second.isUnchanged)
        let (third, requests) = try await sync()
        try stage.check(
            "the same request was answered with status 304, and no transaction began",
            third.coverage == .unchanged && requests <= 2)

        server.set(7, to: "Ada")
        server.set(20_001, to: "Eve")
        server.set(8, to: nil)
        stage.say("One user is renamed, one is added, and one is removed. The server does not report the removal.")
        let (delta, _) = try await sync()
        try stage.check(
            "one user was updated, and one was inserted",
            delta.counts.updated == 1 && delta.counts.inserted == 1 && delta.counts.deleted == 0)

        // More than a day, because dates are stored in whole microseconds.
        today.withLock { $0 += 86_460 }
        stage.say("A day later, everything is read again. Pages are read twice before anything is deleted.")
        let (full, _) = try await sync()
        try stage.check(
            "the removed user was deleted", full.coverage == .everything && full.counts.deleted == 1)
        let count = try await store.count(StoreQuery("User"))
        try stage.check("the database equals the API", count == UsersServer.userCount)
    }
}
