import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// One holder at a time of the lease on a file.
@Suite(.endsInTime) struct SQLiteLeaseTests {
    private let folder: TemporaryDirectory
    private let file: String
    private var lease: SQLiteLease { SQLiteLease(for: file, retryInterval: .milliseconds(1)) }

    init() throws {
        folder = try TemporaryDirectory()
        file = folder.url.appending(path: "my data.sqlite").path
    }

    private func isFree() async throws -> Bool { try await lease.isFree(ratherThanOf: .web) }

    @Test func itIsGrantedToOneAtATime() async throws {
        let grant = try await lease.grant(to: .web)
        #expect(try await !isFree())
        try await grant.renew()
        #expect(try await !isFree())
        await grant.release()
        #expect(try await isFree())
    }

    @Test func aGrantThatIsDroppedIsReleased() async throws {
        var grant: (any SyncLeaseGrant)? = try await lease.grant(to: .web)
        #expect(try await !isFree())
        try await grant?.renew()
        grant = nil
        #expect(try await isFree())
    }

    @Test func whoHoldsItCanBeReadBySQL() async throws {
        let grant = try await lease.grant(to: .web)
        #expect(try rows() == ["web-1|Demo|4711|2025-11-21T13:00:00Z"])
        await grant.release()
        #expect(try rows() == [])
    }

    /// A process that is stopped while it reads the holder's row keeps others from writing theirs.
    @Test func aReaderThatDoesNotGoOnOnlyDelaysOthers() async throws {
        try await lease.grant().release()
        let reader = try SQLiteConnection(path: file + "-lease", isReadOnly: true, busyTimeout: 0)
        try reader.execute("BEGIN; SELECT count(*) FROM lease")
        guard case .held(by: nil) = try await lease.tryAcquire(for: .web) else {
            throw TestError("the lease is not held")
        }
        try reader.execute("COMMIT")
        #expect(try await isFree())
    }

    /// What a program that knows nothing of leases reads.
    private func rows() throws -> [String] {
        let connection = try SQLiteConnection(path: file + "-lease", isReadOnly: true, busyTimeout: 1000)
        let statement = try connection.prepare(
            "SELECT host || '|' || program || '|' || process || '|' || since FROM lease")
        var rows: [String] = []
        while try statement.step() { rows.append(statement.text(at: 0)) }
        return rows
    }

    @Test func everyPathToAFileHasItsLease() async throws {
        let link = folder.url.appending(path: "link.sqlite")
        let relativeLink = folder.url.appending(path: "relative.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: relativeLink.path)
        try FileManager.default.createSymbolicLink(atPath: relativeLink.path, withDestinationPath: "my data.sqlite")
        let grant = try await SQLiteLease(for: folder.url.appending(path: "./sub/../my data.sqlite").path).grant()
        for existing in [false, true] {
            if existing { try Data().write(to: URL(filePath: file)) }
            for path in [link.path, relativeLink.path, file] {
                guard case .held = try await SQLiteLease(for: path).tryAcquire(for: SyncLeaseHolder()) else {
                    Issue.record("\(path) has another lease, existing: \(existing)")
                    continue
                }
            }
        }
        await grant.release()
    }

    @Test func aLeaseWhoseFileIsReplacedIsLost() async throws {
        let grant = try await lease.grant(to: .web)
        try FileManager.default.removeItem(atPath: file + "-lease")
        await #expect(throws: SQLiteError.self) { try await grant.renew() }
        let successor = try await lease.grant(to: .web)
        await #expect(throws: SQLiteError.self) { try await grant.renew() }
        await grant.release()
        try await successor.renew()
        #expect(try await !isFree())
        await successor.release()
    }

    @Test func aFolderThatDoesNotExistIsAnError() async throws {
        let lease = SQLiteLease(for: folder.url.appending(path: "none/data.sqlite").path)
        let error = await #expect(throws: SQLiteError.self) { try await lease.withLease {} }
        #expect(error?.primaryCode == 14)
    }

    @Test func oneOfManyThatAskAtOnceGetsIt() async throws {
        #expect(try await lease.runInManyTasks() == (count: 40, atOnce: 1))
    }
}
