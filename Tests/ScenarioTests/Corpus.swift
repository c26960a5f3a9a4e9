import CoreDataModel
import Foundation
import JSONMapper
import SyncModel

/// The conformance corpus: scenarios, models and payloads, in the folder that `CONFORMANCE_DIR` names, else beside the package.
struct Corpus: Sendable {
    let folder: URL

    /// Nil where there is none on this machine.
    static let present: Corpus? = {
        let named = ProcessInfo.processInfo.environment["CONFORMANCE_DIR"].map { URL(fileURLWithPath: $0) }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 {
            package.deleteLastPathComponent()
        }
        let folder = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/conformance")
        let scenarios = folder.appendingPathComponent("scenarios")
        return FileManager.default.fileExists(atPath: scenarios.path) ? Corpus(folder: folder) : nil
    }()

    static let isMissing = "the conformance corpus is neither in CONFORMANCE_DIR nor beside the package"

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
