import JSONMapper
import StoreSync
import ModelInference
import SyncModel
import SyncStore
import SyncStoreSQLite

extension Chapter {
    static let jsonSync = Chapter(title: "JSON is synced into a database without code per field") { stage in
        let users = """
            [{"id": 1, "name": "Ada", "notes": [{"id": 11, "text": "Engine"}, {"id": 12, "text": "Numbers"}]},
             {"id": 2, "name": "Bob", "notes": [{"id": 21, "text": "Bread"}]}]
            """
        stage.say(users)
        let model = try DataModel.inferred(from: users, entity: "User")
        stage.say(
            "The model is inferred from this sample: \(model.dataEntities.map(\.name).joined(separator: " and "))."
        )
        let store = try await SQLiteStore(model, at: .memory)
        let first = try await stage.report(store.sync("User", .text(users)))
        try stage.check(
            "2 users and 3 notes were inserted",
            first.counts.inserted == 2 && first.countsByEntity["Note"]?.inserted == 3)
        let second = try await stage.report(store.sync("User", .text(users)))
        try stage.check("the same JSON again writes nothing", second.isUnchanged)

        stage.say("Ada has a longer name and lost a note. Bob was removed, and Eve was added.")
        let changed = """
            [{"id": 1, "name": "Ada Lovelace", "notes": [{"id": 11, "text": "Engine"}]},
             {"id": 3, "name": "Eve", "notes": []}]
            """
        let planned = try await store.plan("User", .text(changed))
        let third = try await stage.report(store.sync("User", .text(changed)))
        try stage.check("the plan and the sync have the same result", planned == third)
        try stage.check(
            "1 user was inserted, 1 updated, 1 deleted",
            third.counts.inserted == 1 && third.counts.updated == 1 && third.counts.deleted == 1)
        let scoped = try await stage.report(
            store.sync(
                "User", .text("[]"), options: StoreSyncOptions(scope: PropertyPath("name") == "Eve"))
        )
        try stage.check("an empty list that covers only Eve deletes only Eve", scoped.counts.deleted == 1)
        try await stage.check(
            "an export returns Ada", of: store, "User",
            is: #"[{"id": 1, "name": "Ada Lovelace", "notes": [{"id": 11, "text": "Engine"}]}]"#)
    }

    static let conventions = Chapter(title: "Names, dates and paths are matched by convention") { stage in
        let model = try DataModel {
            SyncEntity("User") {
                SyncAttribute("remoteID", .int64)
                SyncAttribute("firstName", .string)
                SyncAttribute("userDescription", .string)
                SyncAttribute("createdAt", .date)
                SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "work.city"])
            }
        }
        let store = try MemoryStore(model)
        let user = """
            {"id": 7, "first_name": "Ada", "description": "a reserved word", "created_at": "2014-01-02T03:04:05+02:00",
             "work": {"city": "London"}}
            """
        stage.say(user)
        _ = try await stage.report(store.insertOrUpdate("User", .text(user)))
        let matches =
            PropertyPath("remoteID") == 7 && PropertyPath("userDescription").beginsWith("a reserved")
            && PropertyPath("city") == "London"
        let count = try await store.count(StoreQuery("User", where: matches))
        try stage.check("remoteID, userDescription and city have their values", count == 1)
        _ = try await store.update("User", key: .identity(7), with: JSONValue(parsing: #"{"firstName": "Augusta"}"#))
        try await stage.check(
            "an update in camelCase is exported in snake_case, and the date in UTC", of: store, "User",
            is: """
                [{"id": 7, "first_name": "Augusta", "description": "a reserved word",
                  "created_at": "2014-01-02T01:04:05Z", "work": {"city": "London"}}]
                """)
    }

    static let annotations = Chapter(title: "An import with Groot's annotations deletes nothing") { stage in
        let model = try DataModel {
            SyncEntity("Album", userInfo: ["identityAttributes": "number"]) {
                SyncAttribute("number", .int64, userInfo: ["JSONKeyPath": "id"])
                SyncAttribute("title", .string, userInfo: ["JSONKeyPath": "info.title"])
                SyncRelationship("artist", toOne: "Artist", inverse: "albums", userInfo: ["JSONKeyPath": "artist"])
            }
            SyncEntity("Artist", userInfo: ["identityAttributes": "number"]) {
                SyncAttribute("number", .int64, userInfo: ["JSONKeyPath": "id"])
                SyncAttribute("name", .string, userInfo: ["JSONKeyPath": "name"])
                SyncRelationship("albums", toMany: "Album", inverse: "artist")
            }
        }
        let store = try await SQLiteStore(model, at: .memory, mapping: JSONMapping(dialect: .groot))
        let payloads = [
            #"[{"id": 1, "info": {"title": "First"}, "artist": {"id": 9, "name": "Nina"}}]"#,
            #"[{"id": 2, "info": {"title": "Second"}, "artist": 9}, {"id": 3, "artist": 10}]"#,
            #"[{"id": 3, "info": {"title": "Third"}, "artist": {"id": 10, "name": "Odetta"}}]"#,
        ]
        for payload in payloads {
            stage.say(payload)
            let result = try await stage.report(store.importObjects("Album", .text(payload)))
            try stage.check("nothing was deleted", result.counts.deleted == 0 && result.rejectedCount == 0)
        }
        try await stage.check(
            "identifiers are linked to artists, also to one that is imported later", of: store, "Album",
            is: """
                [{"id": 1, "info": {"title": "First"}, "artist": {"id": 9, "name": "Nina"}},
                 {"id": 2, "info": {"title": "Second"}, "artist": {"id": 9, "name": "Nina"}},
                 {"id": 3, "info": {"title": "Third"}, "artist": {"id": 10, "name": "Odetta"}}]
                """)
    }
}

extension TourStage {
    /// Prints the counts of a sync, and returns its result.
    fileprivate func report(_ result: StoreSyncResult) -> StoreSyncResult {
        for (entity, counts) in result.countsByEntity.sorted(by: { $0.key < $1.key }) {
            say("\(entity): \(SyncSummary.text(counts))")
        }
        return result
    }

    /// Prints a claim if an export of all objects of an entity has the given content; throws
    /// otherwise.
    fileprivate func check(_ claim: String, of store: any Store, _ entity: String, is json: String) async throws {
        let exported = try await store.export(StoreQuery(entity))
        say(String(decoding: exported, as: UTF8.self))
        try check(claim, JSONValue(parsing: json) == JSONValue(parsing: String(decoding: exported, as: UTF8.self)))
    }
}
