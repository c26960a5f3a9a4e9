import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ModelInferenceTests {
    private func type(_ values: String) throws -> AttributeType? {
        let elements = values.split(separator: "|").map { #"{"id": 1, "x": \#($0)}"# }.joined(separator: ",")
        let layout = try DataModel.inferred(from: "[\(elements)]", entity: "Thing").layout(of: "Thing")
        return layout.slot(of: "x").map { layout.attributes[$0].type }
    }

    @Test(arguments: [
        ("1", AttributeType.int64), ("1|-9223372036854775808", .int64), ("1|null", .int64), ("null", .string),
        ("1|2.5", .double), ("1e3", .double), ("18446744073709551615", .decimal), ("1|18446744073709551615", .decimal),
        ("1.5|123456789012345678901234567890", .decimal), ("18446744073709551615|0.5", .decimal),
        ("1.5|9007199254740993", .decimal), ("1.5|9007199254740992", .double),
        ("1.5|1|9007199254740993", .decimal), ("1.5|-9007199254740993|1", .decimal), ("1e300|9007199254740993", .json),
        ("1e300|0.5", .double),
        ("3.141592653589793238462643", .decimal), ("0.30000000000000004", .double), ("1e400", .json),
        ("true|false", .bool), ("true|1", .json), (#"true|"yes""#, .json),
        (#""a""#, .string), (#""a"|1"#, .json), (#""1""#, .string), (#""1441888808""#, .string),
        (#""2014-01-02"|"2014-01-02T10:00:00Z""#, .string), (#""2014-01-02"|null"#, .date),
        (#""2014-01-02T10:00:00Z"|"2014-01-02T10:00:00.120Z""#, .date), (#""2014-01-02T10:00:00.1Z""#, .date),
        (#""2014-01-02"|"soon""#, .string), (#""2014-13-02""#, .string),
        (#""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#, .uuid), (#""e621e1f8-c36c-495a-93fc-0c247a3e6e5f""#, .uuid),
        (#""e621e1f8-c36c-495a-93fc-0c247A3E6E5F""#, .string),
        (#""E621E1F8-C36C-495A-93FC-0C247A3E6E5F"|"x""#, .string),
        ("[1,2]", .json), ("[]", .json), (#"["a"]|"a""#, .json), (#"[{"a":1}]|[2]"#, .json),
        (#"{"a":1}|5"#, .json), (#"{"a":1}|[{"a":1}]"#, .json), ("{}", .json), ("[[1]]", .json),
        (#"{"10":1}"#, .json), (#"[{"a":1},null]"#, .json),
    ])
    func theTypeIsTheNarrowestThatHoldsAll(values: String, expected: AttributeType) throws {
        #expect(try type(values) == expected)
    }

    @Test func attributesAreNamedByConvention() throws {
        let json =
            #"{"id": 1, "first_name": "a", "lastName": "b", "type": "c", "ID": 2, "a b": 3, "$ref": 4, "e-mail": 5, "_": 6}"#
        let layout = try DataModel.inferred(from: json, entity: "User").layout(of: "User")
        #expect(
            layout.attributes.map(\.name) == [
                "id", "firstName", "lastName", "type", "id2", "aB", "ref", "eMail", "value",
            ])
        let keys = EntityKeys(layout, in: try DataModel([layout.entity]))
        let written = zip(
            ["id", "first_name", "lastName", "type", "ID", "a b", "$ref", "e-mail", "_"], keys.attributes)
        for (key, attribute) in written {
            #expect(attribute.spellings.contains([key]), "\(key)")
            #expect(attribute.path() == [key], "\(key)")
        }
    }

    @Test func twoSpellingsOfAKeyAreTwoAttributes() throws {
        let json = #"[{"id": 1, "first_name": "a"}, {"id": 2, "firstName": 5}]"#
        let layout = try DataModel.inferred(from: json, entity: "User").layout(of: "User")
        #expect(layout.attributes.map(\.name) == ["id", "firstName", "firstName2"])
        #expect(layout.attributes.map(\.type) == [.int64, .string, .int64])
    }

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

    @Test func valuesAreKeptAsJSONOnRequest() throws {
        let json = #"[{"id":1,"bin":"x","spec":{"raw":{"a":1},"list":[{"b":{"c":1}}]}},{"id":2,"bin":{"y":"z"}}]"#
        let options = InferredModel.Options(jsonKeyPaths: ["spec.raw", "spec.list.b", "bin"])
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Package", options: options)
        #expect(inferred.model.layouts.map(\.name) == ["Package", "Spec", "List"])
        for (entity, name) in [("Package", "bin"), ("Spec", "raw"), ("List", "b")] {
            let layout = try inferred.model.layout(of: entity)
            #expect(layout.slot(of: name).map { layout.attributes[$0].type } == .json, "\(entity)")
        }
        #expect(inferred.findings.count { $0.kind == .json(.requested) } == 3)
    }

    @Test func theLimitOfComparedKeysIsStated() throws {
        func findings(_ count: Int) throws -> [InferredModel.Finding.Kind] {
            let json = "[" + (1...count).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"
            return try InferredModel(from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Film")
                .findings.map(\.kind)
        }
        #expect(try findings(1000) == [])
        #expect(try findings(70_000) == [.partlyComparedKey])
    }

    @Test(arguments: [
        (#"{"3166-1":[{"a":1},{"a":2}]}"#, ["3166-1"], "3166-1"),
        (#"{"data":{"page":{"n":1},"items":[{"id":1}]}}"#, ["data.items"], "data.items"),
        (#"{"a":[{"x":1}],"b":[{"x":1}]}"#, ["a", "b"], nil), (#"{"id":1,"notes":[{"x":1}]}"#, ["notes"], nil),
        (#"{"code":200,"data":[{"x":1}]}"#, ["data"], "data"), (#"{"data":[1]}"#, [], nil), ("{}", [], nil),
        (#"[{"a":[{"x":1}]},{"a":[{"x":1}]}]"#, [], nil), (#"{"a.b":[{"x":1}]}"#, [], nil), ("[1]", [], nil),
        (#"{"a{b}":[{"x":1}]}"#, [#"a\{b}"#], #"a\{b}"#),
    ])
    func theOnlyListOfADocumentIsFound(json: String, keyPaths: [String], only: String?) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country")
        #expect(lists.keyPaths == keyPaths)
        #expect(lists.only == only)
    }

    /// Without known keys, the usual names of keys tell.
    @Test(
        arguments: [
            (#"{"id":1,"list":[{"x":1}]}"#, [], true), (#"{"id":1,"list":[{"x":1}]}"#, ["ref"], false),
            (#"{"ref":1,"list":[{"x":1}]}"#, [], false), (#"{"ref":1,"list":[{"x":1}]}"#, ["ref"], true),
            (#"{"ref":null,"list":[{"x":1}]}"#, ["ref"], false),
        ] as [(String, [String], Bool)])
    func anObjectWithAKeyOfItsOwnIsMeantItself(json: String, keys: [String], isIdentified: Bool) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country", keys: keys)
        #expect(lists.isIdentified == isIdentified)
        #expect(lists.only == (isIdentified ? nil : "list"))
    }

    /// A list within one of the members is not what the document stands for.
    @Test(arguments: [
        (#"{"1":{"a":1},"2":{"a":2,"list":[{"x":1}]}}"#, "{id}"), (#"{"DE":{"id":1},"FR":{"id":2}}"#, "{key}"),
        (#"{"a":{"x":1},"b":{"x":2},"c":{"x":3},"d":{"x":4}}"#, "{id}"), (#"{"1":{"a":[{"x":1}]}}"#, nil),
        (#"{"user":{"name":"a"},"page":{"number":1},"list":{"items":[{"x":1}]}}"#, nil),
        (#"{"1":1,"2":2}"#, "{key:value}"),
        (#"{"DE":"Germany","FR":"France","IT":null}"#, "{key:value}"), (#"{"1":[1],"2":[2]}"#, nil),
        (#"{"1":[{"x":1}],"2":[{"x":1}]}"#, nil), (#"[{"1":{"a":1},"2":{"a":2}}]"#, "{id}"),
    ])
    func theMembersOfADocumentAreFound(json: String, members: String?) throws {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        let lists = try DocumentLists(in: reader, entity: "Country")
        #expect(lists.members == members)
        #expect(members == nil || lists.only == nil)
    }

    @Test func aWordAfterTheEntityKeepsItsKey() throws {
        let layout = try DataModel.inferred(from: #"{"type": "a", "user_type": "b"}"#, entity: "User").layout(
            of: "User")
        let keys = EntityKeys(layout, in: try DataModel([layout.entity]))
        #expect(keys.attribute("type")?.path() == ["type"])
        #expect(keys.attribute("userType")?.path() == ["user_type"])
    }

    @Test(arguments: [
        (#"[{"id": 1}, {"id": 2}]"#, "id"), (#"[{"id": 1}, {"name": "b"}]"#, nil), (#"[{"_id": "x"}]"#, "id"),
        (#"[{"user_id": 1, "name": "u"}]"#, "userID"), (#"[{"userId": 1}]"#, "userId"), (#"[{"guid": "g"}]"#, "guid"),
        (#"[{"remote_id": 5}]"#, "remoteID"), (#"[{"user_id": 1}, {"user_id": 1}]"#, nil),
        (#"[{"user_id": 1}, {"name": "x"}]"#, nil), (#"[{"uuid": 1.5}]"#, nil), (#"[{"note_id": 1}]"#, nil),
        (#"[{"id": 1, "a": 2}, {"id": 1, "a": 2}]"#, nil), (#"[{"id": 1}, {"id": null}]"#, nil),
        (#"[{"slug": "a", "code": 1}, {"slug": "b", "code": 1}]"#, "slug"), (#"[{"slug": "a", "id": 1}]"#, "id"),
    ])
    func thePrimaryKeyIsFound(json: String, expected: String?) throws {
        let model = try DataModel.inferred(from: json, entity: "User")
        let layout = try model.layout(of: "User")
        // Without a key, the whole content identifies an object.
        #expect(layout.identitySlots.map { layout.attributes[$0].name } == [expected ?? "contentHash"])
        #expect(try JSONDialect.sync.identified(model) == model)
    }

    /// Of several keys that may identify nested objects, the usual one does.
    @Test(arguments: [
        (#"{"code":"x","id":1}"#, #"{"code":"y","id":2}"#, "id"),
        (#"{"slug":"x","code":1}"#, #"{"slug":"y","code":2}"#, "code"),
    ])
    func theKeyOfNestedObjectsIsFound(first: String, second: String, expected: String) throws {
        let model = try DataModel.inferred(
            from: #"[{"id":1,"o":\#(first)},{"id":2,"o":\#(second)},{"id":3,"o":\#(first)}]"#, entity: "Thing")
        #expect(try model.layout(of: "O").entity.identity == [expected])
    }

    /// Numbers under names of times, just within and just beyond 1990 and 2100.
    @Test(arguments: [
        ("created_at", "631152000", true), ("created_at", "631151999", false), ("created_at", "4102444800", true),
        ("created_at", "4102444801", false), ("created_at", "631152000000", true),
        ("created_at", "631151999999", false), ("created_at", "4102444800000", true),
        ("created_at", "4102444800001", false), ("created_at", "1700000000.0", true),
        ("created_at", "1700000000.5", false), ("created_at", "1700000000000.0", false), ("start", "1700000000", false),
        ("start", "1700000000000", true), ("size", "1700000000000", false),
    ])
    func numbersUnderNamesOfTimesAreDates(key: String, value: String, isDate: Bool) throws {
        let layout = try DataModel.inferred(from: #"[{"id": 1, "\#(key)": \#(value)}]"#, entity: "Thing").layout(
            of: "Thing")
        #expect(layout.attributes.contains { $0.type == .date } == isDate)
    }

    @Test func aDocumentMayBeOneObject() throws {
        let model = try DataModel.inferred(from: Array(#"{"id": 1}"#.utf8), entity: "Thing")
        #expect(try model.layout(of: "Thing").entity.identity == ["id"])
    }

    /// Neither of the two keys is unique, but both together are.
    @Test(arguments: [
        (
            #"[{"country_code": "A", "year": 1}, {"country_code": "A", "year": 2}, {"country_code": "B", "year": 1}]"#,
            ["countryCode", "year"]
        ),
        (#"[{"country_code": "A", "year": 1}, {"country_code": "A", "year": 2}]"#, ["contentHash"]),
        (
            #"[{"country_code": "A", "year": 1}, {"country_code": "A", "year": 1}, {"country_code": "B", "year": 1}]"#,
            ["contentHash"]
        ),
    ])
    func twoKeysIdentifyTogether(json: String, expected: [String]) throws {
        #expect(try DataModel.inferred(from: json, entity: "Figure").layout(of: "Figure").entity.identity == expected)
    }

    @Test(arguments: [(1, ["id"]), (2, ["id", "a"]), (3, ["id", "a", "b"]), (4, ["id", "a", "b"])])
    func theSampleEndsAtItsLimit(limit: Int, attributes: [String]) throws {
        let json = #"[{"id": 1}, {"id": 2, "a": 1}, {"id": 3, "b": 1}]"#
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8)), entity: "User",
            options: InferredModel.Options(sampleCount: limit))
        #expect(try inferred.model.layout(of: "User").attributes.map(\.name) == attributes)
        #expect(inferred.elementCount == min(limit, 3) && inferred.isPartial == (limit < 3))
    }

    /// A key is written into the model only where the name does not lead to it.
    @Test func aConventionalKeyNeedsNoAnnotation() throws {
        let one = try DataModel.inferred(from: #"[{"id": 1, "max_size": 2}]"#, entity: "User").layout(of: "User")
        #expect(one.attributes.map(\.userInfo) == [[:], [:]])
        let both = try DataModel.inferred(from: #"[{"id": 1, "max_size": 2, "maxSize": 3}]"#, entity: "User")
        let keys = EntityKeys(try both.layout(of: "User"), in: both)
        #expect(keys.attributes[1].spellings == [["max_size"]])
        #expect(keys.attributes[2].path() == ["maxSize"] && !keys.attributes[2].spellings.contains(["max_size"]))
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

    @Test func theSameSampleGivesTheSameModel() throws {
        let json = #"[{"b": 1, "a": [{"z": 1, "y": {"q": 1}}]}, {"c": {"id": 1}}]"#
        let model = try DataModel.inferred(from: json, entity: "Root")
        for _ in 0..<5 { #expect(try DataModel.inferred(from: json, entity: "Root") == model) }
    }

    @Test func theModelCompilesToKeysThatFindWhatWasThere() throws {
        let json = #"{"ID": 1, "sub_Thing": {"Weird Key": 1}, "x.y": 2}"#
        let model = try DataModel.inferred(from: json, entity: "Root")
        let keys = EntityKeys(try model.layout(of: "Root"), in: model)
        #expect(keys.relationships.contains { $0.spellings.contains(["sub_Thing"]) })
        #expect(keys.attributes.contains { $0.spellings.contains(["x.y"]) })
    }

    /// A file that is one object of objects of one shape, such as an export of Firebase.
    @Test(arguments: ["-Nx1 -Nx2 -Nx3 -Ny4", "A00.0 A00.1 B10.2 C00.9", "alice bob carol dave"])
    func anObjectOfObjectsOfOneShapeIsNoEntityPerKey(keys: String) throws {
        let members = keys.split(separator: " ").map { #""\#($0)": {"name": "x", "age": 1, "roles": [{"a": 1}]}"# }
        let model = try DataModel.inferred(from: "{\(members.joined(separator: ","))}", entity: "Root")
        #expect(model.entities.map(\.name) == ["Root"])
        let few = try DataModel.inferred(from: "{\(members.prefix(3).joined(separator: ","))}", entity: "Root")
        #expect(few.entities.count > 3)
    }

    /// Strings are equal if their characters are, but the keys of an object are different.
    @Test func keysOfEqualCharactersAreKeptApart() throws {
        let json = #"[{"id": 1, "\u00e9": 1, "e\u0301": 2}]"#
        let model = try DataModel.inferred(from: json, entity: "Thing")
        #expect(model.layouts[0].attributes.map(\.name) == ["id", "\u{e9}", "otherKeys"])
    }

    /// Model files are XML, which has no control characters.
    @Test func keysWithControlCharactersAreKeptAsJSON() throws {
        let json = #"[{"id": 1, "a\u0000b": 1, "c\u0001": {"d": 1}, "tab\t": 2, "o": {"\uffff": 1, "p": 1}}]"#
        let inferred = try InferredModel(
            from: JSONReader(bytes: Array(json.utf8), layout: .array()), entity: "Thing")
        #expect(inferred.model.layouts[0].attributes.map(\.name) == ["id", "tab", "otherKeys"])
        #expect(inferred.model.entities.map(\.name) == ["Thing", "O"])
        #expect(
            inferred.findings.map(\.description) == [
                "other keys of Thing are kept as JSON: no property can have their names",
                "other keys of O are kept as JSON: no property can have their names",
            ])
    }

    @Test func aDictionaryIsKeptWhole() throws {
        let entries = (0..<300).map { #""key\#($0)": {"a": 1}"# }.joined(separator: ",")
        let model = try DataModel.inferred(from: #"{"id": 1, "byName": {\#(entries)}}"#, entity: "Root")
        #expect(model.entities.map(\.name) == ["Root"])
        #expect(model.layouts[0].attributes.map(\.type) == [.int64, .json])
        let whole = try DataModel.inferred(from: "{\(entries)}", entity: "Root")
        #expect(whole.layouts[0].attributes.map(\.name) == ["contentHash", "otherKeys"])
    }

    @Test(arguments: [
        ("[]", InferredModel.Failure.emptySample), ("[1]", .notAnObject(index: 0)),
        (#"[{"a": 1}, null]"#, .notAnObject(index: 1)), ("[{}]", .noKeys(entity: "Root")),
    ])
    func aSampleThatTellsNothingIsAnError(json: String, error: InferredModel.Failure) {
        #expect(throws: error) { try DataModel.inferred(from: json, entity: "Root") }
    }

    @Test(arguments: ["SyncPass", "syncmodel"]) func aReservedNameIsAnError(entity: String) {
        #expect(throws: InferredModel.Failure.reservedName(entity: entity)) {
            try DataModel.inferred(from: #"[{"id": 1}]"#, entity: entity)
        }
    }

    @Test func aSampleThatIsNoJSONIsAnError() {
        #expect(throws: JSONError.self) { try DataModel.inferred(from: "[{", entity: "Root") }
        #expect(throws: JSONError.self) { try DataModel.inferred(from: "5", entity: "Root") }
    }

    @Test func elementsAreFoundAtAKeyPath() throws {
        let json = #"{"data": {"users": [{"id": 1}]}}"#
        let model = try DataModel.inferred(from: json, entity: "User", layout: .array(at: "data.users"))
        #expect(model.entities.map(\.name) == ["User"])
    }

    /// Objects with keys, all with the value 1, just below, at and above each limit of a map.
    @Test(arguments: [
        // Data: the first digit and the last, the characters beside them, paths and addresses.
        ("0x", true), ("9x", true), ("/x", true), (":x", false), ("a/b", true), ("a@b", true), ("ab", false),
        // At least twenty hexadecimal digits.
        ("abcdefabcdefabcdefa", false), ("abcdefabcdefabcdefab", true), ("abcdefabcdefabcdefag", false),
        ("abcdefab-abcd-abcd-abcd", true), ("P31", true), ("P3a", false), ("p31", false), ("PP1", false),
        // Nine of ten keys are data.
        ("1 2 3 4 5 6 7 8 9 zz", true), ("1 2 3 4 5 6 7 8 yy zz", false), ("1 2 3 4 5 6 7 8 zz", false),
        // Three codes, of two or three letters.
        ("en fr", false), ("en fr de", true), ("en|fr", true), ("en fr|en fr", false), ("USD EUR GBP", true),
        ("US DE FR", true), ("USDT EURO GBPX", false), ("U E G", false), ("en-US de-DE fr-FR", true),
        ("en-us de-de fr-fr", false), ("EN-US DE-DE FR-FR", false), ("eng-US deu-DE fra-FR", false),
        ("en-USA de-DEU fr-FRA", false), ("en--US de--DE fr--FR", false), ("en fr zz", false),
        // More than two names; each object has at most half of them.
        ("aa bb|cc", true), ("aa bb|bb cc", false), ("aa|bb", false), ("aa bb cc", false),
    ])
    func objectsWhoseKeysAreDataAreMaps(keys: String, isMap: Bool) throws {
        let values = keys.split(separator: "|").map { object in
            "{" + object.split(separator: " ").map { #""\#($0)":1"# }.joined(separator: ",") + "}"
        }
        #expect(try type(values.joined(separator: "|")) == (isMap ? .json : nil))
    }

    /// Objects under names, from four names on; nine of ten resemble the widest.
    @Test(arguments: [
        (3, 0, "aa", false), (4, 0, "aa", true), (9, 1, "1", true), (8, 2, "1", false), (18, 2, "1", true),
        (17, 3, "1", false),
    ])
    func objectsUnderNamesAreThoseOfAMap(count: Int, otherCount: Int, prefix: String, isMap: Bool) throws {
        let members =
            (0..<count).map { #""\#(prefix)\#($0)x":{"a":1,"b":1,"c":1}"# }
            + (0..<otherCount).map { #""\#(prefix)\#($0)y":{"z":1}"# }
        #expect(try type("{\(members.joined(separator: ","))}") == (isMap ? .json : nil))
    }

    /// Whole numbers among others are written as they came, unless one had a fraction of zero.
    @Test(arguments: [("1|1.5", true), ("1.5|2.5", false), ("1.0|1.5", false), ("1|2.0|1.5", false)])
    func wholeNumbersAreWrittenWithoutAFraction(values: String, isWhole: Bool) throws {
        let elements = values.split(separator: "|").enumerated().map { #"{"id": \#($0), "x": \#($1)}"# }
        let layout = try DataModel.inferred(from: "[\(elements.joined(separator: ","))]", entity: "Thing")
            .layout(of: "Thing")
        let attribute = try #require(layout.attributes.first { $0.name == "x" })
        #expect((attribute.userInfo[JSONDialect.wholeNumbersAnnotation] == "YES") == isWhole)
        // A later document may lack the key.
        #expect(attribute.isOptional)
    }

    /// Forty names in one object, or in objects that have less than nine tenths of them.
    @Test(arguments: [([39], false), ([40], true), ([40, 40], false), ([40, 31], true), ([40, 32], false)])
    func manyNamesAreThoseOfAMap(counts: [Int], isMap: Bool) throws {
        let values = counts.map { count in
            "{"
                + (0..<count).map {
                    #""name\#(String(UnicodeScalar(UInt8(97 + $0 / 20))))\#(String(UnicodeScalar(UInt8(97 + $0 % 20))))":1"#
                }
                .joined(separator: ",") + "}"
        }
        #expect(try type(values.joined(separator: "|")) == (isMap ? .json : nil))
    }

    /// Four objects under names, or two under codes.
    @Test(arguments: [("ab cd ef", false), ("ab cd ef gh", true), ("en fr", true), ("ab cd", false)])
    func namedObjectsOfOneShapeAreThoseOfAMap(keys: String, isMap: Bool) throws {
        let members = keys.split(separator: " ").map { #""\#($0)":{"v":1,"w":"x"}"# }
        #expect(try type("{\(members.joined(separator: ","))}") == (isMap ? .json : nil))
    }
}
