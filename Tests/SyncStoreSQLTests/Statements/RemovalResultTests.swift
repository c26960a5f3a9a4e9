import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// What a removal reports, in every kind of store.
@Suite(.serialized, .endsInTime) struct RemovalResultTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "person", deleteRule: .cascade)
                SyncRelationship("team", toOne: "Team", inverse: "people")
            }
            SyncEntity("Guest", parent: "Person") {}
            SyncEntity(
                "Note", attributes: [SyncAttribute("text", .string)],
                relationships: [
                    SyncRelationship("person", toOne: "Person", inverse: "notes")
                ])
            SyncEntity("Team", identity: "name", "year") {
                SyncAttribute("name", .string)
                SyncAttribute("year", .int64)
                SyncRelationship("people", toMany: "Person", inverse: "team", deleteRule: .deny)
            }
        }
    }

    @Test(arguments: [
        ("Person", ["Person", "Note"]), ("Guest", ["Person", "Note"]), ("Note", ["Note"]), ("Team", ["Team"]),
    ])
    func deleteRulesReachTheseTables(entity: String, tables: [String]) throws {
        let schema = SQLSchema(try Self.model(), dialect: .sqlite)
        let index = try schema.model.layout(of: entity).index
        let families = SQLRemoval(schema).families(deleting: index)
        #expect(families.map { schema.families[$0].table } == tables)
    }

    /// A trigger can insert a deleted object again, with a number of its own.
    @Test(arguments: [nil, 7] as [ObjectID?]) func deletedObjectsThatAreThereAgainAreAnError(found: ObjectID?) throws {
        let removal = SQLRemoval(SQLSchema(try Self.model(), dialect: .sqlite))
        let keys = [StoredRecord.Key(object: 1, key: .identity([.string("A"), .int(2026)]))]
        let result = RemovalResult(counts: ["Team": 1], keys: ["Team": keys])
        func check() throws {
            try removal.checkReturns(of: result) { layout, identities in
                #expect(layout.name == "Team" && identities.count == 1)
                #expect(identities.value(row: 0, column: layout.column(of: "year") ?? 0) == .int(2026))
                return [found]
            }
        }
        if found == nil { try check() } else { #expect(throws: SQLKeptRows.self) { try check() } }
    }

    /// The tables that cascades reach, and the rounds in which they do, by the relationships they
    /// follow.
    @Test(
        arguments: [
            ("Company", ["Company", "Team", "Member"], [["teams"], ["members"]]),
            ("Team", ["Team", "Member"], [["members"]]), ("Member", ["Member"], []),
            // A tree is reached at once, and what its leaves have in the next round.
            ("Folder", ["Folder", "Member"], [["folders", "files"], ["files"]]),
            // Owners that share a target decide when the last one goes, at any depth.
            ("Label", ["Label"], nil), ("Hen", ["Hen", "Egg"], nil), ("Egg", ["Egg", "Hen"], nil),
        ] as [(String, [String], [[String]]?)])
    func cascadesTakeAsManyRoundsAsTheirPaths(entity: String, tables: [String], rounds: [[String]]?) throws {
        let model = try DataModel {
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("teams", toMany: "Team", inverse: "company", deleteRule: .cascade)
            }
            SyncEntity("Team", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("company", toOne: "Company", inverse: "teams")
                SyncRelationship("members", toMany: "Member", deleteRule: .cascade)
            }
            SyncEntity("Member", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Folder", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("folders", toMany: "Folder", inverse: "parent", deleteRule: .cascade)
                SyncRelationship("parent", toOne: "Folder", inverse: "folders")
                SyncRelationship("files", toMany: "Member", deleteRule: .cascade)
            }
            SyncEntity("Label", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("parts", toMany: "Label", inverse: "wholes", owns: true)
                SyncRelationship("wholes", toMany: "Label", inverse: "parts", owns: false)
            }
            SyncEntity("Hen", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("eggs", toMany: "Egg", inverse: "hen", deleteRule: .cascade)
            }
            SyncEntity("Egg", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("hen", toOne: "Hen", inverse: "eggs", deleteRule: .cascade)
            }
        }
        let schema = SQLSchema(model, dialect: .sqlite)
        let removal = SQLRemoval(schema)
        let index = try model.layout(of: entity).index
        #expect(removal.families(deleting: index).map { schema.families[$0].table } == tables)
        #expect(removal.rounds(deleting: index)?.map { $0.map(\.relationship) } == rounds)
    }

    @Test(arguments: StoreKind.all) func deletedObjectsAreCountedAndNamed(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let model = try Self.model()
            let store = try await makeStore(model)
            func insert(_ entity: String, _ values: [String: AttributeValue]) async throws -> ObjectID {
                var record = Record(of: try model.layout(of: entity))
                for (name, value) in values { record[name] = value }
                let sent = record
                return try await store.transaction { try await $0.insert(sent) }
            }
            func link(_ relationship: String, _ source: ObjectID, to targets: [ObjectID]) async throws {
                var batch = LinkBatch(try #require(model["Person"]?.relationship(relationship)), mode: .replace)
                batch.append(source, to: targets)
                let links = batch
                _ = try await store.transaction { try await $0.link(links) }
            }
            func remove(_ query: StoreQuery, reportsKeys: Bool = true) async throws -> RemovalResult {
                try await store.transaction { try await $0.remove(query, reportsKeys: reportsKeys) }
            }
            let people = [try await insert("Person", ["id": 1]), try await insert("Guest", ["id": 2])]
            let notes = [try await insert("Note", ["text": "a"]), try await insert("Note", ["text": "b"])]
            let team = try await insert("Team", ["name": "red", "year": 7])
            _ = try await insert("Team", ["name": "blue", "year": 8])
            try await link("notes", people[0], to: [notes[1]])
            try await link("team", people[1], to: [team])

            let nothing = try await remove(StoreQuery("Person", where: PropertyPath("id") == 9))
            #expect(nothing.counts == [:])
            #expect(nothing.keys == [:])
            await #expect(throws: StoreError.deletionDenied(entity: "Team", relationship: "people")) {
                _ = try await remove(StoreQuery("Team"))
            }
            let first = try await remove(StoreQuery("Person", where: PropertyPath("id") == 1))
            #expect(first.counts == ["Person": 1, "Note": 1])
            #expect(
                first.keys == [
                    "Person": [StoredRecord.Key(object: people[0], key: .identity(1))],
                    "Note": [StoredRecord.Key(object: notes[1], key: .object(notes[1]))],
                ])
            let second = try await remove(StoreQuery("Person"), reportsKeys: false)
            #expect(second.counts == ["Guest": 1])
            #expect(second.keys == [:])
            #expect(try await remove(StoreQuery("Team"), reportsKeys: false).counts == ["Team": 2])
            #expect(try await store.count(StoreQuery("Note")) == 1)
        }
    }
}
