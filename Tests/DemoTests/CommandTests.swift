#if os(macOS) || os(Linux)
import Foundation
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

/// The built command, run as a process of its own.
@Suite(.endsInTime) struct CommandTests {
    @Test(arguments: [
        ["--help"], ["mirror", "--help"], ["tour", "--help"], ["help", "mirror"], ["sync", "-h"], ["help", "model"],
    ])
    func helpGoesToStandardOutput(arguments: [String]) async throws {
        let child = try await ChildProcess.run(arguments)
        #expect(child.code == 0)
        #expect(child.output.contains("Usage:") && child.output.contains("Exit codes:"))
        #expect(child.errors.isEmpty)
    }

    @Test(arguments: [
        ["--fly"], ["fly"], ["mirror"], ["mirror", "http://host/", "a", "--concurrency", "0"], ["sync", "a", "--json"],
    ])
    func aWrongArgumentIsOneLineOnStandardError(arguments: [String]) async throws {
        let child = try await ChildProcess.run(arguments)
        #expect(child.code == 64)
        #expect(child.output.isEmpty)
        #expect(child.errors.hasPrefix("Demo: "))
        #expect(child.errors.split(separator: "\n").count == 1)
    }

    @Test func theTourVerifiesAllItsClaims() async throws {
        let child = try await ChildProcess.run([])
        #expect(child.code == 0, "\(child.output)\n\(child.errors)")
        #expect(child.errors.isEmpty)
        #expect(child.output.contains("All claims are true."))
        // Piped, so lines are plain.
        #expect(!child.output.contains("\u{1B}") && !child.output.contains("\r"))
        for chapter in Chapter.all { #expect(child.output.contains(chapter.title)) }
    }

    @Test func aMirrorIsMadeAndThenUnchanged() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            let arguments = ["mirror", world.listURL.absoluteString, world.folder.path]
            let dry = try await ChildProcess.run(arguments + ["--dry-run"])
            #expect(dry.code == 0)
            #expect(dry.output.hasSuffix("0 unchanged, 2 to change; nothing was changed\n"))
            #expect(world.files.isEmpty)
            let first = try await ChildProcess.run(arguments)
            #expect(first.code == 0)
            #expect(first.output.hasSuffix("done: 2 listed: 2 inserted, 0 updated, 0 unchanged, 0 deleted\n"))
            #expect(try world.contents == ["a": "a 1", "b": "b 1"])
            let second = try await ChildProcess.run(arguments)
            #expect(second.output == "done: 2 listed: 0 inserted, 0 updated, 2 unchanged, 0 deleted\n")
        }
    }

    @Test func aFailureIsExitCode1AndNamesTheItem() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1), ("c", 1)]) { $0.path == "/items/1" ? .status(404) : nil }
            let child = try await ChildProcess.run(
                ["mirror", world.listURL.absoluteString, world.folder.path, "--keep-going", "--concurrency", "2"])
            #expect(child.code == 1)
            #expect(child.errors.hasPrefix("failed: content of \"b\": \(world.server.baseURL)/items/1: status 404\n"))
            #expect(try world.contents == ["a": "a 1", "c": "c 1"])
        }
    }

    @Test func tooManyRemovalsAreRefused() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1), ("b", 1)])
            try await world.synchronizer.sync()
            world.serve([])
            let arguments = ["mirror", world.listURL.absoluteString, world.folder.path, "--max-removals", "50%"]
            let child = try await ChildProcess.run(arguments)
            #expect(child.code == 1)
            #expect(child.errors.contains("2 of 2 local items would be removed"))
            let dry = try await ChildProcess.run(arguments + ["--dry-run"])
            #expect(dry.code == 1)
            #expect(dry.errors.hasPrefix("would fail: "))
            #expect(try world.contents.count == 2)
        }
    }

    @Test(arguments: [[], ["--every", "3600"]])
    func ctrlCStopsCleanly(options: [String]) async throws {
        try await FolderWorld.with { world in
            let gate = Gate()
            world.serve([("a", 1)]) { request in
                guard request.path == "/items/0" else { return nil }
                return .stream(byteCount: 100) { writer in
                    try writer.write(Array("half".utf8))
                    gate.open()
                    try writer.hang()
                }
            }
            let child = try ChildProcess(
                ["mirror", world.listURL.absoluteString, world.folder.path] + options)
            try await gate.pass()
            child.signal(SIGINT)
            let end = try await child.end()
            #expect(end.code == 130)
            #expect(end.errors.contains("stopped: "))
            #expect(try world.contents.isEmpty)
        }
    }

    @Test func passesAreRepeatedUntilCtrlC() async throws {
        try await FolderWorld.with { world in
            world.serve([("a", 1)])
            let child = try ChildProcess(
                ["mirror", world.listURL.absoluteString, world.folder.path, "--every", "0.1"])
            try await world.requests.wait(for: "/list.json", count: 3)
            child.signal(SIGINT)
            let end = try await child.end()
            #expect(end.code == 130)
            #expect(end.output.contains("1 inserted") && end.output.contains("1 unchanged"))
        }
    }

    @Test(arguments: [[], ["--every", "3600"]])
    func aSyncThatCtrlCInterruptsChangesNothing(options: [String]) async throws {
        let gate = Gate()
        let handler: LoopbackHTTPServer.Handler = { _ in
            .stream(byteCount: 100) { writer in
                try writer.write(Array(#"[{"id":1},"#.utf8))
                gate.open()
                try writer.hang()
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let child = try ChildProcess(["sync", "\(server.baseURL)/users", "--entity", "User"] + options)
            try await gate.pass()
            child.signal(SIGINT)
            let end = try await child.end()
            #expect(end.code == 130)
            #expect(end.errors.hasSuffix("stopped; nothing was changed\n"), "\(end.errors)")
        }
    }

    @Test func ctrlCBetweenSyncsStopsOnly() async throws {
        try await LoopbackHTTPServer.serving({ _ in .json(#"[{"id":1}]"#) }) { server in
            let child = try ChildProcess(
                ["sync", "\(server.baseURL)/users", "--entity", "User", "--every", "3600"])
            try await child.output.wait { $0.contains { $0.hasPrefix("done in ") } }
            child.signal(SIGINT)
            let end = try await child.end()
            #expect(end.code == 130)
            #expect(end.errors.hasSuffix("stopped\n"), "\(end.errors)")
        }
    }
}

extension ChildProcess {
    /// Runs the Demo to its end.
    static func run(_ arguments: [String]) async throws -> End {
        try await ChildProcess(arguments).end()
    }

    /// Starts the Demo.
    convenience init(_ arguments: [String], input: FileHandle = .nullDevice) throws {
        try self.init(Self.product("Demo"), arguments, input: input, errors: ChildOutput())
    }
}
#endif
