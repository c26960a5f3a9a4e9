import Foundation
import OneWaySyncSQLite

/// The example of an API in the documentation, compiled with the one import that it shows.
struct APIExample {
    struct User: SyncObject {
        var id: Int
    }

    private func sync(from url: URL, into file: URL, token: String) async throws {
        let store = try await SQLiteStore(User.self, at: .file(file))
        let users = HTTPJSONSource(
            url,
            api: HTTPAPI(
                pages: .link,
                delta: HTTPAPI.Delta(
                    cursor: .element(keyPath: "updated_at"), parameter: "since", tombstones: .flag(keyPath: "deleted"))),
            client: HTTPClient(requestsPerSecond: 10)
        ) {
            ["Authorization": "Bearer \(token)"]
        }
        let result = try await store.sync(User.self, from: users)
        print(result.coverage, result.counts.inserted)
    }
}
