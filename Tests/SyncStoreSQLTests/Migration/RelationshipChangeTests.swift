import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Relationships of a database that get another delete rule or another kind of inverse.
@Suite(.endsInTime) struct RelationshipChangeTests {
    // MARK: Delete rules

    /// Teams and players, with the delete rule of a team; nil if a team does not know its players.
    private static func teams(_ rule: SyncRelationship.DeleteRule?) throws -> DataModel {
        try DataModel {
            SyncEntity("Team", identity: "id") {
                SyncAttribute("id", .int64)
                if let rule { SyncRelationship("players", toMany: "Player", inverse: "team", deleteRule: rule) }
            }
            SyncEntity("Player", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("team", toOne: "Team", inverse: rule == nil ? nil : "players")
            }
        }
    }

    @Test(arguments: SQLDatabase.kinds, [.cascade, .deny] as [SyncRelationship.DeleteRule])
    func anotherDeleteRuleReplacesTheFormerOne(
        kind: SQLDatabase.Kind, former: SyncRelationship.DeleteRule
    ) async throws {
        try await kind.use { database in
            let rules: [SyncRelationship.DeleteRule?] = [.nullify, .noAction, nil]
            for (index, rule) in rules.enumerated() {
                let before = try await database.open(try Self.teams(former), 0)
                let id = Int64(index)
                try await RemovedPropertyTests.insert("Team", ["id": .int(id)], into: before)
                try await RemovedPropertyTests.insert("Player", ["id": .int(id)], into: before)
                try await RemovedPropertyTests.link("Player", "team", id, to: "Team", [id], in: before)
                let store = try await database.open(try Self.teams(rule), 0)
                let removed = try await store.transaction { try await $0.remove(StoreQuery("Team")) }
                #expect(removed.counts == ["Team": 1])
                let players = try await store.records(StoreQuery("Player"), with: ["team"])
                #expect(players.count == index + 1)
                #expect(players.allSatisfy { $0.record[related: "team"] == .one(nil) })
            }
        }
    }

    // MARK: Inverses

    /// Passports and their owners, with the inverse of an owner; nil for none.
    private static func passports(_ inverse: SyncRelationship?) throws -> DataModel {
        try DataModel {
            SyncEntity("Passport", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("owner", toOne: "Person", inverse: inverse?.name)
            }
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                if let inverse { inverse }
            }
        }
    }

    @Test(
        arguments: SQLDatabase.kinds,
        [nil, SyncRelationship("passport", toMany: "Passport", inverse: "owner")] as [SyncRelationship?])
    func aToOneInverseIsRefusedIfObjectsShareTheirTarget(
        kind: SQLDatabase.Kind, inverse: SyncRelationship?
    ) async throws {
        try await kind.use { database in
            let former = try Self.passports(inverse)
            let wanted = try Self.passports(SyncRelationship("passport", toOne: "Passport", inverse: "owner"))
            let error = SQLSchemaError.sharedTarget(
                entity: "Passport", relationship: "owner", inverse: "Person.passport")
            let before = try await database.open(former, 0)
            try await RemovedPropertyTests.insert("Person", ["id": 1], into: before)
            for id in [7, 8] as [Int64] {
                try await RemovedPropertyTests.insert("Passport", ["id": .int(id)], into: before)
                try await RemovedPropertyTests.link("Passport", "owner", id, to: "Person", [1], in: before)
            }
            for version in 0..<2 {
                await #expect(throws: error) { try await database.open(wanted, version) }
            }
            let count = try await before.count(
                StoreQuery("Passport", where: try RecordPredicate(parsing: "owner.id = 1")))
            #expect(count == 2)
            try await RemovedPropertyTests.link("Passport", "owner", 8, to: "Person", [], in: before)
            let store = try await database.open(wanted, 0)
            let people = try await store.records(StoreQuery("Person"), with: ["passport"])
            #expect(people.first?.record[related: "passport"] == .one(.identity(7)))
            // A program that still has the former model can share it again.
            let again = try await database.open(former, 0)
            try await RemovedPropertyTests.link("Passport", "owner", 8, to: "Person", [1], in: again)
            await #expect(throws: error) { try await database.open(wanted, 0) }
        }
    }
}
