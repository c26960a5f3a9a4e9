#if os(macOS) || os(Linux)
import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import TestChild
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// Several stores on one file.
@Suite(.endsInTime) struct SharedFileTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    @Test func whatSeveralProcessesSyncAtOnceAllLands() async throws {
        let ranges = [1...20, 21...40, 41...60, 61...80]
        let children = try ranges.map { range in
            let numbers = [range.lowerBound, range.upperBound, 1, 8]
            return try ChildProcess(ChildProcess.product("TestChild"), ["sync", path] + numbers.map(String.init))
        }
        for child in children {
            let end = try await child.end()
            #expect(end.code == 0, "\(end.errors)")
        }
        let store = try await SQLiteStore(exactly: Generation.model(), at: .file(path))
        let wanted = ranges.map { Generation(8, of: $0).users }.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        #expect(try await Generation.users(of: store) == wanted)
    }

    /// SQLite itself gives up at once when it finds the lock while it changes the journal.
    @Test func theFirstStoreOfAFileWaitsForOtherPrograms() async throws {
        let other = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        try other.execute("CREATE TABLE other (text TEXT); BEGIN IMMEDIATE")
        var options = SQLiteStore.Options()
        options.busyTimeout = .milliseconds(300)
        let start = ContinuousClock.now
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore(exactly: try Generation.model(), at: .file(path), options: options)
        }
        #expect(error?.primaryCode == SQLiteError.Code.busy && ContinuousClock.now - start >= options.busyTimeout)
        options.busyTimeout = .seconds(1800)
        let opening = Task { [path, options] in
            try await SQLiteStore(exactly: try Generation.model(), at: .file(path), options: options)
        }
        try other.execute("COMMIT")
        #expect(try await opening.value.count(StoreQuery("User")) == 0)
    }

    @Test func aReaderSeesTheOldStateUntilTheCommit() async throws {
        let child = try ChildProcess(ChildProcess.product("TestChild"), ["sync", path, "1", "40", "1", "2"])
        while let line = try await child.output.next(), line != "synced 1" {}
        _ = try await child.end()
        let other = try await SQLiteStore(exactly: Generation.model(), at: .file(path))
        let syncing = try ChildProcess(ChildProcess.product("TestChild"), ["sync", path, "1", "40", "3", "3", "3"])
        while let line = try await syncing.output.next(), line != "stopped" {}
        #expect(try await Generation.users(of: other) == Generation(2, of: 1...40).users)
        try syncing.send("go on")
        #expect(try await syncing.end().code == 0)
        #expect(try await Generation.users(of: other) == Generation(3, of: 1...40).users)
    }

    @Test func aReadSeesOneStateFromItsBeginToItsEnd() async throws {
        let store = try await SQLiteStore(exactly: Generation.model(), at: .file(path))
        let other = try await SQLiteStore(exactly: Generation.model(), at: .file(path))
        try await put(1, in: store)
        try await store.read { reader in
            #expect(try await reader.count(StoreQuery("User")) == 1)
            try await put(2, in: other)
            #expect(try await reader.count(StoreQuery("User")) == 1)
        }
        #expect(try await store.count(StoreQuery("User")) == 2)
    }

    @Test func aLockThatOutlastsTheBusyTimeoutIsCode5() async throws {
        var options = SQLiteStore.Options()
        options.busyTimeout = .milliseconds(20)
        let store = try await SQLiteStore(exactly: Generation.model(), at: .file(path), options: options)
        try await put(1, in: store)
        let other = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        try other.execute("BEGIN IMMEDIATE")
        let error = await #expect(throws: SQLiteError.self) { try await put(2, in: store) }
        #expect(error?.primaryCode == 5)
        #expect(try await store.count(StoreQuery("User")) == 1)
        try other.execute("ROLLBACK")
        try await put(2, in: store)
        #expect(try await store.count(StoreQuery("User")) == 2)
    }

    private func put(_ id: Int64, in store: SQLiteStore) async throws {
        var record = Record(of: try store.model.layout(of: "User"))
        record["id"] = .int(id)
        let user = record
        try await store.transaction { _ = try await $0.insert(user) }
    }
}
#endif
