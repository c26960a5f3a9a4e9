import Foundation
import OneWaySyncSQLite
import OneWayTestSupport

/// The example of an API in the documentation, compiled with the one import that it shows.
struct APIExample {
    private func sync(_ model: DataModel, from url: URL, into path: String, token: String) async throws {
        let mapper = try RecordMapper(model.adding([SyncBookmark.entity]))
        let store = try JSONStore(try await SQLiteStore(mapper.model, at: .file(path)), mapper: mapper)
        let users = HTTPJSONSource(
            url, pages: .link,
            delta: HTTPDelta(
                cursor: .element(keyPath: "updated_at"), parameter: "since", tombstones: .flag(keyPath: "deleted")),
            client: HTTPClient(requestsPerSecond: 10)
        ) {
            ["Authorization": "Bearer \(token)"]
        }
        let sync = try await store.sync(from: users, into: "User")
        print(sync.coverage, sync.result.counts.inserted)
    }
}
