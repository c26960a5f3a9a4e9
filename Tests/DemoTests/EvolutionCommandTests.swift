#if os(macOS) || os(Linux)
import CoreDataModel
import Foundation
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@testable import Demo
@testable import SyncStoreSQLite

/// `sync --evolve` and `sync --rebuild`: databases whose JSON has changed its shape.
@Suite(.endsInTime) struct EvolutionCommandTests {
    private let folder: TemporaryDirectory
    private let store: String

    init() async throws {
        folder = try TemporaryDirectory()
        store = "sqlite:\(folder.url.path)/films.db"
        let run = try await sync(#"[{"id": 1, "year": 1979, "tag": "a"}, {"id": 2, "year": 1985, "tag": "b"}]"#)
        #expect(run.code == 0, "\(run.errors)")
    }

    private func sync(_ json: String, _ options: String...) async throws -> CommandRun {
        let file = try folder.write(json, to: "films.json")
        return await CommandRun(["sync", file, "--entity", "Film", "--store", store] + options)
    }

    private func expectExport(_ json: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let run = await CommandRun(["export", "--entity", "Film", "--store", store])
        #expect(run.code == 0, "\(run.errors)", sourceLocation: sourceLocation)
        #expect(
            try JSONValue(parsing: run.output) == JSONValue(parsing: json), "\(run.output)",
            sourceLocation: sourceLocation)
    }

    private static let wider = #"[{"id": 1, "year": 1979.5, "tag": ["a", "c"], "colour": true, "cast": [{"id": 7}]}]"#

    @Test func theModelTakesOverWhatIsNew() async throws {
        let run = try await sync(Self.wider, "--evolve")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.contains("the model was extended:"), "\(run.output)")
        for change in [
            "  Film.year is decimal now, no longer int64", "  Film.tag is json now, no longer string",
            "  Film.colour is new: bool", "  Film.cast is new: Cast",
        ] {
            #expect(run.lines.contains(change), "\(run.output)")
        }
        #expect(run.lines.contains { $0.hasSuffix(", evolved model") })
        #expect(!run.output.contains("differs from the model"))
        try await expectExport(Self.wider)
        // The model is kept, so that the file fits from now on.
        let again = try await sync(Self.wider, "--evolve")
        #expect(again.counts(of: "Film") == [0, 0, 1, 0] && again.lines.contains { $0.hasSuffix(", kept model") })
        #expect(try await sync(Self.wider, "--strict").counts(of: "Film") == [0, 0, 1, 0])
    }

    @Test func aPlanShowsWhatAnEvolutionWouldDo() async throws {
        for _ in 0..<2 {
            let plan = try await sync(Self.wider, "--evolve", "--plan")
            #expect(plan.code == 0, "\(plan.errors)")
            #expect(plan.counts(of: "Film") == [0, 1, 0, 1] && plan.counts(of: "Cast") == [1, 0, 0, 0])
            #expect(plan.lines.contains("the model would be extended:"), "\(plan.output)")
            #expect(plan.lines.contains("  Film.colour is new: bool"))
            #expect(plan.lines.contains { $0.hasPrefix("plan: nothing was changed (") })
        }
        try await expectExport(#"[{"id": 1, "year": 1979, "tag": "a"}, {"id": 2, "year": 1985, "tag": "b"}]"#)
        #expect(try await sync(Self.wider).output.contains("Film.colour: unknown key, once"))
    }

    @Test func aPlanOfAnEvolutionNeedsNoChangeOfTheModel() async throws {
        let plan = try await sync(#"[{"id": 1, "year": 1979}]"#, "--evolve", "--plan")
        #expect(plan.code == 0 && plan.counts(of: "Film") == [0, 1, 0, 1], "\(plan.errors)")
        let new = await CommandRun(
            ["sync", try folder.write("[{\"id\": 1}]", to: "new.json"), "--entity", "Film", "--evolve", "--plan"]
                + ["--store", "sqlite:\(folder.url.path)/new.db"])
        #expect(new.code == 0 && new.counts(of: "Film") == [1, 0, 0, 0], "\(new.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "new.db").path))
    }

    @Test func aSampleThatDoesNotReachNewKeysIsNamed() async throws {
        let json = #"[{"id": 1, "year": 1}, {"id": 2, "year": 2}, {"id": 3, "colour": true}]"#
        let run = try await sync(json, "--evolve", "--sample", "2")
        #expect(run.code == 0 && run.output.contains("Film.colour: unknown key, once"), "\(run.output)\(run.errors)")
        #expect(run.lines.contains("--evolve compared the model with the first 2 objects"), "\(run.output)")
        #expect(run.output.contains("with these keys or values: a larger --sample reads on."))
        #expect(!run.output.contains("--evolve extends it"))
        let whole = try await sync(json, "--evolve", "--sample", "3")
        #expect(whole.lines.contains("  Film.colour is new: bool"), "\(whole.output)")
        #expect(!whole.output.contains("compared the model"))
    }

    @Test func aPlanShowsObstacles() async throws {
        let plan = try await sync(#"[{"id": 1, "year": 1}, {"id": 1, "year": 2.5}]"#, "--evolve", "--plan")
        #expect(plan.code == 2 && plan.lines.contains(Self.obstacle), "\(plan.output)")
    }

    @Test func withoutTheOptionDriftIsReportedAndTheOptionNamed() async throws {
        let run = try await sync(Self.wider)
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.lines.contains("the JSON differs from the model or contradicts itself:"))
        #expect(run.output.contains("--evolve extends it by what is new, --strict makes this a failure"))
        let strict = try await sync(Self.wider, "--strict")
        #expect(strict.code == 1 && strict.errors.contains("Film.colour: unknown key, once"))
    }

    @Test func anEmptyListIsOneWithTheOptionToo() async throws {
        let refused = try await sync("[]", "--evolve", "--max-removals", "1")
        #expect(refused.code == 1 && refused.errors.contains("2 of 2"), "\(refused.errors)")
        #expect(try await sync("[]", "--evolve").counts(of: "Film") == [0, 0, 0, 2])
    }

    @Test func aSecondFileBecomesAnEntityOfTheSameDatabase() async throws {
        let json = #"[{"id": 1, "film_id": 2, "stars": 4.5, "by": {"name": "a"}}]"#
        let file = try folder.write(json, to: "reviews.json")
        let sync = ["sync", file, "--entity", "Review", "--store", store]
        let refused = await CommandRun(sync)
        #expect(
            refused.code == 1
                && refused.errors == "failed: there is no entity Review; the model has Film; --evolve adds Review\n")
        let added = await CommandRun(sync + ["--evolve"])
        #expect(added.code == 0 && added.counts(of: "Review") == [1, 0, 0, 0], "\(added.output)\(added.errors)")
        #expect(added.lines.contains("  Review is new") && added.lines.contains("  Review.by is new: By"))
        #expect(await CommandRun(sync + ["--strict"]).counts(of: "Review") == [0, 0, 1, 0])
        try await expectExport(#"[{"id": 1, "year": 1979, "tag": "a"}, {"id": 2, "year": 1985, "tag": "b"}]"#)
        // A name is suggested all the same, because it may be a typing error.
        let similar = await CommandRun(["sync", file, "--entity", "Reviews", "--store", store])
        #expect(similar.errors.contains("did you mean Review?; --evolve adds Reviews"))
    }

    @Test func changesAndObstaclesArePartOfTheJSON() async throws {
        let run = try await sync(Self.wider, "--evolve", "--json")
        let json = try JSONValue(parsing: run.output)
        #expect(json["model"] == .string("evolved"))
        #expect(json["model_changes"]?[2] == .string("Film.colour is new: bool"))
        #expect(json["model_obstacles"] == .array([]))
    }

    private static let obstacle =
        "id does not identify every Film: keep the model as it is, drop the property with --model, or use --rebuild"

    @Test func whatCannotBeTakenOverIsToldWithTheWaysOn() async throws {
        let json = #"[{"id": 1, "year": 1}, {"id": 1, "year": 2}]"#
        let strict = try await sync(json, "--evolve", "--strict")
        #expect(strict.code == 1 && strict.errors == "failed: \(Self.obstacle)\n")
        let run = try await sync(json, "--evolve")
        #expect(run.code == 2 && run.lines.contains(Self.obstacle), "\(run.output)")
        // The last way on: both objects are there, matched by their content.
        let rebuilt = try await sync(json, "--rebuild")
        #expect(rebuilt.counts(of: "Film") == [2, 0, 0, 0], "\(rebuilt.output)\(rebuilt.errors)")
        try await expectExport(json)
        #expect(try await sync(json).counts(of: "Film") == [0, 0, 2, 0])
    }

    /// The message is no key of a line, so it is not taken over, and the lines stay.
    @Test func anErrorReportIsNotTakenOver() async throws {
        func lines(_ json: String, _ options: String...) async throws -> CommandRun {
            let file = try folder.write(json, to: "lines.json")
            return await CommandRun(["sync", file, "--entity", "Line", "--store", store] + options)
        }
        #expect(try await lines(#"[{"text": "a"}, {"text": "a"}]"#, "--evolve").counts(of: "Line") == [2, 0, 0, 0])
        let run = try await lines(#"{"message": "rate limit exceeded"}"#, "--evolve")
        #expect(run.code == 1 && run.errors.contains("the only object has no key of Line"), "\(run.errors)")
        let strict = try await lines(#"{"message": "rate limit exceeded"}"#, "--evolve", "--strict")
        #expect(strict.code == 1 && strict.errors.contains("no object has a key of Line"), "\(strict.errors)")
        #expect(try await lines(#"[{"text": "a"}, {"text": "a"}]"#).counts(of: "Line") == [0, 0, 2, 0])
    }

    @Test func aTableBecomesJSONOnRequest() async throws {
        #expect(try await sync(#"[{"id": 1, "bin": {"path": "a"}}]"#, "--evolve").code == 0)
        let json = #"[{"id": 1, "bin": "b"}, {"id": 2, "bin": {"path": "c"}}]"#
        let told = try await sync(json, "--evolve")
        #expect(
            told.code == 2 && told.output.contains("keep the key as JSON from now on with --as-json"), "\(told.output)")
        let run = try await sync(json, "--evolve", "--as-json", "bin")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        #expect(
            run.lines.contains(
                "  Film.bin is json now, no longer Bin: the links are dropped, and JSON that is synced from now on fills it"
            ), "\(run.output)")
        try await expectExport(json)
        #expect(try await sync(json, "--evolve").counts(of: "Film") == [0, 0, 2, 0])
    }

    /// The tables of parts of parts, and of parts within equal parts, are no obstacle.
    @Test(arguments: [#"{"n": 1, "subs": [{"m": 2}]}"#, #"{"id": 1, "bin": [{"id": 2, "bin": []}]}"#])
    func nestedTablesBecomeJSONOnRequest(part: String) async throws {
        let json = #"[{"id": 1, "bin": [\#(part)]}]"#
        #expect(try await sync(json, "--evolve").code == 0)
        let run = try await sync(json, "--evolve", "--as-json", "bin")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
        try await expectExport(json)
    }

    @Test func aRebuildThatFailsChangesNothing() async throws {
        let run = try await sync(#"[{"id": 5}, {"id": ]"#, "--rebuild")
        #expect(run.code == 1 && run.output.isEmpty)
        try await expectExport(#"[{"id": 1, "year": 1979, "tag": "a"}, {"id": 2, "year": 1985, "tag": "b"}]"#)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy {
                !$0.contains("-rebuild")
            })
    }

    @Test(arguments: [[], ["--json"]] as [[String]])
    func aRebuildNamesTheColumnsOfOthersThatItDrops(options: [String]) async throws {
        try SQLiteConnection(path: "\(folder.url.path)/films.db", isReadOnly: false, busyTimeout: 0)
            .execute("ALTER TABLE Film ADD COLUMN mine TEXT; UPDATE Film SET mine = 'x'")
        let file = try folder.write(#"[{"id": 1, "year": 1979}]"#, to: "films.json")
        let run = await CommandRun(["sync", file, "--entity", "Film", "--store", store, "--rebuild"] + options)
        #expect(run.code == 0, "\(run.errors)")
        #expect(
            run.output.contains("the rebuild dropped columns that are not the store's, with their values: Film.mine"),
            "\(run.output)")
    }

    @Test func aRebuildOfNothingIsASync() async throws {
        let file = try folder.write("[{\"id\": 1}]", to: "new.json")
        let new = "sqlite:\(folder.url.path)/new.db"
        let run = await CommandRun(["sync", file, "--entity", "Film", "--store", new, "--rebuild"])
        #expect(run.counts(of: "Film") == [1, 0, 0, 0], "\(run.errors)")
    }

    @Test func aModelOfAFileIsNotExtended() async throws {
        let model = try DataModel { SyncEntity("Film", identity: "id") { SyncAttribute("id", .int64) } }
        let xml = try folder.write(String(decoding: model.coreDataXML(), as: UTF8.self), to: "model.xml")
        #expect(try await sync("[{\"id\": 1}]", "--model", xml).code == 0)
        let run = try await sync(Self.wider, "--evolve")
        #expect(run.code == 1 && run.errors.contains("the model of the database comes from a file"))
        #expect(try await !sync(Self.wider).output.contains("--evolve"))
    }

    @Test func standardInputIsReadOnce() async throws {
        let child = try ChildProcess(
            ["sync", "-", "--entity", "Film", "--store", store, "--evolve"],
            input: try FileHandle(forReadingFrom: URL(filePath: try folder.write(Self.wider, to: "in.json"))))
        let end = try await child.end()
        #expect(end.code == 0 && end.output.contains("Film.colour is new: bool"), "\(end.errors)")
    }

    /// A shell's `<(…)` is the path of a pipe, which can be read only once.
    @Test func aPipeIsReadOnce() async throws {
        let run = await CommandRun(["sync", pipe("[{\"id\": 1}, {\"id\": 2}]"), "--entity", "Film"])
        #expect(run.counts(of: "Film") == [2, 0, 0, 0], "\(run.errors)")
    }

    /// The path of a new pipe with a text.
    private func pipe(_ text: String) -> String {
        let path = folder.url.appending(path: "pipe \(UUID().uuidString)").path
        #expect(mkfifo(path, 0o600) == 0)
        // It waits for the reader, so it needs a thread of its own.
        Thread.detachNewThread {
            let pipe = try? FileHandle(forWritingTo: URL(filePath: path))
            try? pipe?.write(contentsOf: Data(text.utf8))
        }
        return path
    }

    // MARK: What a person reads

    @Test(arguments: [
        ("42", "the JSON is neither a list of objects nor an object"),
        ("[1, 2]", "element 0 of the JSON is not an object; only lists of objects have a model"),
        ("[]", "the JSON has no objects, so no model can be inferred from it"),
        ("{}", "the objects of the JSON are all empty"), ("[{\"id\": 1}", "the JSON is incomplete or empty"),
    ])
    func aFileWithoutObjectsIsExplained(json: String, text: String) async throws {
        let file = try folder.write(json, to: "odd.json")
        let run = await CommandRun(["sync", file, "--entity", "Odd"])
        #expect(run.code == 1 && run.errors.hasPrefix("failed: \(text)"), "\(run.errors)")
    }

    @Test func theOnlyListWithinAnObjectIsTaken() async throws {
        let json = #"{"data": {"page": {"n": 1}, "items": [{"id": 1}, {"id": 2}]}}"#
        let file = try folder.write(json, to: "list.json")
        let note = "the JSON is one object; its only list of objects, at --key-path data.items, was taken"
        let store = ["--store", "sqlite:\(folder.url.path)/list.db"]
        for counts in [[2, 0, 0, 0], [0, 0, 2, 0]] {
            let run = await CommandRun(["sync", file, "--entity", "Item"] + store)
            #expect(run.counts(of: "Item") == counts && run.lines.contains(note), "\(run.output) \(run.errors)")
        }
        let list = await CommandRun(["sync", file, "--entity", "Item", "--key-path", "data.items"] + store)
        #expect(list.counts(of: "Item") == [0, 0, 2, 0] && !list.output.contains("--key-path"))
        let model = await CommandRun(["model", file, "--entity", "Item"])
        #expect(model.errors.contains(note) && model.output.contains("struct Item"))
    }

    /// Otherwise, the second sync would take the document for one object and delete the others.
    @Test(arguments: [false, true])
    func theListOfObjectsThatHaveSuchListsIsTakenAgain(fromPipe: Bool) async throws {
        let json = #"{"version": "1", "rules": [{"type": "tree", "rules": [{"type": "leaf", "rules": []}]}]}"#
        let other = #"{"version": "2", "more": [{"n": 1}], "rules": [{"type": "tree", "rules": []}]}"#
        let store = ["--store", "sqlite:\(folder.url.path)/rules.db"]
        for (document, counts) in [(json, [1, 0, 0, 0]), (json, [0, 0, 1, 0]), (other, [1, 0, 0, 1])] {
            let input = fromPipe ? pipe(document) : try folder.write(document, to: "rules.json")
            let run = await CommandRun(["sync", input, "--entity", "Thing"] + store)
            #expect(run.code == 0 && run.counts(of: "Thing") == counts, "\(run.output) \(run.errors)")
            #expect(run.output.contains("at --key-path rules, was taken"))
        }
        // Also with a model that takes the place of the inferred one.
        let file = try folder.write(json, to: "rules.json")
        let model = await CommandRun(["model", file, "--entity", "Thing", "--format", "xcdatamodel"])
        let path = try folder.write(model.output, to: "Thing.xml")
        for counts in [[1, 0, 0, 1], [0, 0, 1, 0]] {
            let run = await CommandRun(["sync", file, "--entity", "Thing", "--model", path] + store)
            #expect(run.code == 0 && run.counts(of: "Thing") == counts, "\(run.output) \(run.errors)")
            #expect(run.output.contains("at --key-path rules, was taken"))
        }
    }

    /// Also if the model was made of a list that is no part of an object.
    @Test(arguments: [
        (#"{"data": [{"id": 1}, {"id": 3}], "meta": {}}"#, true), (#"[{"id": 1}, {"id": 3}]"#, false),
        ("\n{\"id\": 1}\n{\"id\": 3}\n", false),
    ])
    func aPipeAndADiffFindTheListAsAFileDoes(json: String, isWithinObject: Bool) async throws {
        let list = try folder.write(#"[{"id": 1}, {"id": 2}]"#, to: "items.json")
        let file = try folder.write(json, to: "other.json")
        let store = "sqlite:\(folder.url.path)/items.db"
        let rest = ["--entity", "Item", "--store", store]
        #expect(await CommandRun(["sync", list] + rest).code == 0)
        let note = "the JSON is one object; its only list of objects, at --key-path data, was taken"
        for arguments in [[store, file], [store, pipe(json)], [list, file], [list, pipe(json)]] {
            let diff = await CommandRun(["diff"] + arguments + ["--entity", "Item"])
            #expect(diff.lines.last == "1 inserted, 0 updated, 1 deleted", "\(diff.output) \(diff.errors)")
            #expect(diff.errors.contains(note) == isWithinObject)
        }
        for (input, counts) in [(pipe(json), [1, 0, 1, 1]), (file, [0, 0, 2, 0])] {
            let run = await CommandRun(["sync", input] + rest)
            #expect(run.counts(of: "Item") == counts, "\(run.output) \(run.errors)")
            #expect(run.lines.contains(note) == isWithinObject)
        }
    }

    /// A key that holds an object or a text has the same type in all documents.
    @Test func aSubtreeIsKeptAsJSON() async throws {
        let store = ["--store", "sqlite:\(folder.url.path)/packages.db"]
        let first = try folder.write(#"[{"id": 1, "bin": {"a": "b"}, "more": {"x": {"y": 1}}}]"#, to: "first.json")
        let second = try folder.write(#"[{"id": 1, "bin": "a"}]"#, to: "second.json")
        let run = await CommandRun(
            ["sync", first, "--entity", "Package", "--as-json", "bin", "--tables", "1"] + store)
        #expect(run.code == 0 && run.counts(of: "Package") == [1, 0, 0, 0], "\(run.output) \(run.errors)")
        #expect(run.counts(of: "More") == nil && run.counts(of: "Bin") == nil)
        let next = await CommandRun(["sync", second, "--entity", "Package", "--strict"] + store)
        #expect(next.code == 0 && next.counts(of: "Package") == [0, 1, 0, 0], "\(next.output) \(next.errors)")
    }

    @Test func oneOfSeveralListsWithinAnObjectIsNamed() async throws {
        let json = #"{"items": [{"id": 1}], "users": [{"id": 2}]}"#
        let file = try folder.write(json, to: "lists.json")
        let run = await CommandRun(["sync", file, "--entity", "Page"])
        #expect(run.lines.contains("the JSON is one object; --key-path items syncs the objects of the list in it"))
    }

    @Test func theMembersOfAnObjectAreSynced() async throws {
        let json = #"{"1.0": {"n": 1}, "1.1": {"n": 2, "parts": [{"x": 1}]}, "2.0": {"n": 3}}"#
        let file = try folder.write(json, to: "members.json")
        let hint = "the JSON is one object; --key-path '{id}' syncs each of its members, with the key"
        #expect(await CommandRun(["sync", file, "--entity", "Code"]).lines.contains(hint))
        let store = ["--store", "sqlite:\(folder.url.path)/members.db"]
        let arguments = ["sync", file, "--entity", "Code", "--key-path", "{id}"] + store
        for counts in [[3, 0, 0, 0], [0, 0, 3, 0]] {
            let run = await CommandRun(arguments)
            #expect(run.code == 0 && run.counts(of: "Code") == counts, "\(run.output) \(run.errors)")
        }
        let query = await CommandRun(["query", "--entity", "Code", "--where", "id == '1.1'", "--json"] + store)
        #expect(query.output.contains(#""n":2"#), "\(query.output) \(query.errors)")
        // A report in place of the members names no object.
        let report = try folder.write(#"{"message": "API rate limit exceeded"}"#, to: "members.json")
        let refused = await CommandRun(["sync", report, "--entity", "Code", "--key-path", "{id}"] + store)
        #expect(refused.code == 1 && refused.errors.hasPrefix("failed: "), "\(refused.output) \(refused.errors)")
        let left = await CommandRun(["export", "--entity", "Code"] + store)
        #expect(try JSONValue(parsing: left.output)[2] != nil)
    }

    @Test func anObjectWhoseKeysAreDataComesBackAsItWas() async throws {
        let json = #"{"A00.0": {"n": 1}, "A00.1": {"n": 2}, "B10.2": {"n": 3}, "C1": {"n": 4, "x": []}}"#
        let file = try folder.write(json, to: "codes.json")
        let codes = "sqlite:\(folder.url.path)/codes.db"
        let run = await CommandRun(["sync", file, "--entity", "Code", "--store", codes])
        #expect(run.counts(of: "Code") == [1, 0, 0, 0])
        #expect(run.output.contains("the keys of the JSON are data, so it is one JSON value"), "\(run.output)")
        let export = await CommandRun(["export", "--entity", "Code", "--store", codes])
        #expect(try JSONValue(parsing: export.output)[0] == JSONValue(parsing: json), "\(export.output)")
    }

    @Test func anObjectWithAKeyAndManyOthersIsUnchangedInTheNextSync() async throws {
        let members = (0..<100).map { #""k\#($0)": \#($0)"# }.joined(separator: ", ")
        let wide = "sqlite:\(folder.url.path)/wide.db"
        for (last, counts) in [(1, [1, 0, 0, 0]), (1, [0, 0, 1, 0]), (2, [0, 1, 0, 0])] {
            let json = #"[{"id": 1, \#(members), "last": \#(last)}]"#
            let run = await CommandRun(
                ["sync", try folder.write(json, to: "wide.json"), "--entity", "Wide", "--store", wide])
            #expect(run.counts(of: "Wide") == counts, "\(run.output) \(run.errors)")
            let export = await CommandRun(["export", "--entity", "Wide", "--store", wide])
            #expect(try JSONValue(parsing: export.output) == JSONValue(parsing: json))
        }
    }

    /// As Swift strings, the keys are equal.
    @Test func keysOfEqualCharactersComeBackAsTheyWere() async throws {
        let file = try folder.write("[{\"id\": 1, \"\u{e9}\": 1, \"e\u{301}\": 2}]", to: "keys.json")
        let keys = "sqlite:\(folder.url.path)/keys.db"
        #expect(await CommandRun(["sync", file, "--entity", "Key", "--store", keys]).code == 0)
        let export = await CommandRun(["export", "--entity", "Key", "--store", keys]).output.unicodeScalars
        #expect(export.contains("\u{e9}") && export.contains("\u{301}"))
        #expect(
            await CommandRun(["sync", file, "--entity", "Key", "--store", keys]).counts(of: "Key") == [0, 0, 1, 0])
    }

    @Test func aDiffOfFilesHasTheKeysOfBoth() async throws {
        let old = try folder.write(#"[{"id": 1, "a": 1}]"#, to: "old.json")
        let new = try folder.write(#"[{"id": 1, "a": "x", "b": true}]"#, to: "new.json")
        let run = await CommandRun(["diff", old, new])
        #expect(run.errors.isEmpty)
        #expect(run.lines == ["Item", "~ 1  a: 1 → \"x\", b: null → true", "0 inserted, 1 updated, 0 deleted"])
        let back = await CommandRun(["diff", new, old])
        #expect(back.lines == ["Item", "~ 1  a: \"x\" → 1, b: true → null", "0 inserted, 1 updated, 0 deleted"])
    }
}
#endif
