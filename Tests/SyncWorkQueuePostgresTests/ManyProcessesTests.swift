#if Postgres
import Foundation
import OneWaySynchronizer
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncStorePostgres
import SyncWorkQueuePostgres
import OneWayTestSupport
import Testing

/// Leases and queues of several processes, killed at random.
@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .serialized, .endsInTime)
struct ManyProcessesTests {
    /// What a process began or ended: `+ LABEL KEY` or `- LABEL KEY`; a lease has no key.
    private struct Note {
        var isBeginning: Bool
        var label: String
        var key: String

        init?(_ line: String) {
            let words = line.split(separator: " ")
            guard words.count >= 2, ["+", "-"].contains(words[0]) else { return nil }
            (isBeginning, label) = (words[0] == "+", String(words[1]))
            key = words.count > 2 ? String(words[2]) : ""
        }
    }

    /// Finds what two processes had at once. A process that was killed has nothing from then on,
    /// which its successor's note comes after.
    private func overlaps(_ lines: [String], killed: Set<String>) -> [String] {
        var running: [String: String] = [:]
        var found: [String] = []
        for note in lines.compactMap(Note.init) {
            if note.isBeginning {
                if let other = running[note.key], !killed.contains(other) {
                    found.append("\(note.label) began \(note.key) while \(other) had it")
                }
                running[note.key] = note.label
            } else {
                if running[note.key] != note.label {
                    found.append("\(note.label) ended \(note.key), which it had lost")
                }
                running[note.key] = nil
            }
        }
        return found
    }

    @Test func aKilledHolderIsSucceededBeforeItsLeaseExpires() async throws {
        try await SharedPostgres.withDatabase { database in
            let output = ChildOutput(isShared: true)
            let child = try ChildProcess(
                ChildProcess.product("TestChild"), ["postgres-lease", database.url, "name", "3600000", "holder"],
                output: output)
            try await output.wait { $0.contains { $0.hasPrefix("+") } }
            await child.kill()
            // The lease would expire in an hour; the server ends the session of the killed process.
            let lease = PostgresLease("name", at: database.url, duration: .seconds(3600))
            while true {
                guard case .granted(let grant) = try await lease.tryAcquire(for: SyncLeaseHolder()) else {
                    await Task.yield()
                    continue
                }
                return await grant.release()
            }
        }
    }

    @Test func aLeaseHasOneHolderAtATimeThoughHoldersAreKilled() async throws {
        try await SharedPostgres.withDatabase { database in
            let output = ChildOutput(isShared: true)
            func child(_ label: String) throws -> ChildProcess {
                try ChildProcess(
                    ChildProcess.product("TestChild"), ["postgres-lease", database.url, "name", "6000", label],
                    output: output)
            }
            var children: [String: ChildProcess] = [:]
            for number in 0..<3 { children["c\(number)"] = try child("c\(number)") }
            var killed: Set<String> = []
            for round in 0..<5 {
                let count = output.lines.count
                try await output.wait { $0.dropFirst(count).contains { $0.hasPrefix("+") } }
                // Whoever had it last, be it that it has it still.
                guard let holder = output.lines.last(where: { $0.hasPrefix("+") }).flatMap(Note.init)?.label,
                    let process = children.removeValue(forKey: holder)
                else { continue }
                killed.insert(holder)
                await process.kill()
                let known = output.lines.count
                children["r\(round)"] = try child("r\(round)")
                try await output.wait { $0.dropFirst(known).contains { $0.hasPrefix("+") } }
            }
            #expect(overlaps(output.lines, killed: killed) == [])
            for process in children.values { await process.close() }
        }
    }

    @Test func everyItemIsDownloadedThoughWorkersAreKilled() async throws {
        try await SharedPostgres.withDatabase { database in
            let count = 10_000
            var random = SeededRandom(seed: 6)
            let failing = Set((0..<count).filter { $0 % 1000 == 7 })
            let items = (0..<count).map { TestItem(failing.contains($0) ? "\($0)!" : "\($0)") }
            let output = ChildOutput(isShared: true)
            func child(_ label: String) throws -> ChildProcess {
                try ChildProcess(
                    ChildProcess.product("TestChild"), ["work", database.url, "name", "8", "6000", "2", label],
                    output: output)
            }
            let queue = PostgresWorkQueue(
                "name", at: database.url,
                options: PostgresWorkQueue.Options(visibilityTimeout: .seconds(6), maximumAttempts: 100))
            let holder = ScriptedProcessor(source: items)
            let sync = Task {
                try await Synchronizer(
                    processor: queue.sharing(holder), options: SyncOptions(concurrency: 500, stopOnError: false)
                ).sync()
            }
            var children: [String: ChildProcess] = [:]
            for number in 0..<4 { children["c\(number)"] = try child("c\(number)") }
            var killed: Set<String> = []
            for round in 1...6 {
                // Two lines for each item.
                let threshold = round * 2500 + Int.random(in: 0..<500, using: &random)
                try await output.wait { $0.count >= threshold }
                guard let label = children.keys.sorted().randomElement(using: &random),
                    let process = children.removeValue(forKey: label)
                else { continue }
                killed.insert(label)
                await process.kill()
                children["r\(round)"] = try child("r\(round)")
            }
            let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
            for process in children.values { await process.close() }
            #expect(failure?.report.inserted == count - failing.count)
            #expect(failure?.report.failed == failing.count)
            #expect(failure?.errors.allSatisfy { $0.underlying is PostgresWorkQueue.Failure } == true)
            let done = Set(output.lines.compactMap(Note.init).filter { !$0.isBeginning }.map(\.key))
            #expect(done == Set(items.map(\.owsPrimaryKey).filter { !$0.hasSuffix("!") }))
            #expect(overlaps(output.lines, killed: killed) == [])
        }
    }
}
#endif
