import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import Testing

/// The entities and relationships of nested objects.
@Suite(.endsInTime) struct InferredRelationshipTests {
    /// Two spellings of one relationship, unless an object needs both.
    @Test(arguments: [
        (#"[{"id":1,"company":{"id":5,"name":"x"}},{"id":2,"company_id":5}]"#, ["id", "companyKey"]),
        (#"[{"id":1,"company":{"id":5,"name":"x"},"company_id":5},{"id":2,"company_id":5}]"#, ["id", "companyID"]),
        (#"[{"id":1,"company":{"id":5,"name":"x"}},{"id":2,"company_id":null}]"#, ["id", "companyID"]),
        (#"[{"id":1,"company":{"id":5,"name":"x"}},{"id":2,"company_id":"5"}]"#, ["id", "companyID"]),
        (#"[{"id":1,"company":{"name":"x"}},{"id":2,"company_id":5}]"#, ["id", "companyID"]),
    ])
    func anIdentifierBesideObjectsIsTheSameRelationship(json: String, names: [String]) throws {
        let layout = try DataModel.inferred(from: json, entity: "User").layout(of: "User")
        #expect(layout.attributes.filter { $0.name != "otherKeys" }.map(\.name) == names)
        #expect(layout.relationship("company") != nil)
    }

    /// How an export writes a relationship without an object, and whether it needs the keys beside
    /// the model, because the sample writes it in several ways.
    @Test(
        arguments: [
            (#"{"l":[{"k":1}]}"#, nil, false), (#"{}"#, "omit", false), (#"{"l":null}"#, "null", false),
            (#"{"l":[]}"#, nil, false), (#"{},{"l":null}"#, "omit", true), (#"{},{"l":[]}"#, "omit", true),
            (#"{"l":null},{"l":[]}"#, "omit", true),
            (#"{"o":{"k":1}}"#, nil, false), (#"{"o":null}"#, "null", false), (#"{},{"o":null}"#, nil, true),
        ] as [(String, String?, Bool)])
    func absenceIsWrittenAsInTheSample(others: String, style: String?, isMixed: Bool) throws {
        let isToMany = !others.contains("\"o\"")
        let first = isToMany ? #"{"l":[{"k":1}]}"# : #"{"o":{"k":1}}"#
        let layout = try DataModel.inferred(from: "[\(first),\(others)]", entity: "Thing").layout(of: "Thing")
        let relationship = try #require(layout.relationship(isToMany ? "l" : "o"))
        #expect(relationship.declaration.userInfo[JSONDialect.emptyAnnotation] == style)
        #expect(layout.attributes.contains { $0.name == "otherKeys" } == isMixed)
    }

    /// Equal objects in places of any depth are of one entity.
    @Test(arguments: [
        #"[{"id": 1, "a": {"x": {"id": 5, "n": 1}}, "b": {"x": {"id": 5, "n": 1}}}]"#,
        #"[{"id": 1, "a": {"v": 1}, "b": {"x": {"id": 5, "n": 1}}, "c": {"w": 1}, "d": {"x": {"id": 5, "n": 1}}}]"#,
    ])
    func equalObjectsShareAnEntity(json: String) throws {
        let names = try DataModel.inferred(from: json, entity: "User").entities.map(\.name)
        #expect(names.filter { $0.contains("X") } == ["X"])
    }

    @Test func nestedObjectsAreEntities() throws {
        let json = """
            [{"id": 1, "company": {"id": 9, "name": "c"}, "address": {"city": "x"}, "order_items": [{"id": 4}], "tags": []},
             {"id": 2, "company": {"id": 9, "size": 5}, "address": null, "order_items": []}]
            """
        let model = try DataModel.inferred(from: json, entity: "User")
        #expect(model.entities.map(\.name) == ["User", "Company", "Address", "OrderItem"])
        let user = try model.layout(of: "User")
        #expect(user.attributes.map(\.name) == ["id", "tags"])
        #expect(user.relationships.map(\.name) == ["company", "address", "orderItems"])
        #expect(user.relationships.map(\.isToMany) == [false, false, true])
        #expect(user.relationships.map(\.deleteRule) == [.cascade, .cascade, .cascade])
        let company = try model.layout(of: "Company")
        #expect(company.attributes.map(\.name) == ["id", "name", "size"])
        // The company differs from user to user, and so is each user's own, as an address without a
        // key is. An item goes with its last user.
        #expect(company.relationship("user")?.isToMany == false)
        #expect(try model.layout(of: "Address").relationship("user")?.isToMany == false)
        #expect(try model.layout(of: "OrderItem").relationship("users")?.isToMany == true)
        for relationship in model.layouts.flatMap(\.relationships) { #expect(relationship.inverse != nil) }
    }

    @Test func aChildOfTwoParentsMakesManyToMany() throws {
        let json = #"[{"id": 1, "tags": [{"id": 7}, {"id": 8}]}, {"id": 2, "tags": [{"id": 7}]}]"#
        let model = try DataModel.inferred(from: json, entity: "Company")
        #expect(try model.layout(of: "Tag").relationship("companies")?.isToMany == true)
    }

    /// An object that is contained twice, or in two places, is nobody's own.
    @Test(arguments: [
        (#"[{"id": 1, "tags": [{"id": 7}]}, {"id": 2, "tags": [{"id": 8}]}]"#, true),
        (#"[{"id": 1, "tags": [{"id": 7}]}, {"id": 2, "tags": [{"id": 7}]}]"#, false),
        (#"[{"id": 1, "tag": {"id": 7}}, {"id": 2, "tag": {"id": 8}}]"#, true),
        (#"[{"id": 1, "tag": {"id": 7}}, {"id": 2, "tag": {"id": 7}}]"#, false),
        (#"[{"id": 1, "tags": [{"id": 7}], "best": {"id": 7}}]"#, false),
    ])
    func anObjectThatOneObjectContainsGoesWithIt(json: String, isOwned: Bool) throws {
        let model = try DataModel.inferred(from: json, entity: "Company")
        let relationships = try model.layout(of: "Company").relationships
        #expect(!relationships.isEmpty)
        for relationship in relationships {
            #expect(relationship.isOwning == isOwned && relationship.sharesTargets == isOwned)
        }
        // A part never takes its whole with it.
        let inverses = try model.layout(of: "Tag").relationships
        #expect(inverses.count == relationships.count)
        for inverse in inverses { #expect(!inverse.isOwning && inverse.deleteRule == .nullify) }
    }

    @Test func anInverseIsNeitherReadNorWritten() throws {
        let json = #"{"id": 1, "notes": [{"id": 2, "user": {"id": 1, "name": "a"}}]}"#
        let model = try DataModel.inferred(from: json, entity: "User")
        #expect(model.entities.map(\.name) == ["User", "Note", "NoteUser"])
        let note = try model.layout(of: "Note")
        #expect(note.relationships.map(\.name) == ["user", "users"])
        let keys = EntityKeys(note, in: model)
        #expect(keys.relationships.map(\.isExportable) == [true, false])
        #expect(keys.relationships[1].spellings.isEmpty && keys.relationships[1].identifierSpellings.isEmpty)
    }

    @Test func anInverseMakesWayForAnAttribute() throws {
        let model = try DataModel.inferred(from: #"{"id": 1, "notes": [{"id": 2, "users": 1}]}"#, entity: "User")
        #expect(try model.layout(of: "Note").relationships.map(\.name) == ["usersOfNotes"])
    }

    @Test func objectsInObjectsOfTheirKindAreOneEntity() throws {
        let json = #"{"id": 1, "comments": [{"id": 2, "comments": []}, {"id": 3, "comments": [{"id": 4}]}]}"#
        let model = try DataModel.inferred(from: json, entity: "Post")
        #expect(model.entities.map(\.name) == ["Post", "Comment"])
        #expect(model.layouts[1].relationships.map(\.name) == ["comments", "post", "parent"])
    }

    @Test func twoWaysToAnEntityHaveAnInverseEach() throws {
        let json =
            #"{"id": 1, "home_address": {"id": 2}, "people": [{"id": 3}], "children": [{"id": 4}], "boss": {"id": 5}}"#
        let model = try DataModel.inferred(from: json, entity: "Firm")
        #expect(model.entities.map(\.name) == ["Firm", "HomeAddress", "Person", "Child", "Boss"])
        let sameTwice = #"{"id": 1, "user": {"id": 2}, "users": [{"id": 2}]}"#
        let layout = try DataModel.inferred(from: sameTwice, entity: "Team").layout(of: "User")
        #expect(layout.relationships.map(\.name) == ["teams", "teamsOfUsers"])
    }

    @Test(arguments: [
        ("notes", "Note"), ("companies", "Company"), ("boxes", "Box"), ("addresses", "Address"), ("series", "Series"),
        ("people", "Person"), ("grandchildren", "Grandchildren"), ("status", "Status"), ("data", "Data"),
        ("news", "New"), ("order_items", "OrderItem"), ("ties", "Tie"), ("s", "S"),
    ])
    func arraysNameTheirEntityInTheSingular(key: String, entity: String) throws {
        let model = try DataModel.inferred(from: #"{"id": 1, "\#(key)": [{"id": 2}]}"#, entity: "Root")
        #expect(model.entities.map(\.name) == ["Root", entity])
    }
}
