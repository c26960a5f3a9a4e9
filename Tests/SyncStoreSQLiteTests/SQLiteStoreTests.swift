import Foundation
import Synchronization
import SyncModel
import SyncStoreSQL
import SyncStoreSQLite
import SyncStoreTesting
import OneWayTestSupport
import Testing

@Suite struct SQLiteStoreTests {
    @Test func isAStoreInMemory() async throws {
        try await StoreConformance.check { try await SQLiteStore($0, at: .memory) }
    }

    @Test func isAStoreInAFile() async throws {
        let folder = try TemporaryDirectory()
        let fileCount = Atomic(0)
        try await StoreConformance.check { model in
            let number = fileCount.add(1, ordering: .relaxed).newValue
            return try await SQLiteStore(model, at: .file(folder.url.appending(path: "\(number).sqlite").path))
        }
    }

    @Test func isAStoreWithDatesAsNumbers() async throws {
        var options = SQLiteStore.Options()
        options.dates = .secondsSince1970
        try await StoreConformance.check { [options] in try await SQLiteStore($0, at: .memory, options: options) }
    }
}
