import StoreSync
import SyncModel
import SyncStore
import Testing

extension StoreLife {
    func check(_ place: String) async throws {
        for entity in Self.entities {
            let one = try await content(of: entity, in: memory)
            let other = try await content(of: entity, in: store)
            #expect(one == other, "\(place): memory beside the database, \(entity)")
            var found: [Int64: Values] = [:]
            for (id, record) in other { found[id] = record.values.filter { !$0.value.isNull } }
            #expect(found == expected[entity]?.mapValues { $0.filter { !$0.value.isNull } }, "\(place): \(entity)")
        }
        try await checkInverses(place)
        try await database.check(place)
    }

    private struct Content: Equatable {
        var values: Values
        var targets: [String: [Record.Key]]
    }

    private func content(of entity: String, in store: JSONStore) async throws -> [Int64: Content] {
        let layout = try store.store.model.layout(of: entity)
        let names = layout.relationships.map(\.name)
        var content: [Int64: Content] = [:]
        for stored in try await store.store.records(StoreQuery(entity), with: names) {
            guard case .int(let id) = stored.record["id"] else { continue }
            var values: Values = [:]
            for attribute in layout.attributes where attribute.name != "id" {
                values[attribute.name] = stored.record[attribute.name]
            }
            var targets: [String: [Record.Key]] = [:]
            for relationship in layout.relationships {
                let keys = stored.record[related: relationship.name]?.keys ?? []
                targets[relationship.name] = relationship.isOrdered ? keys : keys.sorted { "\($0)" < "\($1)" }
            }
            content[id] = Content(values: values, targets: targets)
        }
        return content
    }

    private func checkInverses(_ place: String) async throws {
        for (entity, name, destination, inverse) in [
            ("One", "friends", "One", "friends"), ("Two", "friends", "Two", "friends"),
            ("One", "partner", "One", "partner"), ("Two", "partner", "Two", "partner"),
            ("One", "children", "Two", "parent"),
        ] {
            var pairs: Set<[Record.Key]> = []
            for stored in try await store.store.records(StoreQuery(entity), with: [name]) {
                for key in stored.record[related: name]?.keys ?? [] { pairs.insert([stored.key, key]) }
            }
            var back: Set<[Record.Key]> = []
            for stored in try await store.store.records(StoreQuery(destination), with: [inverse]) {
                for key in stored.record[related: inverse]?.keys ?? [] { back.insert([key, stored.key]) }
            }
            #expect(pairs == back, "\(place): \(entity).\(name)")
        }
    }
}
