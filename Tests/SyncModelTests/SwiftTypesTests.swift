import Foundation
import OneWayTestLimits
import SyncModel
import Testing

/// Models that are printed as Swift types.
@Suite(.endsInTime) struct SwiftTypesTests {
    private static let tag = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6))
    private static let moment = Timestamp(microseconds: 1_500_000)

    /// A model that has everything that a type can state, and names that Swift does not allow.
    ///
    /// - Parameter isPreviousOptional: False for a relationship that types cannot state.
    private func model(isPreviousOptional: Bool) throws -> DataModel {
        var shape = SyncEntity(
            "Shape", abstract: true, identity: "id", userInfo: ["a": "x", "b": "say \"\\(this)\"\n"]
        ) {
            SyncAttribute("id", .int64, optional: false)
            SyncAttribute(
                "class", .string, default: "é\t", allowedValues: ["é\t", "\"/"], formerName: "title")
            SyncAttribute("a-b", .bool, default: true)
            SyncAttribute("a b", .int16, default: -7, userInfo: ["sync.allowedValues": "[ -7 ]"])
            SyncAttribute("self", .double, default: .double(-.infinity))
            SyncAttribute("price", .decimal, default: .decimal(Decimal(string: "-12345678901234567890.25") ?? 0))
            SyncAttribute("madeAt", .date, default: .date(Self.moment))
            SyncAttribute("meta", .json, default: CanonicalJSON("{\"a\":[1.5]}")?.value ?? .null)
            SyncAttribute("link", .uri, default: .uri("a:b"))
            SyncAttribute("tag", .uuid, default: .uuid(Self.tag))
            SyncAttribute("color", .transformable, transformer: "ColorTransformer", userInfo: ["sync.remoteKey": "hue"])
            SyncAttribute("Date", .date)
        }
        shape.indexes = [
            SyncEntity.Index(
                ["madeAt"], unique: true, where: PropertyPath("madeAt").isNotNull && PropertyPath("tag") == Self.tag),
            SyncEntity.Index(["price", "class"], where: PropertyPath("madeAt") >= Self.moment),
        ]
        return try DataModel([
            shape,
            SyncEntity("Group", parent: "Shape", identity: "class", formerName: "Set") {
                SyncRelationship(
                    "parts", toOrdered: "Part", inverse: "group", deleteRule: .cascade, owns: true)
            },
            SyncEntity("Part", identity: "number", within: "group") {
                SyncAttribute("number", .int32, optional: false)
                SyncAttribute("ratio", .float, userInfo: ["x": "y"])
                SyncRelationship("group", toOne: "Group", inverse: "parts", optional: false, formerName: "set")
            },
            SyncEntity("Data", identity: "id") {
                SyncAttribute("id", .string, optional: false)
                SyncAttribute("content", .binary)
                SyncRelationship("next", toOne: "Data", inverse: "previous", userInfo: ["sync.remoteKey": "n"])
                SyncRelationship(
                    "previous", toMany: "Data", inverse: "next", optional: isPreviousOptional,
                    userInfo: ["sync.unmapped": "YES"])
            },
            SyncEntity("3 d") {},
            SyncEntity("case") { SyncAttribute("value", .int64) },
            SyncEntity("Base") { SyncRelationship("owner", toOne: "Owner", inverse: "items") },
            SyncEntity("Item", parent: "Base") {},
            SyncEntity("Owner") { SyncRelationship("items", toMany: "Item", inverse: "owner") },
            .pendingLink,
        ])
    }

    /// The file is compiled with these tests.
    @Test func aModelIsPrintedAsTypes() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "PrintedTypes.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let printed = try "// swift-format-ignore-file\n" + model(isPreviousOptional: false).swiftTypes()
        for (line, expected) in zip(printed.split(separator: "\n"), text.split(separator: "\n")) where line != expected
        {
            Issue.record("\(line)\ninstead of\n\(expected)")
            break
        }
        #expect(printed == text)
    }

    @Test func thePrintedTypesMakeTheModelAgain() throws {
        let expected = try model(isPreviousOptional: true).entities.dropLast()
        let made = try makeModel().entities
        #expect(made.map(\.name) == expected.map(\.name))
        for (made, expected) in zip(made, expected) { #expect(made == expected) }
    }

    private struct Plain: SyncObject {
        var id: Int
        var name: String?

        static let declaration = SyncDeclaration<Plain>(.identity())
    }

    private struct Special: SyncObject {
        var id: Int
        var name: String?
        var note: String?

        static let declaration = SyncDeclaration<Special>(.parent(Plain.self), .identity())
    }

    private struct Usual: SyncObject {
        var id: Int
    }

    @Test func aTypeThatDeclaresNoIdentityIsPrintedSo() throws {
        let text = try DataModel(Special.self, Usual.self).swiftTypes()
        for line in [
            "    static let declaration = SyncDeclaration<Plain>(\n        .identity())",
            "    static let declaration = SyncDeclaration<Special>(\n        .parent(Plain.self),\n        .identity())",
        ] {
            #expect(text.contains(line), "\(text)")
        }
        #expect(!text.contains("Usual>"))
    }

    /// By convention, `id` is the identity of an entity whose model states none.
    @Test func anEntityWhoseIdentityIsLeftToTheConventionIsPrintedWithoutAStatement() throws {
        let model = try DataModel {
            SyncEntity("Base") { SyncAttribute("id", .int64) }
            SyncEntity("Sub", parent: "Base") { SyncAttribute("name", .string) }
            SyncEntity("Other") { SyncAttribute("remoteID", .int64) }
            SyncEntity("Stated", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Inheriting", parent: "Stated") { SyncAttribute("name", .string) }
        }
        #expect(!model.swiftTypes().contains(".identity("))
    }

    @Test func aModelWithoutEntitiesHasNoTypes() throws {
        #expect(try DataModel([]).swiftTypes().hasSuffix("    try DataModel([])\n}\n"))
    }
}
