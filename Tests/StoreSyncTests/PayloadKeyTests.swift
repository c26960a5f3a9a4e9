import OneWayStoreKinds
import JSONMapper
import ModelInference
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Absent keys, and keys in other spellings; on every store.
@Suite(.endsInTime) struct PayloadKeyTests {
    // MARK: Absent keys

    @Test(arguments: StoreKind.all)
    func absentKeysClearWhereTheyAreSaidTo(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            try await world.sync(
                #"[{"id":1,"name":"a","company":{"id":5,"n":"x"},"skills":[{"id":1,"title":"t"}]}]"#, into: "Employee")
            try await world.sync(#"[{"id":1}]"#, into: "Employee")
            #expect(try await world.values("name", of: "Employee") == ["a"])
            let clear = StoreSyncOptions(absentKeys: .clear)
            try await world.sync(#"[{"id":1,"name":"b","company":{"id":5}}]"#, into: "Employee", options: clear)
            #expect(try await world.values("n", of: "Company") == [.null])
            #expect(try await world.count("Employee", where: PropertyPath("skills.@count") == 0) == 1)
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
            try await world.sync(#"[{"id":1}]"#, into: "Employee", options: clear)
            #expect(try await world.values("name", of: "Employee") == [.null])
            #expect(try await world.count("Employee", where: PropertyPath("company").isNull) == 1)
        }
    }

    /// Objects of an inferred model are complete, unless the options say otherwise.
    @Test(arguments: [(.automatic, []), (.clear, []), (.keep, ["a"])] as [(StoreSyncOptions.AbsentKeys, [String])])
    func absentKeysOfAnInferredModelClear(absentKeys: StoreSyncOptions.AbsentKeys, names: [String]) async throws {
        let model = try DataModel.inferred(from: #"[{"id":1,"name":"a"},{"id":2}]"#, entity: "User")
        let world = try SyncWorld(model: model)
        let options = StoreSyncOptions(absentKeys: absentKeys)
        try await world.sync(#"[{"id":1,"name":"a"}]"#)
        _ = try await world.json.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User", options: options)
        #expect(try await world.column("name").filter { !$0.isNull } == names.map(AttributeValue.string))
    }

    // MARK: Keys

    @Test(arguments: ["skill_ids", "skills_ids", "skillIds", "skillsIds", "skillIDs", "skillsIDs"])
    func identifiersOfAListAreFoundUnderItsSingular(key: String) async throws {
        try await RealJSONWorld.with(StoreKind.all[0], try RealJSONModel.staff()) { world in
            try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Skill")
            try await world.sync(#"[{"id":1,"\#(key)":[1,2]}]"#, into: "Employee")
            #expect(try await world.count("Employee", where: PropertyPath("skills.@count") == 2) == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func aSecondSpellingDoesNotReplaceTheIdentity(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.things()) { world in
            try await world.sync(#"[{"id":1,"n":1},{"id":2,"n":2}]"#, into: "Thing")
            let json = #"[{"id":1,"n":1,"_id":5},{"_id":6,"id":2,"n":2}]"#
            let result = try await world.sync(json, into: "Thing")
            #expect(result.counts.unchanged == 2 && result.counts.inserted == 0 && result.counts.deleted == 0)
            #expect(result.drift.entries.map { "\($0.kind) \($0.keyPath) \($0.count)" } == ["unknownKey _id 2"])
            await #expect(throws: StoreSyncError.self) {
                var strict = StoreSyncOptions()
                strict.failsOnDrift = true
                _ = try await world.store.sync(.bytes(Array(json.utf8)), into: "Thing", options: strict)
            }
        }
    }

    @Test(arguments: ["project_id", "projectID", "projectId"])
    func anAcronymIsFoundInEitherCase(key: String) async throws {
        let model = try DataModel {
            SyncEntity("Task", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("projectID", .int64)
            }
        }
        try await RealJSONWorld.with(StoreKind.all[0], model) { world in
            let result = try await world.sync(#"[{"id":1,"\#(key)":7}]"#, into: "Task")
            #expect(try await world.values("projectID", of: "Task") == [7])
            #expect(result.drift.isEmpty)
        }
    }

    // MARK: Groot

    @Test(arguments: StoreKind.all)
    func anObjectWhereGrootWantsAnArrayImportsNothing(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("A", userInfo: ["identityAttributes": "id"]) {
                SyncAttribute("id", .int64, userInfo: ["JSONKeyPath": "id"])
                SyncRelationship("bs", toMany: "B", inverse: "a", userInfo: ["JSONKeyPath": "bs"])
            }
            SyncEntity("B", userInfo: ["identityAttributes": "id"]) {
                SyncAttribute("id", .int64, userInfo: ["JSONKeyPath": "id"])
                SyncRelationship("a", toOne: "A", inverse: "bs")
            }
        }
        try await RealJSONWorld.with(kind, model, dialect: .groot) { world in
            await #expect(throws: StoreSyncError.unsuitableRelationship(entity: "A", relationship: "bs", index: 0)) {
                _ = try await world.store.importObjects(.bytes(Array(#"[{"id":1,"bs":{"id":2}}]"#.utf8)), into: "A")
            }
            let count = try await world.count("A")
            #expect(count == 0)
        }
    }
}
