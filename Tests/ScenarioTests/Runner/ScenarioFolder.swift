import CoreDataModel
import Foundation
import JSONMapper
import SyncModel

/// A folder of scenarios, models and payloads.
struct ScenarioFolder: Sendable {
    let url: URL

    func scenarios() throws -> [StoreScenario] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.appending(path: "scenarios").path)
        return try names.filter { $0.hasSuffix(".json") }.sorted().flatMap { name in
            let file = JSONFields(try JSONValue(parsing: bytes(of: "scenarios/\(name)")), of: name)
            try file.allow("scenarios", "transformers", "note")
            let tables = try file.optional("transformers") { try TransformerTable.tables(of: $0) } ?? [:]
            return try file.array("scenarios").map { value in
                try StoreScenario(value, file: name, folder: self, tables: tables)
            }
        }
    }

    func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url.appending(path: path)))
    }

    func model(_ name: String) throws -> DataModel {
        try ModelFile(contentsOf: url.appending(path: "models/\(name)")).model
    }
}
