import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Attributes and relationships whose names change over several versions of a model.
@Suite(.endsInTime) struct RenamingTests {
    private static func model(
        _ attribute: String, _ relationship: String, formerly former: (String, String)? = nil,
        with others: [SyncEntity.Property] = []
    ) throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute(attribute, .string, formerName: former?.0)
                SyncRelationship(relationship, toOne: "User", formerName: former?.1)
                for other in others { other }
            }
        }
    }

    private static func fill(_ store: any Store) async throws {
        let layout = try store.model.layout(of: "User")
        try await store.transaction { transaction in
            var objects: [ObjectID] = []
            for id in 1...2 {
                var record = Record(of: layout)
                record["id"] = .int(Int64(id))
                for attribute in layout.attributes where attribute.type == .string {
                    record[attribute.name] = .string("\(attribute.name)\(id)")
                }
                objects.append(try await transaction.insert(record))
            }
            for (index, relationship) in layout.relationships.enumerated() {
                var batch = LinkBatch(relationship, mode: .replace)
                batch.append(objects[0], to: [objects[1 - index]])
                _ = try await transaction.link(batch)
            }
        }
    }

    private static func expect(
        _ store: any Store, _ attribute: String, _ value: AttributeValue, _ relationship: String, _ key: Record.Key
    ) async throws {
        let found = try await store.records(StoreQuery("User", orderedBy: [Ordering("id")]), with: [relationship])
        #expect(found.first?.record[attribute] == value)
        #expect(found.first?.record[related: relationship] == .one(key))
    }

    /// Each version states the first name, or the one before; versions can be left out.
    @Test(arguments: SQLDatabase.kinds, [true, false])
    func renamingsAreFollowedOverSeveralVersions(kind: SQLDatabase.Kind, isFirstName: Bool) async throws {
        try await kind.use { database in
            try await Self.fill(try await database.open(try Self.model("a", "boss"), 0))
            _ = try await database.open(try Self.model("b", "chief", formerly: ("a", "boss")), 0)
            let last = try Self.model("c", "head", formerly: isFirstName ? ("a", "boss") : ("b", "chief"))
            for version in [0, 0, 1] {
                try await Self.expect(try await database.open(last, version), "c", "a1", "head", .identity(2))
            }
        }
    }

    @Test(arguments: SQLDatabase.kinds)
    func aVersionCanBeLeftOut(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            try await Self.fill(try await database.open(try Self.model("a", "boss"), 0))
            let last = try Self.model("c", "head", formerly: ("a", "boss"))
            try await Self.expect(try await database.open(last, 2), "c", "a1", "head", .identity(2))
        }
    }

    @Test(arguments: SQLDatabase.kinds)
    func namesOfPropertiesAreSwapped(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            func model(_ isSwapped: Bool) throws -> DataModel {
                try Self.model(
                    "a", "boss", formerly: isSwapped ? ("b", "deputy") : nil,
                    with: [
                        .attribute(SyncAttribute("b", .string, formerName: isSwapped ? "a" : nil)),
                        .relationship(
                            SyncRelationship("deputy", toOne: "User", formerName: isSwapped ? "boss" : nil)),
                    ])
            }
            try await Self.fill(try await database.open(try model(false), 0))
            for _ in 0..<2 {
                let store = try await database.open(try model(true), 0)
                try await Self.expect(store, "a", "b1", "boss", .identity(1))
                try await Self.expect(store, "b", "a1", "deputy", .identity(2))
            }
        }
    }

    /// The former name counts before the own one, which something deleted has.
    @Test(arguments: SQLDatabase.kinds, [0, 1])
    func formerNamesTakePrecedenceOverReusedNames(kind: SQLDatabase.Kind, version: Int) async throws {
        try await kind.use { database in
            let before = try Self.model(
                "a", "boss",
                with: [
                    .attribute(SyncAttribute("b", .string)), .relationship(SyncRelationship("deputy", toOne: "User")),
                ])
            try await Self.fill(try await database.open(before, 0))
            let after = try Self.model("b", "deputy", formerly: ("a", "boss"))
            for _ in 0..<2 {
                try await Self.expect(try await database.open(after, version), "b", "a1", "deputy", .identity(2))
            }
        }
    }
}
