import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Objects of a sub-entity that the payload states to be of the entity above; on every store.
@Suite(.endsInTime) struct StatedEntityTests {
    static func mapper() throws -> RecordMapper {
        let model = try DataModel {
            SyncEntity("Vehicle", identity: "id", userInfo: ["entityMapperName": "kind"]) {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("owner", toOne: "Owner", inverse: "vehicles")
                SyncRelationship("next", toOne: "Vehicle")
            }
            SyncEntity("Car", parent: "Vehicle") {
                SyncAttribute("doors", .int64)
                SyncRelationship("wheels", toMany: "Wheel", inverse: "car", deleteRule: .cascade)
            }
            SyncEntity("Taxi", parent: "Car") {}
            SyncEntity("Wheel", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("car", toOne: "Car", inverse: "wheels")
            }
            SyncEntity("Owner", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("car", toOne: "Car")
                SyncRelationship("vehicles", toMany: "Vehicle", inverse: "owner")
            }
        }
        var transformers = RecordMapper.Transformers()
        transformers.registerEntityMapper("kind") { (object: JSONValue.Object) -> String? in
            if case .string(let name)? = object["kind"] { name } else { nil }
        }
        var dialect = JSONDialect.sync
        dialect.annotations.entityMapper = ["entityMapperName"]
        return try RecordMapper(model, JSONMapping(dialect: dialect, transformers: transformers))
    }

    private static let taxi =
        #"[{"id":1,"kind":"Taxi","name":"a","doors":4,"wheels":[{"id":1},{"id":2}],"owner":{"id":5}}]"#

    private func withTaxi(
        _ kind: StoreKind, _ body: @Sendable (RealJSONWorld) async throws -> Void
    ) async throws {
        try await RealJSONWorld.withBatches(kind, try Self.mapper()) { world, _ in
            try await world.sync(Self.taxi, into: "Vehicle")
            try await body(world)
        }
    }

    /// The numbers of vehicles that are cars, and of cars that are taxis.
    private func counts(_ world: RealJSONWorld) async throws -> [Int] {
        [try await world.count("Vehicle"), try await world.count("Car"), try await world.count("Taxi")]
    }

    @Test(arguments: StoreKind.all)
    func anObjectOfTheListBecomesOneOfTheEntityAbove(kind: StoreKind) async throws {
        try await withTaxi(kind) { world in
            let car = try await world.sync(#"[{"id":1,"kind":"Car"}]"#, into: "Vehicle")
            #expect(car.countsByEntity["Car"]?.all == [0, 1, 0, 0] && car.drift.count(of: .conflict) == 0, "\(car)")
            #expect(try await counts(world) == [1, 1, 0])
            #expect(try await world.values("doors", of: "Car") == [4])
            #expect(try await world.count("Wheel") == 2)
            let vehicle = try await world.sync(#"[{"id":1,"kind":"Vehicle","name":"b"}]"#, into: "Vehicle")
            #expect(vehicle.countsByEntity["Vehicle"]?.all == [0, 1, 0, 0], "\(vehicle)")
            #expect(try await counts(world) == [1, 0, 0])
            #expect(try await world.values("name", of: "Vehicle") == ["b"])
            #expect(try await world.count("Wheel") == 0)
            #expect(try await world.count("Vehicle", where: PropertyPath("owner.id") == 5) == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func aNestedObjectBecomesOneOfTheEntityAbove(kind: StoreKind) async throws {
        try await withTaxi(kind) { world in
            let result = try await world.sync(#"[{"id":5,"vehicles":[{"id":1,"kind":"Vehicle"}]}]"#, into: "Owner")
            #expect(result.drift.count(of: .conflict) == 0, "\(result.drift)")
            #expect(try await counts(world) == [1, 0, 0])
        }
    }

    /// The list does not say it itself.
    @Test(
        arguments: StoreKind.all,
        [
            #"[{"id":1,"owner":{"id":5,"vehicles":[{"id":1,"kind":"Vehicle"}]}}]"#,
            #"[{"id":2,"owner":{"id":5,"vehicles":[{"id":1,"kind":"Vehicle"},{"id":2}]}},{"id":1}]"#,
            #"[{"id":1},{"id":2,"kind":"Vehicle","next":{"id":1,"kind":"Vehicle"}}]"#,
        ])
    func aNestedObjectOfTheListsEntityBecomesOneOfTheEntityAbove(kind: StoreKind, payload: String) async throws {
        try await withTaxi(kind) { world in
            let result = try await world.sync(payload, into: "Vehicle")
            #expect(result.drift.count(of: .conflict) == 0, "\(result.drift)")
            #expect(try await world.count("Car") == 0)
        }
    }

    /// What waits until the list has been read are the values of the object, and its relationships.
    @Test(arguments: StoreKind.all)
    func aNestedObjectOfTheListsEntityGetsTheRelationshipsOfItsNewEntity(kind: StoreKind) async throws {
        try await RealJSONWorld.withBatches(kind, try Self.mapper()) { world, _ in
            try await world.sync(#"[{"id":1,"kind":"Vehicle"}]"#, into: "Vehicle")
            let payload =
                #"[{"id":2,"next":{"id":1,"kind":"Car","doors":3,"wheels":[{"id":1}],"owner":{"id":5}}},{"id":1}]"#
            let result = try await world.sync(payload, into: "Vehicle")
            #expect(result.drift.count(of: .conflict) == 0, "\(result.drift)")
            #expect(try await counts(world) == [2, 1, 0])
            #expect(try await world.count("Car", where: PropertyPath("owner.id") == 5) == 1)
            #expect(try await world.count("Wheel", where: PropertyPath("car.id") == 1) == 1)
            #expect(try await world.sync(payload, into: "Vehicle").isUnchanged)
            // The list decides: the nested object keeps its entity, and gets no wheels.
            let other = try await world.sync(
                payload.replacing(#"{"id":1}]"#, with: #"{"id":1,"kind":"Vehicle"}]"#), into: "Vehicle")
            #expect(other.drift.count(of: .conflict) > 0, "\(other.drift)")
            #expect(try await counts(world) == [2, 0, 0])
        }
    }

    /// What is said of an object without its entity changes none.
    @Test(arguments: StoreKind.all)
    func anObjectWhoseEntityIsNotStatedKeepsIt(kind: StoreKind) async throws {
        try await withTaxi(kind) { world in
            for payload in [
                #"[{"id":1,"name":"b"}]"#, #"[{"id":2,"kind":"Vehicle","next":{"id":1,"doors":5}},{"id":1}]"#,
                #"[{"id":2,"next":{"id":1}},{"id":1,"next_id":2}]"#, #"[{"id":1,"next_id":1}]"#,
            ] {
                let result = try await world.sync(payload, into: "Vehicle")
                #expect(result.drift.count(of: .conflict) == 0, "\(payload) \(result.drift)")
                #expect(try await world.count("Taxi") == 1, "\(payload)")
            }
            #expect(try await world.values("doors", of: "Car") == [5])
        }
    }

    /// The list beats nested objects; of nested ones the first counts, of the list's own the later.
    @Test(
        arguments: StoreKind.all,
        [
            (#"[{"id":1,"kind":"Vehicle","next":{"id":1,"kind":"Taxi"}}]"#, false, true),
            (#"[{"id":1,"kind":"Taxi","next":{"id":1,"kind":"Vehicle"}}]"#, true, true),
            (
                #"[{"id":2,"next":{"id":1,"kind":"Vehicle"}},{"id":3,"next":{"id":1,"kind":"Taxi"}},{"id":1}]"#, false,
                true
            ),
            (
                #"[{"id":2,"next":{"id":1,"kind":"Taxi"}},{"id":3,"next":{"id":1,"kind":"Vehicle"}},{"id":1}]"#, true,
                true
            ),
            (#"[{"id":1,"kind":"Taxi"},{"id":1,"kind":"Vehicle"}]"#, false, false),
            (#"[{"id":1,"kind":"Vehicle"},{"id":1,"kind":"Taxi"}]"#, true, false),
        ])
    func aContradictionIsReported(kind: StoreKind, row: (payload: String, isTaxi: Bool, settles: Bool)) async throws {
        try await withTaxi(kind) { world in
            let result = try await world.sync(row.payload, into: "Vehicle", settles: row.settles)
            #expect(try await world.count("Taxi") == (row.isTaxi ? 1 : 0))
            #expect(result.drift.count(of: .conflict) + result.drift.count(of: .duplicate) == (row.settles ? 1 : 2))
        }
    }

    /// A relationship that leads to cars leads to the object.
    @Test(
        arguments: StoreKind.all,
        [
            ("Owner", #"[{"id":5,"car":{"id":1},"vehicles":[{"id":1,"kind":"Vehicle"}]}]"#),
            ("Owner", #"[{"id":5,"car_id":1,"vehicles":[{"id":1,"kind":"Vehicle"}]}]"#),
            ("Car", #"[{"id":1,"owner":{"id":5,"vehicles":[{"id":1,"kind":"Vehicle"}]}}]"#),
        ])
    func anObjectInAPlaceOfItsEntityKeepsIt(kind: StoreKind, row: (entity: String, payload: String)) async throws {
        try await withTaxi(kind) { world in
            let result = try await world.sync(row.payload, into: row.entity)
            #expect(try await counts(world) == [1, 1, 1])
            #expect(result.drift.count(of: .conflict) == 1, "\(result.drift)")
        }
    }

    /// A later element that does not state the entity counts, too.
    @Test(arguments: StoreKind.all)
    func theLaterElementCountsInEachSizeOfBatches(kind: StoreKind) async throws {
        try await withTaxi(kind) { world in
            try await world.sync(
                #"[{"id":1,"kind":"Vehicle","name":"b"},{"id":1,"name":"c","wheels":[{"id":3}]}]"#, into: "Vehicle",
                settles: false)
            #expect(try await world.values("name", of: "Vehicle") == ["c"])
            #expect(try await counts(world) == [1, 0, 0])
            #expect(try await world.count("Wheel") == 0)
        }
    }

    /// Two elements of one list say it and do not.
    @Test(arguments: StoreKind.all, [#""kind":"Vehicle","#, ""])
    func theFirstNestedStatementCounts(kind: StoreKind, stated: String) async throws {
        try await withTaxi(kind) { world in
            let other = stated.isEmpty ? #""kind":"Vehicle","# : ""
            let result = try await world.sync(
                #"[{"id":5,"vehicles":[{"id":1,\#(stated)"name":"b"},{"id":1,\#(other)"name":"c"}]}]"#, into: "Owner")
            #expect(try await world.values("name", of: "Vehicle") == ["b"])
            #expect(try await counts(world) == [1, 0, 0])
            #expect(result.drift.count(of: .conflict) == 1, "\(result.drift)")
        }
    }
}
