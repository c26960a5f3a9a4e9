import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// How connections are set up, and how long they wait.
@Suite(.endsInTime) struct SettingsTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func settings(
        isReadOnly: Bool = false, isTransient: Bool = false, _ change: (inout SQLiteStore.Options) -> Void = { _ in }
    ) throws -> SQLiteSettings {
        var options = SQLiteStore.Options()
        change(&options)
        return SQLiteSettings(
            path: folder.url.appending(path: "store.sqlite").path, isReadOnly: isReadOnly,
            folder: isTransient ? try TransientFolder() : nil, options)
    }

    private func values(_ connection: SQLiteConnection) throws -> [Int64?] {
        try ["synchronous", "foreign_keys", "temp_store", "cache_size"].map { try connection.integer("PRAGMA \($0)") }
    }

    @Test func connectionsAreSafeAndBounded() throws {
        let settings = try settings()
        #expect(try values(settings.openUnchanged()) == [2, 1, 2, -4096])
        let connection = try settings.open()
        #expect(try values(connection) == [1, 1, 2, -4096])
        #expect(connection.hasLog)
        // A file that is gone with the store need not survive the system.
        #expect(try values(self.settings(isTransient: true).open()).first == 0)
        #expect(try values(self.settings(isReadOnly: true).open()).first == 2)
        #expect(try values(self.settings { $0.cacheByteCount = 5 }.open()).last == -1)
        #expect(try values(self.settings { $0.cacheByteCount = 3 << 20 }.open()).last == -3072)
        #expect(try self.settings { $0.maximumPageCount = 77 }.open().integer("PRAGMA max_page_count") == 77)
    }

    @Test func aFileWithoutALogHasNone() throws {
        let settings = try settings()
        #expect(try !settings.openUnchanged().hasLog)
        #expect(try settings.openUnchanged().checkpoint == nil)
    }

    @Test(arguments: [
        (Duration.milliseconds(3), [true, true, false]), (.zero, [false, false, false]),
        (.seconds(-5), [false, false, false]),
        (.seconds(Int64(1) << 40), [true, true, true]), (.microseconds(1500), [true, false, false]),
    ])
    func aConnectionWaitsForTheBusyTimeout(timeout: Duration, expected: [Bool]) throws {
        let interruption = try settings { $0.busyTimeout = timeout }.openUnchanged().interruption
        #expect((0..<3).map { interruption.wait($0) } == expected)
    }

    @Test(arguments: [
        (Int32(79), Int32(7), true), (78, 7, false), (104, 8, true), (103, 8, false), (129, 9, true), (128, 9, false),
    ])
    func waitsAddUp(timeout: Int32, count: Int32, goesOn: Bool) {
        // One millisecond of the time is left, or none.
        #expect(SQLiteInterruption(busyTimeout: timeout).wait(count) == goesOn)
    }

    @Test func nobodyWaitsForWhatIsCancelled() {
        let interruption = SQLiteInterruption(busyTimeout: 1000)
        interruption.isPatient = false
        #expect(!interruption.wait(0))
        interruption.isPatient = true
        #expect(interruption.wait(0))
        let (busy, interrupted) = (SQLiteError(code: 261, message: ""), SQLiteError(code: 9, message: ""))
        #expect(!interruption.caused(busy) && !interruption.caused(interrupted))
        let cancellation = SQLiteCancellation()
        interruption.cancellation = cancellation
        #expect(interruption.wait(0))
        cancellation.request()
        #expect(!interruption.wait(0))
        #expect(interruption.caused(busy) && interruption.caused(interrupted))
        #expect(!interruption.caused(SQLiteError(code: 13, message: "")))
    }
}
