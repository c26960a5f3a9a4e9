import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// Objects that belong to the object around them; on every store.
@Suite(.endsInTime) struct OwnedChildrenTests {
    private static func places(inverse: Bool) throws -> DataModel {
        try DataModel {
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("geo", toOne: "Geo", inverse: inverse ? "place" : nil)
                SyncRelationship("xs", toMany: "Xs", inverse: inverse ? "place" : nil)
            }
            SyncEntity("Geo") {
                SyncAttribute("lat", .int64)
                SyncAttribute("lng", .int64)
                if inverse { SyncRelationship("place", toOne: "Place", inverse: "geo") }
            }
            SyncEntity("Xs") {
                SyncAttribute("v", .int64)
                if inverse { SyncRelationship("place", toOne: "Place", inverse: "xs") }
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func ownedChildrenGoWithTheirPlaceAndTheirParent(kind: StoreKind) async throws {
        for inverse in [true, false] {
            try await RealJSONWorld.with(kind, try Self.places(inverse: inverse)) { world in
                let full = #"{"id":1,"geo":{"lat":1,"lng":2},"xs":[{"v":1},{"v":2}]}"#
                try await world.sync("[\(full)]", into: "Place")
                #expect(try await world.count("Geo") == 1)
                #expect(try await world.count("Xs") == 2)
                try await world.sync(#"[{"id":1,"geo":{"lat":3,"lng":4},"xs":[{"v":9}]}]"#, into: "Place")
                #expect(try await world.values("lat", of: "Geo") == [3])
                #expect(try await world.values("v", of: "Xs") == [9])
                try await world.sync(#"[{"id":1,"geo":null,"xs":null}]"#, into: "Place")
                #expect(try await world.count("Geo") == 0)
                #expect(try await world.count("Xs") == 0)
                try await world.sync("[\(full)]", into: "Place")
                try await world.sync("[]", into: "Place")
                #expect(try await world.count("Geo") == 0)
                #expect(try await world.count("Xs") == 0)
            }
        }
    }

    /// What the payload states stays, even if the object that must contain it goes.
    @Test(arguments: StoreKind.all) func statedObjectsOutliveAMandatoryOwner(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Firm", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("people", toMany: "Person", inverse: "firm", deleteRule: .cascade)
                SyncRelationship("adviser", toOne: "Person")
            }
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("firm", toOne: "Firm", inverse: "people", optional: false)
                SyncRelationship("children", toMany: "Person", inverse: "parent", deleteRule: .cascade)
                SyncRelationship("parent", toOne: "Person", inverse: "children", optional: false)
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let ada = #"{"id":7,"name":"Ada"}"#
            try await world.sync(#"[{"id":1,"people":[\#(ada)]},{"id":2,"people":[],"adviser":\#(ada)}]"#, into: "Firm")
            let later = #"[{"id":2,"people":[],"adviser":{"id":7,"name":"Ada L."}}]"#
            let result = try await world.sync(later, into: "Firm")
            #expect(result.counts.deleted == 1 && result.countsByEntity["Person"]?.deleted == 0)
            #expect(try await world.values("name", of: "Person") == ["Ada L."])
            #expect(try await world.sync(later, into: "Firm").countsByEntity.values.allSatisfy(\.isUnchanged))
        }
        try await RealJSONWorld.with(kind, model) { world in
            try await world.sync(#"[{"id":3,"children":[{"id":4}]}]"#, into: "Person")
            let result = try await world.sync(#"[{"id":4,"name":"x"}]"#, into: "Person")
            #expect(result.counts.deleted == 1)
            #expect(try await world.values("name", of: "Person") == ["x"])
        }
    }

    @Test(arguments: StoreKind.all, ["[]", #"[{"v":1}]"#])
    func ownedChildrenThatALaterStatementHasAgainStay(kind: StoreKind, first: String) async throws {
        for inverse in [true, false] {
            try await RealJSONWorld.withBatches(kind, RecordMapper(try Self.places(inverse: inverse))) {
                world, rowCount in
                let all = #"{"id":1,"xs":[{"v":1},{"v":2},{"v":3}]}"#
                try await world.sync("[\(all)]", into: "Place")
                let result = try await world.sync(
                    #"[{"id":9},{"id":1,"xs":\#(first)},\#(all),{"id":2}]"#, into: "Place", settles: false)
                #expect(result.countsByEntity["Xs"].map { $0.inserted + $0.deleted } == 0, "\(rowCount)")
                #expect(try await world.values("v", of: "Xs") == [1, 2, 3], "\(rowCount)")
            }
        }
    }

    /// The object with the unsuitable key may contain the part, which belongs to another one.
    @Test(arguments: StoreKind.all)
    func anOwnedChildIsDeletedBesideAnObjectThatIsLeftOut(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("A", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("parts", toMany: "Part", owns: true)
            }
            SyncEntity("Part", identity: "id") { SyncAttribute("id", .int64) }
        }
        try await RealJSONWorld.with(kind, model) { world in
            try await world.sync(#"[{"id":1,"parts":[{"id":5},{"id":6}]},{"id":2}]"#, into: "A")
            let result = try await world.sync(#"[{"id":1,"parts":[{"id":5}]},{"id":"two"}]"#, into: "A")
            #expect(result.counts.kept == 1)
            #expect(try await world.values("id", of: "Part") == [5])
        }
    }

    @Test func aModelCanSayWhatIsOwned() throws {
        let model = try DataModel {
            SyncEntity("A", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("kept", toMany: "B", owns: false)
                SyncRelationship("owned", toMany: "C", owns: true)
            }
            SyncEntity("B") { SyncAttribute("v", .int64) }
            SyncEntity("C", identity: "id") { SyncAttribute("id", .int64) }
        }
        let layout = try model.layout(of: "A")
        #expect(layout.relationships.map(\.isOwning) == [false, true])
    }

    /// An object without an identity stays in the object that contains it, as the payload states,
    /// when another one goes that it names.
    @Test(arguments: StoreKind.all, [false, true])
    func anOwnedChildStaysInTheObjectThatContainsIt(kind: StoreKind, areChanges: Bool) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note")
                SyncRelationship("mentions", toMany: "Note", inverse: "about")
            }
            SyncEntity("Note") {
                SyncAttribute("v", .int64)
                SyncRelationship("about", toOne: "User", inverse: "mentions")
            }
        }
        try await RealJSONWorld.withBatches(kind, RecordMapper(model)) { world, rowCount in
            try await world.sync(#"[{"id":1}]"#, into: "User")
            let objects = #"[{"id":2,"notes":[{"v":7,"about_id":1}]},{"id":1,"gone":true}]"#
            if areChanges {
                let change = RemoteChange.objects(.text(objects), tombstones: .flag(keyPath: "gone"))
                _ = try await world.store.apply([change], into: "User")
            } else {
                try await world.sync(#"[{"id":2,"notes":[{"v":7,"about_id":1}]}]"#, into: "User")
            }
            #expect(try await world.values("id", of: "User") == [2], "\(rowCount)")
            #expect(try await world.values("v", of: "Note") == [7], "\(rowCount)")
            if areChanges {
                _ = try await world.store.apply([.removals(.text("2")), .objects(.text(#"{"id":3}"#))], into: "User")
            } else {
                try await world.sync(#"[{"id":3}]"#, into: "User")
            }
            #expect(try await world.count("Note") == 0, "\(rowCount)")
        }
    }
}
