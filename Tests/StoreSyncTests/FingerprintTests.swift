import Foundation
import OneWayTestLimits
import SyncBase
import SyncModel
import Testing

@testable import StoreSync

/// What a bookmark depends on.
@Suite(.endsInTime) struct FingerprintTests {
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
            { $0.attribute.allowedValues = [1] }, { $0.attribute.allowedValues = [1, 2] },
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

    /// Bookmarks of an earlier version stay valid, so that no update reads every list again.
    @Test func fingerprintsAreTheSameInEveryVersion() throws {
        var fingerprint = Fingerprint()
        fingerprint.combine(
            try DataModel([
                SyncEntity(
                    "Box", identity: ["id"],
                    attributes: [
                        SyncAttribute("id", .int64, optional: false),
                        SyncAttribute("size", .double, default: .double(1.5), userInfo: ["b": "2", "a": "1"]),
                        SyncAttribute("label", .string, transformer: "upper"),
                    ], relationships: [SyncRelationship("next", toOne: "Box", deleteRule: .cascade)],
                    userInfo: ["remotePrimaryKey": "id"]),
                SyncEntity("Crate", parent: "Box", abstract: true, attributes: [], relationships: []),
            ]))
        let path = PropertyPath("a.b")
        let leaf = PropertyPath("c")
        let predicates: [RecordPredicate] = [
            .constant(true), .comparison(path, .less, .int(7)), .isIn(path, [.int(1), .null]), .isNull(path),
            .text(path, .contains, "x"), .related(path, .any, .constant(false)),
            .related(path, .all, .constant(false)), .related(path, .count(2...5), .isNull(leaf)),
            .and([.isNull(leaf), .isNull(path)]), .or([.isNull(leaf), .isNull(path)]), .not(.isNull(leaf)),
        ]
        for predicate in predicates { fingerprint.combine(predicate) }
        let values: [AttributeValue] = [
            .null, .bool(true), .int(-2), .double(-0.5), .decimal(try #require(Decimal(string: "12.50"))), .string("é"),
            .date(Timestamp(microseconds: 1_500_000)), .binary(Data([1, 2])),
            .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), .uri("http://a"),
            .json(try #require(CanonicalJSON(#"{"a":[1]}"#))),
        ]
        for value in values { fingerprint.combine(value) }
        #expect(fingerprint.text == "6d9fc4a057dae430")
    }
}
