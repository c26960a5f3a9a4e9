public import Foundation
import JSONMapper
public import SyncModel
public import SyncStore
public import Testing

/// A story about a store, written down as JSON: a model, steps that change an empty store, and steps that say what it must hold then.
///
///     private static let scenarios = Result { try StoreScenario.all(in: folder) }
///
///     @Test(arguments: try scenarios.get()) func scenario(_ scenario: StoreScenario) async throws {
///         await scenario.check { model in try MyStore(model) }
///     }
///
/// **The folder.** `scenarios/*.json` holds the scenarios of one area each, `models/` Core Data model files, `json/` payloads. A file of
/// scenarios is an object with `scenarios`, an array, and, where they need any, `transformers`. A scenario has a `name`, an `area`, `steps`,
/// and mostly a `model`, the name of a file in `models/`; its `dialect` is `sync` where it is not said, or `groot`. `origin` and `note` are for
/// people.
///
/// **Steps that change the store.** Each step is an object of one key, which names it. `json` is a payload, or the name of a file in `json/`.
///
/// - `sync`: `entity`, `json`, and as far as they are said `operations` (names of `SyncOperations`), `where` (the scope), `parent` (`entity`,
///   `where`), `relationship` (that leads from the parent), `willInsert` (what the hook adds to an object). It is planned as well, and the plan must
///   foretell what happens; the same again must insert and delete nothing.
/// - `importJSON`: `entity`, `json`. With `fails`, in both, the step must throw and leave the store as it was.
/// - `insertOrUpdate`: `entity`, `json`. `updateByID`: `entity`, `id`, `json`, `found` (true where it is not said). `deleteByID`: `entity`, `id`.
/// - `insert`: `entity`, `values` by attribute, `relationships` (the `where` of what each leads to, or several in an array).
///   `update`: `entity`, `where`, `values`. `delete`: `entity`, `where`.
/// - `fill`: `entity`, `json`, mapped onto a new object, or the one that `where` finds; with `changes` false nothing may change by it.
///
/// **Steps that look at it.**
///
/// - `expectCount`: `entity`, `where`, `count`. `expectObject`: `entity`, `where`, `values` of the one object that is found. `expectByID`: `entity`,
///   `id`, `values`, or null if there must be none.
/// - `expectOrder`: `entity`, `where`, `relationship`, and `attribute` of what it leads to, whose values in order are `equals`.
/// - `expectExport`: `entity`, `where`, and of the JSON of that object the whole (`equals`), some entries (`contains`), all top-level
///   `keys`, or `absentKeys`. `options` are `inflection` (`snakeCase`, `camelCase`), `relationships` (`array`, `nested`, `none`) and `dateFormat`.
/// - `expectModel`: `entity`, `localPrimaryKey`, `remotePrimaryKey`, `remoteKeys` by attribute. `expectInflection`: `function`, `input`, `equals`.
///   `expectDate`: `input`, `equals`.
///
/// **Conditions and values.** `where` maps keys, or paths through to-one relationships, to values that must be equal, or to an object of comparisons:
/// `>`, `>=`, `<`, `<=`, `!=`, `in`. In `values` a key may also be a to-one relationship that must lead nowhere (null), or the number of
/// objects that a to-many one leads to (`notes.@count`). What JSON has no type for is written `{"date": "2014-02-14T00:00:00Z"}`,
/// `{"decimal": "1.5"}`, `{"uuid": "…"}`, `{"uri": "…"}`, and `{"json": …}` for binary data that is JSON.
///
/// **Transformers.** `transformers` of a file maps names to tables: `forward`, pairs of input and output, and `reverse`, the same for the way back. A
/// scenario names those that it needs in an array `transformers`; what they are for is found out from the model's annotations.
public struct StoreScenario: Sendable, CustomTestStringConvertible {
    /// What it is called.
    public let name: String
    /// The name of the file it is in.
    public let file: String
    /// What it is about.
    public let area: String

    let folder: ScenarioFolder
    let modelName: String?
    let dialect: JSONDialect
    let transformers: [TransformerTable]
    /// As they are written: a step that makes no sense makes its own scenario fail, and no other.
    let steps: [JSONValue]

    init(_ value: JSONValue, file: String, folder: ScenarioFolder, tables: [String: TransformerTable]) throws {
        let fields = JSONFields(value, of: file)
        try fields.allow("name", "origin", "note", "area", "model", "dialect", "transformers", "steps")
        name = try fields.string("name")
        area = try fields.string("area")
        self.file = file
        self.folder = folder
        modelName = try fields.optional("model") { _ in try fields.string("model") }
        switch try fields.optional("dialect", { _ in try fields.string("dialect") }) ?? "sync" {
        case "sync": dialect = .sync
        case "groot": dialect = .groot
        case let other: throw fields.failure("has the unknown dialect \(other)")
        }
        transformers = try (fields.strings("transformers") ?? []).map { name in
            guard let table = tables[name] else { throw fields.failure("has no table of the transformer \(name)") }
            return table
        }
        steps = try fields.array("steps")
    }

    /// The file and name, as a test case is called after it.
    public var testDescription: String {
        "\(file): \(name)"
    }

    /// The scenarios of a folder, by file and in each file's order.
    ///
    /// - Throws: What says which file cannot be read, and why.
    public static func all(in folder: URL) throws -> [StoreScenario] {
        try ScenarioFolder(url: folder).scenarios()
    }

    /// Runs the steps on a store, up to the first that fails or finds something else than it expects, which is recorded as an issue of the
    /// running test.
    ///
    /// - Parameters:
    ///   - sourceLocation: Where the issue is recorded; the caller's place by default.
    ///   - makeStore: Makes an empty store for the objects of a model.
    public func check(
        sourceLocation: SourceLocation = #_sourceLocation, _ makeStore: StoreConformance.MakeStore
    ) async {
        do {
            try await ScenarioRunner(self).run(makeStore)
        } catch let broken as ConformanceCheckFailed {
            Issue.record("\(testDescription): \(broken.description)", sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, "\(testDescription)", sourceLocation: sourceLocation)
        }
    }
}
