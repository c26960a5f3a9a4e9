import Foundation
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import Demo

/// Standard output that fails, and replies that are no list.
@Suite(.endsInTime) struct OutputTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func run(_ arguments: [String]) async -> (code: Int32, errors: [String]) {
        let errors = EventLog<String>()
        let console = Console(isTerminal: false) { text, stream in
            guard stream == .error else { throw CocoaError(.fileWriteOutOfSpace) }
            errors.append(text)
        }
        return (await DemoCommand.run(arguments, console: console), errors.events)
    }

    @Test(arguments: [["export"], ["sync"], ["sync", "--json"], ["model"], ["--help"]])
    func outputThatCannotBeWrittenIsAFailure(command: [String]) async throws {
        let users = try folder.write(#"[{"id":1,"name":"a"}]"#, to: "users.json")
        let store = "sqlite:\(folder.url.path)/users.sqlite"
        let made = await CommandRun(["sync", users, "--entity", "User", "--store", store])
        #expect(made.code == 0)
        let arguments: [String] =
            switch command[0] {
            case "export": ["export", "--entity", "User", "--store", store]
            case "sync": ["sync", users, "--entity", "User"] + command.dropFirst()
            case "model": ["model", users]
            default: command
            }
        let run = await run(arguments)
        #expect(run.code == 1)
        #expect(run.errors.last?.hasPrefix("failed: cannot write to standard output") == true, "\(run.errors)")
    }

    @Test func aReplyThatIsAnErrorIsNotKeptAsAModel() async throws {
        let isDown = Watched(true)
        let handler: LoopbackHTTPServer.Handler = { _ in
            isDown.value ? .json(#"{"error":"try later"}"#) : .json(#"[{"id":1,"name":"a"}]"#)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let store = "sqlite:\(folder.url.path)/users.sqlite"
            let arguments = ["sync", "\(server.baseURL)/users", "--entity", "User", "--store", store]
            let first = await CommandRun(arguments)
            #expect(first.code == 1)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(!files.contains { $0.contains("model") })
            isDown.update { $0 = false }
            let second = await CommandRun(arguments)
            #expect(second.code == 0, "\(second.errors)")
            #expect(second.counts(of: "User") == [1, 0, 0, 0])
            isDown.update { $0 = true }
            let third = await CommandRun(arguments)
            #expect(third.code == 1)
            #expect(third.errors.contains("the page is no list") && !third.errors.contains("try later"))
        }
    }

    @Test func attributesOfALaterPageArePartOfTheModel() async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            switch request.query("page") {
            case "1": .json(#"[{"id":1,"name":"a"}]"#)
            case "2": .json(#"[{"id":2,"name":"b","email":"b@x"}]"#)
            default: .json("[]")
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let store = "sqlite:\(folder.url.path)/users.sqlite"
            let sync = await CommandRun(
                ["sync", "\(server.baseURL)/users", "--entity", "User", "--store", store, "--pages", "page:page"])
            #expect(sync.code == 0, "\(sync.errors)")
            let export = await CommandRun(["export", "--entity", "User", "--store", store])
            #expect(export.output.contains("b@x"))
        }
    }
}
