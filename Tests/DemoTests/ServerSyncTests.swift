import Foundation
import HTTPSource
import JSONMapper
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import OneWayTestSupport
import SyncBase
import Testing

@testable import Demo

@Suite(.endsInTime) struct ServerSyncTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private static let handler: LoopbackHTTPServer.Handler = { request in
        guard request.header("token") == "s3cret" else { return .text("who are you?", status: 401) }
        let page = Int(request.query("page") ?? "") ?? 0
        let users = page > 2 ? "" : #"{"id":\#(page),"name":"user \#(page)","notes":[{"id":\#(page + 10)}]}"#
        let tag = "\"\(page)\""
        if request.header("if-none-match") == tag { return .status(304) }
        return .json("[\(users)]", headers: [("ETag", tag)])
    }

    private func arguments(_ server: LoopbackHTTPServer, _ more: String...) -> [String] {
        let store = "sqlite:\(folder.url.appending(path: "users.sqlite").path)"
        return ["sync", "\(server.baseURL)/users", "--entity", "User", "--store", store, "--pages", "page:page"]
            + ["--header", "Token: s3cret"] + more
    }

    @Test func aServerIsSyncedAndThenUnchanged() async throws {
        try await LoopbackHTTPServer.serving(Self.handler) { server in
            let plan = await CommandRun(arguments(server, "--plan"))
            #expect(plan.output.contains("plan: nothing was changed ("))
            let first = await CommandRun(arguments(server))
            #expect(first.errors.isEmpty)
            #expect(first.counts(of: "User") == [2, 0, 0, 0] && first.counts(of: "Note") == [2, 0, 0, 0])
            #expect(first.lines[3].contains(", 3 pages, ") && first.lines[3].hasSuffix(", inferred model"))
            let second = await CommandRun(arguments(server))
            #expect(second.lines.first == "unchanged: the server reports no changes")
            let third = await CommandRun(arguments(server, "--json"))
            #expect(third.output.contains(#""coverage":"unchanged""#))
        }
    }

    /// What a server says about a person is neither on the screen nor in the history.
    @Test(
        arguments: [[], ["--json"]],
        [
            LoopbackResponse.text("Zqx Patient, 718281828459045235", status: 403),
            .text("Zqx Patient, 718281828459045235"), .json(#"{"message":"Zqx Patient 718281828459045235"}"#),
            .json(#"[{"id":"Zqx Patient 718281828459045235"},{"name":"Zqx Patient 718281828459045235"}]"#),
            .json(#"[{"id":1,"name":{"Zqx":718281828459045235}},{"id":2,"name":"Zqx Patient 718281828459045235"}]"#),
        ])
    func aPayloadIsNotInTheOutput(options: [String], answer: LoopbackResponse) async throws {
        let body = Locked(LoopbackResponse.json(#"[{"id":1,"name":"Ada"}]"#))
        try await LoopbackHTTPServer.serving({ _ in body.withLock { $0 } }) { server in
            let store = "sqlite:\(folder.url.appending(path: "people.sqlite").path)"
            let sync = ["sync", "\(server.baseURL)/people", "--entity", "Person", "--store", store]
            #expect(await CommandRun(sync).code == 0)
            body.withLock { $0 = answer }
            for arguments in [sync + ["--strict"], sync, ["history", "--store", store]] {
                let run = await CommandRun(arguments + options)
                for mark in ["Zqx Patient", "718281828459045235"] {
                    #expect(!run.output.contains(mark) && !run.errors.contains(mark), "\(run)")
                }
            }
        }
    }

    /// As in a file; and what was found is sought there again.
    @Test func theOnlyListWithinAPageIsTaken() async throws {
        let body = Locked(#"{"meta": {"n": 2}, "data": [{"id": 1}, {"id": 2}]}"#)
        try await LoopbackHTTPServer.serving({ _ in .json(body.withLock { $0 }) }) { server in
            let store = "sqlite:\(folder.url.appending(path: "data.sqlite").path)"
            func sync() async -> CommandRun {
                await CommandRun(["sync", "\(server.baseURL)/items", "--entity", "Item", "--store", store])
            }
            let first = await sync()
            #expect(first.code == 0 && first.counts(of: "Item") == [2, 0, 0, 0], "\(first.errors)")
            #expect(first.output.contains("its only list of objects, at --key-path data, was taken"))
            body.withLock { $0 = #"{"meta": {"n": 1}, "data": [{"id": 2}, {"id": 3}], "more": [{"id": 4}]}"# }
            #expect(await sync().counts(of: "Item") == [1, 0, 1, 1])
            body.withLock { $0 = #"{"warnings": [{"id": 5}]}"# }
            let last = await sync()
            #expect(last.code == 1 && last.errors.contains("there is nothing at data"), "\(last.output) \(last.errors)")
        }
    }

    @Test(arguments: [
        #"{"a": [{"id": 1}], "b": [{"id": 2}]}"#, #"{"id": 1, "a": [{"id": 1}]}"#, #"{"id": 1}"#,
        #"{"errors": [{"message": "rate limit"}]}"#,
    ])
    func aPageWithoutItsOnlyListIsRefused(page: String) async throws {
        try await LoopbackHTTPServer.serving({ _ in .json(page) }) { server in
            let run = await CommandRun(["sync", "\(server.baseURL)/items", "--entity", "Item"])
            #expect(run.code == 1 && run.errors.contains("the key path must lead to the list"), "\(run.errors)")
        }
    }

    /// The key of a member that the page got is no key that the server states.
    @Test func anErrorReportInPlaceOfMembersIsNotTakenOver() async throws {
        let body = Locked(#"{"a": {"name": "x"}, "b": {"name": "y"}}"#)
        try await LoopbackHTTPServer.serving({ _ in .json(body.withLock { $0 }) }) { server in
            let store = "sqlite:\(folder.url.appending(path: "members.sqlite").path)"
            let sync = [
                "sync", "\(server.baseURL)/items", "--entity", "Item", "--store", store, "--key-path", "{id}",
                "--evolve",
            ]
            #expect(await CommandRun(sync).counts(of: "Item") == [2, 0, 0, 0])
            body.withLock { $0 = #"{"error": {"code": 401}}"# }
            let run = await CommandRun(sync)
            #expect(run.code == 1 && run.errors.contains("the only object has no key of Item"), "\(run)")
            body.withLock { $0 = #"{"a": {"name": "x", "size": 1}}"# }
            #expect(await CommandRun(sync).counts(of: "Item") == [0, 1, 0, 1])
        }
    }

    @Test func aModelIsInferredFromThePagesThatAreSynced() async throws {
        let paths = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            paths.append(request.query("page") ?? "")
            return Self.handler(request)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let run = await CommandRun(arguments(server))
            #expect(run.counts(of: "User") == [2, 0, 0, 0] && run.counts(of: "Note") == [2, 0, 0, 0])
            #expect(paths.events == ["1", "2", "3"])
        }
    }

    /// Pages of one object each. The last object has a key that the others lack.
    private static func pages(_ count: Int) -> LoopbackHTTPServer.Handler {
        { request in
            let page = Int(request.query("page") ?? "") ?? 0
            guard page <= count else { return .json("[]") }
            let late = page == count ? #","late":true"# : ""
            return .json(#"[{"id":\#(page),"name":"user \#(page)"\#(late)}]"#)
        }
    }

    @Test func aSampleThatEndsBeforeTheListIsNamed() async throws {
        try await LoopbackHTTPServer.serving(Self.pages(52)) { server in
            let first = await CommandRun(arguments(server))
            #expect(first.counts(of: "User") == [52, 0, 0, 0], "\(first.output)\(first.errors)")
            #expect(first.lines.contains("the model was inferred from the first 50 objects (50 pages)"))
            #expect(first.output.contains("User.late: unknown key, once"), "\(first.output)")
            #expect(first.output.contains(": --sample N with --evolve reads on until it has N objects."))
            let note = "--evolve compared the model with the first 50 objects (50 pages)"
            let evolved = await CommandRun(arguments(server, "--evolve"))
            #expect(evolved.lines.contains(note), "\(evolved.output)\(evolved.errors)")
            #expect(evolved.output.contains(": --sample N reads on until it has N objects."))
            #expect(!evolved.output.contains("--evolve extends it"))
            let json = await CommandRun(arguments(server, "--evolve", "--json"))
            let parsed = try JSONValue(parsing: json.output)
            #expect(parsed["notes"]?[0] == .string(note), "\(json.output)")
            let wider = await CommandRun(arguments(server, "--evolve", "--sample", "52"))
            #expect(wider.lines.contains("  User.late is new: bool"), "\(wider.output)\(wider.errors)")
            #expect(!wider.output.contains("unknown key") && !wider.output.contains("compared the model"))
        }
    }

    @Test(arguments: [3, 50]) func aSampleOfTheWholeListIsNotNamed(pageCount: Int) async throws {
        try await LoopbackHTTPServer.serving(Self.pages(pageCount)) { server in
            let run = await CommandRun(arguments(server))
            #expect(run.counts(of: "User") == [pageCount, 0, 0, 0], "\(run.output)\(run.errors)")
            #expect(!run.output.contains("the model was inferred") && !run.output.contains("unknown key"))
        }
    }

    @Test(arguments: [
        (SampleExtent.Limit.objects, "the first 1,200 objects", "a larger --sample reads on."),
        (.pages(50), "the first 1,200 objects (50 pages)", "--sample N reads on until it has N objects."),
        (
            .bytes(16_800_000), "the first 1,200 objects (16.8 MB)",
            "a sync of the same list from a FILE reads all of it."
        ),
    ])
    func theLimitOfASampleDecidesWhatHelps(limit: SampleExtent.Limit, text: String, advice: String) {
        let extent = SampleExtent(objectCount: 1_200, limit: limit)
        #expect(extent.description == text)
        #expect(extent.advice(needsOption: false).hasSuffix(": \(advice)"))
    }

    @Test(arguments: [true, false]) func thePagesOfTheSampleAreProgress(isTerminal: Bool) async throws {
        try await LoopbackHTTPServer.serving(Self.pages(3)) { server in
            let written = EventLog<String>()
            let console = Console(isTerminal: isTerminal, width: 120, progressInterval: .zero) { text, _ in
                written.append(text)
            }
            #expect(await DemoCommand.run(arguments(server, "--plan", "--json"), console: console) == 0)
            #expect(!written.events.joined().contains("reading the list"))
            #expect(await DemoCommand.run(arguments(server), console: console) == 0)
            let output = written.events.joined()
            #expect(output.contains("reading the list for a model: 1 pages, 1 objects, 0.0 MB"), "\(output)")
            #expect(output.contains("reading the list for a model: 2 pages, 2 objects, 0.0 MB"))
        }
    }

    /// Its objects are at hand when the sync begins.
    @Test func thePaceCountsTheTimeOfTheSample() async throws {
        try await LoopbackHTTPServer.serving(Self.pages(3)) { server in
            let arguments = try SyncArguments(["\(server.baseURL)/users", "--entity", "User", "--pages", "page:page"])
            guard case .server(let url, let options) = arguments.input else {
                Issue.record("no server")
                return
            }
            let sync = ServerSync(url, options, arguments: arguments)
            let (choice, keyPath) = try await sync.modelChoice(warn: { _ in }, show: { _ in })
            let origin = choice.origin
            let begin = ContinuousClock.now.advanced(by: .seconds(-3_600))
            let lines = EventLog<String>()
            let summary = try await arguments.withStore(choice, warn: { _ in }, note: { _ in }) { store in
                try await sync.run(store, at: keyPath, origin: origin, since: begin) { lines.append($0.text) }
            }
            #expect(summary.elementCount == 3)
            #expect(lines.events.last?.hasSuffix(" 3 objects, 0.0 MB, 0 objects/s") == true, "\(lines.events)")
        }
    }

    /// Null is JSON like any other.
    @Test(arguments: ["null", #"{"a":1}"#]) func aBodyIsPosted(body: String) async throws {
        let requests = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            requests.append("\(request.method) \(String(decoding: request.body, as: UTF8.self))")
            return .json(#"[{"id":1}]"#)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let run = await CommandRun(["sync", "\(server.baseURL)/users", "--entity", "User", "--body", body])
            #expect(run.counts(of: "User") == [1, 0, 0, 0], "\(run.output)\(run.errors)")
            #expect(requests.events == ["POST \(body)"])
        }
    }

    @Test func pagesAreFound() async throws {
        let handler: LoopbackHTTPServer.Handler = { request in
            let page = Int(request.query("page") ?? "") ?? 1
            return .json(#"{"data":[{"id":\#(page)}],"page":\#(page),"total_pages":3}"#)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let run = await CommandRun(
                ["sync", "\(server.baseURL)/users", "--entity", "User", "--key-path", "data", "--pages", "auto"])
            #expect(run.counts(of: "User") == [3, 0, 0, 0], "\(run.output)")
            #expect(run.output.contains("by their usual signs; choose --pages page:page, so"), "\(run.output)")
        }
    }

    @Test(arguments: [
        (#""next_page_url":"/users?page=2""#, "choose --pages link:next_page_url"),
        (#""@odata.nextLink":"/users?page=2""#, #"choose --pages 'link:@odata\.nextLink'"#),
        (#""NextPageLink":"/users?page=2""#, "choose --pages link:NextPageLink"),
        (#""error":"x""#, "error is a text (--api NAME states what an error is)"),
        (#""next_cursor":"x""#, "choose --pages cursor:next_cursor:PARAM, with the parameter that takes it"),
        (#""total":9"#, "state how the next page is found, such as --pages page:page or --pages offset:offset"),
    ])
    func pagesThatWereNotReadAreNamedAsArguments(member: String, advice: String) async throws {
        try await LoopbackHTTPServer.serving({ _ in .json(#"{"data":[{"id":1}],\#(member)}"#) }) { server in
            let run = await CommandRun(["sync", "\(server.baseURL)/users", "--entity", "User", "--key-path", "data"])
            #expect(run.output.contains(advice), "\(run.output)")
        }
    }

    /// The same data has the same exit code, also if the server says that it is unchanged.
    @Test(arguments: [(#"{"name":"x"}"#, "rejected"), (#"{"id":3,"name":"x","new":1}"#, "drift")])
    func anUnchangedPageDoesNotHideFindings(element: String, finding: String) async throws {
        let isFirst = Watched(true)
        let handler: LoopbackHTTPServer.Handler = { request in
            let tag = isFirst.value ? "\"1\"" : "\"2\""
            guard request.header("if-none-match") != tag else { return .text("", status: 304) }
            let others = isFirst.value ? "" : ",\(element)"
            return .json(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}\#(others)]"#, headers: [("ETag", tag)])
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let store = "sqlite:\(folder.url.appending(path: "users.sqlite").path)"
            let arguments = [
                "sync", "\(server.baseURL)/users", "--entity", "User", "--store", store, "--fail-on", finding,
            ]
            #expect(await CommandRun(arguments).code == 0)
            isFirst.update { $0 = false }
            for _ in 0..<3 {
                let run = await CommandRun(arguments)
                #expect(run.code == 2, "\(run.output)")
            }
        }
    }

    /// A list of one page that lacks the field may have other pages, unless the command says so.
    @Test(arguments: ["link:next", "link:next?", "cursor:next:after", "cursor:next?:after"])
    func aListOfOnePageMayLackTheFieldThatLeadsOn(pages: String) async throws {
        let isFirst = Watched(true)
        let handler: LoopbackHTTPServer.Handler = { _ in
            .json(isFirst.value ? #"{"data":[{"id":1},{"id":2}],"next":null}"# : #"{"data":[{"id":1}]}"#)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let store = "sqlite:\(folder.url.appending(path: "users.sqlite").path)"
            let arguments = [
                "sync", "\(server.baseURL)/users", "--entity", "User", "--store", store, "--pages", pages,
                "--key-path", "data",
            ]
            _ = await CommandRun(arguments)
            isFirst.update { $0 = false }
            let run = await CommandRun(arguments)
            let isOptional = pages.contains("?")
            #expect(run.counts(of: "User") == [0, 0, 1, isOptional ? 1 : 0], "\(run.output)")
            #expect(run.output.contains("1 object absent from the JSON was kept") != isOptional)
            #expect(run.output.contains("next, was on no page") != isOptional)
        }
    }

    @Test func anErrorNamesTheAddressAndNoHeader() async throws {
        try await LoopbackHTTPServer.serving(Self.handler) { server in
            let run = await CommandRun(
                ["sync", "\(server.baseURL)/users?key=s3cret", "--entity", "User", "--header", "Token: other"])
            #expect(run.code == 1)
            #expect(run.errors == "failed: \(server.baseURL)/users?key=…: status 401\n")
        }
    }

    @Test(arguments: [[], ["--json"]]) func aRequestThatIsRepeatedIsShown(options: [String]) async throws {
        let isFirst = Locked(true)
        let handler: LoopbackHTTPServer.Handler = { _ in
            let fails = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return fails ? .status(503) : .json(#"[{"id":1}]"#)
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let run = await CommandRun(["sync", "\(server.baseURL)/users", "--entity", "User"] + options)
            #expect(run.code == 0 && run.errors.hasPrefix("retrying in "), "\(run.errors)")
            #expect(run.errors.hasSuffix("s after attempt 1 of 8: \(server.baseURL)/users: status 503\n"))
        }
    }

    @Test func aSecondOneWaitsForTheFirst() async throws {
        let lease = try #require(StoreLocation("sqlite:\(folder.url.path)/users.sqlite")?.lease)
        let arrivals = EventLog<String>()
        try await LoopbackHTTPServer.serving(Self.handler) { server in
            let console = Console(isTerminal: false) { text, _ in arrivals.append(text) }
            let arguments = arguments(server)
            let command = try await lease.withLease {
                // Not under this lease itself, as a task of this one's would be.
                let command = Task.detached { await DemoCommand.run(arguments, console: console) }
                try await arrivals.wait(until: { $0.contains { $0.hasPrefix("waiting: ") } })
                return command
            }
            #expect(await command.value == 0, "\(arrivals.events)")
        }
    }

    @Test func progressTellsTheRateAndTheTimeLeft() {
        var progress = StoreSyncOptions.Progress()
        progress.pageCount = 3
        progress.elementCount = 1_500
        progress.byteCount = 340_000
        #expect(
            ServerSync.line(progress, after: .seconds(3)).description == "3 pages, 1500 objects, 0.3 MB, 500 objects/s")
        progress.totalElementCount = 2_000
        #expect(
            ServerSync.line(progress, after: .seconds(3)).description
                == "[##################------] 3 pages, 1500 of 2000 objects, 0.3 MB, 500 objects/s, 1.0 s left")
    }
}
