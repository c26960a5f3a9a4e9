import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import Testing

/// What model files of apps contain and a model does not.
@Suite(.endsInTime) struct ModelRepairTests {
    private func read(_ entities: String) throws -> ModelFile {
        try ModelFile(xml: Data("<model>\n\(entities)\n</model>".utf8))
    }

    private func reasons(_ file: ModelFile) -> [ModelFile.Warning.Reason] {
        file.warnings.map(\.reason)
    }

    private func constraint(_ names: String...) -> String {
        let elements = names.map { "<constraint value=\"\($0)\"/>" }
        return "<uniquenessConstraint>\(elements.joined())</uniquenessConstraint>"
    }

    // MARK: Identities

    @Test func theFirstSuitableConstraintIsTheIdentity() throws {
        let file = try read(
            """
            <entity name="E">
            <attribute name="blob" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData"/>
            <attribute name="odd" attributeType="Undefined" transient="YES"/>
            <attribute name="a" attributeType="String"/><attribute name="b" attributeType="String"/>
            <relationship name="r" destinationEntity="E"/>
            <uniquenessConstraints>
            \(constraint("blob"))
            \(constraint("a", "r"))
            \(constraint("odd"))
            \(constraint("nothing.like.it"))
            \(constraint())
            \(constraint("a", "b"))
            \(constraint("b"))
            </uniquenessConstraints>
            </entity>
            """)
        #expect(file.model["E"]?.entity.identity == ["a", "b"])
        let whats = [
            "a uniqueness constraint on a transformable attribute", "a uniqueness constraint on a relationship",
            "a uniqueness constraint on odd, which is not an attribute",
            "a uniqueness constraint on nothing.like.it, which is not an attribute",
            "a uniqueness constraint on nothing", "a second uniqueness constraint",
        ]
        #expect(
            reasons(file) == [.unsupportedType(attribute: "odd", type: "Undefined")]
                + whats.map { .unsupported(what: $0) })
        #expect(file.warnings.map(\.line) == [4, 8, 9, 10, 11, 12, 14])
    }

    @Test func aConstraintOfASubentityDoesNotExtendTheIdentity() throws {
        let file = try read(
            """
            <entity name="Manager" parentEntity="Person"><uniquenessConstraints>
            \(constraint("id"))
            \(constraint("badge"))
            </uniquenessConstraints><attribute name="badge" attributeType="String"/></entity>
            <entity name="Person"><attribute name="id" attributeType="Integer 64"/>
            <uniquenessConstraints>\(constraint("id"))</uniquenessConstraints></entity>
            """)
        #expect(reasons(file) == [.unsupported(what: "a second uniqueness constraint")])
        #expect(try file.model.layout(of: "Manager").identityColumns == [0])
        #expect(file.model["Manager"]?.entity.identity == [])
    }

    @Test func aConstraintThatBeginsWithTheIdentityOfTheParentExtendsIt() throws {
        let file = try read(
            """
            <entity name="Person"><attribute name="id" attributeType="Integer 64"/>
            <uniquenessConstraints>\(constraint("id"))</uniquenessConstraints></entity>
            <entity name="Manager" parentEntity="Person"><attribute name="badge" attributeType="String"/>
            <uniquenessConstraints>\(constraint("id", "badge"))</uniquenessConstraints></entity>
            """)
        #expect(file.warnings.isEmpty)
        #expect(file.model["Manager"]?.entity.identity == ["badge"])
        #expect(try file.model.layout(of: "Manager").identityColumns == [0, 1])
    }

    @Test func anInheritedAttributeCanBeTheIdentityOfASubentity() throws {
        let file = try read(
            """
            <entity name="Base" isAbstract="YES"><attribute name="id" attributeType="UUID"/></entity>
            <entity name="E" parentEntity="Base"><uniquenessConstraints>\(constraint("id"))</uniquenessConstraints></entity>
            """)
        #expect(file.warnings.isEmpty)
        #expect(file.model["E"]?.entity.identity == ["id"])
    }

    // MARK: Relationships

    @Test func aRelationshipWithoutADestinationIsLeftOut() throws {
        let file = try read(
            """
            <entity name="E">
            <relationship name="none" optional="YES"/>
            <relationship name="empty" destinationEntity=""/>
            <relationship name="gone" destinationEntity="Gone" inverseName="e" inverseEntity="Gone"/>
            <relationship name="kept" destinationEntity="E" inverseName="gone" inverseEntity="E"/>
            </entity>
            """)
        #expect(
            reasons(file) == [
                .unknownDestination(relationship: "none", destination: nil),
                .unknownDestination(relationship: "empty", destination: nil),
                .unknownDestination(relationship: "gone", destination: "Gone"),
                .unusableInverse(relationship: "kept", inverse: "gone"),
            ])
        #expect(file.model["E"]?.relationships.map(\.name) == ["kept"])
        let text = "contents:3: relationship none is left out because it has no destination"
        #expect(file.warnings.first?.description == text)
    }

    @Test func anInverseThatDoesNotPointBackIsRemoved() throws {
        let file = try read(
            """
            <entity name="A">
            <relationship name="good" destinationEntity="B" inverseName="good"/>
            <relationship name="one" destinationEntity="B" inverseName="other"/>
            <relationship name="two" destinationEntity="B" inverseName="other"/>
            <relationship name="lonely" destinationEntity="B" inverseName="silent"/>
            <relationship name="astray" destinationEntity="B" inverseName="back"/>
            <relationship name="plain" destinationEntity="B" inverseName=""/>
            </entity>
            <entity name="B">
            <relationship name="good" destinationEntity="A" inverseName="good"/>
            <relationship name="other" destinationEntity="A" inverseName="two"/>
            <relationship name="silent" destinationEntity="A"/>
            <relationship name="back" destinationEntity="B" inverseName="astray"/>
            </entity>
            """)
        let removed = ["one": "other", "lonely": "silent", "astray": "back", "back": "astray"]
        #expect(file.warnings.count == removed.count)
        for (relationship, inverse) in removed {
            #expect(reasons(file).contains(.unusableInverse(relationship: relationship, inverse: inverse)))
        }
        let inverses = try file.model.layout(of: "A").relationships.map { $0.declaration.inverse }
        #expect(inverses == ["good", nil, "other", nil, nil, nil])
    }

    @Test func anInverseMayBeDeclaredByAnAncestorOfTheDestination() throws {
        let file = try read(
            """
            <entity name="Blog"><relationship name="posts" toMany="YES" destinationEntity="Post" inverseName="blog"/></entity>
            <entity name="AbstractPost" isAbstract="YES">
            <relationship name="blog" destinationEntity="Blog" inverseName="posts"/></entity>
            <entity name="Post" parentEntity="AbstractPost"/>
            """)
        #expect(file.warnings.isEmpty)
        #expect(file.model["Blog"]?.relationships[0].inverse == 0)
    }

    /// The pairs that remain, when relationships of several entities have the same names.
    @Test func aRelationshipThatAnotherPairLeavesOutLosesItsInverse() throws {
        let file = try read(
            """
            <entity name="A"><relationship name="r" destinationEntity="B" inverseName="back"/></entity>
            <entity name="B"><relationship name="back" destinationEntity="C" inverseName="r"/></entity>
            <entity name="C"><relationship name="r" destinationEntity="B" inverseName="back"/></entity>
            """)
        #expect(reasons(file) == [.unusableInverse(relationship: "r", inverse: "back")])
        #expect(file.warnings.map(\.line) == [2])
        let inverses = try file.model.entities.map { try #require($0.relationships.first).inverse }
        #expect(inverses == [nil, "r", "back"])
    }

    /// The inverse leads to an ancestor, which does not have the relationship.
    @Test(arguments: ["ABX", "AXB", "BAX", "BXA", "XAB", "XBA"])
    func anInverseToAnAncestorIsRemovedOnBothSides(order: String) throws {
        let entities: [Character: String] = [
            "A":
                "<entity name=\"A\" parentEntity=\"X\"><relationship name=\"r\" destinationEntity=\"B\" inverseName=\"s\"/></entity>",
            "B": "<entity name=\"B\"><relationship name=\"s\" destinationEntity=\"X\" inverseName=\"r\"/></entity>",
            "X": "<entity name=\"X\"/>",
        ]
        let file = try read(order.compactMap { entities[$0] }.joined(separator: "\n"))
        let expected: Set<ModelFile.Warning.Reason> = [
            .unusableInverse(relationship: "r", inverse: "s"), .unusableInverse(relationship: "s", inverse: "r"),
        ]
        #expect(file.warnings.count == 2 && Set(reasons(file)) == expected)
        #expect(try file.model.layout(of: "A").relationships.map(\.inverse) == [nil])
        #expect(try file.model.layout(of: "B").relationships.map(\.inverse) == [nil])
    }

    /// The relationship of a parent, and an inverse that leads to it or to a sub-entity.
    @Test(arguments: ["X", "A", "Y"]) func anInverseMayLeadToASubentity(destination: String) throws {
        let file = try read(
            """
            <entity name="X"><relationship name="r" destinationEntity="B" inverseName="s"/></entity>
            <entity name="A" parentEntity="X"/><entity name="Y" parentEntity="A"/>
            <entity name="B"><relationship name="s" destinationEntity="\(destination)" inverseName="r"/></entity>
            """)
        #expect(file.warnings.isEmpty)
        #expect(try file.model.layout(of: "B").relationships.map(\.inverse) == [0])
    }

    // MARK: Attributes

    @Test func aPropertyThatAnAncestorDeclaresIsTakenFromThere() throws {
        let file = try read(
            """
            <entity name="A"><attribute name="x" attributeType="String"/>
            <relationship name="r" destinationEntity="A"/></entity>
            <entity name="B" parentEntity="A"/>
            <entity name="C" parentEntity="B">
            <attribute name="x" attributeType="Date"/>
            <attribute name="r" attributeType="Date"/>
            <attribute name="own" attributeType="Date"/></entity>
            """)
        #expect(reasons(file) == [.inheritedProperty("x"), .inheritedProperty("r")])
        #expect(try file.model.layout(of: "C").attributes.map(\.name) == ["x", "own"])
        #expect(try file.model.layout(of: "C").attributes[0].type == .string)
    }

    @Test func everyOtherKindOfAttributeIsReadOrReported() throws {
        let file = try read(
            """
            <entity name="Order" representedClassName=".Order" syncable="YES" codeGenerationType="category">
            <attribute name="description" optional="yes" attributeType="String" defaultValueString="-"/>
            <attribute name="select" optional="true" attributeType="Integer 16" minValueString="0"/>
            <attribute name="full" attributeType="String" derived="YES" derivationExpression="now()"/>
            <attribute name="home" optional="YES" attributeType="Composite"/>
            <attribute name="object" optional="YES" attributeType="ObjectID"/>
            <attribute name="nothing" optional="YES"/>
            <attribute name="archive" optional="YES" attributeType="Transformable" valueTransformerName=""/>
            <userInfo><entry value="no key"/><entry key="no value"/></userInfo>
            </entity>
            <compositeAttribute name="Address"><attribute name="city" attributeType="String"/></compositeAttribute>
            """)
        let attributes = try file.model.layout(of: "Order").attributes
        #expect(attributes.map(\.name) == ["description", "select", "full", "home", "archive"])
        #expect(attributes.map(\.type) == [.string, .int16, .string, .json, .transformable])
        #expect(attributes.map(\.isOptional) == [true, true, false, true, true])
        #expect(file.model["Order"]?.entity.userInfo == ["no value": ""])
        #expect(
            reasons(file) == [
                .unsupported(what: "minValueString"), .unsupported(what: "derivationExpression"),
                .unsupported(what: "derived"), .compositeAttribute("home"),
                .unsupportedType(attribute: "object", type: "ObjectID"),
                .unsupportedType(attribute: "nothing", type: ""),
                .missingAttribute(element: "entry", attribute: "key"), .unsupported(what: "compositeAttribute"),
            ])
    }
}
