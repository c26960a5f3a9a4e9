import Foundation
import OneWaySyncSQLite
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The example of the guide `StartingOver`.
@Suite(.endsInTime) struct RepairExample {
    @Test func verifyAndRepair() async throws {
        struct User: SyncObject {
            var id: Int
            var name: String?
        }
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "data.sqlite").path
        do {
            let store = try await SQLiteStore(User.self, at: .file(path))
            try await store.sync(User.self, .text(#"[{"id": 1, "name": "Ada"}]"#))
        }

        for defect in try await SQLiteStore.verify(at: path) {
            print("\(defect) is missing")
        }
        let repaired = try await SQLiteStore.repair(at: path)
        #expect(repaired.isEmpty)
    }
}
