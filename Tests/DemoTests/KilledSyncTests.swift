#if os(macOS) || os(Linux)
import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

/// Commands that find what a killed process left of a database.
@Suite(.endsInTime) struct KilledSyncTests {
    private static let users = #"[{"id":1,"name":"Ada","notes":[{"id":11,"text":"x"}]}]"#
    private let folder: TemporaryDirectory
    private let path: String
    private let payload: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
        payload = try folder.write(Self.users, to: "users.json")
    }

    private enum Door: CaseIterable {
        case sync, plan, rebuildingPlan, query, export, history, diff
    }

    private func open(_ door: Door, _ store: String) async -> CommandRun {
        let sync = ["sync", payload, "--entity", "User", "--store", store]
        return switch door {
        case .sync: await CommandRun(sync)
        case .plan: await CommandRun(sync + ["--plan"])
        case .rebuildingPlan: await CommandRun(sync + ["--evolve", "--plan"])
        case .query: await CommandRun(["query", "--entity", "User", "--store", store])
        case .export: await CommandRun(["export", "--entity", "User", "--store", store])
        case .history: await CommandRun(["history", "--store", store])
        case .diff: await CommandRun(["diff", "--entity", "User", store, payload])
        }
    }

    /// Kills a sync before each of the calls that change a file, and enters by each door what it
    /// left. A process killed by the system leaves the same files.
    @Test(arguments: sampled(0..<10, every: 5))
    func whateverAKilledSyncLeavesEveryCommandGoesOn(part: Int) async throws {
        var count = part
        var isKilled = true
        while isKilled {
            let child = try ChildProcess(ChildProcess.product("TestChild"), ["killed-sync", path, "\(count)"])
            isKilled = try await child.end().wasKilled
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                .filter { $0.hasPrefix("store.sqlite") }
            for door in Door.allCases {
                let copies = try TemporaryDirectory()
                for name in left {
                    try FileManager.default.copyItem(
                        at: folder.url.appending(path: name), to: copies.url.appending(path: name))
                }
                let run = await open(door, "sqlite:" + copies.url.appending(path: "store.sqlite").path)
                // Before the first commit, there is no model, and nothing to read.
                let isHealed = run.code == 0 || door != .sync && !run.errors.contains("SQLite:")
                #expect(isHealed, "\(door) after \(count) calls: \(run.errors)")
                if door == .sync { #expect(run.counts(of: "User")?.prefix(3).reduce(0, +) == 1, "\(run.output)") }
            }
            for name in left { try FileManager.default.removeItem(at: folder.url.appending(path: name)) }
            count += 10
        }
        #expect(count > 50)
    }
}
#endif
