import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ModelTests {
    /// What most tests here talk about: people of companies, their notes, and kinds of messages.
    static let office = Result<DataModel, ModelError> { () throws(ModelError) in
        try DataModel {
            SyncEntity("Company", identity: "remoteID") {
                SyncAttribute("remoteID", .int64, optional: false, default: 0)
                SyncAttribute("name", .string)
                SyncRelationship("employees", toMany: "Person", inverse: "company")
            }
            SyncEntity("Person", identity: "email", userInfo: ["sync.remoteKey": "people"]) {
                SyncAttribute("email", .string, optional: false)
                SyncAttribute("age", .int16, default: 18)
                SyncAttribute("joinedAt", .date)
                SyncRelationship("company", toOne: "Company", inverse: "employees")
                SyncRelationship("notes", toOrdered: "Note", inverse: "author", deleteRule: .cascade)
            }
            SyncEntity("Note") {
                SyncAttribute("text", .string)
                SyncRelationship("author", toOne: "Person", inverse: "notes")
            }
            SyncEntity("Message", abstract: true, identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("sender", toOne: "Person")
            }
            SyncEntity("PictureMessage", parent: "Message", identity: "size") {
                SyncAttribute("url", .uri)
                SyncAttribute("size", .int32)
            }
            SyncEntity("Postcard", parent: "PictureMessage") {
                SyncAttribute("stamp", .string)
                SyncRelationship("recipients", toMany: "Person")
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
            #expect(layout.column(of: "id") == 0)
            #expect(layout.root == message.index)
            #expect(layout.relationship("sender")?.index == 0)
            #expect(layout.relationship("sender")?.source == message.index)
            #expect(layout.isKind(of: message))
        }
        #expect(!message.isKind(of: picture))
        #expect(message.family == [message.index, picture.index, postcard.index])
        #expect(message.identityColumns == [0])
        #expect(postcard.identityColumns == [0, 2])
        #expect(postcard.parent == picture.index)
        #expect(model["Note"]?.hasIdentity == false)
        #expect(model["Nothing"] == nil)
    }

    @Test func identitiesCanBeReplaced() throws {
        let model = try Self.office.get()
        let found = try model.replacingIdentities(["Note": ["text"], "Person": []])
        #expect(found["Note"]?.identityColumns == [0])
        #expect(found["Person"]?.identityColumns == [])
        #expect(found["Company"]?.identityColumns == [0])
        #expect(found != model)
        #expect(throws: ModelError.unknownEntity(entity: "Nothing")) {
            try model.replacingIdentities(["Nothing": []])
        }
    }

    @Test func entitiesAreAddedOnce() throws {
        let model = try Self.office.get()
        let badge = SyncEntity(
            "Badge", identity: ["number"], attributes: [SyncAttribute("number", .int64)], relationships: [])
        let larger = try model.adding([badge])
        #expect(larger.entities == model.entities + [badge])
        #expect(try larger.adding([badge]) == larger)
        let other = SyncEntity("Badge", attributes: [], relationships: [])
        #expect(throws: ModelError.duplicateEntity(entity: "Badge")) { try larger.adding([other]) }
    }

    /// A database keeps the model with which it was made, by whatever version.
    @Test func bookkeepingOfAnEarlierVersionIsReplaced() throws {
        var former = SyncEntity.pass
        former.attributes.removeLast()
        let user = SyncEntity("User", attributes: [SyncAttribute("id", .int64)], relationships: [])
        let stored = try DataModel([user, former, .bookmark])
        let current = try stored.adding([.pass, .bookmark])
        #expect(current.entities == [user, .bookmark, .pass])
        #expect(try current.adding([.pass, .bookmark]) == current)
    }

    @Test func modelsAreEqualWhenTheyDeclareTheSame() throws {
        let model = try Self.office.get()
        #expect(try DataModel(model.entities) == model)
        #expect(try DataModel(model.entities).hashValue == model.hashValue)
        #expect(try DataModel(model.entities.reversed()) != model)
        #expect(throws: ModelError.unknownEntity(entity: "Nothing")) { try model.layout(of: "Nothing") }
    }

    @Test func declarationsTakeConditionsAndLoops() throws {
        let withNote = true
        let model = try DataModel {
            for name in ["A", "B"] {
                SyncEntity(name) {
                    SyncAttribute("id", .int64)
                    if withNote {
                        SyncAttribute("note", .string)
                    }
                    if name == "A" {
                        SyncAttribute("onlyA", .bool)
                    } else {
                        SyncAttribute("onlyB", .bool)
                    }
                }
            }
        }
        #expect(model["A"]?.attributes.map(\.name) == ["id", "note", "onlyA"])
        #expect(model["B"]?.attributes.map(\.name) == ["id", "note", "onlyB"])
    }
}
