import OneWayStoreKinds
import OneWayStoreTestSupport
import Foundation
import ModelInference
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// What the model does not know or cannot hold is reported; on every store.
@Suite(.endsInTime) struct DriftTests {
    private static let strict = {
        var options = StoreSyncOptions()
        options.failsOnDrift = true
        return options
    }()

    // MARK: Drift

    @Test(arguments: StoreKind.all)
    func whatTheModelDoesNotKnowIsCountedByPath(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things()) { world in
            let result = try await world.sync(
                #"""
                [{"id":1,"new":1},{"id":2,"new":"x","day":"soon","part":{"v":"p","extra":[]}},
                 {"id":3,"new":2,"other":{"a":1}}]
                """#, into: "Thing")
            let found = result.drift.entries.map {
                "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)"
            }
            #expect(
                Set(found) == [
                    "unknownKey Thing.new 3 0", "unknownKey Thing.other 1 2", "unfitValue Thing.day 1 1",
                    "unknownKey Part.extra 1 1",
                ])
            #expect(result.drift.entries.first { $0.keyPath == "other" }?.found == "object")
            #expect(result.drift.entries.first { $0.keyPath == "day" }?.found == "string")
        }
    }

    private struct Flat: SyncObject, Equatable {
        var id: Int
        var company: String?

        static let declaration = SyncDeclaration<Flat>(.attribute(\.company, remoteKey: "company.name"))
    }

    /// The object is a step of the path of the key, and no value of the attribute.
    @Test(arguments: StoreKind.all, [ValueContract.Action.null, .reject, .fail])
    func anObjectUnderTheNameOfAnAttributeThatIsReadFromItIsNoDrift(
        kind: StoreKind, action: ValueContract.Action
    ) async throws {
        try await RealJSONWorld.with(
            kind, try DataModel(Flat.self), contract: ValueContract(wrongType: action)
        ) { world in
            let result = try await world.sync(
                #"[{"id":1,"company":{"name":"Apple"}},{"id":2,"company":null},{"company":{"name":"IBM"},"id":3}]"#,
                into: "Flat")
            #expect(result.drift.isEmpty && result.rejectedCount == 0)
            #expect(
                try await world.store.store.all(Flat.self, orderedBy: \.id)
                    == [Flat(id: 1, company: "Apple"), Flat(id: 2), Flat(id: 3, company: "IBM")])
        }
    }

    /// What a hook returns is counted in place of what it was given.
    @Test func aHookDecidesWhatIsCounted() async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(2)) }
        try await world.sync(#"[{"id":1,"notes":[{"id":3}]}]"#)
        var options = StoreSyncOptions()
        options.willInsert = { object, entity in
            var object = object
            guard entity == "Note" else { return object }
            object["z"] = object["id"] == .integer(1) ? nil : object["z"]
            object["y"] = object["id"] == .integer(2) ? .integer(1) : nil
            return object
        }
        let json = """
            [{"id":1,"notes":[{"id":1,"z":0},{"id":2,"z":0},{"id":3,"z":0}]},{"id":2},
             {"id":3,"notes":[{"id":4,"z":0,"text":[]}]},{"id":4,"z":1,"notes":[{"id":5,"text":[]}]}]
            """
        let result = try await world.json.sync(.bytes(Array(json.utf8)), into: "User", options: options)
        let found = result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)" }
        #expect(
            Set(found) == [
                "unknownKey Note.z 3 0", "unknownKey Note.y 1 0", "unfitValue Note.text 2 2", "unknownKey User.z 1 3",
            ])
        #expect(result.toleratedCount == 2)
    }

    /// Each kind of difference alone is enough, and nothing is written then.
    @Test(arguments: [
        (#"[{"id":1,"n":1}]"#, 0, 0), (#"[{"id":1,"new":1}]"#, 1, 0), (#"[{"id":1},{"n":2}]"#, 0, 1),
        (#"[{"id":1,"new":1},{"n":2}]"#, 1, 1),
    ])
    func aSyncCanFailOnDrift(json: String, drift: Int, rejected: Int) async throws {
        let mapper = try RecordMapper(try RealJSONModel.things())
        let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        do {
            _ = try await store.sync(.bytes(Array(json.utf8)), into: "Thing", options: Self.strict)
            #expect(drift + rejected == 0)
            #expect(try await store.store.count(StoreQuery("Thing")) == 1)
        } catch StoreSyncError.payloadDiffers(let report, let rejectedCount) {
            #expect(report.entries.count == drift && rejectedCount == rejected)
            let description = StoreSyncError.payloadDiffers(report, rejectedCount: rejectedCount).description
            #expect(description.contains("1 object left out") == (rejected > 0))
            #expect(description.contains("left out") == (rejected > 0))
            #expect(try await store.store.count(StoreQuery("Thing")) == 0)
        }
    }

    /// One object has its company, the other one names it.
    @Test func anIdentifierBesideObjectsIsLinked() async throws {
        let json = #"[{"id":1,"company":{"id":5,"name":"x"}},{"id":2,"company_id":5}]"#
        let world = try SyncWorld(model: try DataModel.inferred(from: json, entity: "User"))
        let result = try await world.sync(json)
        #expect(result.drift.isEmpty, "\(result.drift)")
        #expect(try await world.column("id", where: "company.id = 5") == [1, 2])
        let again = try await world.sync(json)
        #expect(again.isUnchanged)
    }

    /// An export writes true, and "1" for 1.0.
    @Test func whatAGivenModelConvertsIsReported() async throws {
        let world = try SyncWorld(
            model: DataModel {
                SyncEntity("Thing", identity: "id") {
                    SyncAttribute("id", .string)
                    SyncAttribute("flag", .bool)
                    SyncAttribute("text", .string)
                    SyncAttribute("count", .int64)
                }
            })
        let result = try await world.sync(
            #"[{"id":1,"flag":"true","text":1.0,"count":"7"},{"id":2,"flag":1,"text":"a"},{"id":3,"flag":true}]"#,
            into: "Thing")
        let found = result.drift.entries.map { "\($0.kind) \($0.keyPath) \($0.count)" }
        #expect(found.sorted() == ["converted flag 2", "converted text 1"])
        #expect(try await world.column("text", of: "Thing") == ["1", "a", .null])
    }

    /// Three places are named, the others are counted.
    @Test(arguments: [(3, ""), (4, "; 1 more place"), (5, "; 2 more places")])
    func anErrorNamesTheFirstPlaces(count: Int, end: String) async throws {
        let mapper = try RecordMapper(try RealJSONModel.things())
        let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
        let keys = (0..<count).map { #""key\#($0)":1"# }.joined(separator: ",")
        let error = await #expect(throws: StoreSyncError.self) {
            try await store.sync(.bytes(Array("[{\"id\":1,\(keys)}]".utf8)), into: "Thing", options: Self.strict)
        }
        guard case .payloadDiffers(let report, _)? = error else { return }
        let places = report.entries.prefix(3).map { "\($0)" }.joined(separator: "; ")
        #expect(error?.description == "the payload differs from the model: \(places)\(end)")
    }

    @Test(arguments: StoreKind.all)
    func aRelationshipThatBecameAStringStaysAsItIsAndIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things()) { world in
            try await world.sync(#"[{"id":1,"part":{"v":"p"}}]"#, into: "Thing")
            let result = try await world.sync(#"[{"id":1,"part":"p"}]"#, into: "Thing")
            #expect(result.drift.entries.map(\.kind) == [.changedShape])
            #expect(result.drift.entries.first?.found == "string")
            #expect(try await world.count("Thing", where: PropertyPath("part.v") == "p") == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func theContractDecidesWhatANumberThatDoesNotFitDoes(kind: StoreKind) async throws {
        let contracts: [(ValueContract?, AttributeValue)] = [
            // The dialect clears, as its ancestor did.
            (nil, .null), (ValueContract(), 7), (.keeping, 7), (ValueContract(outOfRange: .null), .null),
            (ValueContract(wrongType: .null), .null),
        ]
        for (contract, kept) in contracts {
            try await RealJSONWorld.with(kind, try RealJSONModel.things(), contract: contract) { world in
                try await world.sync(#"[{"id":1,"n":7}]"#, into: "Thing")
                let result = try await world.sync(#"[{"id":1,"n":1.5}]"#, into: "Thing")
                #expect(result.drift.count(of: .unfitValue) == 1)
                #expect(try await world.values("n", of: "Thing") == [kept])
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func anInferredModelKeepsWhatIsStored(kind: StoreKind) async throws {
        let model = try DataModel.inferred(from: #"[{"id":1,"n":7,"day":"2014-01-02"}]"#, entity: "Thing")
        try await RealJSONWorld.with(kind, model) { world in
            try await world.sync(#"[{"id":1,"n":7,"day":"2014-01-02"}]"#, into: "Thing")
            let result = try await world.sync(#"[{"id":1,"n":"x","day":"soon"}]"#, into: "Thing")
            #expect(result.drift.count(of: .unfitValue) == 2)
            #expect(result.isUnchanged)
            #expect(try await world.values("n", of: "Thing") == [7])
        }
    }

    /// Nobody chose the types of an inferred model, so that each conversion is news.
    @Test(
        arguments: StoreKind.all,
        [
            // Text for a number, and its reverse.
            ("1", #""007""#, true), ("1", "true", true), ("1", "1.0", false), ("1.5", #""2""#, true),
            (#""a""#, "5", true), (#""a""#, "true", true), (#""a""#, #""b""#, false),
            ("true", "1.5", true), ("true", #""false""#, true), ("true", "false", false),
            // A date in another spelling.
            (#""2020-01-01T10:00:00Z""#, #""2020-01-01T10:00:00.25Z""#, true),
            (#""2020-01-01T10:00:00Z""#, #""2020-01-01T10:00:00.250Z""#, false),
            (#""2020-01-01T10:00:00Z""#, #""2020-01-01T12:00:00+02:00""#, true),
            (#""2020-01-01T10:00:00Z""#, #""2020-01-01""#, true), (#""2020-01-01T10:00:00Z""#, "1.5", true),
            // What was always null, and what was a list.
            ("null", "5", true), ("null", #""b""#, false), (#"[{"x":1}]"#, #"{"x":1}"#, true),
        ])
    func anInferredModelReportsWhatItConverts(kind: StoreKind, row: (String, String, isReported: Bool)) async throws {
        let (sample, value, isReported) = row
        let json = "[{\"id\":1,\"v\":\(sample)}]"
        try await RealJSONWorld.with(kind, try DataModel.inferred(from: json, entity: "Thing")) { world in
            #expect(try await world.sync(json, into: "Thing").drift.isEmpty)
            let result = try await world.sync("[{\"id\":1,\"v\":\(value)}]", into: "Thing")
            #expect(result.drift.entries.map(\.keyPath) == (isReported ? ["v"] : []))
            #expect(result.drift.count(of: .converted) == (isReported ? 1 : 0))
        }
    }

    /// Only an identity that does not fit may hide an object.
    @Test func anIdentityThatIsConvertedHidesNoObject() async throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id", userInfo: [SyncEntity.inferredAnnotation: "true"]) {
                SyncAttribute("id", .int64)
            }
        }
        let world = try SyncWorld(model: model)
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Thing")
        let result = try await world.sync(#"[{"id":"1"}]"#, into: "Thing")
        #expect(result.drift.entries.map(\.kind) == [.converted])
        #expect(result.counts.all == [0, 0, 1, 1])
    }

    @Test(arguments: StoreKind.all)
    func aConversionIsKeptAsItIsWhereThereIsRoom(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id", userInfo: ["sync.inferred": "true"]) {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("n", .int64)
                SyncAttribute("rest", .json, userInfo: ["sync.otherKeys": "expected"])
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let result = try await world.sync(#"[{"id":"1","n":"007"}]"#, into: "Thing")
            let found = Set(result.drift.entries.map { "\($0.kind) \($0.keyPath)" })
            #expect(found == ["converted id", "unfitValue n"])
            let exported: [UInt8] = try await world.store.export(StoreQuery("Thing"))
            #expect(String(decoding: exported, as: UTF8.self) == #"[{"id":1,"n":"007"}]"#)
            try await world.sync(#"[{"id":1,"n":"x"}]"#, into: "Thing")
            let later: [UInt8] = try await world.store.export(StoreQuery("Thing"))
            #expect(String(decoding: later, as: UTF8.self) == #"[{"id":1,"n":"x"}]"#)
        }
    }

    @Test(arguments: StoreKind.all)
    func aNumberOfTooManyDigitsIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things()) { world in
            let exact = try await world.sync(
                #"""
                [{"id":1,"f":0.30000000000000004},{"id":2,"f":1.00000000000000000000},{"id":3,"f":5e-324},
                 {"id":4,"f":179.76931348623157}]
                """#, into: "Thing")
            #expect(exact.drift.isEmpty)
            let rounded = try await world.sync(
                #"[{"id":1,"f":12345678901234567.5},{"id":2,"f":9007199254740993}]"#, into: "Thing")
            #expect(rounded.drift.count(of: .rounded) == 2)
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectThatAListHasTwiceIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            let many = (1...40).map { "{\"id\":\($0)}" }.joined(separator: ",")
            let result = try await world.sync(
                """
                [{"id":1,"skills":[{"id":1},{"id":2},{"id":1}]},{"id":2,"skills":[{"id":2},{"id":3}]},
                 {"id":3,"skills":[\(many),{"id":40}]},{"id":4,"skills_ids":[3,3]}]
                """, into: "Employee")
            let found = result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count)" }
            #expect(found == ["duplicate Employee.skills 3"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aStrictContractMakesDriftAnError(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things(), contract: .strict) { world in
            for json in [#"[{"id":1,"new":1}]"#, #"[{"id":1,"n":"x"}]"#, #"[{"id":1,"n":1.5}]"#] {
                await #expect(throws: MappingError.self) {
                    _ = try await world.store.sync(.bytes(Array(json.utf8)), into: "Thing")
                }
                let count = try await world.count("Thing")
                #expect(count == 0)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aKeyThatAnObjectHasTwiceIsReported(kind: StoreKind) async throws {
        // More properties than a word has bits.
        let many = (0..<130).map { SyncAttribute("a\($0)", .int64) }
        let model = try DataModel {
            SyncEntity("Owner", identity: "id") {
                SyncAttribute("id", .int64)
                for attribute in many { attribute }
                SyncRelationship("pet", toOne: "Pet")
            }
            SyncEntity("Pet", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("toyKind", .string, userInfo: ["sync.remoteKey": "toy.kind"])
                SyncRelationship("friend", toOne: "Pet")
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let all = many.indices.map { "\"a\($0)\":\($0)" }.joined(separator: ",")
            let plain = try await world.sync("[{\"id\":1,\(all)},{\"id\":2,\(all)}]", into: "Owner")
            #expect(plain.drift.isEmpty)
            let json = #"""
                [{"id":1,"a2":1,"a66":1,"a2":2},
                 {"id":2,"a1":3,"a1":null,"pet":{"id":1,"name":"a","name":"b"}}]
                """#
            let result = try await world.sync(json, into: "Owner")
            #expect(
                result.drift.entries.map(\.description) == [
                    "Owner.a2: key repeated in one object, the last counts, once, first in element 0",
                    "Owner.a1: key repeated in one object, the last counts, once, first in element 1",
                    "Pet.name: key repeated in one object, the last counts, once, first in element 1",
                ])
            #expect(try await world.values("a2", of: "Owner") == [2, 2])
            let pets = try await world.sync(
                #"[{"id":3,"friend":{"id":4},"friend":{"id":5}},{"id":3,"friend_id":4,"friend":null}]"#, into: "Pet",
                settles: false)
            #expect(pets.drift.count(of: .repeatedKey) == 1)
            let toys = try await world.sync(
                #"[{"id":1,"toy":{"kind":"a"},"toy":{"kind":"b"}},{"id":2,"toy":{},"toy":{"kind":"c"}}]"#, into: "Pet")
            #expect(toys.drift.entries.map(\.keyPath) == ["toy"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aKeyThatTheJSONOfAnAttributeHasTwiceIsReported(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("json", .json)
                SyncAttribute("rest", .json, userInfo: ["sync.otherKeys": "expected"])
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let json = #"""
                [{"id":1,"json":{"a":1,"b":[{"c":1},{"c":1,"d":2,"c":3}]},"x":1},
                 {"id":2,"json":null,"x":1,"y":{"z":1,"z":1}},
                 {"id":3,"json":{"a":1,"\u0061":1},"x":1,"x":2}]
                """#
            let result = try await world.sync(json, into: "Thing")
            #expect(
                result.drift.entries.filter { $0.kind == .repeatedKey }.map(\.description) == [
                    "Thing.json: key repeated in one object, the last counts, 2 times, first in element 0",
                    "Thing: key repeated in one object, the last counts, 2 times, first in element 1",
                ])
        }
    }

    @Test(arguments: StoreKind.all)
    func aMandatoryRelationshipThatIsEmptyIsReported(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Owner", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("pets", toMany: "Pet", inverse: "owner")
            }
            SyncEntity("Pet", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("owner", toOne: "Owner", inverse: "pets", optional: false)
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let nested = try await world.sync(#"[{"id":1,"pets":[{"id":1},{"id":2}]}]"#, into: "Owner")
            #expect(nested.drift.isEmpty)
            let result = try await world.sync(
                #"[{"id":1},{"id":2,"owner_id":1},{"id":3,"owner":null},{"id":4},{"id":5,"owner":{"id":2}}]"#,
                into: "Pet")
            #expect(
                result.drift.entries.map(\.description) == [
                    "Pet.owner: mandatory relationship is empty, 2 times, first in element 2"
                ])
        }
        let mapper = try RecordMapper(model, JSONMapping(dialect: .groot))
        try await kind.use { makeStore in
            let store = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            await #expect(throws: MappingError.self) {
                try await store.importObjects(.bytes(Array("[{}]".utf8)), into: "Pet")
            }
            #expect(try await store.store.count(StoreQuery("Pet")) == 0)
        }
    }

    // MARK: Dates

    @Test(arguments: StoreKind.all)
    func datesKeepMicrosecondsFromPayloadToExport(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things()) { world in
            try await world.sync(#"[{"id":1,"day":"2015-09-10T12:40:08.123456Z"}]"#, into: "Thing")
            let result = try await world.sync(#"[{"id":1,"day":"2015-09-10T12:40:08.123457Z"}]"#, into: "Thing")
            #expect(result.counts.updated == 1)
            #expect(
                try await world.values("day", of: "Thing")
                    == [.date(Timestamp(microseconds: 1_441_888_808_123_457))])
        }
    }

    @Test(arguments: StoreKind.all)
    func aWholeNumberThatADoubleRoundsIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things()) { world in
            let result = try await world.sync(
                #"[{"id":1,"f":9007199254740993},{"id":2,"f":9007199254740994},{"id":3,"f":1.1}]"#, into: "Thing")
            #expect(result.drift.entries.map(\.kind) == [.rounded])
            #expect(result.drift.entries.first?.count == 1)
        }
    }
}
