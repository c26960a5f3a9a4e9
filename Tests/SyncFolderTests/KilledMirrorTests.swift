#if os(macOS) || os(Linux)
import Foundation
import OneWayFolderTestSupport
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncFolder
import Testing

/// Processes that are killed while they mirror, and such that mirror at the same time.
@Suite(.endsInTime) struct KilledMirrorTests {
    private static let names = (0..<40).map { $0 % 3 == 0 ? "s\($0 % 7)/\($0)" : "\($0)" }

    /// Serves contents of a generation; some are large.
    private static func content(_ index: Int, _ generation: Int) -> String {
        String(repeating: "\(names[index]) \(generation) ", count: index % 10 == 0 ? 200_000 : 1)
    }

    private func start(_ world: FolderWorld) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.product("TestChild"), ["mirror", world.listURL.absoluteString, world.folder.path])
    }

    private func serve(_ world: FolderWorld, _ generation: Locked<Int>) {
        world.reply { request in
            let now = generation.withLock(\.self)
            if request.path == "/list.json" {
                // Each generation lacks other items.
                let entries = Self.names.indices.filter { ($0 + now) % 5 != 0 }.map { index in
                    #"{"key": "\#(Self.names[index])", "url": "/\#(index)?g=\#(now)", "revision": \#(now)}"#
                }
                return .json("[\(entries.joined(separator: ","))]")
            }
            let parts = request.path.dropFirst()
            guard let index = Int(parts), let wanted = request.query("g").flatMap({ Int($0) }) else { return nil }
            return .text(Self.content(index, wanted), headers: [("ETag", "\"\(index)-\(wanted)\"")])
        }
    }

    @Test(arguments: seeds(2, thorough: 6)) func aKilledMirrorGoesOn(seed: UInt64) async throws {
        try await FolderWorld.with { world in
            let generation = Locked(1)
            serve(world, generation)
            try world.write("mine", to: "mine.txt")
            var random = SeededRandom(seed: seed)
            for _ in 0..<8 {
                let child = try start(world)
                let count = Int.random(in: 1...60, using: &random)
                try await child.output.wait { $0.count >= count }
                if Bool.random(using: &random) { generation.withLock { $0 += 1 } }
                let more = count + Int.random(in: 0...20, using: &random)
                try await child.output.wait { $0.count >= more }
                await child.kill()
                // Whatever has the name of an item is whole, of one generation or another.
                for (path, text) in try world.contents where path != "mine.txt" {
                    let index = try #require(Self.names.firstIndex(of: path))
                    let isWhole = (1...generation.withLock(\.self)).contains { text == Self.content(index, $0) }
                    #expect(isWhole, "\(path) is not whole: \(text.prefix(40))… (\(text.utf8.count))")
                }
            }
            let last = generation.withLock(\.self)
            try await world.synchronizer.sync()
            var wanted = ["mine.txt": "mine"]
            for index in Self.names.indices where (index + last) % 5 != 0 {
                wanted[Self.names[index]] = Self.content(index, last)
            }
            #expect(try world.contents == wanted)
            #expect(world.mirror.takeNotes().isEmpty)
            #expect(try await world.synchronizer.sync().inserted == 0)
        }
    }

    @Test func onePassAtATimeHasTheFolder() async throws {
        try await FolderWorld.with { world in
            serve(world, Locked(1))
            let children = try (0..<3).map { _ in try start(world) }
            for child in children { try await child.output.wait { $0.count { $0 == "ended" } >= 3 } }
            for child in children { await child.close() }
            #expect(children.allSatisfy { $0.output.lines.contains("ended") })
            try await world.synchronizer.sync()
            #expect(try world.contents.count == 32)
        }
    }

    @Test func aPassOfAnotherProcessIsNamed() async throws {
        try await FolderWorld.with { world in
            let gate = try LoopbackGate()
            world.serve([("a", 1)]) { request in
                request.path != "/items/0"
                    ? nil
                    : .stream(byteCount: 3) { writer in
                        try writer.wait(at: gate)
                        try writer.write(Array("a 1".utf8))
                    }
            }
            let child = try start(world)
            try await world.requests.wait(for: "/items/0")
            let failure = try await world.failure()
            guard case .inUse(_, let holder)? = failure.errors.first?.underlying as? FolderError else { throw failure }
            #expect(holder?.program == "TestChild")
            // A plan needs no lock.
            #expect(try await world.synchronizer.plan().counts == [.insert: 1])
            await child.kill()
            gate.open()
            try await world.synchronizer.sync()
            #expect(try world.contents == ["a": "a 1"])
        }
    }
}
#endif
