import CoreDataModel
import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import SyncStoreSQLite
import Testing

@testable import Demo

/// `sync` into a database and `export` out of it.
@Suite(.endsInTime) struct DatabaseTests {
    private let folder: TemporaryDirectory
    private let store: String

    init() throws {
        folder = try TemporaryDirectory()
        store = "sqlite:\(folder.url.appending(path: "data.sqlite").path)"
    }

    private static let users = """
        [{"id": 1, "first_name": "Ada", "born_at": "2014-05-01T00:00:00Z", "notes": [{"id": 7, "text": "x"}]},
         {"id": 2, "first_name": "Bob", "born_at": "2013-05-01T00:00:00Z"}]
        """

    private func sync(_ json: String, _ options: String...) async throws -> CommandRun {
        let file = try folder.write(json, to: "users.json")
        return await CommandRun(["sync", file, "--entity", "User", "--store", store] + options)
    }

    private func export(_ options: String...) async -> CommandRun {
        await CommandRun(["export", "--entity", "User", "--store", store] + options)
    }

    @Test func aModelThatWasMadeLastsFromRunToRun() async throws {
        let first = try await sync(Self.users)
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.lines.contains { $0.hasPrefix("done in ") && $0.hasSuffix(", inferred model") })
        let second = try await sync(Self.users)
        #expect(second.counts(of: "User") == [0, 0, 2, 0] && second.counts(of: "Note") == [0, 0, 1, 0])
        #expect(second.lines.contains { $0.hasSuffix(", kept model") })
        #expect(second.lines.last == "Next: Demo query --store \(store) --entity User")
        let third = try await sync(#"[{"id": 1, "first_name": "Eve"}, {"id": 3}]"#)
        #expect(third.counts(of: "User") == [1, 1, 0, 1], "\(third.errors)")
        let export = await export("--relationships", "none")
        #expect(export.code == 0, "\(export.errors)")
        let names = try JSONValue(parsing: export.output)
        #expect(names[0]?["first_name"] == .string("Eve") && names[1]?["id"] == .integer(3) && names[2] == nil)
    }

    @Test func aPlanChangesNothing() async throws {
        let planned = try await sync(Self.users, "--plan")
        #expect(planned.counts(of: "User") == [2, 0, 0, 0], "\(planned.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["users.json"])
        _ = try await sync(Self.users)
        let again = try await sync("[]", "--plan")
        #expect(again.counts(of: "User") == [0, 0, 0, 2], "\(again.errors)")
        #expect(try await sync(Self.users).counts(of: "User") == [0, 0, 2, 0])
    }

    @Test func aPlanByAnotherModelShowsItsSteps() async throws {
        _ = try await sync(Self.users)
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string, formerName: "firstName")
                SyncAttribute("age", .int64)
            }
        }
        let file = try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        let json = #"[{"id": 1, "name": "Ada"}, {"id": 3}]"#
        let run = try await sync(json, "--plan", "--model", file)
        #expect(run.code == 0 && run.counts(of: "User") == [1, 0, 1, 1], "\(run.output) \(run.errors)")
        #expect(run.output.contains("the model would be changed:\n  User.firstName is name now\n"))
        let steps = ["  User.age is new: int64", "  User.bornAt is dropped", "  User.notes is dropped"]
        #expect(steps.allSatisfy { run.lines.contains($0) || run.output.contains("and ") }, "\(run.output)")
        let planned = try JSONValue(parsing: try await sync(json, "--plan", "--json", "--model", file).output)
        let done = try JSONValue(parsing: try await sync(json, "--json", "--model", file).output)
        #expect(planned["model_changes"] == done["model_changes"])
        #expect(planned["entities"] == done["entities"])
    }

    @Test func aFailedSyncListsTheChangesOfTheModel() async throws {
        _ = try await sync(#"[{"id": 1}]"#)
        let more = #"[{"id": 2, "age": 7}]"#
        let refused = try await sync(more, "--evolve", "--max-removals", "0")
        let change = "; no objects were changed, but the model was: User.age is new: int64"
        #expect(refused.code == 1 && refused.errors.contains(change), "\(refused.errors)")
        let again = try await sync(more, "--evolve", "--max-removals", "0", "--json")
        #expect(again.code == 1 && !again.output.contains("but the model was"), "\(again.output)")
    }

    @Test func whatAModelLacksIsDropped() async throws {
        func model(_ entities: SyncEntity...) throws -> String {
            try folder.write(String(decoding: DataModel(entities).coreDataXML(), as: UTF8.self), to: "model.xml")
        }
        func user(_ attributes: SyncAttribute...) -> SyncEntity {
            SyncEntity(
                "User", identity: ["id"], attributes: [SyncAttribute("id", .int64)] + attributes, relationships: [])
        }
        let age = SyncAttribute("age", .int64)
        let sub = SyncEntity("Member", parent: "User", attributes: [], relationships: [])
        _ = try await sync(#"[{"id": 1, "age": 7}]"#, "--model", model(user(age), sub))
        let file = try folder.write(#"[{"id": 2}]"#, to: "members.json")
        let member = await CommandRun(["sync", file, "--entity", "Member", "--store", store])
        #expect(member.code == 0, "\(member.errors)")
        let without = try await sync(#"[{"id": 1}]"#, "--model", model(user()))
        #expect(without.lines.contains("  User.age is dropped") && without.lines.contains("  Member is dropped"))
        #expect(without.counts(of: "User") == [0, 0, 1, 0], "\(without.output) \(without.errors)")
        let back = try await sync(#"[{"id": 1}]"#, "--model", model(user(age)))
        #expect(back.lines.contains("  User.age is new: int64"), "\(back.output) \(back.errors)")
        #expect(await export().output.filter { !$0.isWhitespace } == #"[{"id":1,"age":null}]"#)
        #expect(try await sync(#"[{"id": 1, "age": 8}]"#).counts(of: "User") == [0, 1, 0, 0])
    }

    @Test func aPlanByAnotherModelListsOtherTypes() async throws {
        _ = try await sync(#"[{"id": 1, "level": 7, "code": "x"}, {"id": 2, "level": 36, "code": "y"}]"#)
        func model(_ code: AttributeType) throws -> String {
            let model = try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("level", .double)
                    SyncAttribute("code", code)
                }
            }
            return try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        }
        let json = #"[{"id": 1, "level": 7.5, "code": "x"}, {"id": 2, "level": 36, "code": "y"}]"#
        let run = try await sync(json, "--plan", "--model", model(.string))
        #expect(run.lines.contains("  User.level is double now, no longer int64"), "\(run.output) \(run.errors)")
        #expect(run.counts(of: "User") == [0, 1, 1, 0])
        let refused = try await sync(json, "--plan", "--model", model(.int64))
        #expect(
            refused.code == 1 && refused.errors.contains("the value of code in User 1 does not fit"),
            "\(refused.errors)")
        #expect(refused.errors.contains("--rebuild"))
        #expect(try await sync(json, "--model", model(.string)).counts(of: "User") == [0, 1, 1, 0])
    }

    @Test func aPlanByAnotherModelListsRulesOrdersAndSwaps() async throws {
        func model(_ notes: SyncRelationship, isOther: Bool) throws -> String {
            let user = SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("first", .string, formerName: isOther ? "last" : nil)
                SyncAttribute("last", .string, formerName: isOther ? "first" : nil)
                notes
            }
            let note = SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
            let model = try DataModel(isOther ? [note, user] : [user, note])
            return try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        }
        let json = #"[{"id": 1, "first": "Ada", "last": "Byron", "notes": [{"id": 7}]}]"#
        let cascading = SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
        let first = try await sync(json, "--model", model(cascading, isOther: false))
        #expect(first.code == 0, "\(first.errors)")
        let other = try model(SyncRelationship("notes", toOrdered: "Note", inverse: "user"), isOther: true)
        let planned = try await sync(json, "--plan", "--json", "--model", other)
        #expect(planned.code == 0, "\(planned.output)")
        let plan = try JSONValue(parsing: planned.output)
        let changes = [
            "User.last is first now", "User.first is last now",
            "User.notes is an ordered list of Note now, no longer a list of Note",
            "the delete rule of User.notes is nullify now, no longer cascade",
            "the entities are in another order now",
        ]
        #expect(plan["model_changes"] == .array(changes.map { .string($0) }), "\(planned.output)")
        // The values were swapped, and the JSON swaps them back.
        #expect(plan["entities"]?["User"]?["updated"] == .integer(1), "\(planned.output)")
        let done = try JSONValue(parsing: try await sync(json, "--json", "--model", other).output)
        #expect(done["model_changes"] == plan["model_changes"] && done["entities"] == plan["entities"])
        let again = try await sync(json, "--plan", "--model", other)
        #expect(again.counts(of: "User") == [0, 0, 1, 0], "\(again.output) \(again.errors)")
        #expect(!again.output.contains("the model would be changed"))
    }

    @Test func anotherKindOfARelationshipIsRefusedWithTheWayOut() async throws {
        func model(_ teams: SyncRelationship) throws -> String {
            let model = try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    teams
                }
                SyncEntity("Team", identity: "id") { SyncAttribute("id", .int64) }
            }
            return try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        }
        let json = #"[{"id": 1, "team": {"id": 7}}]"#
        _ = try await sync(json, "--model", model(SyncRelationship("team", toOne: "Team")))
        let many = try model(SyncRelationship("team", toMany: "Team"))
        let refused = try await sync(json, "--model", many)
        #expect(
            refused.code == 1 && refused.errors.contains("User.team has another kind or destination"),
            "\(refused.errors)")
        #expect(refused.errors.contains("--rebuild"))
        #expect(try await sync(json, "--model", many, "--rebuild").counts(of: "User") == [1, 0, 0, 0])
    }

    @Test func aPlanByAnotherModelLeavesTheDatabase() async throws {
        _ = try await sync(Self.users)
        let model = try DataModel { SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) } }
        let file = try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        #expect(try await sync("[]", "--plan", "--model", file).counts(of: "User") == [0, 0, 0, 2])
        #expect(try await sync(Self.users).counts(of: "User") == [0, 0, 2, 0])
    }

    @Test func tooManyDeletionsAreRefused() async throws {
        _ = try await sync(Self.users)
        let run = try await sync("[]", "--max-removals", "1")
        #expect(run.code == 1)
        #expect(run.errors.hasPrefix("failed: 2 of 2 User would be deleted"))
        #expect(try await sync(Self.users).counts(of: "User") == [0, 0, 2, 0])
    }

    @Test func onlyWhatTheConditionHoldsForIsDeleted() async throws {
        _ = try await sync(Self.users)
        let run = try await sync("[]", "--where", "bornAt > 2014-01-01")
        #expect(run.counts(of: "User") == [0, 0, 0, 1], "\(run.errors)")
    }

    @Test func aDatabaseWithoutItsModelIsLeftAlone() async throws {
        _ = try await SQLiteStore(exactly: DataModel([]), at: .file(folder.url.appending(path: "data.sqlite").path))
        for run in [try await sync("[]"), await export()] {
            #expect(run.code == 1)
            #expect(run.errors == "failed: no model is kept with the database; name one with --model\n")
        }
    }

    @Test func aKeptModelThatCannotBeReadIsNamed() async throws {
        var options = SQLiteStore.Options()
        options.note = "<model"
        let path = folder.url.appending(path: "data.sqlite").path
        _ = try await SQLiteStore(exactly: DataModel([]), at: .file(path), options: options)
        for run in [try await sync("[]"), await export()] {
            #expect(run.code == 1)
            #expect(run.errors.hasPrefix("failed: the model kept with the database cannot be read ("), "\(run.errors)")
            #expect(run.errors.hasSuffix("); name one with --model, which a sync keeps\n"), "\(run.errors)")
        }
        let model = try DataModel { SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) } }
        let file = try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        let named = try await sync(#"[{"id": 1}]"#, "--model", file)
        #expect(named.counts(of: "User") == [1, 0, 0, 0], "\(named.errors)")
        #expect(await export().code == 0)
    }

    @Test func exportWritesWhatTheOptionsSay() async throws {
        _ = try await sync(Self.users)
        let nested = await export("--relationships", "nested", "--where", "id = 1")
        let user = try JSONValue(parsing: nested.output)[0]
        #expect(user?["notes_attributes"]?["0"]?["text"] == .string("x"))
        #expect(user?["born_at"] == .string("2014-05-01T00:00:00Z"))
        let camel = await export("--inflection", "camelCase", "--where", "id = 2")
        #expect(try JSONValue(parsing: camel.output)[0]?["firstName"] == .string("Bob"))
    }

    @Test func whatCannotBeExportedFails() async throws {
        let missing = await CommandRun(
            ["export", "--entity", "User", "--store", "sqlite:\(folder.url.path)/none.sqlite"])
        #expect(missing.code == 1 && missing.output.isEmpty)
        _ = try await sync(Self.users)
        let unknown = await CommandRun(["export", "--entity", "Planet", "--store", store])
        #expect(unknown.code == 1 && unknown.errors.contains("Planet"))
    }
}
