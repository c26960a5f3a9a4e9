import SyncModel
import Testing

@Suite struct ModelErrorTests {
    private func refuse(_ error: ModelError, _ text: String, @ModelBuilder<Entity> _ entities: () -> [Entity]) {
        #expect(throws: error) { try Model(entities()) }
        #expect(error.description == text)
    }

    @Test func namesAreNeededAndUnique() {
        refuse(.emptyName(entity: "", property: nil), "an entity has an empty name") { Entity("") {} }
        refuse(.emptyName(entity: "A", property: ""), "A has a property with an empty name") {
            Entity("A") { Attribute("", .bool) }
        }
        refuse(.duplicateEntity(entity: "A"), "there are two entities A") {
            Entity("A") {}
            Entity("A") {}
        }
        refuse(.duplicateProperty(entity: "A", property: "x"), "A.x is declared twice") {
            Entity("A") {
                Attribute("x", .bool)
                Relationship("x", toOne: "A")
            }
        }
    }

    @Test func inheritanceMustEndInARoot() {
        refuse(.unknownParent(entity: "A", parent: "B"), "A inherits from B, which does not exist") {
            Entity("A", parent: "B") {}
        }
        refuse(
            .inheritanceCycle(entity: "B", through: ["B", "C", "B"]), "B inherits from itself: B → C → B"
        ) {
            Entity("A", parent: "B") {}
            Entity("B", parent: "C") {}
            Entity("C", parent: "B") {}
            Entity("D") {}
        }
        refuse(.inheritanceCycle(entity: "A", through: ["A", "A"]), "A inherits from itself: A → A") {
            Entity("A", parent: "A") {}
        }
    }

    @Test func anInheritedPropertyIsNotDeclaredAgain() {
        refuse(
            .inheritedProperty(entity: "C", property: "x", from: "A"), "C.x is declared already by A"
        ) {
            Entity("A") { Attribute("x", .bool) }
            Entity("B", parent: "A") { Attribute("y", .bool) }
            Entity("C", parent: "B") { Relationship("x", toMany: "A") }
        }
    }

    @Test func relationshipsLeadSomewhereAndBack() {
        refuse(
            .unknownDestination(entity: "A", relationship: "b", destination: "B"),
            "A.b leads to B, which does not exist"
        ) { Entity("A") { Relationship("b", toOne: "B") } }
        refuse(
            .unknownInverse(entity: "A", relationship: "b", destination: "B", inverse: "a"),
            "A.b has the inverse B.a, which does not exist"
        ) {
            Entity("A") { Relationship("b", toOne: "B", inverse: "a") }
            Entity("B") { Attribute("a", .bool) }
        }
        let another = ModelError.inverseDoesNotPointBack(
            entity: "A", relationship: "b", destination: "B", inverse: "a")
        refuse(another, "A.b has the inverse B.a, whose own inverse is another") {
            Entity("A") { Relationship("b", toOne: "B", inverse: "a") }
            Entity("B") { Relationship("a", toMany: "A") }
        }
        refuse(another, "A.b has the inverse B.a, whose own inverse is another") {
            Entity("A") { Relationship("b", toOne: "B", inverse: "a") }
            Entity("B") { Relationship("a", toMany: "C", inverse: "b") }
            Entity("C") { Relationship("b", toOne: "B", inverse: "a") }
        }
        refuse(
            .orderedToOne(entity: "A", relationship: "a"), "A.a is ordered, but relates to at most one object"
        ) {
            let list: Relationship = {
                var relationship = Relationship("a", toOne: "A")
                relationship.isOrdered = true
                return relationship
            }()
            Entity("A") { list }
        }
    }

    @Test func anInverseMayBeInheritedOrTheRelationshipItself() throws {
        let model = try Model {
            Entity("Base") { Relationship("owner", toOne: "Owner", inverse: "things") }
            Entity("Thing", parent: "Base") {}
            Entity("Owner") {
                Relationship("things", toMany: "Thing", inverse: "owner")
                Relationship("friends", toMany: "Owner", inverse: "friends")
            }
        }
        let owner = try model.layout(of: "Owner")
        #expect(owner.relationship("things")?.inverse == model["Thing"]?.relationship("owner")?.index)
        #expect(owner.relationship("friends")?.inverse == owner.relationship("friends")?.index)
    }

    @Test func anIdentityNamesAttributesThatTellObjectsApart() {
        refuse(.unknownIdentity(entity: "A", attribute: "y"), "the identity of A names y, which is no attribute of it")
        {
            Entity("A", identity: "x", "y") { Attribute("x", .int64) }
        }
        refuse(
            .unsuitableIdentity(entity: "A", attribute: "x", type: .transformable),
            "the identity of A names x, which is transformable"
        ) { Entity("A", identity: "x") { Attribute("x", .transformable) } }
    }

    @Test(arguments: [
        (AttributeType.int16, Value.int(40_000)), (.int32, .int(1 << 40)), (.double, .int(1)), (.float, .double(0.1)),
        (.string, 1), (.bool, 1), (.decimal, 1.5), (.uuid, "x"), (.transformable, "x"),
    ])
    func aDefaultIsOfTheAttributesType(type: AttributeType, value: Value) {
        refuse(
            .defaultOfWrongType(entity: "A", attribute: "x", type: type),
            "the default of A.x is no value of type \(type.rawValue)"
        ) { Entity("A") { Attribute("x", type, default: value) } }
    }
}
