#if os(macOS) || os(Linux)
import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import SyncStore
import TestChild
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// Processes that are killed while they sync into a file.
@Suite(.endsInTime) struct CrashTests {
    private static let ids = 1...60
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    /// More generations than a process ever gets to: it must not end before it is killed.
    private static let endless = 1_000_000_000

    /// Kills 5 processes per seed, in turns at a certain part of a payload and after a number of
    /// lines.
    @Test(arguments: seeds(4, thorough: 10))
    func aKilledSyncLeavesTheOldStateOrTheNewOne(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var generation = 0
        for round in 0..<5 {
            let stop = round % 2 == 0 ? [Int.random(in: 0...7, using: &random)] : []
            let child = try start([generation + 1, Self.endless] + stop)
            var lineCount = Int.random(in: 0...30, using: &random)
            while lineCount > 0, let line = try await child.output.next(), line != "stopped" { lineCount -= 1 }
            await child.kill()
            let end = try await child.end()
            #expect(end.wasKilled, "\(end)")
            let synced = end.output.split(separator: "\n").last { $0.hasPrefix("synced ") }
            let last = synced.flatMap { Int($0.dropFirst("synced ".count)) } ?? generation
            generation = try await found(last, or: last + 1)
        }
        // What the killed ones left behind hinders nobody.
        let end = try await start([generation + 1, generation + 1]).end()
        #expect(end.code == 0, "\(end)")
        #expect(try await found(generation + 1, or: generation + 1) == generation + 1)
    }

    /// More than SQLite keeps in memory until the commit.
    @Test func whatAKilledProcessHadNotCommittedIsPassedOverInItsLog() async throws {
        let child = try start([1, 1, 6, 400_000])
        while let line = try await child.output.next(), line != "stopped" {}
        await child.kill()
        #expect(try logSize() > 1 << 20)
        #expect(try await found(0, or: 0) == 0)
    }

    @Test func whatAKilledProcessHadCommittedIsReadFromItsLog() async throws {
        let child = try start([1, 2, 9])
        while let line = try await child.output.next(), line != "stopped" {}
        await child.kill()
        #expect(try logSize() > 0)
        let model = try RecordMapper(Generation.model()).model
        let reader = try await SQLiteStore(exactly: model, at: .readOnlyFile(path))
        #expect(try await Generation.users(of: reader) == Generation(1, of: Self.ids).users)
    }

    private func logSize() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    }

    private func start(_ numbers: [Int]) throws -> ChildProcess {
        let all = [Self.ids.lowerBound, Self.ids.upperBound] + numbers
        return try ChildProcess(ChildProcess.product("TestChild"), ["sync", path] + all.map(String.init))
    }

    /// The generation that the file holds, which is one of two; 0 for none at all.
    private func found(_ one: Int, or other: Int) async throws -> Int {
        let store = try await SQLiteStore(exactly: Generation.model(), at: .file(path))
        let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        let integrity = try connection.prepare("PRAGMA integrity_check")
        #expect(try integrity.step() && integrity.text(at: 0) == "ok")
        #expect(try connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0)
        let users = try await Generation.users(of: store)
        #expect(try await store.count(StoreQuery("Note")) == 2 * users.count)
        let generation = [one, other].first { users == ($0 == 0 ? [:] : Generation($0, of: Self.ids).users) }
        return try #require(generation, "neither the state before nor the one after")
    }
}
#endif
