#if os(macOS) || os(Linux)
import CoreDataModel
import Foundation
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import OneWayTestSupport
import Testing

@testable import Demo

@Suite(.endsInTime) struct SyncCommandTests {
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
        #expect(run.lines.first == "table  inserted  updated  unchanged  deleted")
        #expect(run.counts(of: "User") == [2, 0, 0, 0] && run.counts(of: "Note") == [2, 0, 0, 0])
        #expect(run.lines[3].hasPrefix("done in ") && run.lines[3].hasSuffix("s, 110 bytes, inferred model"))
        #expect(run.lines.last == "The objects were not kept; --store sqlite:FILE keeps them.")
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

    @Test func nestedObjectsGoWithTheirLastUserUntilTheyAreAListOfTheirOwn() async throws {
        let store = "sqlite:\(folder.url.path)/owners.db"
        func sync(_ json: String, into entity: String = "User", _ options: String...) async throws -> CommandRun {
            let file = try folder.write(json, to: "list.json")
            return await CommandRun(["sync", file, "--entity", entity, "--store", store] + options)
        }
        #expect(try await sync(#"[{"id":1,"notes":[{"id":7},{"id":8}]},{"id":2,"notes":[{"id":9}]}]"#).code == 0)
        let shared = try await sync(#"[{"id":1,"notes":[{"id":7},{"id":9}]},{"id":3,"notes":[{"id":9}]}]"#)
        #expect(shared.counts(of: "Note") == [0, 0, 2, 1] && shared.counts(of: "User") == [1, 1, 0, 1])
        #expect(try await sync(#"[{"id":3,"notes":[{"id":9}]}]"#).counts(of: "Note") == [0, 0, 1, 1])
        let told = "  Note is a list of its own now: its objects stay without User"
        for isPlan in [true, false] {
            let own =
                try await isPlan
                ? sync(#"[{"id":9},{"id":10}]"#, into: "Note", "--plan") : sync(#"[{"id":9},{"id":10}]"#, into: "Note")
            #expect(own.lines.contains(told) && own.counts(of: "Note") == [1, 0, 1, 0], "\(own.output)\(own.errors)")
        }
        #expect(try await !sync(#"[{"id":9},{"id":10}]"#, into: "Note", "--evolve").lines.contains(told))
        _ = try await sync("[]")
        let left = await CommandRun(["query", "--entity", "Note", "--store", store])
        #expect(left.lines.count == 3 && left.lines.suffix(2).map { $0.suffix(2) } == [" 9", "10"], "\(left.output)")
    }

    @Test func thePlanSaysThatNothingWasChanged() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--plan"])
        #expect(run.code == 0)
        #expect(run.output.contains("plan: nothing was changed ("))
        #expect(run.lines.last == "Run it without --plan to make these changes.")
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
        #expect(run.code == 2, "\(run.errors)")
        #expect(run.counts(of: "Person") == [1, 0, 0, 0])
        #expect(run.lines.contains("1 object could not be synced:"))
        #expect(run.lines.contains { $0.hasSuffix(", given model") })
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
        #expect(run.counts(of: "Person") == [1, 0, 0, 0])
    }

    @Test func withoutTheOperationNothingIsInserted() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--operations", "update,delete"])
        #expect(run.code == 0)
        #expect(run.counts(of: "User") == [0, 0, 0, 0])
    }

    @Test func relationshipsThatNoOperationAllowsAreCounted() async throws {
        let arguments = ["sync", try folder.write(Self.users, to: "users.json"), "--entity", "User", "--operations"]
        let run = await CommandRun(arguments + ["insert,update"])
        #expect(run.code == 0 && run.counts(of: "User") == [2, 0, 0, 0], "\(run.errors)")
        #expect(run.lines.contains("1 value of relationships ignored: --operations includes none for them"))
        let planned = await CommandRun(arguments + ["insert,update", "--plan", "--json"])
        let outcome = try JSONValue(parsing: planned.output)
        #expect(outcome["excluded_relationships"] == .integer(1) && outcome["drift"] == .array([]))
        let whole = await CommandRun(arguments + ["insert,update,insertRelationships,updateRelationships"])
        #expect(whole.counts(of: "Note") == [2, 0, 0, 0], "\(whole.errors)")
        #expect(!whole.output.contains("ignored"))
    }

    @Test(arguments: [
        (["--where", "firstNam = 4"], "User has no property firstNam; did you mean firstName?"),
        (["--key-path", "data"], "the JSON is not an object, so there is nothing at the key path (line 1"),
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

    @Test func aFileThatIsNoListNamesTheOptionForItsKeyPath() async throws {
        let file = try folder.write(#"[{"error": "x"}]"#, to: "users.json")
        let model = try model(SyncEntity("User") { SyncAttribute("id", .int64) })
        let run = await CommandRun(["sync", file, "--entity", "User", "--model", model])
        #expect(run.code == 1)
        #expect(run.errors.hasSuffix("if the list is inside, give its key path, as in --key-path data.items\n"))
    }

    @Test func aWrongKeyPathIsNamedWithTheKeysThatAreThere() async throws {
        let file = try folder.write(#"{"data": {"items": [{"id": 1}]}}"#, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User", "--key-path", "data.list"])
        #expect(run.code == 1)
        #expect(run.errors.contains("there is nothing at data.list; data has items (line 1"), "\(run.errors)")
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let model = try model(SyncEntity("User") { SyncAttribute("id", .int64) })
        for options in [[], ["--model", model]] {
            let run = await CommandRun(["sync", "/no/such/file", "--entity", "User"] + options)
            #expect(run.code == 1)
            #expect(run.errors.contains("/no/such/file"))
        }
    }

    @Test func aFolderIsNoFile() async throws {
        let path = folder.url.path
        let model = try model(SyncEntity("User") { SyncAttribute("id", .int64) })
        for options in [[], ["--model", model]] {
            let run = await CommandRun(["sync", path, "--entity", "User"] + options)
            #expect(run.code == 1 && run.errors == "failed: cannot read \(path): it is a folder\n")
        }
    }

    @Test func theHistoryIsNoDestination() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let store = ["--store", "sqlite:\(folder.url.path)/users.db"]
        let text =
            "failed: SyncPass is a reserved name: entities of that name record the progress of syncs; name another one\n"
        for options in [[], store] {
            let new = await CommandRun(["sync", file, "--entity", "SyncPass"] + options)
            #expect(new.code == 1 && new.errors == text)
        }
        #expect(await CommandRun(["sync", file, "--entity", "User"] + store).code == 0)
        for options in [[], ["--evolve"]] {
            let kept = await CommandRun(["sync", file, "--entity", "SyncPass"] + store + options)
            #expect(kept.code == 1 && kept.errors == text)
        }
        #expect(await CommandRun(["sync", file, "--entity", "User"] + store).code == 0)
    }

    @Test func anAbsentObjectThatIsKeptIsCounted() async throws {
        let store = ["--store", "sqlite:\(folder.url.path)/users.db"]
        let all = try folder.write(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#, to: "users.json")
        #expect(await CommandRun(["sync", all, "--entity", "User"] + store).code == 0)
        for (json, text) in [
            (#"[{"id": 1}, {"id": 2}, 5]"#, "1 object absent from the JSON was kept"),
            (#"[{"id": 1}, 5]"#, "2 objects absent from the JSON were kept"),
        ] {
            let run = await CommandRun(["sync", try folder.write(json, to: "users.json"), "--entity", "User"] + store)
            #expect(run.lines.contains(text), "\(run.output)")
        }
    }

    @Test func aTerminalSeesHowFarTheFileIsRead() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["sync", file, "--entity", "User"], isTerminal: true)
        #expect(run.output.contains("[------------------------] 0.0 MB of 0.0 MB"))
        #expect(run.output.contains("[########################] 0.0 MB of 0.0 MB"))
    }

    @Test func progressIsInMegabytes() {
        #expect(SyncCommand.line(done: 1_250_000, total: nil).description == "1.3 MB")
        let line = SyncCommand.line(done: 5_000_000, total: 10_000_000)
        #expect(line.description == "[############------------] 5.0 MB of 10.0 MB")
        #expect(SyncCommand.line(done: 0, total: 0).description == "0.0 MB")
        // On a narrow terminal the bar gives way to the text.
        #expect(line.line(width: 40) == "[######------] 5.0 MB of 10.0 MB")
        #expect(line.line(width: 20) == "5.0 MB of 10.0 MB" && line.line(width: 10) == "5.0 MB of…")
    }

    @Test(arguments: [true, false])
    func standardInputIsReadOnce(hasModel: Bool) async throws {
        let file = try folder.write(#"[{"id": 1}, {"id": 2}]"#, to: "users.json")
        let model = try model(SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) })
        let child = try ChildProcess(
            ["sync", "-", "--entity", "User"] + (hasModel ? ["--model", model] : []),
            input: FileHandle(forReadingFrom: URL(filePath: file)))
        let end = try await child.end()
        #expect(end.code == 0 && end.errors.isEmpty)
        let lines = end.output.split(separator: "\n").map(String.init)
        #expect(CommandRun.counts(of: "User", in: lines) == [2, 0, 0, 0])
    }

    // MARK: Exit codes

    @Test func findingsHaveAnExitCodeOfTheirOwn() async throws {
        let store = ["--store", "sqlite:\(folder.url.path)/findings.db"]
        func code(_ json: String, _ options: String...) async throws -> Int32 {
            let file = try folder.write(json, to: "findings.json")
            return await CommandRun(["sync", file, "--entity", "Film"] + store + options).code
        }
        #expect(try await code(#"[{"id": 1, "title": "a"}, {"id": 2, "title": "b"}]"#) == 0)
        let incomplete = #"[{"id": 1, "title": "a"}, {"title": "x"}, {"id": null}]"#
        #expect(try await code(incomplete) == 2)
        #expect(try await code(incomplete, "--fail-on", "drift") == 0)
        #expect(try await code(incomplete, "--fail-on", "drift,kept") == 2)
        #expect(try await code(#"[{"id": 1, "title": "a", "year": 1}]"#, "--fail-on=drift") == 2)
        #expect(try await code(#"[{"id": 1, "title": "a", "year": 1}]"#) == 0)
        #expect(try await code("[]", "--fail-on", "nothing") == 64)
    }

    // MARK: Keys

    /// A model file without annotations may lack an identity.
    @Test func aKeyIdentifiesTheObjectsOfAModelFile() async throws {
        let model = try folder.write(
            """
            <model type="com.apple.IDECoreDataModeler.DataModel">
              <entity name="Order"><attribute name="number" optional="YES" attributeType="Integer 64"/></entity>
            </model>
            """, to: "Order.xml")
        let file = try folder.write(#"[{"number": 1}, {"number": 2}]"#, to: "orders.json")
        let given = ["sync", file, "--entity", "Order", "--model", model]
        let note = "no key identifies Order, so every sync replaces its objects; state an identity for the entity"
        var store = ["--store", "sqlite:\(folder.url.path)/replaced.db"]
        for counts in [[2, 0, 0, 0], [2, 0, 0, 2]] {
            let run = await CommandRun(given + store)
            #expect(run.counts(of: "Order") == counts && run.output.contains(note), "\(run.output) \(run.errors)")
        }
        store = ["--store", "sqlite:\(folder.url.path)/orders.db", "--key", "number"]
        for counts in [[2, 0, 0, 0], [0, 0, 2, 0]] {
            let run = await CommandRun(given + store)
            #expect(run.counts(of: "Order") == counts && !run.output.contains(note), "\(run.output) \(run.errors)")
        }
        let unknown = await CommandRun(given + ["--key", "id"])
        #expect(unknown.code == 1 && unknown.errors == "failed: no attribute of Order has the key id\n")
    }
}
#endif
