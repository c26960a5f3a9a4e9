import Foundation

/// What tests run as a process of its own, to be killed or to compete: `TestChild ROLE ARGUMENT…`.
///
/// A role says on standard output, line by line, what it has done, and may wait for lines on
/// standard input.
@main
struct TestChild {
    private static var roles: [String: @Sendable ([String]) async throws -> Void] {
        var roles: [String: @Sendable ([String]) async throws -> Void] = [
            "sync": SyncRole.run, "lease": LeaseRole.run,
            "file-lease": LeaseRole.runWithFile, "evolve": EvolveRole.run, "killed-sync": KilledSyncRole.run,
            "mirror": MirrorRole.run,
        ]
        #if Postgres
        roles["postgres-lease"] = PostgresLeaseRole.run
        roles["postgres-hold"] = PostgresHoldRole.run
        roles["postgres-lease-hold"] = PostgresLeaseHoldRole.run
        roles["work"] = WorkRole.run
        #endif
        return roles
    }

    static func main() async {
        endWithTest()
        let arguments = CommandLine.arguments.dropFirst()
        do {
            guard let name = arguments.first, let role = roles[name] else { throw UsageError() }
            try await role(Array(arguments.dropFirst()))
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("TestChild: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Ends this process when the test process has ended, however that was: its output may be
    /// inherited, and whoever reads it waits for all that can write it.
    private static func endWithTest() {
        let parent = getppid()
        let watch = Thread {
            while getppid() == parent { Thread.sleep(forTimeInterval: 1) }
            _exit(1)
        }
        watch.start()
    }

    /// Says something to the test; ends where there is none any more.
    static func say(_ line: String) {
        do { try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) } catch { exit(1) }
    }
}

/// The arguments make no sense.
struct UsageError: Error {}
