import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// One holder at a time of the lease in a file.
@Suite(.endsInTime) struct FileLeaseTests {
    private let folder: TemporaryDirectory
    private let lease: FileLease

    init() throws {
        folder = try TemporaryDirectory()
        lease = FileLease(at: folder.url.appending(path: "sync.lease"), retryInterval: .milliseconds(1))
    }

    private func grant() async throws -> any SyncLeaseGrant { try await lease.grant(to: .web) }

    private func isFree() async throws -> Bool { try await lease.isFree(ratherThanOf: .web) }

    private var text: String { get throws { try String(contentsOf: lease.file, encoding: .utf8) } }

    @Test func itIsGrantedToOneAtATime() async throws {
        let grant = try await grant()
        #expect(try await !isFree())
        try await grant.renew()
        #expect(try await !isFree())
        await grant.release()
        #expect(try await isFree())
    }

    @Test func aGrantThatIsDroppedIsReleased() async throws {
        var grant: (any SyncLeaseGrant)? = try await grant()
        #expect(try await !isFree())
        try await grant?.renew()
        grant = nil
        #expect(try await isFree())
    }

    @Test func theFileNamesItsHolderAndCountsGrants() async throws {
        let grant = try await grant()
        #expect(
            try text == """
                {"generation":1,"holder":{"host":"web-1","processID":4711,"program":"Demo","since":"2025-11-21T13:00:00Z"}}

                """)
        await grant.release()
        #expect(try text == "{\"generation\":1}\n")
        await (try self.grant()).release()
        #expect(try text == "{\"generation\":2}\n")
    }

    @Test(arguments: ["", "{", "mine\u{0}", String(repeating: "x", count: 100_000)])
    func anyTextInTheFileIsNoObstacle(before: String) async throws {
        try Data(before.utf8).write(to: lease.file)
        let grant = try await grant()
        #expect(try await !isFree())
        await grant.release()
        #expect(try text == "{\"generation\":1}\n")
    }

    @Test func aLeaseWhoseFileIsReplacedIsLost() async throws {
        let grant = try await grant()
        try FileManager.default.removeItem(at: lease.file)
        await #expect(throws: FileLease.Failure.self) { try await grant.renew() }
        let successor = try await self.grant()
        await #expect(throws: FileLease.Failure.self) { try await grant.renew() }
        await grant.release()
        try await successor.renew()
        #expect(try await !isFree())
        await successor.release()
    }

    @Test(arguments: [true, false]) func aLinkIsNotFollowed(isDangling: Bool) async throws {
        let outside = folder.url.appending(path: "outside")
        if !isDangling { try Data("mine".utf8).write(to: outside) }
        try FileManager.default.createSymbolicLink(at: lease.file, withDestinationURL: outside)
        let error = await #expect(throws: FileLease.Failure.self) { try await grant() }
        #expect(error?.description == "\(lease.file.path): it is a symbolic link")
        #expect((try? String(contentsOf: outside, encoding: .utf8)) == (isDangling ? nil : "mine"))
    }

    @Test func aFolderOrAPipeInItsPlaceIsAnError() async throws {
        #expect(mkfifo(lease.file.path, 0o600) == 0)
        let error = await #expect(throws: FileLease.Failure.self) { try await grant() }
        #expect(error?.reason == "it is not a regular file")
        try FileManager.default.removeItem(at: lease.file)
        try FileManager.default.createDirectory(at: lease.file, withIntermediateDirectories: false)
        await #expect(throws: FileLease.Failure.self) { try await grant() }
    }

    @Test func aFolderThatDoesNotExistIsAnError() async throws {
        let lease = FileLease(at: folder.url.appending(path: "none/sync.lease"))
        let error = await #expect(throws: FileLease.Failure.self) { try await lease.withLease {} }
        #expect(error?.description == "\(lease.name): No such file or directory")
    }

    @Test func oneOfManyThatAskAtOnceGetsIt() async throws {
        #expect(try await lease.runInManyTasks() == (count: 40, atOnce: 1))
        #expect(try text == "{\"generation\":40}\n")
    }
}
