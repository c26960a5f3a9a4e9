import OneWayTestLimits
import SyncModel
import Testing

/// What the statements of a declaration say, and what they leave as it is.
@Suite(.endsInTime) struct SyncDeclarationTests {
    struct Full: SyncObject {
        var id: Int
        var boss: Related<Target?>
        var owner: Related<Target?>
        var parts: Related<[Target]>
        var tags: Related<[Target]>
        var age: Int?

        static let boss: SyncDeclaration<Full>.Part = .toOne(
            \.boss, inverse: \.bossOf, deleteRule: .deny, owns: false, remoteKey: "b", formerName: "chief",
            userInfo: ["x": "1"])
        static let owner: SyncDeclaration<Full>.Part = .toOne(
            \.owner, deleteRule: .cascade, owns: true, remoteKey: "o", formerName: "holder", userInfo: ["x": "2"])
        static let parts: SyncDeclaration<Full>.Part = .toMany(
            \.parts, inverse: \.partOf, ordered: true, deleteRule: .noAction, owns: true, remoteKey: "p",
            formerName: "pieces", userInfo: ["x": "3"])
        static let tags: SyncDeclaration<Full>.Part = .toMany(
            \.tags, ordered: true, deleteRule: .cascade, owns: false, remoteKey: "t", formerName: "labels",
            userInfo: ["x": "4"])
        static let age: SyncDeclaration<Full>.Part = .attribute(
            \.age, type: .int16, default: 7, allowedValues: [7, 8], remoteKey: "a", transformer: "Years",
            formerName: "years", userInfo: ["x": "5"])
        static let index: SyncDeclaration<Full>.Part = .index(\.age, where: \.age > 5)
        static let unique: SyncDeclaration<Full>.Part = .unique(\.age, \.id)

        static let declaration = SyncDeclaration<Full>(
            "Thing", boss, owner, parts, tags, age, index, unique, .userInfo(["y": "6"]), .formerEntity("Object"),
            .abstract)
    }

    struct Target: SyncObject {
        var id: Int
        var bossOf: Related<[Full]>
        var partOf: Related<[Full]>
    }

    struct Bare: SyncObject {
        var boss: Related<BareTarget?>
        var owner: Related<BareTarget?>
        var parts: Related<[BareTarget]>
        var tags: Related<[BareTarget]>
        var age: Int?

        static let boss: SyncDeclaration<Bare>.Part = .toOne(\.boss, inverse: \.bossOf)
        static let owner: SyncDeclaration<Bare>.Part = .toOne(\.owner)
        static let parts: SyncDeclaration<Bare>.Part = .toMany(\.parts, inverse: \.partOf)
        static let tags: SyncDeclaration<Bare>.Part = .toMany(\.tags)
        static let age: SyncDeclaration<Bare>.Part = .attribute(\.age)
        static let index: SyncDeclaration<Bare>.Part = .index(\.age)
        static let unique: SyncDeclaration<Bare>.Part = .unique(\.age)

        static let declaration = SyncDeclaration<Bare>(boss, owner, parts, tags, age, index, unique)
    }

    struct BareTarget: SyncObject {
        var id: Int
        var bossOf: Related<[Bare]>
        var partOf: Related<[Bare]>
    }

    @Test func everyStatementIsInTheEntity() throws {
        var thing = SyncEntity("Thing", abstract: true, identity: "id", formerName: "Object", userInfo: ["y": "6"]) {
            SyncAttribute("id", .int64, optional: false)
            SyncAttribute(
                "age", .int16, default: 7, allowedValues: [7, 8], transformer: "Years", formerName: "years",
                userInfo: ["x": "5", "sync.remoteKey": "a"])
            SyncRelationship(
                "boss", toOne: "Target", inverse: "bossOf", deleteRule: .deny, owns: false, formerName: "chief",
                userInfo: ["x": "1", "sync.remoteKey": "b"])
            SyncRelationship(
                "owner", toOne: "Target", deleteRule: .cascade, owns: true, formerName: "holder",
                userInfo: ["x": "2", "sync.remoteKey": "o"])
            SyncRelationship(
                "parts", toOrdered: "Target", inverse: "partOf", deleteRule: .noAction, owns: true,
                formerName: "pieces", userInfo: ["x": "3", "sync.remoteKey": "p"])
            SyncRelationship(
                "tags", toOrdered: "Target", deleteRule: .cascade, owns: false, formerName: "labels",
                userInfo: ["x": "4", "sync.remoteKey": "t"])
        }
        thing.indexes = [
            SyncEntity.Index(["age"], where: PropertyPath("age") > 5), SyncEntity.Index(["age", "id"], unique: true),
        ]
        #expect(try Full.declaredEntity() == thing)
    }

    @Test func whatIsNotStatedStaysAsThePropertyImplies() throws {
        var bare = SyncEntity("Bare") {
            SyncAttribute("age", .int64)
            SyncRelationship("boss", toOne: "BareTarget", inverse: "bossOf")
            SyncRelationship("owner", toOne: "BareTarget")
            SyncRelationship("parts", toMany: "BareTarget", inverse: "partOf")
            SyncRelationship("tags", toMany: "BareTarget")
        }
        bare.indexes = [SyncEntity.Index(["age"]), SyncEntity.Index(["age"], unique: true)]
        #expect(try Bare.declaredEntity() == bare)
    }

    // MARK: Depth

    final class Endless: SyncObject {
        let next: Endless
    }

    struct EndlessRelation: SyncObject {
        var next: Related<EndlessRelation>
    }

    @Test func objectsThatContainEachOtherWithoutEndAreRefused() throws {
        for type in [Endless.self, EndlessRelation.self] as [any SyncObject.Type] {
            let error = #expect(throws: SyncDeclarationError.self) { try DataModel(type) }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("contain each other without end; use Related"), "\(type): \(text)")
        }
    }
}
