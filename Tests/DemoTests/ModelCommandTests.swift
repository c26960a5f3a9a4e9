import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

@testable import Demo

@Suite(.endsInTime) struct ModelCommandTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private static let users = #"{"data": [{"id": 1, "created_at": "2014-01-02T00:00:00Z", "notes": [{"id": 7}]}]}"#

    private static let userTypes = """
        import Foundation
        import SyncModel

        struct User: SyncObject {
            var id: Int?
            var createdAt: Date?
            var notes: Related<[Note]>

            static let declaration = SyncDeclaration<User>(
                .toMany(\\.notes, inverse: \\.users, ordered: true, deleteRule: .cascade, owns: true),
                .userInfo(["sync.inferred": "true"]))
        }

        struct Note: SyncObject {
            var id: Int?
            var users: Related<[User]>

            static let declaration = SyncDeclaration<Note>(
                .toMany(\\.users, inverse: \\.notes, userInfo: ["sync.unmapped": "YES"]),
                .userInfo(["sync.inferred": "true"]))
        }

        /// Returns the model of all types.
        func makeModel() throws -> DataModel {
            try DataModel(User.self, Note.self)
        }

        """

    private static let userFunctions = """
        import SyncModel

        func makeModel() throws(ModelError) -> DataModel {
            try DataModel([
                makeUser(),
                makeNote(),
            ])
        }

        private func makeUser() -> SyncEntity {
            SyncEntity("User", identity: "id", userInfo: ["sync.inferred": "true"]) {
                SyncAttribute("id", .int64)
                SyncAttribute("createdAt", .date)
                SyncRelationship("notes", toOrdered: "Note", inverse: "users", deleteRule: .cascade, owns: true)
            }
        }

        private func makeNote() -> SyncEntity {
            SyncEntity("Note", identity: "id", userInfo: ["sync.inferred": "true"]) {
                SyncAttribute("id", .int64)
                SyncRelationship("users", toMany: "User", inverse: "notes", userInfo: ["sync.unmapped": "YES"])
            }
        }

        """

    /// The file is compiled with these tests, and is what its own model is printed as.
    @Test func printedSourceMakesTheModelThatWasPrinted() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "PrintedModel.swift")
        #expect(try SwiftModelWriter.source(of: makeModel()) == String(contentsOf: file, encoding: .utf8))
    }

    @Test func aModelIsMadeOfJSON() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let run = await CommandRun(["model", file, "--entity", "User", "--key-path", "data"])
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(run.output == Self.userTypes)
        let functions = await CommandRun(
            ["model", file, "--entity", "User", "--key-path", "data", "--format", "swift-functions"])
        #expect(functions.output == Self.userFunctions)
    }

    /// The compiler needs half a second for each type.
    @Test func aLargeModelIsPrintedAsFunctionsUnlessTypesAreAskedFor() async throws {
        let entities = (0...100).map { SyncEntity("E\($0)") { SyncAttribute("a", .int64) } }
        let xml = try folder.write(String(decoding: DataModel(entities).coreDataXML(), as: UTF8.self), to: "m.xml")
        let functions = await CommandRun(["model", xml])
        #expect(functions.output.contains("private func makeE100() -> SyncEntity"))
        #expect(functions.errors.contains("note: 101 types take minutes to compile"))
        let types = await CommandRun(["model", xml, "--format", "swift-types"])
        #expect(types.output.contains("struct E100: SyncObject {") && types.errors.isEmpty)
    }

    @Test func xmlComesOutAndGoesBackIn() async throws {
        let file = try folder.write(Self.users, to: "users.json")
        let xml = await CommandRun(
            ["model", file, "--entity", "User", "--key-path", "data", "--format", "xcdatamodel"])
        #expect(xml.code == 0)
        #expect(xml.output.hasPrefix("<?xml"))
        // As a file, and as the folder that Xcode keeps it in.
        let version = folder.url.appending(path: "Users.xcdatamodeld/Users.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(xml.output.utf8).write(to: version.appending(path: "contents"))
        let paths = [try folder.write("\n" + xml.output.dropFirst(xml.output.prefix { $0 != "\n" }.count), to: "m.xml")]
        for path in paths + [version.path, version.deletingLastPathComponent().path] {
            let run = await CommandRun(["model", path])
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.output == Self.userTypes)
        }
    }

    @Test func whatAModelFileHasAndTheModelHasNotIsToldOnStandardError() async throws {
        let xml = #"<model><entity name="A"><attribute name="x" attributeType="Objective"/></entity></model>"#
        let run = await CommandRun(["model", try folder.write(xml, to: "m.xml")])
        #expect(run.code == 0)
        #expect(run.output.contains("struct A: SyncObject {"))
        #expect(run.errors.contains("attribute x is left out because of its type Objective"))
    }

    @Test(arguments: ["", "[]", "[1]", "<model", "{\"id\": }"])
    func whatIsNoSampleAndNoModelFails(text: String) async throws {
        let run = await CommandRun(["model", try folder.write(text, to: "file")])
        #expect(run.code == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("failed: ") && run.errors.split(separator: "\n").count == 1)
    }
}
