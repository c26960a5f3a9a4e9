#if os(macOS) || os(Linux)
import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Processes that compete for the lease on a file, and are killed in the middle.
@Suite(.endsInTime) struct LeaseProcessTests {
    @Test(arguments: [1, 2] as [UInt64])
    func oneProcessAtATimeHoldsTheLeaseAndAKilledOneIsSucceeded(_ seed: UInt64) async throws {
        let folder = try TemporaryDirectory()
        let paths = ["data.sqlite", "witness"].map { folder.url.appending(path: $0).path }
        func start() throws -> ChildProcess {
            try ChildProcess(ChildProcess.product("TestChild"), ["lease"] + paths)
        }
        var random = SeededRandom(seed: seed)
        var children = try (0..<3).map { _ in try start() }
        var lines: [String] = []
        for _ in 0..<15 {
            // The victim is in the middle of something: how far, the number of its lines decides.
            let victim = Int.random(in: 0..<children.count, using: &random)
            let count = Int.random(in: 1...7, using: &random)
            let output = children[victim].output
            try await output.wait { $0.count >= count }
            await children[victim].kill()
            lines += output.lines
            children[victim] = try start()
        }
        for child in children {
            // Each gets the lease in the end, whoever died with it.
            try await child.output.wait { $0.contains("confirmed") }
            await child.close()
            lines += child.output.lines
        }
        #expect(!lines.contains("violation"))
        #expect(lines.count { $0 == "confirmed" } >= 3)
    }

    @Test func aStoppedProcessKeepsTheLease() async throws {
        let folder = try TemporaryDirectory()
        let paths = ["data.sqlite", "witness"].map { folder.url.appending(path: $0).path }
        let first = try ChildProcess(ChildProcess.product("TestChild"), ["lease"] + paths)
        try await first.output.wait { $0.contains("held") }
        first.signal(SIGSTOP)
        let second = try ChildProcess(ChildProcess.product("TestChild"), ["lease"] + paths)
        try await second.output.wait { $0.contains("asked") }
        first.signal(SIGCONT)
        try await second.output.wait { $0.contains("confirmed") }
        await first.close()
        await second.close()
        #expect(!(first.output.lines + second.output.lines).contains("violation"))
    }
}
#endif
