import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

@Suite(.enabled(if: ConformanceFiles.folder != nil, Comment(rawValue: ConformanceFiles.isMissing)), .endsInTime)
struct ConformanceModelTests {
    private static let models = ConformanceFiles.folder?.appending(path: "models")

    private static let names: [String] = {
        guard let models, let names = try? FileManager.default.contentsOfDirectory(atPath: models.path) else {
            return []
        }
        return names.filter { $0.hasSuffix(".xml") }.sorted()
    }()

    @Test(arguments: ConformanceModelTests.names)
    func aModelOfTheCorpusIsReadAndWrittenBack(name: String) throws {
        let models = try #require(Self.models)
        let file = try ModelFile(contentsOf: models.appending(path: name))
        #expect(file.warnings.map(\.description) == [])
        #expect(!file.model.entities.isEmpty)
        let again = try ModelFile(xml: try file.model.coreDataXML())
        #expect(again.model == file.model)
        #expect(again.warnings.isEmpty)
    }
}
