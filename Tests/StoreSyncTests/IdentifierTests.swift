import OneWayStoreKinds
import Foundation
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Objects beside their identifiers, and identifiers without an object; on every store.
@Suite(.endsInTime) struct IdentifierTests {
    // MARK: An object beside its identifier

    @Test(arguments: StoreKind.all)
    func anObjectWinsOverTheIdentifierBesideIt(kind: StoreKind) async throws {
        for json in [
            #"[{"id":1,"company":{"id":5,"n":"x"},"company_id":5}]"#,
            #"[{"id":1,"company_id":5,"company":{"id":5,"n":"x"}}]"#,
        ] {
            try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
                let result = try await world.sync(json, into: "Employee")
                #expect(try await world.values("n", of: "Company") == ["x"])
                #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
                #expect(result.drift.isEmpty, "\(result.drift.entries)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func objectsWinOverTheListOfIdentifiersBesideThem(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
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
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
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
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            try await world.sync(#"[{"id":5,"n":"x"}]"#, into: "Company")
            try await world.sync(#"[{"id":1,"company_id":5,"company":null}]"#, into: "Employee")
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 5) == 1)
        }
    }

    // MARK: Identifiers without an object

    @Test(arguments: StoreKind.all)
    func employeesSyncedBeforeTheirCompaniesAreLinkedWhenThoseCome(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
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
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            try await world.sync(#"[{"id":2}]"#, into: "Skill")
            try await world.sync(#"[{"id":1,"skill_ids":[1,2,3]}]"#, into: "Employee")
            let options = StoreSyncOptions(operations: StoreSyncOptions.Operations.all.subtracting(.delete))
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
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
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

    /// A store whose model lacks the place for identifiers says so. What other syncs remembered
    /// stays.
    @Test func aFileOpenedWithTheModelAsDeclaredLosesNothing() async throws {
        let model = try RealJSONModel.staff()
        let mapper = try RecordMapper(model)
        let folder = FileManager.default.temporaryDirectory.appending(path: "staff-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        func store(_ model: DataModel) async throws -> JSONStore {
            try JSONStore(try await SQLiteStore(exactly: model, at: .file(path)), mapper: mapper)
        }
        let employees = JSONSource.bytes(Array(#"[{"id":1,"company_id":5},{"id":2,"company_id":6}]"#.utf8))
        try await store(mapper.model).sync(employees, into: "Employee")
        let raw = try await store(model)
        let result = try await raw.sync(
            .bytes(Array(#"[{"id":1,"company_id":5},{"id":2,"company_id":6},{"id":3,"company_id":7}]"#.utf8)),
            into: "Employee")
        #expect(result.drift.count(of: .lostIdentifier) == 3)
        try await raw.sync(.bytes(Array(#"[{"id":5,"n":"x"}]"#.utf8)), into: "Company")
        // The company came while nothing was remembered.
        let again = try await store(mapper.model)
        try await again.sync(.bytes(Array(#"[{"id":5,"n":"x"},{"id":6}]"#.utf8)), into: "Company")
        for company: Int64 in [5, 6] {
            let query = StoreQuery("Employee", where: PropertyPath("company.id") == company)
            #expect(try await again.store.count(query) == 1)
        }
    }

    /// SQLite gives the number of the last object that was deleted to the next one.
    @Test(arguments: StoreKind.all)
    func identifiersAreForgottenWithTheirObject(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            try await world.sync(#"[{"id":1,"company_id":5}]"#, into: "Employee")
            try await world.store.delete(.identity(1), in: "Employee")
            #expect(try await world.count(SyncEntity.pendingLink.name) == 0)
            try await world.sync(#"[{"id":1,"company_id":5}]"#, into: "Employee")
            try await world.sync("[]", into: "Employee")
            #expect(try await world.count(SyncEntity.pendingLink.name) == 0)
            try await world.sync(#"[{"id":1}]"#, into: "Employee")
            try await world.sync(#"[{"id":5}]"#, into: "Company")
            #expect(try await world.count("Employee", where: PropertyPath("company").isNull) == 1)
        }
    }

    /// More than may wait in memory, before and beside their objects.
    @Test(arguments: StoreKind.all)
    func identifiersStoredBeforeTheEndAreLinkedAtTheEndOrLater(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            var options = StoreSyncOptions()
            options.waitingLimit = 0
            let employees =
                (0..<20).map { #"{"id":\#($0),"company_id":\#($0 % 3)}"# } + [#"{"id":20,"company":{"id":2}}"#]
            let first = try await world.sync(
                "[\(employees.joined(separator: ","))]", into: "Employee", options: options)
            #expect(first.drift.count(of: .unknownIdentifier) == 14)
            #expect(try await world.count(SyncEntity.pendingLink.name) == 14)
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 2) == 7)
            try await world.sync(#"[{"id":2},{"id":0}]"#, into: "Company", options: options)
            #expect(try await world.count("Employee", where: PropertyPath("company.id") == 0) == 7)
            #expect(try await world.count(SyncEntity.pendingLink.name) == 7)
        }
    }

    @Test(arguments: StoreKind.all)
    func identifiersOfTheWrongTypeUnlinkNothing(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
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
}
