#if os(macOS) || os(Linux)
import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@testable import Demo

/// The type checker's work on printed models.
@Suite(.endsInTime) struct SwiftSourceTests {
    private static func model(entityCount: Int) throws -> DataModel {
        try DataModel(
            (0..<entityCount).map { number in
                let types: [AttributeType] = [.string, .date, .bool, .double, .int32]
                return SyncEntity(
                    "Entity\(number)", identity: ["id"],
                    attributes: [SyncAttribute("id", .int64, optional: false)]
                        + (0..<20).map { place in
                            SyncAttribute(
                                "attribute\(place)", types[place % 5], default: place % 5 == 4 ? .int(3) : .null,
                                userInfo: place % 3 == 0 ? ["sync.remoteKey": "key\(place)"] : [:])
                        },
                    relationships: [
                        SyncRelationship("next", toOne: "Entity\((number + 1) % entityCount)", inverse: "previous"),
                        SyncRelationship(
                            "previous", toMany: "Entity\((number + entityCount - 1) % entityCount)", inverse: "next",
                            deleteRule: .cascade),
                    ])
            })
    }

    /// The limit counts the solver's steps, not its time, so a busy machine changes nothing. The
    /// result builder of all entities in one expression exceeds it.
    @Test func threeHundredEntitiesAreEasyToTypeCheck() async throws {
        let modules = ChildProcess.product("Demo").deletingLastPathComponent().appending(path: "Modules")
        guard let compiler = Self.compiler, FileManager.default.fileExists(atPath: modules.path) else { return }
        let folder = try TemporaryDirectory()
        let file = try folder.write(SwiftModelWriter.source(of: Self.model(entityCount: 300)), to: "Model.swift")
        let child = try ChildProcess(
            compiler,
            [
                "-swift-version", "6", "-typecheck", "-I", modules.path, "-Xfrontend", "-solver-scope-threshold=20000",
                // The home folder, where it is otherwise, may be missing or read-only.
                "-module-cache-path", folder.url.appending(path: "cache").path, file,
            ], input: .nullDevice, errors: ChildOutput())
        let end = try await child.end()
        #expect(end.code == 0, "\(end.output)\(end.errors.prefix(2_000))")
    }

    /// The compiler on the search path; nil if there is none.
    private static var compiler: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(filePath: String($0)).appending(path: "swiftc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    @Test func namesOfFunctionsAreValidAndUnique() throws {
        let names = ["A b", "A-b", "a_b", "映画", "日本", "class", "Model", "3D"]
        let model = try DataModel(names.map { SyncEntity($0, attributes: [], relationships: []) })
        let source = SwiftModelWriter.source(of: model)
        let functions = source.split(separator: "\n").filter { $0.hasPrefix("private func ") }
            .map { $0.dropFirst("private func ".count).prefix { $0 != "(" } }
        #expect(
            functions == [
                "makeAB", "makeAB2", "makeAB3", "makeEntity", "makeEntity2", "makeClass", "makeModel2", "make3D",
            ])
    }
}
#endif
