import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct FuzzCorpusTests {
    private static let files: [URL] = {
        guard let folder = Bundle.module.resourceURL?.appendingPathComponent("Fixtures/Fuzz"),
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        else { return [] }
        return files.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }()

    @Test func theCorpusIsThere() {
        #expect(Self.files.count > 50)
    }

    @Test(arguments: files)
    func whatTheFuzzerFoundGivesAModelOrAnError(url: URL) throws {
        let file: ModelFile
        do {
            file = try ModelFile(contentsOf: url)
        } catch {
            #expect(error.description.contains(url.lastPathComponent))
            return
        }
        #expect(try ModelFile(xml: try file.model.coreDataXML()).model == file.model)
    }
}
