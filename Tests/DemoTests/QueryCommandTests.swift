import Foundation
import JSONMapper
import CoreDataModel
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@testable import Demo

/// `query`, `diff` and `history` of a database.
@Suite(.endsInTime) struct QueryCommandTests {
    private let folder: TemporaryDirectory
    private let store: String

    init() async throws {
        folder = try TemporaryDirectory()
        store = "sqlite:\(folder.url.path)/films.db"
        let run = try await sync(Self.films)
        #expect(run.code == 0, "\(run.errors)")
    }

    private static let films = """
        {"id": 1, "title": "Alien", "year": 1979, "director": {"id": 7, "name": "Scott"}, "tags": ["a", "b"]}
        {"id": 2, "title": "Brazil", "year": 1985, "released_at": "1985-02-20T00:00:00Z"}
        {"id": 3, "title": "Clue", "actors": [{"id": 4}, {"id": 5}]}
        """

    private func sync(_ json: String, _ options: String...) async throws -> CommandRun {
        let file = try folder.write(json, to: "films.json")
        return await CommandRun(["sync", file, "--entity", "Film", "--store", store] + options)
    }

    private func query(_ options: String..., width: Int? = nil) async -> CommandRun {
        await CommandRun(["query", "--store", store] + options, isTerminal: width != nil, width: width)
    }

    private func diff(_ json: String, _ options: String..., isTerminal: Bool = false) async throws -> CommandRun {
        let file = try folder.write(json, to: "newer.json")
        return await CommandRun(["diff", store, file, "--entity", "Film"] + options, isTerminal: isTerminal)
    }

    // MARK: query

    @Test func withoutAnEntityTheEntitiesAreListed() async throws {
        let run = await query()
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines.prefix(4) == ["entity    objects", "Film            3", "Director        1", "Actor           2"])
        #expect(run.lines.last == "The tables can also be read with: sqlite3 \(folder.url.path)/films.db")
    }

    @Test func objectsAreATable() async throws {
        let run = await query("--entity", "Film", "--columns", "id,title,year,director,actors")
        #expect(
            run.lines == [
                "id  title   year  director  actors", " 1  Alien   1979  7         []",
                " 2  Brazil  1985  null      []", " 3  Clue    null  null      [4, 5]",
            ], "\(run.output)\(run.errors)")
    }

    @Test func objectsAreSelectedOrderedAndLimited() async throws {
        let run = await query(
            "--entity", "Film", "--where", "id < 4", "--order", "year desc,title", "--limit", "2", "--columns", "title")
        #expect(run.lines == ["title", "Brazil", "Alien", "2 of 3 objects; --limit N shows more"])
        let minus = await query("--entity", "Film", "--order", "-title", "--columns", "title")
        #expect(minus.lines == ["title", "Clue", "Brazil", "Alien"])
        let none = await query("--entity", "Film", "--where", "id > 9")
        #expect(none.lines == ["no objects"])
    }

    @Test func jsonIsExportedFlat() async throws {
        let json = try JSONValue(parsing: await query("--entity", "Film", "--order", "id", "--json").output)
        #expect(json[0]?["title"] == .string("Alien") && json[0]?["director"] == nil)
        #expect(json[1]?["released_at"] == .string("1985-02-20T00:00:00Z") && json[2]?["id"] == .integer(3))
        let lines = await query("--entity", "Film", "--order", "id", "--limit", "2", "--lines").lines
        #expect(try lines.map { try JSONValue(parsing: $0)["id"] } == [.integer(1), .integer(2)])
    }

    @Test func aNarrowTerminalSaysWhatItLeavesOut() async throws {
        let run = await query("--entity", "Film", width: 40)
        #expect(run.lines.first?.contains("\u{1B}[1mid") == true)
        #expect(run.output.contains("The terminal is too narrow for: "))
        let rows = run.lines.prefix(4).map { String($0.replacing(/\u{1B}\[[0-9;]*m/, with: "")) }
        #expect(rows.allSatisfy { $0.count <= 40 }, "\(rows)")
    }

    @Test(arguments: [
        (["--entity", "Flim"], "there is no entity Flim; did you mean Film?"),
        (["--entity", "Zzzzz"], "there is no entity Zzzzz; the model has Film, Director, Actor"),
        (["--entity", "Film", "--where", "yeer > 3"], "Film has no property yeer; did you mean year?"),
        (["--entity", "Film", "--order", "yeer"], "Film has no property yeer; did you mean year?"),
        (["--entity", "Film", "--columns", "tittle"], "Film has no property tittle; did you mean title?"),
    ])
    func anUnknownNameHasASuggestion(options: [String], text: String) async throws {
        let run = await CommandRun(["query", "--store", store] + options)
        #expect(run.code == 1 && run.output.isEmpty)
        #expect(run.errors == "failed: \(text)\n")
    }

    @Test(arguments: ["tags = 'a'", "tags.first = 'a'"])
    func aConditionOnJSONNamesTheWayOn(condition: String) async throws {
        let file = try folder.write(#"[{"id": 1, "tags": ["a"]}]"#, to: "tagged.json")
        let store = "sqlite:\(folder.url.path)/tagged.db"
        #expect(await CommandRun(["sync", file, "--entity", "Tagged", "--store", store]).code == 0)
        let run = await CommandRun(["query", "--store", store, "--entity", "Tagged", "--where", condition])
        #expect(run.code == 1 && run.errors.hasPrefix("failed: Tagged.tags is JSON, which conditions do not look into"))
    }

    @Test func aDatabaseThatIsNotThereIsNamed() async throws {
        let missing = "sqlite:\(folder.url.path)/none.db"
        for command in [["query"], ["history"], ["export", "--entity", "Film"]] {
            let run = await CommandRun(command + ["--store", missing])
            #expect(run.code == 1 && run.errors == "failed: there is no database at \(missing)\n")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.url.path)/none.db"))
    }

    @Test func aFileOfAnotherProgramIsNoMissingDatabase() async throws {
        let other = try folder.write("", to: "other.db")
        for command in [["query"], ["history"], ["export", "--entity", "Film"]] {
            let run = await CommandRun(command + ["--store", "sqlite:\(other)"])
            #expect(run.code == 1)
            #expect(run.errors == "failed: no model is kept with the database; name one with --model\n")
        }
    }

    // MARK: export

    @Test func exportsHaveThreeLayouts() async throws {
        func export(_ options: String...) async -> CommandRun {
            await CommandRun(["export", "--entity", "Film", "--store", store] + options)
        }
        let array = await export()
        #expect(array.lines.first == "[" && array.lines.last == "]" && array.lines.count == 5)
        #expect(await export("--array").output == array.output)
        let lines = await export("--lines").lines
        #expect(lines.count == 3)
        let pretty = await export("--pretty")
        #expect(pretty.lines.count > 20)
        let parsed = try JSONValue(parsing: array.output)
        #expect(try JSONValue(parsing: "[\(lines.joined(separator: ","))]") == parsed)
        #expect(try JSONValue(parsing: pretty.output) == parsed)
        let none = await export("--where", "id > 9")
        #expect(none.output == "[]\n")
        #expect(await export("--where", "id > 9", "--lines").output.isEmpty)
    }

    @Test func exportedLinesAreSyncedBack() async throws {
        let lines = await CommandRun(["export", "--entity", "Film", "--store", store, "--lines"])
        let again = try await sync(lines.output)
        #expect(again.counts(of: "Film") == [0, 0, 3, 0], "\(again.output)\(again.errors)")
    }

    @Test func onlyOneLayoutCanBeGiven() {
        let options = ["export", "--entity", "Film", "--store", store, "--lines", "--pretty"]
        let error = #expect(throws: UsageError.self) { try Invocation(options) }
        #expect(error?.message == "--pretty and --lines exclude each other")
    }

    // MARK: diff

    private static let newer = """
        [{"id": 1, "title": "Aliens", "year": 1979, "director": {"id": 8, "name": "Cameron"}, "tags": ["a", "b"],
          "actors": [{"id": 6}]},
         {"id": 3, "title": "Clue", "actors": [{"id": 4}, {"id": 5}]}, {"id": 9, "title": "Dune", "year": null}]
        """

    @Test func aDiffShowsWhatASyncWouldChange() async throws {
        let before = await query("--entity", "Film", "--json").output
        let run = try await diff(Self.newer)
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.lines.prefix(5) == [
                "Film", "- 2  title: Brazil, year: 1985, releasedAt: 1985-02-20T00:00:00Z",
                "~ 1  title: Alien → Aliens, director: 7 → 8, actors: [] → [6]", "+ 9  title: Dune", "Director",
            ], "\(run.output)")
        #expect(run.lines[5].hasPrefix("- 7  name: Scott") && run.lines[6].hasPrefix("+ 8  name: Cameron"))
        #expect(run.lines[7] == "Actor" && run.lines[8].hasPrefix("+ 6"))
        #expect(run.lines[9] == "3 inserted, 1 updated, 2 deleted")
        #expect(await query("--entity", "Film", "--json").output == before)
        // The sync does just that.
        #expect(try await sync(Self.newer).counts(of: "Film") == [1, 1, 1, 1])
        #expect(try await diff(Self.newer).lines == ["no differences"])
    }

    @Test func aDiffOfFilesNeedsNoDatabase() async throws {
        let old = try folder.write(Self.films, to: "old.ndjson")
        let new = try folder.write(Self.newer, to: "new.json")
        let run = await CommandRun(["diff", old, new, "--limit", "2"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.first == "Item" && run.lines.count == 5)
        #expect(run.lines[3] == "and 4 more objects; --limit N shows more")
        #expect(run.lines[4] == "3 inserted, 1 updated, 2 deleted")
    }

    @Test func whatInferenceAddsIsNotShown() async throws {
        let old = try folder.write(#"[{"a": 1, "b": 1}, {"a": 1, "b": 1}]"#, to: "old.json")
        let new = try folder.write(#"[{"a": 1, "b": 1}, {"a": 1, "b": 2}]"#, to: "new.json")
        let run = await CommandRun(["diff", old, new])
        #expect(run.lines == ["Item", "-  a: 1, b: 1", "+  a: 1, b: 2", "1 inserted, 0 updated, 1 deleted"])
        let store = "sqlite:\(folder.url.path)/pairs.db"
        #expect(await CommandRun(["sync", old, "--entity", "Pair", "--store", store]).code == 0)
        let table = await CommandRun(["query", "--entity", "Pair", "--store", store])
        #expect(table.lines == ["a  b", "1  1", "1  1"], "\(table.output)")
    }

    @Test func aDiffHasColoursOnATerminal() async throws {
        let run = try await diff(Self.newer, isTerminal: true)
        #expect(run.output.contains("\u{1B}[31m- 2\u{1B}[0m  title: Brazil"))
        #expect(run.output.contains("\u{1B}[32m+ 9\u{1B}[0m") && run.output.contains("\u{1B}[33m~ 1\u{1B}[0m"))
    }

    @Test func aDiffThatFailsShowsNothing() async throws {
        let run = try await diff("[{\"id\": 1, \"title\": \"Aliens\"}, {]")
        #expect(run.code == 1 && run.output.isEmpty && run.errors.contains("line 1"))
    }

    // MARK: history

    @Test func theHistoryListsSyncsLatestFirst() async throws {
        _ = try await sync(Self.films)
        #expect(try await sync(Self.newer).code == 0)
        #expect(try await sync("[]", "--max-removals", "1").code == 1)
        let run = await CommandRun(["history", "--store", store])
        #expect(run.code == 0, "\(run.errors)")
        // A sync without changes is not recorded.
        let words = run.lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words[0] == ["started", "entity", "status", "inserted", "updated", "deleted", "took"])
        #expect(words[1...3].map { $0[2] } == ["failed", "succeeded", "succeeded"])
        #expect(words[2][3...5] == ["1", "1", "1"] && words[3][3...5] == ["3", "0", "0"])
        #expect(run.lines.last?.hasPrefix("The latest error: 3 of 3 Film would be deleted") == true)
        let json = await CommandRun(["history", "--store", store, "--json", "--limit", "1"])
        #expect(json.lines.count == 1)
        #expect(try JSONValue(parsing: json.output)["status"] == .string("failed"))
        let none = await CommandRun(["history", "--store", store, "--entity", "Director"])
        #expect(none.lines == ["no syncs are recorded"])
    }

    // MARK: sync

    @Test func aStrictSyncFailsForDriftAndChangesNothing() async throws {
        let json = #"[{"id": 1, "title": "Alien", "year": "unknown", "colour": true}]"#
        let run = try await sync(json, "--strict")
        #expect(run.code == 1)
        #expect(run.errors.contains("Film.year: value did not fit, once"), "\(run.errors)")
        #expect(run.errors.contains("Film.colour: unknown key, once"))
        #expect(await query("--entity", "Film", "--columns", "id").lines.count == 4)
        let lenient = try await sync(json)
        #expect(lenient.code == 0 && lenient.counts(of: "Film")?.last == 2)
        #expect(lenient.lines.contains("the JSON differs from the model or contradicts itself:"))
        #expect(try await sync(#"[{"id": 1, "title": "Alien"}]"#, "--strict").code == 0)
    }

    @Test func hundredsOfTablesFitAScreen() async throws {
        let children = (0..<300).map { number in
            SyncEntity("Child\(number)", identity: ["id"], attributes: [SyncAttribute("id", .int64)], relationships: [])
        }
        let relationships = children.indices.map { SyncRelationship("child\($0)", toOne: "Child\($0)") }
        let thing = SyncEntity(
            "Thing", identity: ["id"], attributes: [SyncAttribute("id", .int64)], relationships: relationships)
        let model = String(decoding: try DataModel([thing] + children).coreDataXML(), as: UTF8.self)
        // Unknown keys and objects without a key, too.
        let nested = (0..<300).map { #""child\#($0)": {"id": \#($0)}, "odd_\#($0)": 1"# }.joined(separator: ", ")
        let rejected = String(repeating: #", {"id": null}"#, count: 50)
        let file = try folder.write("[{\"id\": 1, \(nested)}\(rejected)]", to: "many.json")
        let run = await CommandRun([
            "sync", file, "--entity", "Thing", "--model", try folder.write(model, to: "model.xml"),
        ])
        #expect(run.code == 2, "\(run.errors)")
        #expect(run.lines.count <= 22, "\(run.output)")
        #expect(run.lines.contains { $0.split(separator: " ") == ["293", "more", "293", "0", "0", "0"] })
        #expect(run.output.contains("and 296 more places; --json lists all"))
        #expect(run.output.contains("50 objects could not be synced:"))
    }

    @Test func aKeyCanBeNamed() async throws {
        let songs = #"[{"title": "A", "year": 1, "text": "x"}, {"title": "A", "year": 2}, {"title": "B", "year": 2}]"#
        let file = try folder.write(songs, to: "songs.json")
        let songs2 = try folder.write(#"[{"title": "A", "year": 1, "text": "y"}]"#, to: "songs2.json")
        func sync(_ file: String, _ options: String...) async -> CommandRun {
            await CommandRun(
                ["sync", file, "--entity", "Song", "--store", "sqlite:\(folder.url.path)/songs.db"] + options)
        }
        #expect(await sync(file, "--key", "title,year").counts(of: "Song") == [3, 0, 0, 0])
        #expect(await sync(songs2, "--key", "year,title").counts(of: "Song") == [0, 1, 0, 2])
        let other = await sync(songs2, "--key", "title")
        #expect(other.code == 1)
        #expect(
            other.errors == "failed: the database identifies a Song by title and year; "
                + "--key can name another key only for a new database\n")
    }

    @Test func aPersonIsToldThatThereIsNoKey() async throws {
        let file = try folder.write(#"[{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 2, "b": 3}]"#, to: "pairs.json")
        let run = await CommandRun(["sync", file, "--entity", "Pair", "--sample", "2"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.contains("the model was inferred from the first 2 objects"), "\(run.output)")
        let same = try folder.write(#"[{"a": 1, "t": [1]}, {"a": 1, "t": [2]}, {"a": 1, "t": null}]"#, to: "same.json")
        let noKey = await CommandRun(["sync", same, "--entity", "Pair"])
        #expect(
            noKey.output.contains("no key identifies a Pair, so a changed one is deleted and inserted; --key names one")
        )
        #expect(noKey.output.contains("kept as JSON: Pair.t"), "\(noKey.output)")
    }
}
