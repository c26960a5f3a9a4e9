import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Objects whose class the payload states, and that change it; on every store.
@Suite(.endsInTime) struct EntityChangeTests {
    private static func mapper() throws -> RecordMapper {
        let model = try DataModel {
            SyncEntity("Vehicle", identity: "id", userInfo: ["entityMapperName": "Type"]) {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("garage", toOne: "Garage", inverse: "vehicles")
                SyncRelationship("wheels", toMany: "Wheel", inverse: "vehicle")
                SyncRelationship("parts", toMany: "Part", inverse: "vehicle")
                SyncRelationship("owner", toOne: "Owner", inverse: "vehicles")
            }
            SyncEntity("Owner", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("vehicles", toMany: "Vehicle", inverse: "owner")
                SyncRelationship("homes", toMany: "Home")
            }
            SyncEntity("Home", identity: "name") { SyncAttribute("name", .string) }
            SyncEntity("Car", parent: "Vehicle") { SyncAttribute("doors", .int64) }
            SyncEntity("Lorry", parent: "Vehicle") { SyncAttribute("load", .int64) }
            SyncEntity("Wheel") {
                SyncAttribute("v", .int64)
                SyncRelationship("vehicle", toOne: "Vehicle", inverse: "wheels")
            }
            SyncEntity("Part", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("vehicle", toOne: "Vehicle", inverse: "parts")
            }
            SyncEntity("Garage", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("favourite", toOne: "Car")
                SyncRelationship("vehicles", toOrdered: "Vehicle", inverse: "garage")
                SyncRelationship("newest", toOne: "Vehicle")
            }
        }
        var transformers = RecordMapper.Transformers()
        transformers.registerEntityMapper("Type") { (object: JSONValue.Object) -> String? in
            if case .string(let name)? = object["type"] { name } else { nil }
        }
        var dialect = JSONDialect.sync
        dialect.annotations.entityMapper = ["entityMapperName"]
        return try RecordMapper(model, JSONMapping(dialect: dialect, transformers: transformers))
    }

    private func with(
        _ kind: StoreKind, _ body: @Sendable (RealJSONWorld) async throws -> Void
    ) async throws {
        try await RealJSONWorld.withBatches(of: [1, 1000], kind, try Self.mapper()) { world, _ in try await body(world)
        }
    }

    /// The object was stored before, or is new.
    @Test(arguments: StoreKind.all, [[1, 2], [2]])
    func whatIsAbsentIsDeletedBesideAnObjectThatChangesItsClassInThePayload(
        kind: StoreKind, stored: [Int]
    ) async throws {
        try await with(kind) { world in
            let cars = stored.map { #"{"id":\#($0),"type":"Car"}"# }.joined(separator: ",")
            try await world.sync("[\(cars)]", into: "Vehicle")
            let payload = #"[{"id":1,"type":"Car"},{"id":1,"type":"Lorry"}]"#
            let result = try await world.store.sync(.bytes(Array(payload.utf8)), into: "Vehicle")
            #expect(try await world.values("id", of: "Vehicle") == [1])
            #expect(try await world.count("Lorry") == 1)
            #expect(result.countsByEntity["Car"].map { [$0.inserted, $0.deleted] } == [0, 1])
            #expect(
                result.countsByEntity["Lorry"].map { [$0.inserted, $0.updated, $0.unchanged] } == [
                    2 - stored.count, stored.count - 1, 0,
                ])
            let repeated = result.drift.entries.filter { $0.kind == .duplicate }
            #expect(repeated.map(\.entity) == ["Lorry"] && repeated.first?.count == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func objectsOfTwoClassesThatAreLinkedCountAsTheirs(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":5}]"#, into: "Owner")
            func vehicles(_ owner: String) -> String {
                #"[{"id":1,"type":"Car","owner_id":\#(owner)},{"id":2,"type":"Lorry","owner_id":\#(owner)}]"#
            }
            try await world.sync(vehicles("null"), into: "Vehicle")
            let result = try await world.store.sync(.bytes(Array(vehicles("5").utf8)), into: "Vehicle")
            #expect(result.countsByEntity.mapValues(\.updated) == ["Car": 1, "Lorry": 1])
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectWhoseClassThePayloadLacksKeepsIt(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"type":"Car","doors":3},{"id":2}]"#, into: "Vehicle")
            let payload = #"[{"id":1,"doors":5,"wheels":[{"v":1}]},{"id":2,"name":"b"},{"id":3}]"#
            for expected in [[1, 2, 0, 0], [0, 0, 3, 0]] {
                let result = try await world.store.sync(.bytes(Array(payload.utf8)), into: "Vehicle")
                #expect(result.counts.all == expected)
                #expect(result.drift.isEmpty, "\(result.drift)")
                #expect(try await world.values("doors", of: "Car") == [5])
                #expect(try await world.count("Wheel") == 1)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectOfTheListBecomesOneOfItsNewClass(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"[{"id":1,"vehicles":[{"id":1},{"id":7,"type":"Car","name":"a","wheels":[{"v":1},{"v":2}]},{"id":9}],"newest_id":7}]"#,
                into: "Garage")
            let options = StoreSyncOptions(
                operations: StoreSyncOptions.Operations.all.subtracting(.delete), reportsKeys: true)
            let result = try await world.sync(#"[{"id":7,"type":"Lorry","load":5}]"#, into: "Vehicle", options: options)
            #expect(result.countsByEntity.mapValues(\.all) == ["Lorry": [0, 1, 0, 0]])
            #expect(result.keys?.updated == [.identity(7)] && result.keys?.inserted == [])
            #expect(try await world.count("Vehicle", where: PropertyPath("id") == 7) == 1)
            #expect(try await world.values("name", of: "Lorry") == ["a"])
            #expect(try await world.count("Wheel", where: PropertyPath("vehicle.id") == 7) == 2)
            #expect(try await world.count("Garage", where: PropertyPath("newest.id") == 7) == 1)
            let order = try await world.store.store.read { reader -> [AttributeValue] in
                let garage = try #require(try await reader.records(StoreQuery("Garage")).first)
                let relationship = try #require(garage.record.layout.relationship("vehicles"))
                let links = try await reader.links(relationship, of: [garage.object])
                let vehicles = try await reader.records(StoreQuery("Vehicle"))
                return links.compactMap { link in vehicles.first { $0.object == link.target }?.record["id"] }
            }
            #expect(order == [1, 7, 9])
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectOfANewClassHasOnlyTheChildrenThatThePayloadStates(kind: StoreKind) async throws {
        try await with(kind) { world in
            for (type, part) in [("Car", 1), ("Lorry", 2), ("Car", 2), ("Vehicle", 3)] {
                try await world.sync(
                    #"[{"id":7,"type":"\#(type)","parts":[{"id":\#(part)}],"wheels":[{"v":\#(part)}]}]"#,
                    into: "Vehicle")
                let stated = "\(type) with part \(part)"
                #expect(
                    try await world.values("id", of: "Part", where: PropertyPath("vehicle.id") == 7) == [
                        .int(Int64(part))
                    ], "\(stated)")
                #expect(try await world.values("v", of: "Wheel") == [.int(Int64(part))], "\(stated)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aNestedObjectChangesItsClass(kind: StoreKind) async throws {
        try await with(kind) { world in
            for type in ["Car", "Lorry", "Vehicle", "Car"] {
                try await world.sync(
                    #"[{"id":1,"vehicles":[{"id":7,"type":"\#(type)","wheels":[{"v":1}]}]}]"#, into: "Garage")
                #expect(try await world.count("Vehicle") == 1, "\(type)")
                #expect(try await world.values("v", of: "Wheel") == [1], "\(type)")
                #expect(try await world.count("Wheel", where: PropertyPath("vehicle").isNull) == 0, "\(type)")
                #expect(try await world.count("Garage", where: PropertyPath("vehicles.@count") == 1) == 1, "\(type)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func anInsertionCountsBesideAChangeOfAnotherEntity(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"vehicles":[{"id":1,"type":"Car","name":"a"}]}]"#, into: "Garage")
            let result = try await world.sync(
                #"[{"id":1,"favourite":{"id":1,"name":"b"},"vehicles":[{"id":1,"name":"c"},{"id":2,"name":"d"}]}]"#,
                into: "Garage")
            #expect(result.countsByEntity["Vehicle"]?.inserted == 1, "\(result.countsByEntity)")
            #expect(result.countsByEntity["Car"]?.updated == 1, "\(result.countsByEntity)")
            #expect(try await world.values("name", of: "Vehicle") == ["b", "d"])
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectWithoutAKeyIsInsertedOnceBesideAChangeOfAnotherEntity(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"newest":{"id":1,"type":"Car","name":"a"}},{"id":2}]"#, into: "Garage")
            try await world.sync(
                #"""
                [{"id":1,"favourite":{"id":1,"name":"b"},"newest":{"id":1,"type":"Vehicle","name":"c"}},
                 {"id":2,"newest":{"type":"Vehicle","name":"d"}}]
                """#, into: "Garage")
            #expect(try await world.values("name", of: "Vehicle") == ["b", "d"])
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectThatChangesItsClassHasTheChangesBefore(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"[{"id":1,"newest":{"id":1,"type":"Car","name":"a","doors":4}},{"id":2}]"#, into: "Garage")
            try await world.sync(
                #"[{"id":1,"newest":{"id":1,"name":"b"}},{"id":2,"vehicles":[{"id":1,"type":"Lorry"}]}]"#,
                into: "Garage")
            #expect(try await world.values("name", of: "Lorry") == ["b"])
            // An attribute of the former class is none of the new one.
            #expect(try await world.values("load", of: "Lorry") == [.null])
        }
    }

    @Test(arguments: StoreKind.all)
    func othersOfTheNewClassAreMergedBesideAnObjectThatChangesItsOwn(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"[{"id":1,"type":"Car","name":"a","doors":4},{"id":2,"type":"Lorry","name":"b"}]"#, into: "Vehicle")
            let result = try await world.store.sync(
                .bytes(
                    Array(
                        #"""
                        [{"id":3,"type":"Lorry","load":1},{"id":1,"type":"Lorry","load":2},
                         {"id":2,"type":"Lorry","load":3}]
                        """#.utf8)), into: "Vehicle")
            #expect(try await world.values("load", of: "Lorry") == [1, 2, 3])
            #expect(try await world.values("name", of: "Lorry") == [.null, "a", "b"])
            #expect(try await world.count("Car") == 0)
            #expect(result.counts.inserted == 1 && result.counts.updated == 2 && result.counts.deleted == 0)
        }
    }

    /// The payload has the object as one of its own class and as one of the class above.
    @Test(arguments: StoreKind.all)
    func theLaterOfTwoStatementsInTwoClassesWins(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"[{"id":1,"type":"Car","name":"a","doors":4},{"id":2,"type":"Lorry"}]"#, into: "Vehicle")
            let json = JSONSource.bytes(
                Array(
                    #"""
                    [{"id":1,"type":"Vehicle","name":"x"},{"id":1,"type":"Car","name":"y","doors":5},
                     {"id":2,"name":"c"}]
                    """#.utf8))
            let result = try await world.store.sync(json, into: "Vehicle")
            #expect(try await world.values("name", of: "Vehicle", where: PropertyPath("id") == 1) == ["y"])
            #expect(try await world.values("name", of: "Vehicle", where: PropertyPath("id") == 2) == ["c"])
            #expect(try await world.values("doors", of: "Car") == [5])
            #expect(result.counts.inserted == 0 && result.counts.updated == 2 && result.counts.deleted == 0)
        }
    }

    /// A new class takes over the links that the payload does not state.
    @Test(arguments: StoreKind.all, [#","garage":{"id":9}"#, #","garage_id":9"#, #","garage":null"#, ""])
    func linksStayWithAnObjectThatChangesItsClass(kind: StoreKind, stated: String) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"""
                [{"id":8,"vehicles":[{"id":1,"type":"Car","wheels":[{"v":1},{"v":2}]},{"id":2,"type":"Lorry"}]},{"id":9}]
                """#, into: "Garage")
            let json = #"[{"id":1,"type":"Lorry"\#(stated)},{"id":2,"type":"Lorry","wheels":[{"v":3}]}]"#
            try await world.store.sync(.bytes(Array(json.utf8)), into: "Vehicle")
            let garage: Int64? = stated.contains("9") ? 9 : stated.isEmpty ? 8 : nil
            for id in [8, 9] as [Int64] {
                let count = try await world.count(
                    "Lorry", where: PropertyPath("id") == 1 && PropertyPath("garage.id") == id)
                #expect(count == (garage == id ? 1 : 0))
            }
            #expect(try await world.values("v", of: "Wheel", where: PropertyPath("vehicle.id") == 1) == [1, 2])
            #expect(try await world.values("v", of: "Wheel", where: PropertyPath("vehicle.id") == 2) == [3])
            #expect(try await world.count("Lorry", where: PropertyPath("garage.id") == 8) == (garage == 8 ? 2 : 1))
            #expect(try await world.count("Wheel") == 3)
        }
    }

    /// The places of both in a list, and what leads to them.
    @Test(arguments: StoreKind.all, ["", #","garage":{"id":8}"#, #","garage_id":8"#, #","garage":{"id":9}"#])
    func severalObjectsOfOneListChangeTheirClass(kind: StoreKind, stated: String) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"""
                [{"id":8,"vehicles":[{"id":1,"type":"Car"},{"id":2,"type":"Car"},{"id":3,"type":"Car"}],"newest_id":2},
                 {"id":9,"vehicles":[{"id":4,"type":"Car"}],"newest_id":1}]
                """#, into: "Garage")
            let json = #"""
                [{"id":1,"type":"Lorry"},{"id":2,"type":"Lorry"\#(stated)},{"id":3,"type":"Car"},
                 {"id":4,"type":"Lorry"},{"id":5,"type":"Lorry","garage_id":8}]
                """#
            try await world.store.sync(.bytes(Array(json.utf8)), into: "Vehicle")
            let moves = stated.contains("9")
            func ids(_ name: String, _ garage: Int64) async throws -> [Record.Key]? {
                let query = StoreQuery("Garage", where: PropertyPath("id") == garage)
                return try await world.store.store.records(query, with: [name]).first?.record[related: name]?.keys
            }
            #expect(try await ids("vehicles", 8) == (moves ? [1, 3, 5] : [1, 2, 3, 5]).map { .identity($0) })
            #expect(try await ids("vehicles", 9) == (moves ? [4, 2] : [4]).map { .identity($0) })
            #expect(try await ids("newest", 8) == [.identity(2)])
            #expect(try await ids("newest", 9) == [.identity(1)])
            #expect(try await world.store.sync(.bytes(Array(json.utf8)), into: "Vehicle").isUnchanged)
        }
    }

    /// The classes are merged one after the other.
    @Test(arguments: StoreKind.all, ["", #","type":"Car""#, #","type":"Lorry""#])
    func theLaterStatementWinsBesideObjectsOfOtherClasses(kind: StoreKind, type: String) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"type":"Car","name":"a"},{"id":2,"type":"Lorry"}]"#, into: "Vehicle")
            let json = #"[{"id":1,"type":"Car","name":"y"},{"id":2,"type":"Lorry"},{"id":1,"name":"x"\#(type)}]"#
            try await world.store.sync(.bytes(Array(json.utf8)), into: "Vehicle")
            #expect(try await world.values("name", of: "Vehicle", where: PropertyPath("id") == 1) == ["x"])
        }
    }

    /// Such an object is read again as one of its class, with all that it leads to.
    @Test(arguments: StoreKind.all)
    func anObjectOfAClassThatOnlyTheStoreKnowsHasItsRelationships(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"type":"Car","doors":2},{"id":2,"type":"Lorry"}]"#, into: "Vehicle")
            let result = try await world.sync(
                #"[{"id":1,"doors":4,"garage":{"id":9},"wheels":[{"v":1}]},{"id":2,"load":7,"garage_id":9}]"#,
                into: "Vehicle")
            #expect(result.counts.updated == 2)
            #expect(try await world.values("doors", of: "Car") == [4])
            #expect(try await world.values("load", of: "Lorry") == [7])
            #expect(try await world.count("Vehicle", where: PropertyPath("garage.id") == 9) == 2)
            #expect(try await world.values("v", of: "Wheel", where: PropertyPath("vehicle.id") == 1) == [1])
        }
    }

    @Test(
        arguments: StoreKind.all,
        [
            (#","owner":{"id":6}"#, [6, 5]), (#","owner_id":6"#, [6, 5]), (#","owner":null"#, [nil, 5]), ("", [5, 5]),
        ] as [(String, [Int64?])])
    func theStatedOwnerCountsForANewClass(kind: StoreKind, row: (stated: String, owners: [Int64?])) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":5},{"id":6}]"#, into: "Owner")
            try await world.sync(
                #"[{"id":1,"type":"Car","owner":{"id":5}},{"id":2,"type":"Lorry","owner":{"id":5}}]"#, into: "Vehicle")
            let json = #"[{"id":1,"type":"Lorry"\#(row.stated)},{"id":2,"type":"Lorry"}]"#
            try await world.store.sync(.bytes(Array(json.utf8)), into: "Vehicle")
            for (id, owner) in zip([1, 2] as [Int64], row.owners) {
                for candidate in [5, 6] as [Int64] {
                    let count = try await world.count(
                        "Lorry", where: PropertyPath("id") == id && PropertyPath("owner.id") == candidate)
                    #expect(count == (owner == candidate ? 1 : 0), "\(id) \(candidate)")
                }
            }
        }
    }

    /// The name of a Lorry is unique, that of a Car is not.
    @Test(
        arguments: StoreKind.all,
        [
            #"[{"id":1,"type":"Lorry"},{"id":2,"type":"Lorry","name":"b"}]"#,
            #"[{"id":2,"type":"Lorry","name":"b"},{"id":1,"type":"Lorry"}]"#,
            #"[{"id":1,"type":"Lorry"},{"id":2,"type":"Car","name":"b"}]"#,
            #"[{"id":1,"type":"Lorry"},{"id":2,"type":"Lorry"},{"id":2,"type":"Car","name":"b"}]"#,
        ])
    func aUniqueValueOfTheNewClassWaitsUntilItIsFree(kind: StoreKind, payload: String) async throws {
        let plain = try Self.mapper()
        var entities = plain.model.layouts.map(\.entity).filter { !$0.isBookkeeping }
        for index in entities.indices where entities[index].name == "Lorry" {
            entities[index].indexes = [SyncEntity.Index(["name"], unique: true)]
        }
        let mapper = try RecordMapper(try DataModel(entities), plain.mapping)
        try await RealJSONWorld.withBatches(of: [1, 1000], kind, mapper) { world, _ in
            try await world.sync(
                #"[{"id":1,"type":"Car","name":"a"},{"id":2,"type":"Lorry","name":"a"}]"#, into: "Vehicle")
            // The list may state an object twice.
            try await world.store.sync(.bytes(Array(payload.utf8)), into: "Vehicle")
            #expect(try await world.values("name", of: "Vehicle", where: PropertyPath("id") == 1) == ["a"])
            #expect(try await world.values("name", of: "Vehicle", where: PropertyPath("id") == 2) == ["b"])
            #expect(try await world.values("name", of: "Lorry", where: PropertyPath("id") == 1) == ["a"])
        }
    }

    /// The list decides of which class its own objects are.
    @Test(arguments: StoreKind.all)
    func aNestedObjectChangesNoClassThatTheListStates(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"type":"Car"},{"id":2,"type":"Car"}]"#, into: "Vehicle")
            let payload =
                #"[{"id":2,"type":"Lorry","load":2,"owner":{"id":5,"vehicles":[{"id":1,"type":"Lorry","load":1},{"id":2,"type":"Car","doors":3}]}},{"id":1,"type":"Car","doors":2}]"#
            let result = try await world.store.sync(.bytes(Array(payload.utf8)), into: "Vehicle")
            #expect(try await world.values("doors", of: "Car") == [2])
            #expect(try await world.values("load", of: "Lorry") == [2])
            #expect(result.drift.count(of: .conflict) == 2, "\(result.drift)")
            #expect(try await world.store.sync(.bytes(Array(payload.utf8)), into: "Vehicle").isUnchanged)
            let silent = #"[{"id":2,"owner":{"id":5,"vehicles":[{"id":1,"type":"Lorry","load":4},{"id":2}]}},{"id":1}]"#
            let next = try await world.store.sync(.bytes(Array(silent.utf8)), into: "Vehicle")
            #expect(try await world.values("load", of: "Lorry") == [2, 4])
            #expect(next.drift.count(of: .conflict) == 0, "\(next.drift)")
            #expect(try await world.store.sync(.bytes(Array(silent.utf8)), into: "Vehicle").isUnchanged)
        }
    }

    /// What only the former class can have goes, with the delete rules of its relationships.
    @Test(arguments: StoreKind.all)
    func relationshipsOfTheFormerClassEnd(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Vehicle", identity: "id", userInfo: ["entityMapperName": "Type"]) {
                SyncAttribute("id", .int64)
            }
            SyncEntity("Car", parent: "Vehicle") {
                SyncRelationship("wheels", toMany: "Wheel", inverse: "car", deleteRule: .cascade)
                SyncRelationship("driver", toOne: "Person", inverse: "cars")
            }
            SyncEntity("Lorry", parent: "Vehicle") {}
            SyncEntity("Wheel", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("car", toOne: "Car", inverse: "wheels")
            }
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("cars", toMany: "Car", inverse: "driver")
                SyncRelationship("favourites", toOrdered: "Car")
            }
        }
        try await RealJSONWorld.withBatches(of: [1, 1000], kind, try RecordMapper(model, Self.mapper().mapping)) {
            world, _ in
            try await world.sync(
                #"""
                [{"id":1,"type":"Car","wheels":[{"id":1},{"id":2}],"driver":{"id":1,"favourites_ids":[2,1]}},
                 {"id":2,"type":"Car","wheels":[{"id":3}]}]
                """#, into: "Vehicle")
            try await world.sync(#"[{"id":1,"type":"Lorry"},{"id":2,"type":"Car"}]"#, into: "Vehicle")
            #expect(try await world.values("id", of: "Wheel") == [3])
            #expect(try await world.count("Person", where: PropertyPath("cars.@count") == 0) == 1)
            #expect(try await world.count("Person", where: PropertyPath("favourites.@count") == 1) == 1)
        }
    }
}
