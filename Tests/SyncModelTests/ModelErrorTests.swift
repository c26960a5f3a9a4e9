import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ModelErrorTests {
    private func refuse(
        _ error: ModelError, _ text: String, @DataModel.Builder<SyncEntity> _ entities: () -> [SyncEntity]
    ) {
        #expect(throws: error) { try DataModel(entities()) }
        #expect(error.description == text)
    }

    @Test func namesAreNeededAndUnique() {
        refuse(.emptyName(entity: "", property: nil), "an entity has an empty name") { SyncEntity("") {} }
        refuse(.emptyName(entity: "A", property: ""), "A has a property with an empty name") {
            SyncEntity("A") { SyncAttribute("", .bool) }
        }
        refuse(.duplicateEntity(entity: "A"), "there are two entities A") {
            SyncEntity("A") {}
            SyncEntity("A") {}
        }
        refuse(.duplicateProperty(entity: "A", property: "x"), "A.x is declared twice") {
            SyncEntity("A") {
                SyncAttribute("x", .bool)
                SyncRelationship("x", toOne: "A")
            }
        }
    }

    @Test func inheritanceMustEndInARoot() {
        refuse(.unknownParent(entity: "A", parent: "B"), "A inherits from B, which does not exist") {
            SyncEntity("A", parent: "B") {}
        }
        refuse(
            .inheritanceCycle(entity: "B", through: ["B", "C", "B"]), "B inherits from itself: B → C → B"
        ) {
            SyncEntity("A", parent: "B") {}
            SyncEntity("B", parent: "C") {}
            SyncEntity("C", parent: "B") {}
            SyncEntity("D") {}
        }
        refuse(.inheritanceCycle(entity: "A", through: ["A", "A"]), "A inherits from itself: A → A") {
            SyncEntity("A", parent: "A") {}
        }
    }

    @Test func anEntityHasAtMostAHundredAncestors() throws {
        func model(_ count: Int) throws -> DataModel {
            try DataModel((0...count).map { SyncEntity("E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)") {} })
        }
        #expect(try model(100).entities.count == 101)
        #expect(throws: ModelError.tooManyAncestors(entity: "E101", limit: 100)) { try model(101) }
    }

    @Test func anInheritedPropertyIsNotDeclaredAgain() {
        refuse(
            .inheritedProperty(entity: "C", property: "x", from: "A"), "C.x is declared already by A"
        ) {
            SyncEntity("A") { SyncAttribute("x", .bool) }
            SyncEntity("B", parent: "A") { SyncAttribute("y", .bool) }
            SyncEntity("C", parent: "B") { SyncRelationship("x", toMany: "A") }
        }
        for property in ["x", "z"] {
            refuse(
                .inheritedProperty(entity: "C", property: property, from: "A"),
                "C.\(property) is declared already by A"
            ) {
                SyncEntity("A") {
                    SyncAttribute("z", .bool)
                    SyncRelationship("x", toOne: "A")
                }
                SyncEntity("B", parent: "A") {
                    SyncAttribute("other", .bool)
                    SyncRelationship("another", toOne: "A")
                }
                SyncEntity("C", parent: "B") { SyncAttribute(property, .bool) }
            }
        }
    }

    @Test func relationshipsLeadSomewhereAndBack() {
        refuse(
            .unknownDestination(entity: "A", relationship: "b", destination: "B"),
            "A.b leads to B, which does not exist"
        ) { SyncEntity("A") { SyncRelationship("b", toOne: "B") } }
        refuse(
            .unknownInverse(entity: "A", relationship: "b", destination: "B", inverse: "a"),
            "A.b has the inverse B.a, which does not exist"
        ) {
            SyncEntity("A") { SyncRelationship("b", toOne: "B", inverse: "a") }
            SyncEntity("B") { SyncAttribute("a", .bool) }
        }
        let another = ModelError.inverseDoesNotPointBack(
            entity: "A", relationship: "b", destination: "B", inverse: "a")
        refuse(another, "A.b has the inverse B.a, whose own inverse is another") {
            SyncEntity("A") { SyncRelationship("b", toOne: "B", inverse: "a") }
            SyncEntity("B") { SyncRelationship("a", toMany: "A") }
        }
        refuse(another, "A.b has the inverse B.a, whose own inverse is another") {
            SyncEntity("A") { SyncRelationship("b", toOne: "B", inverse: "a") }
            SyncEntity("B") { SyncRelationship("a", toMany: "C", inverse: "b") }
            SyncEntity("C") { SyncRelationship("b", toOne: "B", inverse: "a") }
        }
        refuse(
            .orderedToOne(entity: "A", relationship: "a"), "A.a is ordered, but relates to at most one object"
        ) {
            let list: SyncRelationship = {
                var relationship = SyncRelationship("a", toOne: "A")
                relationship.isOrdered = true
                return relationship
            }()
            SyncEntity("A") { list }
        }
    }

    @Test func anInverseMayBeInheritedOrTheRelationshipItself() throws {
        let model = try DataModel {
            SyncEntity("Base") { SyncRelationship("owner", toOne: "Owner", inverse: "things") }
            SyncEntity("Thing", parent: "Base") {}
            SyncEntity("Owner") {
                SyncRelationship("things", toMany: "Thing", inverse: "owner")
                SyncRelationship("friends", toMany: "Owner", inverse: "friends")
            }
        }
        let owner = try model.layout(of: "Owner")
        #expect(owner.relationship("things")?.inverse == model["Thing"]?.relationship("owner")?.index)
        #expect(owner.relationship("friends")?.inverse == owner.relationship("friends")?.index)
    }

    @Test func anIdentityNamesAttributesThatTellObjectsApart() {
        refuse(
            .unknownIdentity(entity: "A", attribute: "y"), "the identity of A names y, which is not an attribute of it"
        ) { SyncEntity("A", identity: "x", "y") { SyncAttribute("x", .int64) } }
        refuse(
            .unsuitableIdentity(entity: "A", attribute: "x", type: .transformable),
            "the identity of A names x, which has the unsuitable type transformable"
        ) { SyncEntity("A", identity: "x") { SyncAttribute("x", .transformable) } }
    }

    @Test(arguments: [
        (AttributeType.int16, AttributeValue.int(40_000)), (.int32, .int(1 << 40)), (.double, .int(1)),
        (.float, .double(0.1)),
        (.string, 1), (.bool, 1), (.decimal, 1.5), (.uuid, "x"), (.transformable, "x"),
    ])
    func aDefaultIsOfTheAttributesType(type: AttributeType, value: AttributeValue) {
        refuse(
            .defaultOfWrongType(entity: "A", attribute: "x", type: type),
            "the default of A.x is not a value of type \(type.rawValue)"
        ) { SyncEntity("A") { SyncAttribute("x", type, default: value) } }
    }

    /// Which conditions of an index every database reads in the same way.
    private static let conditions: [(condition: RecordPredicate, isSuitable: Bool)] = {
        let own = PropertyPath("name")
        let other = PropertyPath("owner.name")
        func equal(_ key: String, _ value: AttributeValue) -> RecordPredicate {
            .comparison(PropertyPath(key), .equal, value)
        }
        return [
            (equal("name", .string("x")), true), (equal("name", .string("x\0")), false),
            (equal("link", .uri("x")), true), (equal("link", .uri("x\0")), false),
            (equal("owner.name", .string("x")), false), (equal("count", .int(1)), true),
            (equal("owner.count", .int(1)), false), (equal("size", .double(1)), false),
            (equal("price", .decimal(1)), false), (equal("name", .null), false),
            (.isNull(own), true), (.isNull(other), false), (.not(.isNull(own)), true), (.not(.isNull(other)), false),
            (.and([.isNull(own), equal("count", .int(1))]), true), (.and([.isNull(own), .isNull(other)]), false),
            (.or([.isNull(own), equal("count", .int(1))]), false), (.not(equal("count", .int(1))), false),
        ]
    }()

    @Test(arguments: conditions.indices)
    func anIndexHasAConditionThatDatabasesAgreeOn(number: Int) throws {
        let (condition, isSuitable) = Self.conditions[number]
        var thing = SyncEntity("Thing") {
            SyncAttribute("name", .string)
            SyncAttribute("link", .uri)
            SyncAttribute("count", .int64)
            SyncAttribute("size", .double)
            SyncAttribute("price", .decimal)
            SyncRelationship("owner", toOne: "Thing")
        }
        thing.indexes = [SyncEntity.Index(["count"], where: condition)]
        let entities = [thing]
        if isSuitable {
            #expect(try DataModel(entities).layout(of: "Thing").entity.indexes.count == 1)
        } else {
            let error = ModelError.unsuitableIndex(entity: "Thing", attributes: ["count"])
            #expect(throws: error) { try DataModel(entities) }
        }
    }
}
