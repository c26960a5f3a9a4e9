import Foundation
import OneWayTestLimits
import SyncModel
import Testing

/// A declaration that cannot be right is an error of its model, which every store makes when it is
/// opened.
@Suite(.endsInTime) struct DeclarationMistakeTests {
    struct Author: SyncObject {
        var id: Int
    }

    struct Note: SyncObject {
        var id: Int
    }

    struct RelationshipAsAttribute: SyncObject {
        var id: Int
        var author: Author?
        static let declaration = SyncDeclaration<Self>(.attribute(\.author, remoteKey: "writer"))
    }

    struct ListAsOne: SyncObject {
        var id: Int
        var notes: [Note]
        static let declaration = SyncDeclaration<Self>(.toOne(\.notes, deleteRule: .cascade))
    }

    struct OneAsList: SyncObject {
        var id: Int
        var author: Author?
        static let declaration = SyncDeclaration<Self>(.toMany(\.author, ordered: true))
    }

    /// The name of a computed property is not known at run time.
    struct ComputedIdentity: SyncObject {
        var number: Int
        var code: Int { -number }
        static let declaration = SyncDeclaration<Self>(.identity(\.code))
    }

    struct Normalizing: SyncObject {
        var id: Int
        var name: String
        static let declaration = SyncDeclaration<Self>(.unique(\.name))

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            name = try container.decode(String.self, forKey: .name).uppercased()
        }
    }

    struct RelationshipAsIdentity: SyncObject {
        var id: Int
        var author: Author?
        static let declaration = SyncDeclaration<Self>(.identity(\.author))
    }

    struct AttributeAsScope: SyncObject {
        var id: Int
        var order: Int
        static let declaration = SyncDeclaration<Self>(.identity(\.id, within: \.order))
    }

    struct OtherDefault: SyncObject {
        var id: Int
        var age: Int
        static let declaration = SyncDeclaration<Self>(.attribute(\.age, default: "old"))
    }

    struct IndexedRelationship: SyncObject {
        var id: Int
        var notes: [Note]
        static let declaration = SyncDeclaration<Self>(.index(\.notes))
    }

    struct Parent: SyncObject {
        var id: Int
        var children: Related<[Child]>
        static let declaration = SyncDeclaration<Self>(.toMany(\.children, inverse: \.mother))
    }

    struct Child: SyncObject {
        var id: Int
        var mother: Related<Parent?>
        var father: Related<Parent?>
        static let declaration = SyncDeclaration<Self>(.toOne(\.father, inverse: \.children))
    }

    @Test(
        arguments: [
            (RelationshipAsAttribute.self, "RelationshipAsAttribute.author is not an attribute"),
            (ListAsOne.self, "ListAsOne.notes is declared as a relationship to one object, but holds a list"),
            (OneAsList.self, "OneAsList.author is declared as a relationship to many objects, but holds one"),
            (ComputedIdentity.self, "leads to no property that ComputedIdentity decodes without changing it"),
            (Normalizing.self, "leads to no property that Normalizing decodes without changing it"),
            (
                RelationshipAsIdentity.self,
                "the identity of RelationshipAsIdentity names author, which is not an attribute"
            ),
            (AttributeAsScope.self, "the identity of AttributeAsScope is scoped by order, which is not a to-one"),
            (OtherDefault.self, "the default of OtherDefault.age is not a value of type int64"),
            (IndexedRelationship.self, "the index of IndexedRelationship by notes names a property that is not an"),
            (Child.self, "Child.father has the inverse Parent.children, whose own inverse is another"),
        ] as [(any SyncObject.Type, String)])
    func aMistakeIsNamedWithTypeAndProperty(type: any SyncObject.Type, sentence: String) throws {
        let error = #expect(throws: (any Error).self) { try DataModel(type) }
        let text = try #require(error.map { "\($0)" })
        #expect(text.contains(sentence), "\(text)")
    }
}
