import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ModelFolderTests {
    /// Files by their path, written below a folder that is removed afterwards.
    private func withFolder(_ files: [String: String], _ body: (URL) throws -> Void) throws {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(at: folder) }
        for (path, text) in files {
            let url = folder.appendingPathComponent(path)
            try manager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        try body(folder)
    }

    private func marker(_ version: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(version)</string></dict></plist>
        """
    }

    private let one = "<model><entity name=\"One\"/></model>"
    private let two = "<model><entity name=\"Two\"/></model>"

    @Test func aFileAndAModelFolderAreRead() throws {
        try withFolder(["A.xcdatamodel/contents": one, "plain.xml": two]) { folder throws in
            let model = folder.appendingPathComponent("A.xcdatamodel")
            #expect(try ModelFile(contentsOf: model).model.entities.map(\.name) == ["One"])
            #expect(try ModelFile(contentsOf: folder.appendingPathComponent("plain.xml")).model["Two"] != nil)
        }
    }

    @Test func theCurrentVersionIsRead() throws {
        try withFolder([
            "A.xcdatamodel/contents": one, "A 2.xcdatamodel/contents": two,
            ".xccurrentversion": marker("A 2.xcdatamodel"),
        ]) { folder throws in
            #expect(try ModelFile(contentsOf: folder).model.entities.map(\.name) == ["Two"])
        }
    }

    @Test func theOnlyVersionNeedsNoMark() throws {
        try withFolder(["A.xcdatamodel/contents": one]) { folder throws in
            #expect(try ModelFile(contentsOf: folder).model["One"] != nil)
        }
    }

    @Test func theLatestOfSeveralVersionsWithoutAMarkIsAssumed() throws {
        try withFolder([
            "A.xcdatamodel/contents": one, "A 9.xcdatamodel/contents": one, "A 10.xcdatamodel/contents": two,
        ]) { folder throws in
            let file = try ModelFile(contentsOf: folder)
            #expect(file.model["Two"] != nil)
            #expect(file.warnings.map(\.reason) == [.assumedVersion("A 10.xcdatamodel")])
        }
    }

    @Test func aCompiledModelIsRefusedWithAnAdvice() throws {
        let files = ["A.momd/A.mom": "bplist00", "A.momd/VersionInfo.plist": "", "B.mom": "bplist00"]
        try withFolder(files) { folder throws in
            for path in ["A.momd", "A.momd/A.mom", "B.mom"] {
                let url = folder.appendingPathComponent(path)
                let error = #expect(throws: ModelFile.Failure.compiled(file: url.path)) {
                    try ModelFile(contentsOf: url)
                }
                #expect(error?.description.contains("use the .xcdatamodeld") == true)
            }
        }
    }

    @Test func aModelOfXcode3IsRefusedWithAnAdvice() throws {
        let files = ["A.xcdatamodel/elements": "bplist00", "A.xcdatamodel/layout": "bplist00"]
        try withFolder(files) { folder throws in
            let model = folder.appendingPathComponent("A.xcdatamodel")
            for url in [folder, model] {
                #expect(throws: ModelFile.Failure.outdatedFormat(file: model.path)) { try ModelFile(contentsOf: url) }
            }
            let elements = model.appendingPathComponent("elements")
            #expect(throws: ModelFile.Failure.outdatedFormat(file: elements.path)) {
                try ModelFile(contentsOf: elements)
            }
        }
    }

    @Test(arguments: ["B.xcdatamodel", "../A.xcdatamodel", "", "A.xcdatamodel/../A.xcdatamodel"])
    func aMarkMustNameAVersionThatIsThere(version: String) throws {
        try withFolder(["A.xcdatamodel/contents": one, ".xccurrentversion": marker(version)]) { folder throws in
            #expect(throws: ModelFile.Failure.unknownCurrentVersion(file: folder.path)) {
                try ModelFile(contentsOf: folder)
            }
        }
    }

    @Test func aMarkThatIsNoPropertyListIsRefused() throws {
        try withFolder(["A.xcdatamodel/contents": one, ".xccurrentversion": "A.xcdatamodel"]) { folder throws in
            #expect(throws: ModelFile.Failure.unknownCurrentVersion(file: folder.path)) {
                try ModelFile(contentsOf: folder)
            }
        }
    }

    @Test func whatIsNoModelIsRefused() throws {
        try withFolder(["A.xcdatamodel/layout": "", "other/readme": ""]) { folder throws in
            let version = folder.appendingPathComponent("A.xcdatamodel")
            #expect(throws: ModelFile.Failure.notAModel(file: version.path)) { try ModelFile(contentsOf: version) }
            let other = folder.appendingPathComponent("other")
            #expect(throws: ModelFile.Failure.notAModel(file: other.path)) { try ModelFile(contentsOf: other) }
            let missing = folder.appendingPathComponent("missing")
            #expect {
                try ModelFile(contentsOf: missing)
            } throws: { error in
                guard case ModelFile.Failure.unreadable(missing.path, _) = error else { return false }
                return true
            }
        }
    }

    /// Zeros are no XML and no property list, which is found out after the size.
    @Test func filesAreReadUpToALimit() throws {
        try withFolder(["A.xcdatamodel/contents": one, "plain.xml": one, ".xccurrentversion": ""]) { folder throws in
            let plain = folder.appendingPathComponent("plain.xml")
            let marker = folder.appendingPathComponent(".xccurrentversion")
            for (byteCount, isTooLarge) in [
                (ModelFile.maximumByteCount, false), (ModelFile.maximumByteCount + 1, true),
            ] {
                for url in [plain, marker] {
                    let handle = try FileHandle(forWritingTo: url)
                    try handle.truncate(atOffset: UInt64(byteCount))
                    try handle.close()
                }
                #expect(
                    throws: isTooLarge
                        ? ModelFile.Failure.tooLarge(file: plain.path) : .unsupportedEncoding(file: plain.path)
                ) { try ModelFile(contentsOf: plain) }
                #expect(
                    throws: isTooLarge
                        ? ModelFile.Failure.tooLarge(file: marker.path) : .unknownCurrentVersion(file: folder.path)
                ) { try ModelFile(contentsOf: folder) }
            }
        }
    }

    @Test func errorsAndWarningsNameTheFile() throws {
        try withFolder(["A.xcdatamodel/contents": "<model>\n<novelty/></model>"]) { folder throws in
            let warnings = try ModelFile(contentsOf: folder).warnings
            let file = folder.appendingPathComponent("A.xcdatamodel").appendingPathComponent("contents").path
            #expect(warnings.map(\.description) == ["\(file):2: unknown element <novelty> is ignored"])
        }
    }
}
