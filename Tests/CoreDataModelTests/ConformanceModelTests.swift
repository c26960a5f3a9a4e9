import CoreDataModel
import Foundation
import SyncModel
import Testing

/// The model files of the conformance corpus, where it is there.
private enum Corpus {
    static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["CONFORMANCE_DIR"].map { URL(fileURLWithPath: $0) }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 {
            package.deleteLastPathComponent()
        }
        let beside = package.deletingLastPathComponent().appendingPathComponent("shared/conformance")
        let models = (named ?? beside).appendingPathComponent("models")
        return FileManager.default.fileExists(atPath: models.path) ? models : nil
    }()

    static let names: [String] = {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            return []
        }
        return names.filter { $0.hasSuffix(".xml") }.sorted()
    }()
}

@Suite(
    .enabled(if: Corpus.folder != nil, "the conformance corpus is neither in CONFORMANCE_DIR nor beside the package"))
struct ConformanceModelTests {
    @Test(arguments: Corpus.names)
    func aModelOfTheCorpusIsReadAndWrittenBack(name: String) throws {
        let folder = try #require(Corpus.folder)
        let file = try ModelFile(contentsOf: folder.appendingPathComponent(name))
        #expect(file.warnings.map(\.description) == [])
        #expect(!file.model.entities.isEmpty)
        let again = try ModelFile(xml: try file.model.coreDataXML())
        #expect(again.model == file.model)
        #expect(again.warnings.isEmpty)
    }
}
