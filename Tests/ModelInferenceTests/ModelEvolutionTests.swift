import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import Testing

/// What a later sample makes of an inferred model. `ScenarioTests` syncs such samples into stores.
@Suite(.endsInTime) struct ModelEvolutionTests {
    typealias Evolution = InferredModel.Evolution

    private static func reader(_ json: String) -> JSONReader {
        JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
    }

    func evolve(
        _ first: String, with second: String, options: InferredModel.Options = InferredModel.Options()
    ) throws -> Evolution {
        let model = try InferredModel(from: Self.reader(first), entity: "Thing", options: options).model
        return try Evolution(model, with: Self.reader(second), entity: "Thing", options: options)
    }

    /// Expects that the model claims every key and holds every value of a sample.
    private func expectFit(_ json: String, _ evolved: Evolution) throws {
        let contract = ValueContract(unknownKey: .reject, wrongType: .reject, unreadableDate: .reject)
        let mapper = try RecordMapper(evolved.model, JSONMapping(contract: contract))
        let reader = try RecordMapper.Reader(
            mapper, entity: "Thing", reader: Self.reader(json),
            options: RecordMapper.Reader.Options(keepsRelationships: true))
        while let batch = try reader.next() {
            #expect(batch.rejected.map(\.description) == [])
            for elements in batch.groups.flatMap(\.nested).compactMap({ $0 }) {
                #expect(elements.objects?.rejected.isEmpty != false && elements.misfits.isEmpty)
            }
        }
    }

    @Test(arguments: [
        #"[{"id":1,"a":1,"at":"2014-01-02","o":{"p":1},"l":[{"id":1}]}]"#, #"[{"name":"a"},{"name":"a"}]"#,
        #"[{"id":1,"t":"0a1b2c3d-0000-11de-8000-000000000000","n":null,"e":{},"m":{"1":2,"2":3}}]"#,
    ])
    func theSameSampleChangesNothing(json: String) throws {
        let model = try InferredModel(from: Self.reader(json), entity: "Thing").model
        let evolved = try Evolution(model, with: Self.reader(json), entity: "Thing")
        #expect(evolved.model == model)
        #expect(evolved.changes.isEmpty && evolved.obstacles.isEmpty && evolved.findings.isEmpty)
        let empty = try Evolution(model, with: Self.reader("[]"), entity: "Thing")
        #expect(empty.model == model && empty.changes.isEmpty)
    }

    @Test(arguments: [
        (#"[{"id":1,"a":1}]"#, #"[{"id":1,"a":1.5}]"#, ["Thing.a is decimal now, no longer int64"]),
        (#"[{"id":1,"a":0.5}]"#, #"[{"id":1,"a":1}]"#, []),
        (#"[{"id":1,"a":0.5}]"#, #"[{"id":1,"a":9007199254740992}]"#, []),
        (
            #"[{"id":1,"a":0.5}]"#, #"[{"id":1,"a":9007199254740993}]"#, ["Thing.a is json now, no longer double"]
        ),
        (
            #"[{"id":1,"a":1}]"#, #"[{"id":1,"a":18446744073709551615}]"#, ["Thing.a is decimal now, no longer int64"]
        ),
        (#"[{"id":1,"a":18446744073709551615}]"#, #"[{"id":1,"a":1},{"id":2,"a":0.5}]"#, []),
        (#"[{"id":1,"a":1}]"#, #"[{"id":1,"a":"x"}]"#, ["Thing.a is json now, no longer int64"]),
        (#"[{"id":1,"a":true}]"#, #"[{"id":1,"a":1}]"#, ["Thing.a is json now, no longer bool"]),
        (#"[{"id":1,"a":"x"}]"#, #"[{"id":1,"a":"2014-01-02"}]"#, []),
        (#"[{"id":1,"a":"x"}]"#, #"[{"id":1,"a":"0a1b2c3d-0000-11de-8000-000000000000"}]"#, []),
        (
            #"[{"id":1,"created_at":"x"}]"#, #"[{"id":1,"created_at":1680893993}]"#,
            ["Thing.created_at is json now, no longer string"]
        ),
        (
            #"[{"id":1,"a":"0a1b2c3d-0000-11de-8000-000000000000"}]"#, #"[{"id":1,"a":"x"}]"#,
            ["Thing.a is string now, no longer uuid"]
        ),
        (
            #"[{"id":1,"a":"2014-01-02"}]"#, #"[{"id":1,"a":"2014/01/02"}]"#, ["Thing.a has dates in another style"]
        ),
        (#"[{"id":1,"a":"2014-01-02"}]"#, #"[{"id":1,"a":"soon"}]"#, ["Thing.a is json now, no longer date"]),
        (#"[{"id":1,"a":null}]"#, #"[{"id":1,"a":5}]"#, ["Thing.a is json now, no longer string"]),
        (#"[{"id":1,"a":5}]"#, #"[{"id":1,"a":null}]"#, []),
        (#"[{"id":1}]"#, #"[{"id":1,"b":true,"a":[1]}]"#, ["Thing.b is new: bool", "Thing.a is new: json"]),
        (#"[{"id":1}]"#, #"[{"id":1,"o":{"p":1}}]"#, ["Thing.o is new: O"]),
        (#"[{"id":1,"o":{"p":1}}]"#, #"[{"id":1,"o":{"p":1,"q":1}}]"#, ["O.q is new: int64"]),
        (
            #"[{"id":1,"l":[{"id":1,"p":1}]}]"#, #"[{"id":1,"l":[{"id":1,"p":"x"}]}]"#,
            ["L.p is json now, no longer int64"]
        ),
        (#"[{"id":1,"l":[{"id":1}]}]"#, #"[{"id":1,"l":[{"id":1,"m":[{"id":1}]}]}]"#, ["L.m is new: M"]),
        (#"[{"id":1,"a":1}]"#, #"[{"id":1,"o":{"a":1}},{"id":2,"o":null}]"#, ["Thing.o is new: O"]),
        (#"[{"id":1,"a":1}]"#, #"[{"id":1,"a":{"p":1}}]"#, ["Thing.a is json now, no longer int64"]),
        (#"[{"id":1,"a":1}]"#, #"[{"id":1,"a":1,"a2":1,"A":1}]"#, ["Thing.a2 is new: int64", "Thing.A is new: int64"]),
    ])
    func differencesExtendTheModel(first: String, second: String, changes: [String]) throws {
        let evolved = try evolve(first, with: second)
        #expect(evolved.changes.map(\.description) == changes)
        #expect(evolved.obstacles.isEmpty)
        try expectFit(second, evolved)
        // What the second sample has is known then.
        let again = try Evolution(evolved.model, with: Self.reader(second), entity: "Thing")
        #expect(again.changes.isEmpty && again.obstacles.isEmpty)
        #expect(again.model == evolved.model)
    }

    /// Texts are written in the case of the latest UUIDs. A null tells nothing about them.
    @Test(arguments: [
        (#""0a1b2c3d-0000-11de-8000-000000000000""#, "null", "lower"),
        (#""0A1B2C3D-0000-11DE-8000-000000000000""#, #""0a1b2c3d-0000-11de-8000-000000000000""#, "lower"),
        (#""0a1b2c3d-0000-11de-8000-000000000000""#, #""0A1B2C3D-0000-11DE-8000-000000000000""#, nil),
    ])
    func theLatestUUIDsTellTheirCase(first: String, second: String, expected: String?) throws {
        let evolved = try evolve(#"[{"id":1,"t":\#(first)}]"#, with: #"[{"id":1,"t":\#(second)}]"#)
        let attribute = try #require(evolved.model["Thing"]?.attributes.first { $0.name == "t" })
        #expect(attribute.type == .uuid)
        #expect(attribute.userInfo[SyncAttribute.letterCaseAnnotation] == expected)
    }

    /// Keys that the later sample lacks stay in the model, and are left out of an export.
    @Test func absentKeysAreOmitted() throws {
        let evolved = try evolve(
            #"[{"id":1,"gone":1,"kept":null,"o":{"p":1},"l":[{"id":1}]}]"#, with: #"[{"id":1,"kept":null}]"#)
        #expect(evolved.changes.isEmpty)
        let thing = try #require(evolved.model["Thing"])
        func style(_ info: [String: String]?) -> String? { info?[JSONDialect.emptyAnnotation] }
        #expect(style(thing.attributes.first { $0.name == "gone" }?.userInfo) == "omit")
        #expect(style(thing.attributes.first { $0.name == "kept" }?.userInfo) == nil)
        #expect(style(thing.relationship("o")?.declaration.userInfo) == "omit")
        #expect(style(thing.relationship("l")?.declaration.userInfo) == "omit")
        let model = try InferredModel(from: Self.reader(#"[{"id":1,"gone":1}]"#), entity: "Thing").model
        #expect(style(model["Thing"]?.attributes.first { $0.name == "gone" }?.userInfo) == nil)
    }

    /// Values of two shapes under one key have an attribute beside the relationship.
    @Test(arguments: [
        (#"[{"id":1,"o":{"p":1}}]"#, #"[{"id":1,"o":[]}]"#), (#"[{"id":1,"o":1}]"#, #"[{"id":1,"o":{"p":1}}]"#),
        (#"[{"id":1,"o":{"p":1}}]"#, #"[{"id":1,"o":{}}]"#),
    ])
    func otherKeysHoldWhatARelationshipCannot(first: String, second: String) throws {
        let evolved = try evolve(first, with: second)
        let annotation = JSONDialect.otherKeysAnnotation
        #expect(evolved.model["Thing"]?.attributes.count { $0.userInfo[annotation] != nil } == 1)
    }

    /// The attribute for other values comes with the first sample that needs it, and tells what
    /// the latest one needed.
    @Test(
        arguments: [
            ("[P]", "[P]", nil), ("[P]", "[P,N,A]", "YES"), ("[P]", "[P,C]", "expected"),
            ("[P,N,A]", "[P]", "YES"), ("[P,C]", "[P]", "expected"),
            ("[P,N,A]", "[P,C]", "expected"), ("[P,C]", "[P,N,A]", "YES"),
        ] as [(String, String, String?)])
    func theAttributeForOtherValuesIsAddedOnce(first: String, second: String, expected: String?) throws {
        // A plain object, one with a null, one without the key, and one whose key is no name.
        let objects = [
            "P": #"{"id":1,"a":1}"#, "N": #"{"id":2,"a":null}"#, "A": #"{"id":3}"#, "C": #"{"id":4,"\u0001":1}"#,
        ]
        func json(_ text: String) -> String { text.map { objects[String($0)] ?? String($0) }.joined() }
        let evolved = try evolve(json(first), with: json(second))
        let found = try #require(evolved.model["Thing"]).attributes
            .compactMap { $0.userInfo[JSONDialect.otherKeysAnnotation] }
        #expect(found == (expected.map { [$0] } ?? []))
    }

    /// A relationship that a later sample also spells as an identifier keeps the key of each
    /// object.
    @Test(arguments: [
        (#"[{"id":1,"company":{"id":7}}]"#, #"[{"id":1,"company":{"id":7}},{"id":2,"company_id":7}]"#, 1),
        (#"[{"id":1,"company":{"id":7}},{"id":2,"company_id":7}]"#, #"[{"id":1,"company":{"id":7}}]"#, 1),
        (#"[{"id":1,"company":{"id":7}}]"#, #"[{"id":2,"company":{"id":7}}]"#, 0),
    ])
    func anIdentifierThatALaterSampleHasInsteadIsTheSameRelationship(first: String, second: String, count: Int) throws {
        let evolved = try evolve(first, with: second)
        let keys = try #require(evolved.model["Thing"]).attributes.filter {
            $0.userInfo[JSONDialect.keyOfAnnotation] == "company"
        }
        #expect(keys.count == count)
        #expect(evolved.obstacles.isEmpty)
        try expectFit(second, evolved)
    }

    @Test func anEntityOfItsOwnIsAddedWithThoseThatItLeadsTo() throws {
        let users = #"[{"id":1,"company":{"id":7,"name":"x"}}]"#
        let model = try InferredModel(from: Self.reader(users), entity: "Thing").model
        let posts = #"[{"title":"a","company":{"id":7,"city":"b"}},{"title":"a","company":null}]"#
        let evolved = try Evolution(model, with: Self.reader(posts), entity: "Post")
        #expect(evolved.changes.map(\.description) == ["Post is new", "Post.company is new: Company2"])
        #expect(evolved.findings.map(\.kind) == [.noKey] && evolved.findings.map(\.entity) == ["Post"])
        #expect(evolved.model["Thing"]?.entity == model["Thing"]?.entity)
        #expect(evolved.model["Company"]?.entity == model["Company"]?.entity)
        #expect(evolved.model["Company2"]?.relationships.map(\.declaration.destination) == ["Post"])
        let cities = #"[{"name":"a","zip":1},{"name":"b","zip":2}]"#
        let keyed = try Evolution(
            model, with: Self.reader(cities), entity: "City", options: InferredModel.Options(key: ["zip"]))
        #expect(keyed.findings.isEmpty && keyed.model["City"]?.entity.identity == ["zip"])
    }

    /// A new relationship is read from objects and from identifiers, also in a new entity.
    @Test(arguments: [
        (#"[{"id":1,"company":{"id":5,"n":"c"}},{"id":2,"company_id":5}]"#, ["Thing.company is new: Company"]),
        (
            #"[{"id":1,"a":{"id":3,"company":{"id":5,"n":"c"}}},{"id":2,"a":{"id":4,"company_id":5}}]"#,
            ["A.company is new: Company", "Thing.a is new: A"]
        ),
    ])
    func aNewRelationshipHasBothOfItsKeys(second: String, changes: [String]) throws {
        let evolved = try evolve(#"[{"id":1}]"#, with: second)
        #expect(evolved.changes.map(\.description) == changes)
        #expect(evolved.obstacles.isEmpty)
        try expectFit(second, evolved)
    }

    /// Two relationships lead to one entity, also where their objects have other keys each.
    @Test func aNewKeyOfAnEntityIsAddedOnceWhereverItIs() throws {
        let second = #"[{"id":1,"a":{"id":7,"n":1,"p":1},"b":{"id":8,"n":2,"p":2,"q":3}}]"#
        let evolved = try evolve(#"[{"id":1,"a":{"id":7,"n":1},"b":{"id":7,"n":1}}]"#, with: second)
        #expect(evolved.changes.map(\.description).sorted() == ["A.p is new: int64", "A.q is new: int64"])
        try expectFit(second, evolved)
    }

    /// An error report is not taken over, whatever identifies the objects.
    @Test(arguments: [
        (#"[{"a":1},{"a":1}]"#, "", #"{"message":"x"}"#, true), (#"[{"id":1,"a":1}]"#, "", #"[{"error":"x"}]"#, true),
        (#"[{"id":1,"a":1}]"#, "", #"[{"id":2,"error":"x"}]"#, false),
        (#"[{"id":1,"a":1}]"#, "", #"[{"error":"x"},{"a":2}]"#, false),
        (#"{"x":{"a":1},"y":{"a":2}}"#, "{id}", #"{"error":{"code":1}}"#, true),
        (#"{"x":{"a":1},"y":{"a":2}}"#, "{id}", #"{"error":{"code":1},"z":{"a":3}}"#, false),
        (#"[{"id":1}]"#, "", #"[{"id":2,"b":1}]"#, false), (#"{"x":{}}"#, "{id}", #"{"y":{"b":1}}"#, false),
    ])
    func aSampleWithoutAKnownKeyChangesNothing(first: String, keyPath: String, second: String, isRefused: Bool) throws {
        func reader(_ json: String) -> JSONReader {
            JSONReader(bytes: Array(json.utf8), layout: .array(at: keyPath, acceptsSingleObject: true))
        }
        let model = try InferredModel(from: reader(first), entity: "Thing").model
        let evolved = try Evolution(model, with: reader(second), entity: "Thing")
        #expect((evolved.model == model) == isRefused)
        #expect(evolved.changes.isEmpty == isRefused)
        #expect(evolved.obstacles.contains { $0.kind == .noKnownKey } == isRefused)
    }

    /// What belongs to the objects goes with them; what several objects contain stays.
    @Test(arguments: [
        (#"[{"id":1,"parts":[{"n":1,"subs":[{"m":2}]}]}]"#, "parts", ["Thing"]),
        (#"[{"id":1,"parts":[{"id":1,"subs":[{"id":2}]}]}]"#, "parts", ["Thing"]),
        (
            #"[{"id":1,"parts":[{"id":1,"subs":[{"id":2}]}]},{"id":2,"parts":[{"id":1,"subs":[{"id":2}]}]}]"#, "parts",
            ["Thing", "Part", "Sub"]
        ),
        (#"[{"id":1,"o":{"p":1}}]"#, "o", ["Thing"]),
        (#"[{"id":1,"tags":[{"id":1}]},{"id":2,"tags":[{"id":1}]}]"#, "tags", ["Thing", "Tag"]),
        // An entity that leads to itself, and one that a part leads to and that leads back.
        (#"[{"id":1,"c":[{"id":1,"t":"a","c":[{"id":2,"t":"b","c":[]}]}]}]"#, "c", ["Thing"]),
        (#"[{"id":1,"a":{"p":1,"b":{"q":1,"a":{"p":2,"b":null}}}}]"#, "a", ["Thing"]),
    ])
    func aSubtreeThatBecomesJSONTakesItsEntitiesAlong(json: String, key: String, left: [String]) throws {
        let model = try InferredModel(from: Self.reader(json), entity: "Thing").model
        let evolved = try Evolution(
            model, with: Self.reader(json), entity: "Thing", options: InferredModel.Options(jsonKeyPaths: [key]))
        #expect(evolved.obstacles.isEmpty)
        #expect(evolved.model.entities.map(\.name) == left)
        #expect(evolved.model["Thing"]?.attributes.first { $0.name == key }?.type == .json)
        let removed = evolved.changes.filter { $0.kind == .removedEntity }.map(\.entity)
        #expect(removed == model.entities.map(\.name).filter { !left.contains($0) }.sorted())
    }

    /// A relationship without an inverse owns no objects.
    @Test func objectsThatBelongToNobodyStay() throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("tags", toMany: "Tag")
            }
            SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
        }
        let evolved = try Evolution(
            model, with: Self.reader(#"[{"id":1,"tags":[{"id":1}]}]"#), entity: "Thing",
            options: InferredModel.Options(jsonKeyPaths: ["tags"]))
        #expect(evolved.model.entities.map(\.name) == ["Thing", "Tag"])
        #expect(evolved.changes.map(\.kind) == [.becameJSON(from: "Tag")])
    }

    /// A part that a later sample shares stays, with the relationship that shares it.
    @Test func whatAnotherRelationshipLeadsToStays() throws {
        let x1 = #"{"id":10,"n":"a","s":{"m":1}}"#
        let x2 = #"{"id":12,"n":"c","s":{"m":1}}"#
        let shared = try evolve(
            #"[{"id":1,"x":[\#(x1)]},{"id":2,"x":[\#(x2)]}]"#,
            with: #"[{"id":1,"x":[\#(x1)],"y":\#(x1)},{"id":2,"x":[\#(x2)],"y":\#(x2)}]"#)
        #expect(shared.changes.map(\.description) == ["Thing.y is new: X"])
        let json = #"[{"id":1,"x":[\#(x1)],"y":\#(x1)}]"#
        let evolved = try Evolution(
            shared.model, with: Self.reader(json), entity: "Thing", options: InferredModel.Options(jsonKeyPaths: ["x"]))
        #expect(evolved.changes.map(\.kind) == [.becameJSON(from: "X")])
        #expect(evolved.model.entities.map(\.name) == shared.model.entities.map(\.name))
        #expect(evolved.model["Thing"]?.relationships.map(\.name) == ["y"])
        try expectFit(json, evolved)
    }

    /// An entity stays, to which only an entity leads that stays because of another one.
    @Test func whatLeadsToAnEntityThatStaysIsFoundInAnyOrder() throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("x", toMany: "X", owns: true)
                SyncRelationship("last", toOne: "Last")
            }
            SyncEntity("X", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("firsts", toMany: "First", owns: true)
                SyncRelationship("lasts", toMany: "Last", owns: true)
                SyncRelationship("others", toMany: "Other", owns: true)
            }
            SyncEntity("First", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Other", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Last", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("first", toOne: "First")
            }
        }
        let evolved = try Evolution(
            model, with: Self.reader(#"[{"id":1,"x":[{"id":1}],"last":{"id":1}}]"#), entity: "Thing",
            options: InferredModel.Options(jsonKeyPaths: ["x"]))
        #expect(evolved.model.entities.map(\.name) == ["Thing", "First", "Last"])
        #expect(evolved.changes.filter { $0.kind == .removedEntity }.map(\.entity) == ["Other", "X"])
    }

    /// An entity goes with the relationship within which its identities are unique. Another
    /// relationship to it becomes JSON.
    @Test func whatIsUniqueWithinARelationshipGoesWithIt() throws {
        let parts = #""x":[{"id":1,"n":"a"},{"id":2,"n":"b"}]"#
        let shared = try evolve(
            #"[{"id":1,\#(parts)},{"id":2,"x":[{"id":1,"n":"c"}]}]"#,
            with: #"[{"id":1,\#(parts),"y":{"id":1,"n":"a"}},{"id":2,"x":[],"y":{"id":2,"n":"b"}}]"#)
        #expect(shared.changes.map(\.description) == ["Thing.y is new: X"])
        let json = #"[{"id":1,"x":[{"id":1,"n":"a"}],"y":{"id":1,"n":"a"}}]"#
        let evolved = try Evolution(
            shared.model, with: Self.reader(json), entity: "Thing", options: InferredModel.Options(jsonKeyPaths: ["x"]))
        #expect(evolved.changes.map(\.key) == ["x", "y", ""])
        #expect(
            evolved.changes.map(\.kind) == [.becameJSON(from: "X"), .becameJSON(from: "X"), .removedEntity])
        #expect(evolved.model.entities.map(\.name) == ["Thing"])
        try expectFit(json, evolved)
    }

    /// The same where the model does not say that the relationship owns them.
    @Test func whatIsUniqueWithinARelationshipBelongsToIt() throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("x", toMany: "X", inverse: "thing")
            }
            SyncEntity("X", identity: "id", within: "thing") {
                SyncAttribute("id", .int64)
                SyncRelationship("thing", toOne: "Thing", inverse: "x")
            }
        }
        let evolved = try Evolution(
            model, with: Self.reader(#"[{"id":1,"x":[{"id":1}]}]"#), entity: "Thing",
            options: InferredModel.Options(jsonKeyPaths: ["x"]))
        #expect(evolved.changes.map(\.kind) == [.becameJSON(from: "X"), .removedEntity])
        #expect(evolved.model.entities.map(\.name) == ["Thing"])
    }

    /// Keys are compared byte by byte, as a mapper does.
    @Test func keysOfEqualCharactersAreDifferent() throws {
        let second = #"[{"id":1,"cafe\u0301":1}]"#
        let evolved = try evolve(#"[{"id":1,"caf\u00e9":1}]"#, with: second)
        #expect(evolved.changes.map(\.description) == ["Thing.cafe\u{301} is new: int64"])
        #expect(evolved.model["Thing"]?.attributes.count == 3)
        try expectFit(second, evolved)
    }

    /// A key of nested objects that is kept as JSON identifies them no longer.
    @Test func aKeyThatIsKeptAsJSONIdentifiesNothing() throws {
        let json = #"[{"id":1,"x":{"id":7,"n":1}},{"id":2,"x":{"id":7,"n":1}}]"#
        let nested = try InferredModel(
            from: Self.reader(json), entity: "Thing", options: InferredModel.Options(jsonKeyPaths: ["x.id"]))
        #expect(nested.model["X"]?.entity.identity == [])
        #expect(nested.model["X"]?.attributes.first { $0.name == "id" }?.type == .json)
        let root = try InferredModel(
            from: Self.reader(json), entity: "Thing", options: InferredModel.Options(jsonKeyPaths: ["id"]))
        #expect(root.model["Thing"]?.entity.identity == ["contentHash"])
        #expect(throws: InferredModel.Failure.unsuitableKey(entity: "Thing", key: "id")) {
            try InferredModel(
                from: Self.reader(json), entity: "Thing",
                options: InferredModel.Options(key: ["id"], jsonKeyPaths: ["id"]))
        }
    }

    // MARK: Limits

    /// Below, at and above the limit: the contents of the earlier model count toward it.
    @Test(arguments: [(3, ["Thing.b is new: json"], 1), (4, ["Thing.b is new: B"], 0), (5, ["Thing.b is new: B"], 0)])
    func entitiesBeyondTheLimitAreJSON(limit: Int, changes: [String], findingCount: Int) throws {
        let evolved = try evolve(
            #"[{"id":1,"a":{"n":1,"z":{"m":1}}}]"#, with: #"[{"id":1,"b":{"n":1,"k":2},"a":{"n":1,"z":{"m":1}}}]"#,
            options: InferredModel.Options(maximumEntityCount: limit))
        #expect(evolved.changes.map(\.description) == changes)
        #expect(evolved.findings.map(\.kind) == Array(repeating: .json(.limit), count: findingCount))
        #expect(evolved.findings.map(\.entity) == Array(repeating: "Thing", count: findingCount))
        #expect(evolved.obstacles.isEmpty)
    }

    @Test(arguments: [
        (2, [], 1), (3, ["Thing.c is new: int64"], 1), (4, ["Thing.b is new: int64", "Thing.c is new: int64"], 0),
    ])
    func keysBeyondTheLimitAreKeptAsJSON(limit: Int, changes: [String], findingCount: Int) throws {
        let evolved = try evolve(
            #"[{"id":1,"a":1}]"#, with: #"[{"id":1,"b":1,"a":1},{"id":2,"c":1},{"id":3,"c":1}]"#,
            options: InferredModel.Options(maximumPropertyCount: limit))
        #expect(evolved.changes.map(\.description) == changes)
        #expect(evolved.findings.map(\.kind) == Array(repeating: .json(.limit), count: findingCount))
    }
}
