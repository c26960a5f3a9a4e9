import Foundation
import JSONMapper
import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

/// A scenario for a store: a model, steps that change an empty store, and steps that state what it
/// must hold.
///
/// `Fixtures/README.md` describes the format.
struct StoreScenario: Sendable, CustomTestStringConvertible {
    /// Its name, unique in its file.
    let name: String
    /// The name of its file.
    let file: String
    /// Its subject.
    let area: String

    let folder: ScenarioFolder
    let modelName: String?
    let dialect: JSONDialect
    let transformers: [TransformerTable]
    /// The steps as JSON: a malformed step fails its own scenario only.
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

    /// The file and name, for the names of test cases.
    var testDescription: String {
        "\(file): \(name)"
    }

    /// The scenarios of a folder, by file and in each file's order.
    ///
    /// - Throws: An error that names the file that cannot be read.
    static func all(in folder: URL) throws -> [StoreScenario] {
        try ScenarioFolder(url: folder).scenarios()
    }

    /// Runs the steps on a store, up to the first that fails; its failure is an issue of the
    /// running test.
    ///
    /// - Parameters:
    ///   - sourceLocation: The place of the issue; the caller's by default.
    ///   - makeStore: Makes an empty store for the objects of a model.
    func check(
        sourceLocation: SourceLocation = #_sourceLocation, _ makeStore: StoreConformance.MakeStore
    ) async {
        do {
            try await ScenarioRunner(self).run(makeStore)
        } catch let broken as ScenarioFailed {
            Issue.record("\(testDescription): \(broken.description)", sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, "\(testDescription)", sourceLocation: sourceLocation)
        }
    }
}
