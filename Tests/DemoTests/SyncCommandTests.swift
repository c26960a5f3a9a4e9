import CoreDataModel
import Foundation
import JSONMapper
import StoreSync
import SyncModel
import OneWayTestSupport
import Testing

@testable import Demo

@Suite struct SyncCommandTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private static let users = """
        [{"id": 1, "first_name": "Ada", "notes": [{"id": 7, "text": "x"}, {"id": 8}]}, {"id": 2, "first_name": "Bob"}]
        """

    private func model(_ entities: SyncEntity...) throws -> String {
        try folder.write(String(decoding: try DataModel(entities).coreDataXML(), as: UTF8.self), to: "model.xml")
    }

    @Test func aModelIsMadeOfTheJSON() async throws {
        let run = await CommandRun(["sync", try folder.write(Self.users, to: "users.json"), "--entity", "User"])
        #expect(run.code == 0)
        #expect(run.errors.isEmpty)
        #expect(
            run.lines == [
                "User: 2 inserted, 0 updated, 0 unchanged, 0 deleted",
                "Note: 2 inserted, 0 updated, 0 unchanged, 0 deleted", "done, by a model that was inferred",
            ])
    }

    @Test func withJSONThereIsOneObjectAndNothingElse() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--json", "--plan"], isTerminal: true)
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(run.lines.count == 1)
        let outcome = try JSONValue(parsing: run.output)
        #expect(outcome["entity"] == .string("User") && outcome["is_plan"] == .bool(true))
        #expect(outcome["inserted"] == .integer(2) && outcome["rejected"] == .integer(0))
        #expect(outcome["entities"]?["Note"]?["inserted"] == .integer(2))
    }

    @Test func withJSONAFailureIsOneObjectToo() async throws {
        let file = try folder.write("[{]", to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--json"])
        #expect(run.code == 1 && run.errors.isEmpty)
        guard case .string(let text)? = try JSONValue(parsing: run.output)["error"] else {
            Issue.record("no error in \(run.output)")
            return
        }
        #expect(text.contains("line 1"))
    }

    @Test func thePlanSaysThatNothingWasChanged() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--plan"])
        #expect(run.code == 0)
        #expect(run.lines.last == "a plan; nothing was changed")
    }

    @Test func aGivenModelDecides() async throws {
        let file = try folder.write(#"{"data": {"items": [{"id": 1, "name": 5}, {"id": null}]}}"#, to: "users.json")
        let model = try model(
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
            })
        let run = await CommandRun(
            ["sync", file, "--entity", "Person", "--model", model, "--key-path", "data.items"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.first == "Person: 1 inserted, 0 updated, 0 unchanged, 0 deleted")
        #expect(run.lines.contains("1 objects were left out:"))
        #expect(run.lines.last == "done, by a model that was given")
    }

    @Test func theGrootDialectReadsItsAnnotations() async throws {
        let file = try folder.write(#"[{"ID": "7", "real": {"name": "Ada"}}]"#, to: "people.json")
        let model = try model(
            SyncEntity("Person", userInfo: ["identityAttributes": "number"]) {
                SyncAttribute("number", .string, userInfo: ["JSONKeyPath": "ID"])
                SyncAttribute("name", .string, userInfo: ["JSONKeyPath": "real.name"])
            })
        let run = await CommandRun(["sync", file, "--entity", "Person", "--model", model, "--dialect", "groot"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.first == "Person: 1 inserted, 0 updated, 0 unchanged, 0 deleted")
    }

    @Test func withoutTheOperationNothingIsInserted() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--operations", "update,delete"])
        #expect(run.code == 0)
        #expect(run.lines.first == "User: 0 inserted, 0 updated, 0 unchanged, 0 deleted")
    }

    @Test(arguments: [
        (["--where", "shoeSize > 4"], "no property shoeSize"), (["--key-path", "data"], "line 1"),
        (["--model", "/no/such/model"], "/no/such/model"),
    ])
    func aFailureIsOneLineAndExitCode1(options: [String], part: String) async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User"] + options)
        #expect(run.code == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("failed: ") && run.errors.contains(part))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let model = try model(SyncEntity("User") { SyncAttribute("id", .int64) })
        for options in [[], ["--model", model]] {
            let run = await CommandRun(["sync", "/no/such/file", "--entity", "User"] + options)
            #expect(run.code == 1)
            #expect(run.errors.contains("/no/such/file"))
        }
    }

    @Test func aTerminalSeesHowFarTheFileIsRead() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User"], isTerminal: true)
        #expect(run.output.contains("[------------------------] 0.0 of 0.0 MB"))
        #expect(run.output.contains("[########################] 0.0 of 0.0 MB"))
    }

    @Test func progressIsInMegabytes() {
        #expect(SyncCommand.line(done: 1_250_000, total: nil) == "1.3 MB")
        #expect(SyncCommand.line(done: 5_000_000, total: 10_000_000) == "[############------------] 5.0 of 10.0 MB")
        #expect(SyncCommand.line(done: 0, total: 0) == "0.0 MB")
    }

    @Test(.timeLimit(.minutes(30)), arguments: [true, false])
    func standardInputIsReadOnce(hasModel: Bool) async throws {
        let file = try folder.write(#"[{"id": 1}, {"id": 2}]"#, to: "users.json")
        let model = try model(SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) })
        let child = try ChildProcess(
            ["sync", "-", "--entity", "User"] + (hasModel ? ["--model", model] : []),
            input: FileHandle(forReadingFrom: URL(filePath: file)))
        let end = try await child.end()
        #expect(end.code == 0 && end.errors.isEmpty)
        #expect(end.output.hasPrefix("User: 2 inserted, 0 updated, 0 unchanged, 0 deleted\ndone"))
    }
}
