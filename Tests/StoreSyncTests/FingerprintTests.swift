import SyncBase
import SyncModel
import Testing

@testable import StoreSync

/// What a bookmark depends on.
@Suite struct FingerprintTests {
    private struct Declaration {
        var entity = "Box"
        var identity = ["id"]
        var attribute = SyncAttribute("id", .int64)
        var relationship = SyncRelationship("next", toOne: "Box")
        var userInfo: [String: String] = [:]

        func fingerprint() throws -> String {
            var fingerprint = Fingerprint()
            fingerprint.combine(
                try DataModel([
                    SyncEntity(
                        entity, identity: identity, attributes: [attribute], relationships: [relationship],
                        userInfo: userInfo)
                ]))
            return fingerprint.text
        }
    }

    @Test func everythingThatAModelDeclaresCounts() throws {
        let changes: [(inout Declaration) -> Void] = [
            { _ in },
            {
                $0.entity = "Case"
                $0.relationship.destination = "Case"
            }, { $0.identity = [] }, { $0.userInfo = ["a": "b"] }, { $0.userInfo = ["a": "c"] },
            { $0.attribute.type = .int32 }, { $0.attribute.isOptional.toggle() },
            { $0.attribute.defaultValue = .int(1) }, { $0.attribute.userInfo = ["a": "b"] },
            { $0.attribute.transformerName = "t" }, { $0.relationship.name = "other" },
            { $0.relationship.isToMany = true },
            {
                $0.relationship.isToMany = true
                $0.relationship.isOrdered = true
            }, { $0.relationship.inverse = "next" }, { $0.relationship.deleteRule = .cascade },
            { $0.relationship.userInfo = ["a": "b"] },
        ]
        let fingerprints = try changes.map { change in
            var declaration = Declaration()
            change(&declaration)
            return try declaration.fingerprint()
        }
        #expect(Set(fingerprints).count == changes.count)
        #expect(try Declaration().fingerprint() == fingerprints[0])
    }
}
