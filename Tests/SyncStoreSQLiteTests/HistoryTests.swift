import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// What a database remembers of its syncs.
@Suite(.endsInTime) struct HistoryTests {
    private let folder: TemporaryDirectory
    private let file: String
    private let users = JSONSource.bytes(Array(#"[{"id": 1}, {"id": 2}]"#.utf8))

    init() throws {
        folder = try TemporaryDirectory()
        file = folder.url.appending(path: "data.sqlite").path
    }

    private func store(_ history: SyncHistory) async throws -> JSONStore {
        let model = try DataModel { SyncEntity("User") { SyncAttribute("id", .int64) } }.adding([SyncEntity.pass])
        let mapper = try RecordMapper(model)
        return try JSONStore(
            try await SQLiteStore(exactly: mapper.model, at: .file(file)), mapper: mapper, history: history)
    }

    @Test func anySQLToolCanReadTheRuns() async throws {
        let store = try await store(SyncHistory())
        try await store.sync(users, into: "User")
        await #expect(throws: JSONError.self) { try await store.sync(.bytes(Array("[".utf8)), into: "User") }
        let connection = try SQLiteConnection(path: file, isReadOnly: true, busyTimeout: 1000)
        let statement = try connection.prepare(
            """
            SELECT name || ' ' || number || ' ' || status || ' ' || inserted, error IS NULL, datetime(started) IS NULL
            FROM _sync_passes ORDER BY number
            """)
        var rows: [String] = []
        while try statement.step() {
            rows.append("\(statement.text(at: 0)) \(statement.integer(at: 1)) \(statement.integer(at: 2))")
        }
        #expect(rows == ["User 1 succeeded 2 1 0", "User 2 failed 0 0 0"])
    }

    /// A number that leaves no room for more, or that is none, is replaced.
    @Test(arguments: ["9223372036854775807", "-5", "'x'", "1.5"])
    func aChangedNumberDoesNotStopTheSyncsAfterIt(number: String) async throws {
        let store = try await store(SyncHistory())
        try await store.sync(users, into: "User")
        let connection = try SQLiteConnection(path: file, isReadOnly: false, busyTimeout: 1000)
        try connection.execute("UPDATE _sync_passes SET number = \(number)")
        for id in 3...4 { try await store.sync(.bytes(Array(#"[{"id": \#(id)}]"#.utf8)), into: "User") }
        let passes = try await store.store.passes()
        #expect(passes.map(\.counts.deleted) == [1, 2, 0])
        #expect(passes.map(\.number) == (number == "-5" ? [2, 1, -5] : [3, 2, 1]))
    }

    /// The lock of another process is held for any time.
    @Test func aCancelledSyncDoesNotWaitForTheLockOfAnotherConnection() async throws {
        let store = try await store(SyncHistory(cancellationLimit: .milliseconds(1)))
        try await store.sync(users, into: "User")
        let other = try SQLiteConnection(path: file, isReadOnly: false, busyTimeout: 1000)
        try other.execute("BEGIN IMMEDIATE")
        let service = SyncService(schedule: SyncSchedule(interval: .seconds(3600))) { [users] in
            try await store.sync(users, into: "User")
        }
        let events = service.events
        async let end: Void = service.run()
        for await event in events { if case .began = event { break } }
        service.requestStop(within: .zero)
        try await end
        try other.execute("COMMIT")
        try await store.sync(users, into: "User")
        #expect(try await store.store.passes().map(\.status) == [.unchanged, .cancelled, .succeeded])
    }

    @Test func aSyncWithNothingToWriteNeedNotWriteThatItWas() async throws {
        let store = try await store(SyncHistory(recordsUnchanged: false))
        try await store.sync(users, into: "User")
        let files = [file, file + "-wal"].map { URL(filePath: $0) }
        let before = try files.map { try Data(contentsOf: $0) }
        let result = try await store.sync(users, into: "User")
        #expect(result.isUnchanged)
        #expect(try files.map { try Data(contentsOf: $0) } == before)
    }
}
