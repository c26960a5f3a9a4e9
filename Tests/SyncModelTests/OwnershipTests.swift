import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct OwnershipTests {
    @Test func objectsWithoutAnIdentityBelongToWhatLeadsToThem() throws {
        let model = try DataModel {
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("geo", toOne: "Geo", inverse: "place")
                SyncRelationship("city", toOne: "City", inverse: "places")
                SyncRelationship("tags", toMany: "Tag", deleteRule: .deny)
            }
            SyncEntity("Geo") {
                SyncAttribute("lat", .double)
                SyncRelationship("place", toOne: "Place", inverse: "geo")
            }
            SyncEntity("City", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("places", toMany: "Place", inverse: "city")
            }
            SyncEntity("Tag") { SyncAttribute("text", .string) }
        }
        let place = try model.layout(of: "Place")
        #expect(place.relationships.map(\.isOwning) == [true, false, true])
        // What is owned goes with its owner, unless the model forbids it.
        #expect(place.relationships.map(\.deleteRule) == [.cascade, .nullify, .deny])
        #expect(place.relationships.map(\.declaration) == place.entity.relationships)
        #expect(try model.layout(of: "Geo").relationships.map(\.isOwning) == [false])
    }

    @Test func theSideOfManyOwnsWhereNeitherSideHasAnIdentity() throws {
        let model = try DataModel {
            SyncEntity("Node") {
                SyncRelationship("children", toMany: "Node", inverse: "parent")
                SyncRelationship("parent", toOne: "Node", inverse: "children")
            }
        }
        #expect(try model.layout(of: "Node").relationships.map(\.isOwning) == [true, false])
    }

    /// Neither side has an identity, and both lead to as many objects as the other.
    @Test(arguments: [true, false]) func theSideThatCascadesOwnsIfTheOtherDoesNot(isToMany: Bool) throws {
        let rules = SyncRelationship.DeleteRule.allCases
        for one in rules {
            for other in rules {
                var relationships = [
                    SyncRelationship("b", toMany: "B", inverse: "a", deleteRule: one),
                    SyncRelationship("a", toMany: "A", inverse: "b", deleteRule: other),
                ]
                for index in relationships.indices { relationships[index].isToMany = isToMany }
                let model = try DataModel([
                    SyncEntity("A", attributes: [], relationships: [relationships[0]]),
                    SyncEntity("B", attributes: [], relationships: [relationships[1]]),
                ])
                let expected = [one == .cascade && other != .cascade, other == .cascade && one != .cascade]
                #expect(model.layouts.map { $0.relationships[0].isOwning } == expected, "\(one) \(other)")
                #expect(model.layouts.map { $0.relationships[0].sharesTargets } == expected.map { $0 && isToMany })
            }
        }
    }

    /// What each side states, and which side owns.
    @Test(
        arguments: [
            (nil, nil, [true, false]), (true, nil, [true, false]), (false, nil, [false, false]),
            (nil, true, [false, true]),
            (nil, false, [true, false]), (true, true, [true, true]), (false, true, [false, true]),
        ] as [(Bool?, Bool?, [Bool])])
    func whatIsStatedCounts(ofOne: Bool?, ofOther: Bool?, expected: [Bool]) throws {
        let model = try DataModel {
            SyncEntity("A", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("b", toOne: "B", inverse: "a", owns: ofOne)
            }
            SyncEntity("B") { SyncRelationship("a", toOne: "A", inverse: "b", owns: ofOther) }
        }
        #expect(model.layouts.map { $0.relationships[0].isOwning } == expected)
    }

    @Test func anIdentityWithinAParentIsNoneOfTheStore() throws {
        let model = try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toMany: "Line", inverse: "order")
            }
            SyncEntity("Line", identity: "number", within: "order") {
                SyncAttribute("number", .int64)
                SyncRelationship("order", toOne: "Order", inverse: "lines")
            }
        }
        let line = try model.layout(of: "Line")
        #expect(line.identityColumns.isEmpty && line.scopedIdentityColumns == [0] && line.identityScope == 0)
        #expect(!line.hasIdentity)
        #expect(try model.layout(of: "Order").relationships[0].isOwning)
        #expect(line.entity.userInfo == ["sync.identityScope": "order"])
    }

    /// Without an inverse, nothing would lead from a parent to the objects that its identities are
    /// compared with.
    @Test(arguments: ["lines", "nothing", "parent"])
    func aScopeMustBeAToOneRelationshipWithAnInverse(scope: String) {
        #expect(throws: ModelError.unsuitableScope(entity: "Line", relationship: scope)) {
            try DataModel {
                SyncEntity("Line", identity: "number", within: scope) {
                    SyncAttribute("number", .int64)
                    SyncRelationship("lines", toMany: "Line")
                    SyncRelationship("parent", toOne: "Line")
                }
            }
        }
    }
}
