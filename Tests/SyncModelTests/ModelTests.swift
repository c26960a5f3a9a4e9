import SyncModel
import Testing

@Suite struct ModelTests {
    /// What most tests here talk about: people of companies, their notes, and kinds of messages.
    static let office = Result<Model, ModelError> { () throws(ModelError) in
        try Model {
            Entity("Company", identity: "remoteID") {
                Attribute("remoteID", .int64, optional: false, default: 0)
                Attribute("name", .string)
                Relationship("employees", toMany: "Person", inverse: "company")
            }
            Entity("Person", identity: "email", userInfo: ["sync.remoteKey": "people"]) {
                Attribute("email", .string, optional: false)
                Attribute("age", .int16, default: 18)
                Attribute("joinedAt", .date)
                Relationship("company", toOne: "Company", inverse: "employees")
                Relationship("notes", toMany: "Note", ordered: true, inverse: "author", deleteRule: .cascade)
            }
            Entity("Note") {
                Attribute("text", .string)
                Relationship("author", toOne: "Person", inverse: "notes")
            }
            Entity("Message", abstract: true, identity: "id") {
                Attribute("id", .int64, optional: false)
                Relationship("sender", toOne: "Person")
            }
            Entity("PictureMessage", parent: "Message", identity: "size") {
                Attribute("url", .uri)
                Attribute("size", .int32)
            }
            Entity("Postcard", parent: "PictureMessage") {
                Attribute("stamp", .string)
                Relationship("recipients", toMany: "Person")
            }
        }
    }

    @Test func aDeclarationReadsLikeTheModel() throws {
        let model = try Self.office.get()
        #expect(model.entities.map(\.name) == ["Company", "Person", "Note", "Message", "PictureMessage", "Postcard"])
        let person = try model.layout(of: "Person")
        #expect(person.attributes.map(\.name) == ["email", "age", "joinedAt"])
        #expect(person.attributes[1].defaultValue == 18)
        #expect(person.entity.userInfo == ["sync.remoteKey": "people"])
        let notes = try #require(person.relationship("notes"))
        #expect(notes.isToMany && notes.isOrdered && notes.declaration.deleteRule == .cascade)
        #expect(model.layouts[notes.destination].name == "Note")
        #expect(notes.inverse == model["Note"]?.relationship("author")?.index)
    }

    @Test func inheritedPropertiesComeFirstInTheSamePlaces() throws {
        let model = try Self.office.get()
        let message = try model.layout(of: "Message")
        let picture = try model.layout(of: "PictureMessage")
        let postcard = try model.layout(of: "Postcard")
        #expect(postcard.attributes.map(\.name) == ["id", "url", "size", "stamp"])
        for layout in [message, picture, postcard] {
            #expect(layout.slot(of: "id") == 0)
            #expect(layout.root == message.index)
            #expect(layout.relationship("sender")?.index == 0)
            #expect(layout.relationship("sender")?.source == message.index)
            #expect(layout.isKind(of: message))
        }
        #expect(!message.isKind(of: picture))
        #expect(message.family == [message.index, picture.index, postcard.index])
        #expect(message.identitySlots == [0])
        #expect(postcard.identitySlots == [0, 2])
        #expect(postcard.parent == picture.index)
        #expect(model["Note"]?.hasIdentity == false)
        #expect(model["Nothing"] == nil)
    }

    @Test func identitiesCanBeReplaced() throws {
        let model = try Self.office.get()
        let found = try model.replacingIdentities(["Note": ["text"], "Person": []])
        #expect(found["Note"]?.identitySlots == [0])
        #expect(found["Person"]?.identitySlots == [])
        #expect(found["Company"]?.identitySlots == [0])
        #expect(found != model)
        #expect(throws: ModelError.unknownEntity(entity: "Nothing")) {
            try model.replacingIdentities(["Nothing": []])
        }
    }

    @Test func entitiesAreAddedOnce() throws {
        let model = try Self.office.get()
        let badge = Entity("Badge", identity: ["number"], attributes: [Attribute("number", .int64)], relationships: [])
        let larger = try model.adding([badge])
        #expect(larger.entities == model.entities + [badge])
        #expect(try larger.adding([badge]) == larger)
        let other = Entity("Badge", attributes: [], relationships: [])
        #expect(throws: ModelError.duplicateEntity(entity: "Badge")) { try larger.adding([other]) }
    }

    @Test func modelsAreEqualWhenTheyDeclareTheSame() throws {
        let model = try Self.office.get()
        #expect(try Model(model.entities) == model)
        #expect(try Model(model.entities).hashValue == model.hashValue)
        #expect(try Model(model.entities.reversed()) != model)
        #expect(throws: ModelError.unknownEntity(entity: "Nothing")) { try model.layout(of: "Nothing") }
    }

    @Test func declarationsTakeConditionsAndLoops() throws {
        let withNote = true
        let model = try Model {
            for name in ["A", "B"] {
                Entity(name) {
                    Attribute("id", .int64)
                    if withNote {
                        Attribute("note", .string)
                    }
                    if name == "A" {
                        Attribute("onlyA", .bool)
                    } else {
                        Attribute("onlyB", .bool)
                    }
                }
            }
        }
        #expect(model["A"]?.attributes.map(\.name) == ["id", "note", "onlyA"])
        #expect(model["B"]?.attributes.map(\.name) == ["id", "note", "onlyB"])
    }
}
