import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// What stays in a database although a model of the same version no longer has it.
@Suite(.endsInTime) struct RemovedPropertyTests {
    private static func user(
        named name: String = "User", formerName: String? = nil, _ properties: [SyncEntity.Property]
    ) -> SyncEntity {
        SyncEntity(name, identity: "id", formerName: formerName) {
            SyncAttribute("id", .int64)
            for property in properties { property }
        }
    }

    /// Everything that the smaller models lack.
    private static func full(_ name: String = "User", formerName: String? = nil) throws -> DataModel {
        try DataModel([
            user(
                named: name, formerName: formerName,
                [
                    .attribute(SyncAttribute("name", .string)), .attribute(SyncAttribute("age", .int64)),
                    .relationship(SyncRelationship("boss", toOne: name)),
                    .relationship(SyncRelationship("friends", toOrdered: name)),
                    .relationship(SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)),
                ]),
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: name, inverse: "notes")
            },
        ])
    }

    private static func fill(_ store: any Store) async throws {
        try await insert("User", ["id": 1, "name": "a", "age": 30], into: store)
        try await insert("User", ["id": 2, "name": "b", "age": 40], into: store)
        try await insert("Note", ["id": 9], into: store)
        try await link("User", "boss", 1, to: "User", [2], in: store)
        try await link("User", "friends", 1, to: "User", [2, 1], in: store)
        try await link("User", "notes", 1, to: "Note", [9], in: store)
    }

    static func insert(
        _ entity: String, _ values: [String: AttributeValue], into store: any Store
    ) async throws {
        var record = Record(of: try store.model.layout(of: entity))
        for (name, value) in values { record[name] = value }
        let inserted = record
        _ = try await store.transaction { try await $0.insert(inserted) }
    }

    static func link(
        _ entity: String, _ name: String, _ id: Int64, to other: String, _ ids: [Int64], in store: any Store
    ) async throws {
        let layout = try store.model.layout(of: entity)
        let relationship = try #require(layout.relationship(name))
        try await store.transaction { transaction in
            func object(_ entity: String, _ id: Int64) async throws -> ObjectID {
                try #require(try await transaction.record(entity, key: .identity([.int(id)]))).object
            }
            var batch = LinkBatch(relationship, mode: .replace)
            var targets: [ObjectID] = []
            for id in ids { targets.append(try await object(other, id)) }
            batch.append(try await object(entity, id), to: targets)
            let links = batch
            _ = try await transaction.link(links)
        }
    }

    private static func expectAll(_ store: any Store, _ entity: String = "User") async throws {
        let found = try await store.records(
            StoreQuery(entity, orderedBy: [Ordering("id")]), with: ["boss", "friends", "notes"])
        #expect(found.map { $0.record["age"] } == [30, 40])
        #expect(found.first?.record[related: "boss"] == .one(.identity(2)))
        #expect(found.first?.record[related: "friends"] == .many([.identity(2), .identity(1)]))
        #expect(found.first?.record[related: "notes"] == .many([.identity(9)]))
    }

    @Test(arguments: SQLDatabase.kinds)
    func aModelThatAddsAndRemovesLosesNothing(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            try await Self.fill(try await database.open(try Self.full(), 0))
            let mail = SyncAttribute("mail", .string, default: "none")
            let smaller = try DataModel([
                Self.user([.attribute(SyncAttribute("name", .string)), .attribute(mail)])
            ])
            for _ in 0..<2 {
                let store = try await database.open(smaller, 0)
                let found = try await store.records(StoreQuery("User", orderedBy: [Ordering("id")]))
                #expect(found.map { $0.record["name"] } == ["a", "b"])
                #expect(found.map { $0.record["mail"] } == ["none", "none"])
            }
            try await Self.expectAll(try await database.open(try Self.full(), 0))
            // It is dropped by a higher version, and only then.
            _ = try await database.open(smaller, 1)
            let store = try await database.open(try Self.full(), 1)
            #expect(try await store.count(StoreQuery("Note")) == 0)
            #expect(try await store.count(StoreQuery("User", where: PropertyPath("age") > 0)) == 0)
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    /// Without sub-entities, a table has no column of entities.
    @Test(arguments: SQLDatabase.kinds)
    func aSubEntityWithoutObjectsComesBack(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            func guests(_ attributes: SyncAttribute...) throws -> DataModel {
                try DataModel([
                    Self.user([]),
                    SyncEntity("Guest", parent: "User") { for attribute in attributes { attribute } },
                ])
            }
            let room = SyncAttribute("room", .int64, default: 7)
            let store = try await database.open(try guests(room), 0)
            for id in 1...2 { try await Self.insert("User", ["id": .int(Int64(id))], into: store) }
            _ = try await database.open(try DataModel([Self.user([])]), 0)
            let again = try await database.open(try guests(room, SyncAttribute("floor", .int64, default: 3)), 0)
            #expect(try await again.count(StoreQuery("User")) == 2)
            #expect(try await again.count(StoreQuery("Guest")) == 0)
            try await Self.insert("Guest", ["id": 3, "floor": 4], into: again)
            let found = try await again.records(StoreQuery("User", orderedBy: [Ordering("id")]))
            #expect(found.map(\.record.layout.name) == ["User", "User", "Guest"])
            #expect(found.last?.record["floor"] == 4)
        }
    }

    /// Columns and tables that stay refer to a table that gets another name.
    @Test(arguments: SQLDatabase.kinds)
    func whatStaysFollowsARenamedEntity(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            try await Self.fill(try await database.open(try Self.full(), 0))
            let smaller = try DataModel([
                Self.user(named: "Person", formerName: "User", [.attribute(SyncAttribute("name", .string))])
            ])
            let store = try await database.open(smaller, 0)
            try await Self.insert("Person", ["id": 3, "name": "c"], into: store)
            _ = try await store.transaction {
                try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 3))
            }
            let again = try await database.open(try Self.full("Person", formerName: "User"), 0)
            try await Self.expectAll(again, "Person")
            // The foreign keys still hold.
            let removed = try await again.transaction {
                try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
            }
            #expect(removed.counts == ["Person": 1, "Note": 1])
        }
    }

    /// A deletion by a program that does not know a relationship leaves no link to nowhere.
    @Test(arguments: SQLDatabase.kinds)
    func linksThatStayAreRemovedWithTheirObjects(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            try await Self.fill(try await database.open(try Self.full(), 0))
            let smaller = try DataModel([
                Self.user([.attribute(SyncAttribute("name", .string)), .attribute(SyncAttribute("mail", .string))])
            ])
            let store = try await database.open(smaller, 0)
            _ = try await store.transaction { try await $0.remove(StoreQuery("User", where: PropertyPath("id") == 2)) }
            let again = try await database.open(try Self.full(), 0)
            let found = try await again.records(StoreQuery("User"), with: ["boss", "friends"])
            #expect(found.first?.record[related: "boss"] == .one(nil))
            #expect(found.first?.record[related: "friends"] == .many([.identity(1)]))
        }
    }

    @Test(arguments: SQLDatabase.kinds)
    func anEntityAndAnAttributeThatGiveUpTheirNamesAreSetAside(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            let x = SyncEntity.Property.attribute(SyncAttribute("x", .string))
            let y = SyncEntity.Property.attribute(SyncAttribute("y", .string))
            let before = try await database.open(
                try DataModel([Self.user(named: "Person", [x, y]), Self.user(named: "Contact", [x])]), 0)
            try await Self.insert("Person", ["id": 1, "x": "px", "y": "py"], into: before)
            try await Self.insert("Contact", ["id": 9, "x": "cx"], into: before)
            let renamed = try DataModel([
                Self.user(
                    named: "Contact", formerName: "Person", [.attribute(SyncAttribute("x", .string, formerName: "y"))])
            ])
            for _ in 0..<2 {
                let store = try await database.open(renamed, 0)
                let found = try await store.records(StoreQuery("Contact"))
                #expect(found.map { $0.record["id"] } == [1] && found.map { $0.record["x"] } == ["py"])
            }
            #expect(try await database.run(#"SELECT x_removed FROM "Contact""#) == [["px"]])
            #expect(try await database.run(#"SELECT x FROM "Contact_removed""#) == [["cx"]])
            // Once more, when these names are taken as well; they stay whatever the version.
            let third = try DataModel([
                Self.user(named: "Contact", formerName: "Other", [x]),
                Self.user(named: "Other", formerName: "Contact", []),
            ])
            _ = try await database.open(third, 0)
            _ = try await database.open(try DataModel([Self.user(named: "Contact", formerName: "Other", [])]), 0)
            _ = try await database.open(try DataModel([Self.user(named: "Last", [])]), 1)
            #expect(try await database.run(#"SELECT x FROM "Contact_removed""#) == [["cx"]])
        }
    }

    @Test(arguments: SQLDatabase.kinds)
    func objectsOfARemovedSubentityStay(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            func model(_ subentities: String..., attributes: SyncAttribute...) throws -> DataModel {
                try DataModel(
                    [Self.user(attributes.map { .attribute($0) })]
                        + subentities.map {
                            SyncEntity(
                                $0, parent: "User", attributes: [SyncAttribute("of\($0)", .string)], relationships: [])
                        })
            }
            var store = try await database.open(try model("Boss", "Guest"), 0)
            try await Self.insert("User", ["id": 1], into: store)
            try await Self.insert("Boss", ["id": 2, "ofBoss": "b"], into: store)
            try await Self.insert("Guest", ["id": 3, "ofGuest": "g"], into: store)
            // With an addition, so that the tables are changed.
            store = try await database.open(try model("Guest", attributes: SyncAttribute("age", .int64)), 0)
            #expect(try await store.records(StoreQuery("User")).map { $0.record["id"] } == [1, 3])
            store = try await database.open(try model("Boss", "Guest"), 0)
            #expect(try await store.records(StoreQuery("Boss")).map { $0.record["ofBoss"] } == ["b"])
            // Without other subentities, its objects would become users.
            await #expect(throws: SQLSchemaError.self) { try await database.open(try model(), 0) }
            let error = await #expect(throws: SQLSchemaError.self) { try await database.open(try model(), 0) }
            #expect(error?.description.contains("raise the model version") == true)
            #expect(try await store.count(StoreQuery("User")) == 3)
            _ = try await store.transaction {
                for name in ["Boss", "Guest"] { _ = try await $0.remove(StoreQuery(name)) }
            }
            store = try await database.open(try model(), 0)
            #expect(try await store.records(StoreQuery("User")).map { $0.record["id"] } == [1])
        }
    }

    /// All reads agree that there is no object.
    @Test(arguments: SQLDatabase.kinds)
    func aLinkToAnObjectOfARemovedSubentityLeadsNowhere(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            func model(_ subentities: String...) throws -> DataModel {
                try DataModel(
                    [
                        Self.user([.relationship(SyncRelationship("house", toOne: "House", inverse: "users"))]),
                        SyncEntity("House", identity: "id") {
                            SyncAttribute("id", .int64)
                            SyncRelationship("users", toMany: "User", inverse: "house")
                            SyncRelationship("owner", toOne: "User")
                            SyncRelationship("guests", toMany: "User")
                        },
                    ] + subentities.map { SyncEntity($0, parent: "User", attributes: [], relationships: []) })
            }
            var store = try await database.open(try model("Boss", "Guest"), 0)
            try await Self.insert("Boss", ["id": 1], into: store)
            try await Self.insert("User", ["id": 2], into: store)
            for id in [7, 8] as [Int64] { try await Self.insert("House", ["id": .int(id)], into: store) }
            for (house, user) in [(7, 1), (8, 2)] as [(Int64, Int64)] {
                for name in ["users", "owner", "guests"] {
                    try await Self.link("House", name, house, to: "User", [user], in: store)
                }
            }
            store = try await database.open(try model("Guest"), 0)
            func houses(_ condition: String) async throws -> [AttributeValue] {
                let query = StoreQuery("House", where: try RecordPredicate(parsing: condition))
                return try await store.records(query).map { $0.record["id"] }
            }
            let read = try await store.records(
                StoreQuery("House", orderedBy: [Ordering("id")]), with: ["owner", "users", "guests"])
            #expect(read.first?.record[related: "owner"]?.keys == [])
            #expect(read.first?.record[related: "users"]?.keys == [])
            #expect(read.first?.record[related: "guests"]?.keys == [])
            #expect(read.last?.record[related: "guests"] == .many([.identity(2)]))
            #expect(try await houses("owner = null") == [7])
            #expect(try await houses("owner != null") == [8])
            #expect(try await houses("owner.id = null") == [7])
            for name in ["users", "guests"] {
                #expect(try await houses("\(name).@count = 0") == [7])
                #expect(try await houses("\(name).@count = 1") == [8])
                let isSome = RecordPredicate.related(PropertyPath(name), .any, .constant(true))
                let found = try await store.records(StoreQuery("House", where: isSome))
                #expect(found.map { $0.record["id"] } == [8])
                let isPinned = RecordPredicate.and([PropertyPath("id") == 7, isSome])
                #expect(try await store.count(StoreQuery("House", where: isPinned)) == 0)
            }
            let ordered = StoreQuery("House", orderedBy: [Ordering("guests.@count", ascending: false)])
            #expect(try await store.records(ordered).map { $0.record["id"] } == [8, 7])
        }
    }

    @Test(arguments: SQLDatabase.kinds)
    func aColumnOfOthersWithTheNameOfANewAttributeIsARefusal(kind: SQLDatabase.Kind) async throws {
        try await kind.use { database in
            func model(_ names: String...) throws -> DataModel {
                try DataModel([Self.user(names.map { .attribute(SyncAttribute($0, .string)) })])
            }
            let store = try await database.open(try model("a"), 0)
            try await Self.insert("User", ["id": 1, "a": "x"], into: store)
            _ = try await database.run(#"ALTER TABLE "User" ADD COLUMN b TEXT"#)
            _ = try await database.run(#"UPDATE "User" SET b = 'theirs'"#)
            for version in 0..<2 {
                let error = await #expect(throws: SQLSchemaError.self) {
                    try await database.open(try model("a", "b"), version)
                }
                #expect(error?.description.contains("User.b") == true, "\(String(describing: error))")
            }
            #expect(try await database.run(#"SELECT b FROM "User""#) == [["theirs"]])
            _ = try await database.open(try model("a", "c"), 0)
            #expect(try await database.run(#"SELECT b FROM "User""#) == [["theirs"]])
        }
    }
}
