import CoreDataModel
import Foundation
import JSONMapper
import SyncModel
import TestSupport

/// The conformance corpus: scenarios, models and payloads.
struct Corpus: Sendable {
    let folder: URL

    /// Nil where there is none on this machine.
    static let present = ConformanceFiles.folder.map { Corpus(folder: $0) }

    /// Every scenario, by file and in the file's order; none where there is no corpus.
    static let scenarios: Result<[Scenario], any Error> = Result { try present?.readScenarios() ?? [] }

    private func readScenarios() throws -> [Scenario] {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.appendingPathComponent("scenarios").path)
        return try names.filter { $0.hasSuffix(".json") }.sorted().flatMap { name in
            let file = JSONFields(try JSONValue(parsing: bytes(of: "scenarios/\(name)")), of: name)
            let tables = try file.optional("transformers") { try TransformerTable.tables(of: $0) } ?? [:]
            return try file.array("scenarios").map { try Scenario($0, file: name, tables: tables) }
        }
    }

    func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(path)))
    }

    func model(_ name: String) throws -> Model {
        try ModelFile(contentsOf: folder.appendingPathComponent("models/\(name)")).model
    }
}
