import Foundation
import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

/// Nothing is lost on JSON as people have it; on every store.
@Suite struct RealJSONTests {
    private static func staff() throws -> DataModel {
        try DataModel {
            SyncEntity("Employee", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("company", toOne: "Company", inverse: "employees")
                SyncRelationship("skills", toMany: "Skill", ordered: true, inverse: "employees")
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("n", .string)
                SyncRelationship("employees", toMany: "Employee", inverse: "company")
            }
            SyncEntity("Skill", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("title", .string)
                SyncRelationship("employees", toMany: "Employee", inverse: "skills")
            }
        }
    }

    // MARK: An object beside its identifier

    @Test(arguments: StoreKind.all)
    func anObjectWinsOverTheIdentifierBesideIt(kind: StoreKind) async throws {
        for json in [
            #"[{"id":1,"company":{"id":5,"n":"x"},"company_id":5}]"#,
            #"[{"id":1,"company_id":5,"company":{"id":5,"n":"x"}}]"#,
        ] {
            try await RealJSONWorld.with(kind, try Self.staff()) { world in
                let result = try await world.sync(json, into: "Employee")
                #expect(try await world.values("n", of: "Company") == ["x"])
                #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
                #expect(result.drift.isEmpty, "\(result.drift.entries)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func objectsWinOverTheListOfIdentifiersBesideThem(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            let result = try await world.sync(
                #"[{"id":1,"skill_ids":[1,2],"skills":[{"id":2,"title":"b"},{"id":1,"title":"a"}],"skillsIds":[3]}]"#,
                into: "Employee")
            #expect(try await world.values("title", of: "Skill") == ["a", "b"])
            #expect(try await world.count("Employee", where: PropertyPath("skills.@count") == 2) == 1)
            #expect(result.drift.count(of: .contradiction) == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func aContradictionBetweenObjectAndIdentifierIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            let result = try await world.sync(
                #"[{"id":0},{"id":1,"company":{"id":5,"n":"x"},"company_id":6}]"#, into: "Employee")
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
            let entry = try #require(result.drift.entries.first)
            #expect(entry.kind == .contradiction && entry.entity == "Employee" && entry.keyPath == "company")
            #expect(entry.count == 1 && entry.firstIndex == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func anIdentifierCountsBesideNull(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            try await world.sync(#"[{"id":5,"n":"x"}]"#, into: "Company")
            try await world.sync(#"[{"id":1,"company_id":5,"company":null}]"#, into: "Employee")
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
        }
    }

    // MARK: Identifiers without an object

    @Test(arguments: StoreKind.all)
    func employeesSyncedBeforeTheirCompaniesAreLinkedWhenThoseCome(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            let first = try await world.sync(
                #"[{"id":1,"company_id":5},{"id":2,"company_id":6},{"id":3,"company_id":5}]"#, into: "Employee")
            #expect(first.drift.count(of: .unknownIdentifier) == 3)
            #expect(first.countsByEntity.keys.sorted() == ["Employee"])
            let second = try await world.sync(#"[{"id":5,"n":"x"}]"#, into: "Company")
            #expect(second.countsByEntity["Employee"]?.updated == 2)
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 2)
            try await world.sync(#"[{"id":5,"n":"x"},{"id":6}]"#, into: "Company")
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 6) == 1)
            #expect(try await world.count(SyncEntity.pendingLink.name) == 0)
        }
    }

    @Test(arguments: StoreKind.all)
    func rememberedIdentifiersOfAListKeepTheirPlaces(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            try await world.sync(#"[{"id":2}]"#, into: "Skill")
            try await world.sync(#"[{"id":1,"skill_ids":[1,2,3]}]"#, into: "Employee")
            let options = StoreSyncOptions(operations: SyncOperations.all.subtracting(.delete))
            try await world.sync(#"[{"id":3}]"#, into: "Skill", options: options)
            try await world.sync(#"[{"id":1}]"#, into: "Skill", options: options)
            let skills = try await world.store.store.read { reader -> [AttributeValue] in
                let layout = try reader.model.layout(of: "Employee")
                let relationship = try #require(layout.relationship("skills"))
                let rows = try await reader.records(StoreQuery("Employee")).map(\.object)
                let targets = try await reader.links(relationship, of: rows).map(\.target)
                let records = try await reader.records(StoreQuery("Skill", objects: .only(targets)))
                let ids = Dictionary(uniqueKeysWithValues: records.map { ($0.object, $0.record["id"]) })
                return targets.compactMap { ids[$0] }
            }
            #expect(skills == [1, 2, 3])
            #expect(try await world.count(SyncEntity.pendingLink.name) == 0)
        }
    }

    @Test(arguments: StoreKind.all)
    func aLaterWordForgetsARememberedIdentifier(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            try await world.sync(#"[{"id":1,"company_id":5}]"#, into: "Employee")
            try await world.sync(#"[{"id":1,"company_id":null}]"#, into: "Employee")
            try await world.sync(#"[{"id":5}]"#, into: "Company")
            #expect(try await world.count("Employee", where: PropertyPath("company").isNull) == 1)
            // An object that is gone is linked no more.
            try await world.sync(#"[{"id":2,"company_id":7}]"#, into: "Employee")
            try await world.sync(#"[{"id":3}]"#, into: "Employee")
            try await world.sync(#"[{"id":5},{"id":7}]"#, into: "Company")
            #expect(try await world.count("Employee", where: PropertyPath("company").isNull) == 1)
            #expect(try await world.count(SyncEntity.pendingLink.name) == 0)
        }
    }

    @Test(arguments: StoreKind.all)
    func identifiersOfTheWrongTypeUnlinkNothing(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            try await world.sync(
                #"[{"id":1,"company":{"id":5},"skills":[{"id":1},{"id":2}]}]"#, into: "Employee")
            for wrong in [#"["x"]"#, "[true]", #"["x",1]"#, "[[1]]", "true"] {
                let result = try await world.sync(#"[{"id":1,"skills":\#(wrong)}]"#, into: "Employee")
                #expect(result.drift.count(of: .unfitIdentifier) + result.drift.count(of: .changedShape) == 1)
                #expect(try await world.count("Employee", where: PropertyPath("skills.@count") == 2) == 1)
            }
            for wrong in [#""x""#, "true", "[5]"] {
                let result = try await world.sync(#"[{"id":1,"company":\#(wrong)}]"#, into: "Employee")
                #expect(!result.drift.isEmpty)
                #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
            }
        }
    }

    // MARK: Owned children

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

    // MARK: Identity within a parent, and conflicts

    private static func orders() throws -> DataModel {
        try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("note", .string)
                SyncRelationship("lines", toMany: "Line", inverse: "order")
                SyncRelationship("customer", toOne: "Customer", inverse: "orders")
                SyncRelationship("replaces", toOne: "Order", inverse: "replacedBy")
                SyncRelationship("replacedBy", toMany: "Order", inverse: "replaces")
            }
            SyncEntity("Line", identity: "id", within: "order") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("text", .string)
                SyncRelationship("order", toOne: "Order", inverse: "lines")
            }
            SyncEntity("Customer", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("orders", toMany: "Order", inverse: "customer")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func linesAreIdentifiedWithinTheirOrder(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.orders()) { world in
            try await world.sync(
                #"""
                [{"id":7,"lines":[{"id":1,"text":"a"},{"id":2,"text":"b"}]},
                 {"id":8,"lines":[{"id":1,"text":"c"},{"id":2,"text":"d"}]}]
                """#, into: "Order")
            #expect(try await world.values("text", of: "Line") == ["a", "b", "c", "d"])
            let result = try await world.sync(
                #"""
                [{"id":7,"lines":[{"id":2,"text":"b"},{"id":1,"text":"A"}]},{"id":8,"lines":[{"id":2,"text":"d"}]}]
                """#, into: "Order")
            let lines = try #require(result.countsByEntity["Line"])
            #expect(lines.updated == 1 && lines.deleted == 1 && lines.inserted == 0 && lines.unchanged == 2)
            #expect(try await world.values("text", of: "Line", where: PropertyPath("order.id") == 7) == ["A", "b"])
            #expect(try await world.values("text", of: "Line", where: PropertyPath("order.id") == 8) == ["d"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aLineThatAnOrderHasTwiceIsOneObjectAndReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.orders()) { world in
            let result = try await world.sync(
                #"[{"id":7,"lines":[{"id":1,"text":"a"},{"id":1,"text":"b"}]}]"#, into: "Order")
            #expect(try await world.values("text", of: "Line") == ["b"])
            #expect(result.drift.entries.map(\.kind) == [.conflict])
            #expect(result.drift.entries.first?.keyPath == "text")
        }
    }

    @Test(arguments: StoreKind.all)
    func ofTwoNestedObjectsOfOneIdentityTheLaterWinsAndIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.orders()) { world in
            let result = try await world.sync(
                #"""
                [{"id":1,"customer":{"id":5,"name":"x"}},{"id":2,"customer":{"id":5,"name":"y"}},
                 {"id":3,"customer":{"id":5}}]
                """#, into: "Order")
            #expect(try await world.values("name", of: "Customer") == ["y"])
            let entry = try #require(result.drift.entries.first)
            #expect(entry.kind == .conflict && entry.entity == "Customer" && entry.keyPath == "name")
            #expect(entry.count == 1 && entry.firstIndex == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectOfTheListBeatsANestedOne(kind: StoreKind) async throws {
        for json in [
            #"[{"id":1,"note":"list"},{"id":2,"replaces":{"id":1,"note":"nested"}}]"#,
            #"[{"id":2,"replaces":{"id":1,"note":"nested"}},{"id":1,"note":"list"}]"#,
        ] {
            try await RealJSONWorld.with(kind, try Self.orders()) { world in
                let result = try await world.sync(json, into: "Order")
                #expect(try await world.values("note", of: "Order", where: PropertyPath("id") == 1) == ["list"])
                #expect(result.drift.count(of: .conflict) == 1)
                #expect(try await world.count("Order", where: PropertyPath("replaces.id") == 1) == 1)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func anIdThatAListHasTwiceIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            let result = try await world.sync(#"[{"id":1,"name":"a"},{"id":1,"name":"b"}]"#, into: "Employee")
            #expect(try await world.values("name", of: "Employee") == ["b"])
            #expect(result.drift.count(of: .duplicate) == 1)
            #expect(result.drift.count(of: .conflict) == 1)
        }
    }

    // MARK: Children without their key

    @Test(arguments: StoreKind.all)
    func aChildInAnArrayWithoutItsKeyIsLeftOutAndReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
            let result = try await world.sync(
                #"[{"id":1,"skills":[{"title":"a"},{"id":2,"title":"b"}],"company":{"n":"x"}}]"#, into: "Employee")
            #expect(try await world.values("title", of: "Skill") == ["b"])
            #expect(try await world.values("n", of: "Company") == ["x"])
            #expect(result.rejected.map(\.reason) == [.missingMandatory])
            #expect(result.rejected.map(\.entity) == ["Skill"])
        }
    }

    // MARK: Drift

    private static func things() throws -> DataModel {
        try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("n", .int64)
                SyncAttribute("day", .date)
                SyncAttribute("f", .double)
                SyncRelationship("part", toOne: "Part", inverse: "thing")
            }
            SyncEntity("Part") {
                SyncAttribute("v", .string)
                SyncRelationship("thing", toOne: "Thing", inverse: "part")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func whatTheModelDoesNotKnowIsCountedByPath(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.things()) { world in
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

    @Test(arguments: StoreKind.all)
    func aRelationshipThatBecameAStringStaysAsItIsAndIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.things()) { world in
            try await world.sync(#"[{"id":1,"part":{"v":"p"}}]"#, into: "Thing")
            let result = try await world.sync(#"[{"id":1,"part":"p"}]"#, into: "Thing")
            #expect(result.drift.entries.map(\.kind) == [.changedShape])
            #expect(result.drift.entries.first?.found == "string")
            #expect(try await world.count("Thing", where: PropertyPath("part.v") == "p") == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func aNumberThatDoesNotFitClearsNothingUnlessTheContractSaysSo(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.things()) { world in
            try await world.sync(#"[{"id":1,"n":7}]"#, into: "Thing")
            let result = try await world.sync(#"[{"id":1,"n":1.5}]"#, into: "Thing")
            #expect(result.drift.count(of: .unfitValue) == 1)
            #expect(try await world.values("n", of: "Thing") == [7])
        }
        try await RealJSONWorld.with(kind, try Self.things(), contract: ValueContract(outOfRange: .null)) { world in
            try await world.sync(#"[{"id":1,"n":7}]"#, into: "Thing")
            try await world.sync(#"[{"id":1,"n":1.5}]"#, into: "Thing")
            #expect(try await world.values("n", of: "Thing") == [.null])
        }
    }

    @Test(arguments: StoreKind.all)
    func aStrictContractMakesDriftAnError(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.things(), contract: .strict) { world in
            for json in [#"[{"id":1,"new":1}]"#, #"[{"id":1,"n":"x"}]"#, #"[{"id":1,"n":1.5}]"#] {
                await #expect(throws: MappingError.self) {
                    _ = try await world.store.sync(.bytes(Array(json.utf8)), into: "Thing")
                }
                let count = try await world.count("Thing")
                #expect(count == 0)
            }
        }
    }

    // MARK: Dates

    @Test(arguments: StoreKind.all)
    func datesKeepMicrosecondsFromPayloadToExport(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.things()) { world in
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
        try await RealJSONWorld.with(kind, try Self.things()) { world in
            let result = try await world.sync(
                #"[{"id":1,"f":9007199254740993},{"id":2,"f":9007199254740994},{"id":3,"f":1.1}]"#, into: "Thing")
            #expect(result.drift.entries.map(\.kind) == [.rounded])
            #expect(result.drift.entries.first?.count == 1)
        }
    }

    // MARK: Absent keys

    @Test(arguments: StoreKind.all)
    func absentKeysClearWhereTheyAreSaidTo(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.staff()) { world in
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

    // MARK: Keys

    @Test(arguments: ["skill_ids", "skills_ids", "skillIds", "skillsIds", "skillIDs", "skillsIDs"])
    func identifiersOfAListAreFoundUnderItsSingular(key: String) async throws {
        try await RealJSONWorld.with(StoreKind.all[0], try Self.staff()) { world in
            try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Skill")
            try await world.sync(#"[{"id":1,"\#(key)":[1,2]}]"#, into: "Employee")
            #expect(try await world.count("Employee", where: PropertyPath("skills.@count") == 2) == 1)
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
