import Foundation
import OneWayTestLimits
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import SyncStoreTesting
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct SQLiteStoreTests {
    @Test func isAStoreInMemory() async throws {
        try await StoreConformance.check { try await SQLiteStore(exactly: $0, at: .memory) }
    }

    @Test func isAStoreInAFile() async throws {
        let folder = try TemporaryDirectory()
        let fileCount = Locked(0)
        try await StoreConformance.check { model in
            let number = fileCount.withLock { count in
                count += 1
                return count
            }
            return try await SQLiteStore(exactly: model, at: .file(folder.url.appending(path: "\(number).sqlite").path))
        }
    }

    @Test(arguments: [SQLNaming.DateStorage.secondsSince1970, .secondsSince2001])
    func isAStoreWithDatesAsNumbers(dates: SQLNaming.DateStorage) async throws {
        var options = SQLiteStore.Options()
        options.dates = dates
        try await StoreConformance.check { [options] in
            try await SQLiteStore(exactly: $0, at: .memory, options: options)
        }
    }
}
