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
    static let remoteSync = Chapter(title: "A database is kept equal to an API") { stage in
        let server = try UsersServer()
        defer { Task { await server.stop() } }
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("updatedAt", .date)
            }
            SyncBookmark.entity
        }
        let mapper = try RecordMapper(model)
        let store = try JSONStore(await SQLiteStore(mapper.model, at: .memory), mapper: mapper)
        let today = Locked(Date())
        let source = HTTPJSONSource(
            server.url, pages: .link,
            delta: HTTPDelta(cursor: .element(keyPath: "updated_at"), parameter: "since"),
            client: HTTPClient(
                retry: RetryPolicy(maxAttempts: 5, baseDelay: .milliseconds(5)), date: { today.withLock { $0 } }))
        func sync() async throws -> (RemoteSyncResult, requests: Int) {
            let result = try await store.sync(from: source, into: "User") { progress in
                stage.console.show("   " + ServerSync.line(progress, after: .zero))
            }
            stage.console.clear()
            let (requests, failures) = server.takeCounts()
            stage.say("\(requests) requests, of which \(failures) failed: \(SyncSummary.text(result.result.counts))")
            return (result, requests)
        }

        stage.say("20,000 users, 500 to a page; some requests are answered by 503, some answers are cut in the middle.")
        let (first, _) = try await sync()
        try stage.check("all 20,000 are there", first.result.counts.inserted == UsersServer.userCount)

        stage.say("From here on the server is asked for what has changed, from a minute before the latest change on.")
        let (second, _) = try await sync()
        try stage.check("nothing was written", second.coverage == .changes && second.result.isUnchanged)
        let (third, requests) = try await sync()
        try stage.check(
            "the same question was answered by 304, and nothing was done at all",
            third.coverage == .unchanged && requests <= 2)

        server.set(7, to: "Ada")
        server.set(20_001, to: "Eve")
        server.set(8, to: nil)
        stage.say("A user has another name, one is new, one is gone, of which the server says nothing.")
        let (delta, _) = try await sync()
        try stage.check(
            "one was updated, one inserted",
            delta.result.counts.updated == 1 && delta.result.counts.inserted == 1 && delta.result.counts.deleted == 0)

        // More than a day, because dates are stored in whole microseconds.
        today.withLock { $0 += 86_460 }
        stage.say("A day later everything is read; pages are read twice before anything is deleted.")
        let (full, _) = try await sync()
        try stage.check(
            "the ghost was found", full.coverage == .everything && full.result.counts.deleted == 1)
        let count = try await store.store.count(StoreQuery("User"))
        try stage.check("the database is equal to the API", count == UsersServer.userCount)
    }
}
