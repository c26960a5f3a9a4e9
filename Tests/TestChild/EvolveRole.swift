package import SyncModel
package import SyncStore
package import SyncStoreSQLite

/// Models of a file, one after another, that all describe the same people.
package enum Evolution {
    private static let ids = 1...400

    /// A model: an attribute is renamed each time, and a relationship comes and goes.
    package static func model(_ version: Int) throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name\(version)", .string, formerName: "name\(version - 1)")
                if version % 3 == 0 { SyncAttribute("extra", .double, default: 0.5) }
                if version % 2 == 0 { SyncRelationship("friends", toMany: "Person", inverse: "friends") }
                SyncRelationship("boss", toOne: "Person")
            }
        }
    }

    package static func options(_ version: Int) -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.modelVersion = version
        options.busyTimeout = .seconds(1800)
        return options
    }

    /// Inserts the people: everybody's boss is the one before.
    package static func fill(_ store: some Store, _ version: Int) async throws {
        let layout = try store.model.layout(of: "Person")
        var batch = RecordBatch(of: layout)
        for id in ids {
            batch.beginRecord()
            batch.setInt(Int64(id), at: 0)
            batch.setValue(.string(name(of: id)), at: 1)
            batch.endRecord()
        }
        let records = batch
        try await store.transaction { transaction in
            let objects = try await transaction.merge(MergeRequest(records)).objects.compactMap(\.self)
            guard let boss = layout.relationship("boss") else { return }
            var links = LinkBatch(boss, mode: .replace)
            for (one, other) in zip(objects.dropFirst(), objects) { links.append(one, to: [other]) }
            _ = try await transaction.link(links)
        }
    }

    /// Whether a store of a version holds all people.
    package static func isWhole(_ store: some Store, _ version: Int) async throws -> Bool {
        let found = try await store.records(StoreQuery("Person", orderedBy: [Ordering("id")]), with: ["boss"])
        return found.count == ids.count
            && zip(ids, found).allSatisfy { id, stored in
                let boss = id == ids.lowerBound ? nil : Record.Key.identity(id - 1)
                return stored.key == .identity(id) && stored.record["name\(version)"] == .string(name(of: id))
                    && stored.record[related: "boss"] == .one(boss)
            }
    }

    private static func name(of id: Int) -> String {
        "\(id) " + String(repeating: "-", count: 500)
    }
}

/// Opens a file with one model after another, and fills it anew now and then: `evolve FILE
/// VERSION`.
///
/// It says `begins N` before a version, `fills` in the middle of filling the file anew, and `at N`
/// after the version. It never ends.
enum EvolveRole {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2, var version = Int(arguments[1]) else { throw UsageError() }
        let path = arguments[0]
        while true {
            TestChild.say("begins \(version)")
            let next = version
            if version % 5 == 4 {
                _ = try await SQLiteStore.rebuild(
                    exactly:
                        Evolution.model(next), at: path, options: Evolution.options(next)
                ) { store in
                    TestChild.say("fills")
                    try await Evolution.fill(store, next)
                }
            } else {
                let store = try await SQLiteStore(
                    exactly:
                        Evolution.model(next), at: .file(path), options: Evolution.options(next))
                if try await store.count(StoreQuery("Person")) == 0 { try await Evolution.fill(store, next) }
            }
            TestChild.say("at \(version)")
            version += 1
        }
    }
}
