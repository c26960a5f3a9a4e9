#if os(macOS) || os(Linux)
import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncStoreSQLite
import Testing

/// Processes that compete for the lease of a database or in a file, and are killed in the middle.
@Suite(.endsInTime) struct LeaseProcessTests {
    /// The leases that processes of one computer share, by the names that `TestChild` has for them.
    enum Kind: String, CaseIterable {
        case database = "lease"
        case file = "file-lease"

        func lease(at path: String) -> any SyncLease {
            switch self {
            case .database: SQLiteLease(for: path)
            case .file: FileLease(at: URL(filePath: path))
            }
        }
    }

    private let folder: TemporaryDirectory
    private let paths: [String]

    init() throws {
        let folder = try TemporaryDirectory()
        self.folder = folder
        paths = ["data", "witness"].map { folder.url.appending(path: $0).path }
    }

    private func start(_ kind: Kind) throws -> ChildProcess {
        try ChildProcess(ChildProcess.product("TestChild"), [kind.rawValue] + paths)
    }

    @Test(arguments: Kind.allCases, seeds(1, thorough: 2))
    func oneProcessAtATimeHoldsTheLeaseAndAKilledOneIsSucceeded(_ kind: Kind, _ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var children = try (0..<3).map { _ in try start(kind) }
        var lines: [String] = []
        for _ in 0..<15 {
            // The victim is in the middle of something: how far, the number of its lines decides.
            let victim = Int.random(in: 0..<children.count, using: &random)
            let count = Int.random(in: 1...7, using: &random)
            let output = children[victim].output
            try await output.wait { $0.count >= count }
            await children[victim].kill()
            lines += output.lines
            children[victim] = try start(kind)
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

    @Test(arguments: Kind.allCases)
    func aStoppedProcessKeepsTheLeaseAndIsNamed(_ kind: Kind) async throws {
        let first = try start(kind)
        try await first.output.wait { $0.contains("held") }
        first.signal(SIGSTOP)
        if case .held(let holder) = try await kind.lease(at: paths[0]).tryAcquire(for: SyncLeaseHolder()) {
            // It may have been stopped before it wrote its name.
            #expect(holder == nil || holder?.program == "TestChild")
        } else {
            // It was stopped between two leases.
            #expect(first.output.lines.contains("confirmed"))
        }
        let second = try start(kind)
        try await second.output.wait { $0.contains("asked") }
        first.signal(SIGCONT)
        try await second.output.wait { $0.contains("confirmed") }
        await first.close()
        await second.close()
        #expect(!(first.output.lines + second.output.lines).contains("violation"))
    }
}
#endif
