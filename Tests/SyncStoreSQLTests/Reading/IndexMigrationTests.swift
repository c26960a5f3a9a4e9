import Foundation
import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Indexes that the model declares are created, changed and removed with it.
@Suite(.endsInTime) struct IndexMigrationTests {
    /// A model with some indexes of one entity.
    private static func model(_ indexes: SyncEntity.Index..., ofGuests: [SyncEntity.Index] = []) throws -> DataModel {
        var user = SyncEntity("User", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("name", .string)
            SyncAttribute("age", .int64)
            SyncAttribute("isOpen", .bool)
        }
        user.indexes = indexes
        var guest = SyncEntity("Guest", parent: "User") { SyncAttribute("until", .date) }
        guest.indexes = ofGuests
        return try DataModel([user, guest])
    }

    private static func insert(_ rows: [(Int64, String?, Int64?, Bool)], into store: any Store) async throws {
        var batch = RecordBatch(of: try store.model.layout(of: "User"))
        for (id, name, age, isOpen) in rows {
            batch.beginRecord()
            batch.setInt(id, at: 0)
            batch.setValue(name.map { .string($0) } ?? .null, at: 1)
            batch.setValue(age.map { .int($0) } ?? .null, at: 2)
            batch.setBool(isOpen, at: 3)
            batch.endRecord()
        }
        let records = batch
        _ = try await store.transaction { try await $0.merge(MergeRequest(records)) }
    }

    /// The names of the indices that contain some text, and whether they are unique and partial.
    private static func declared(_ database: SQLDatabase) async throws -> Set<String> {
        Set(
            try await database.indices().compactMap { definition in
                guard let start = definition.range(of: "_by_") else { return nil }
                let name = definition[start.upperBound...].prefix { $0.isLetter || $0 == "_" || $0.isNumber }
                let isUnique = definition.contains("UNIQUE")
                return "\(name)\(isUnique ? " unique" : "")\(definition.contains("WHERE") ? " partial" : "")"
            })
    }

    @Test(arguments: SQLDatabase.kinds)
    func indexesFollowTheModel(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            let first = try await database.open(
                try Self.model(SyncEntity.Index(["name"]), SyncEntity.Index(["age"])), 0)
            try await Self.insert([(1, "a", 1, true), (2, "b", nil, false), (3, nil, 3, true)], into: first)
            #expect(try await Self.declared(database) == ["name", "age"])
            // Added and changed; the index that this version lacks may belong to a newer one.
            let isOpen = PropertyPath("isOpen") == true
            let second = try Self.model(
                SyncEntity.Index(["name"]), SyncEntity.Index(["age", "name"], where: isOpen),
                SyncEntity.Index(["age"], unique: true),
                ofGuests: [SyncEntity.Index(["until"])])
            var store = try await database.open(second, 0)
            #expect(try await Self.declared(database) == ["name", "age_name partial", "age unique", "until partial"])
            // A smaller model keeps the indexes, but no unique one that its values could violate.
            store = try await database.open(try Self.model(SyncEntity.Index(["name"])), 0)
            #expect(!(try await Self.declared(database)).contains("age unique"))
            try await Self.insert([(4, "d", 1, true)], into: store)
            store = try await database.open(try Self.model(), 1)
            #expect(try await Self.declared(database) == [])
            #expect(try await store.count(StoreQuery("User")) == 4)
            // Another condition, and another order of attributes.
            _ = try await database.open(try Self.model(SyncEntity.Index(["age", "name"], where: isOpen)), 1)
            let other = try Self.model(SyncEntity.Index(["age", "name"], where: PropertyPath("isOpen") == false))
            _ = try await database.open(other, 1)
            #expect(try await database.indices().filter { $0.contains("_by_") }.count == 1)
            _ = try await database.open(try Self.model(SyncEntity.Index(["name", "age"])), 1)
            #expect(try await Self.declared(database) == ["name_age"])
        }
    }

    @Test(arguments: SQLDatabase.kinds)
    func aUniqueIndexOverEqualValuesIsRefusedAndNothingIsLost(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            let before = try await database.open(try Self.model(SyncEntity.Index(["age"])), 0)
            try await Self.insert([(1, "a", 1, true), (2, "a", 2, false), (3, "b", 3, true)], into: before)
            let unique = try Self.model(SyncEntity.Index(["age"]), SyncEntity.Index(["name"], unique: true))
            await #expect {
                _ = try await database.open(unique, 0)
            } throws: { error in
                guard case .equalValues("User", let index) = error as? SQLSchemaError else { return false }
                return index.hasPrefix("User_by_name (")
            }
            #expect(try await Self.declared(database) == ["age"])
            let after = try await database.open(try Self.model(SyncEntity.Index(["age"])), 0)
            #expect(try await after.count(StoreQuery("User")) == 3)
            // Only the objects in the index must differ.
            let partial = try Self.model(
                SyncEntity.Index(["name"], unique: true, where: PropertyPath("isOpen") == true))
            let store = try await database.open(partial, 1)
            await #expect {
                try await Self.insert([(4, "b", 3, true)], into: store)
            } throws: {
                $0.isTaken(["name"], of: "User")
            }
            try await Self.insert([(4, "b", 3, false)], into: store)
        }
    }

    /// Texts that no entry of an index can hold, also ones that differ in the end only.
    private static let longTexts: [String] = {
        var random = SystemRandomNumberGenerator()
        let noise = String(
            decoding: (0..<20_000).map { _ in UInt8.random(in: 97...122, using: &random) }, as: UTF8.self)
        return [
            noise, noise + "a", noise + "b", String(repeating: "😀", count: 5000),
            String(repeating: "é", count: 200_000),
            "short", "", String(noise.prefix(127)) + "\u{1}", String(noise.prefix(128)), String(noise.prefix(129)),
            "a\u{0}b", "a\u{1}",
        ]
    }()

    @Test(arguments: SQLDatabase.kinds, [false, true])
    func indexedTextsCanHaveAnyLength(kind: SQLDatabase.Kind, isUnique: Bool) async throws {
        let texts = Self.longTexts
        let model = try Self.model(
            SyncEntity.Index(["name"], unique: isUnique), SyncEntity.Index(["age", "name"], unique: isUnique))
        let memory = MemoryStore(exactly: model)
        try await kind.use { database in
            let store = try await database.open(model, 0)
            for store in [store, memory] as [any Store] where try await store.count(StoreQuery("User")) == 0 {
                try await Self.insert(
                    texts.enumerated().map { (Int64($0), $1, Int64($0 % 3), true) } + [(100, nil, nil, true)],
                    into: store)
            }
            func same(_ query: StoreQuery) async throws {
                let found = try await store.records(query).map { $0.record["id"] }
                let expected = try await memory.records(query).map { $0.record["id"] }
                #expect(found == expected, "\(String("\(query.predicate)".prefix(200)))")
            }
            let name = PropertyPath("name")
            for text in texts {
                for predicate in [
                    name == text, name != text, name < text, name <= text, name > text, name >= text,
                    name.beginsWith(text), name.isIn([text, "x"]), name.beginsWith(String(text.prefix(60))),
                    name.like(String(text.prefix(70)) + "%"), !name.beginsWith(text),
                    PropertyPath("age") == 1 && name >= text,
                ] {
                    try await same(StoreQuery("User", where: predicate, orderedBy: [Ordering("id")]))
                }
            }
            for order in [
                Ordering("name"), Ordering("name", ascending: false), Ordering("name", nulls: .last),
                Ordering("name", ascending: false, nulls: .last),
            ] {
                try await same(StoreQuery("User", orderedBy: [order]))
                try await same(StoreQuery("User", orderedBy: [Ordering("age"), order], limit: 5, offset: 2))
            }
            guard isUnique else { return }
            for text in texts {
                await #expect {
                    try await Self.insert([(200, text, 9, true)], into: store)
                } throws: {
                    $0.isTaken(["name"], of: "User")
                }
            }
            try await Self.insert([(200, texts[0] + "c", 9, true), (201, nil, 9, true)], into: store)
        }
    }
}
