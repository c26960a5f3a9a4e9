#if os(macOS) || os(Linux)
import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncStore
import TestChild
import Testing

@testable import SyncStoreSQLite

/// Processes that are killed while they adapt a file to another model, or fill it anew.
@Suite(.endsInTime) struct EvolutionCrashTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    /// Kills processes at certain words, and wherever they are by then.
    @Test(arguments: seeds(2, thorough: 4))
    func aKilledEvolutionLeavesTheOldFileOrTheNewOne(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        try await Evolution.fill(
            try await SQLiteStore(exactly: Evolution.model(1), at: .file(path), options: Evolution.options(1)), 1)
        var version = 1
        for _ in 0..<6 {
            let child = try ChildProcess(ChildProcess.product("TestChild"), ["evolve", path, "\(version + 1)"])
            var wordCount = Int.random(in: 1...8, using: &random)
            while wordCount > 0, try await child.output.next() != nil { wordCount -= 1 }
            await child.kill()
            let end = try await child.end()
            #expect(end.wasKilled, "\(end)")
            let said = end.output.split(separator: "\n").last { $0.hasPrefix("at ") }
            let last = said.flatMap { Int($0.dropFirst("at ".count)) } ?? version
            version = try await found(last, or: last + 1)
        }
        // What a killed one left beside the file hinders nobody.
        let store = try await SQLiteStore.rebuild(
            exactly:
                Evolution.model(version), at: path, options: Evolution.options(version)
        ) { [version] in try await Evolution.fill($0, version) }
        #expect(try await Evolution.isWhole(store, version))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains { $0.contains("rebuild") })
    }

    /// The version that the file has, which is one of two, with all people in it.
    private func found(_ one: Int, or other: Int) async throws -> Int {
        let version: Int
        do {
            let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 1000)
            version = Int(try connection.integer("SELECT model_version FROM _sync_schema") ?? 0)
            let integrity = try connection.prepare("PRAGMA integrity_check")
            #expect(try integrity.step() && integrity.text(at: 0) == "ok")
            #expect(try connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0)
            let left = "SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_sync\\_new%' ESCAPE '\\'"
            #expect(try connection.integer(left) == 0)
        }
        #expect(version == one || version == other)
        let store = try await SQLiteStore(
            exactly:
                Evolution.model(version), at: .file(path), options: Evolution.options(version))
        #expect(try await Evolution.isWhole(store, version))
        return version
    }
}
#endif
