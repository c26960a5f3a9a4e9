import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

/// Names, keys and values that try to be SQL stay what they are, in every kind of store.
@Suite(.serialized, .endsInTime) struct InjectionTests {
    private static let words = [
        #"User"; DROP TABLE "User"; --"#, "'); DELETE FROM _sync_doomed; --", "$1", "?", "?1", ":a", "\\", "%", "/*",
        "--", "a b",
        "xmin", "ctid", "pg_class", "text", "uuid", "order", "row", "_id", "_entity", "c0", "place", "é",
        String(repeating: "long", count: 40), String(repeating: "long", count: 40) + "er", "\"", "'", "''", "\u{1}",
        "select 1",
    ]

    @Test(arguments: StoreKind.all, sampled(0..<8 as Range<UInt64>))
    func whatLooksLikeSQLIsData(kind: StoreKind, seed: UInt64) async throws {
        let model = try Self.model(seed: seed)
        try await kind.use { makeStore in
            let store = try await makeStore(model)
            let memory = MemoryStore(exactly: model)
            for target in [store, memory] as [any Store] { try await Self.fill(target) }
            #expect(try await Self.state(of: store) == Self.state(of: memory))
            let layout = model.layouts[0]
            for word in Self.words {
                let query = StoreQuery(
                    layout.name, where: .comparison(PropertyPath(layout.attributes[1].name), .equal, .string(word)),
                    orderedBy: [Ordering(layout.attributes[0].name)])
                let found = try await store.records(query).map(\.record.values)
                let expected = try await memory.records(query).map(\.record.values)
                #expect(found == expected)
            }
            for target in [store, memory] as [any Store] {
                try await target.transaction { transaction in
                    let predicate = RecordPredicate.text(PropertyPath(layout.attributes[1].name), .contains, "'")
                    _ = try await transaction.remove(StoreQuery(layout.name, where: predicate), reportsKeys: true)
                }
            }
            #expect(try await Self.state(of: store) == Self.state(of: memory))
        }
    }

    /// Two entities that are related in every way, all of whose names are such words.
    private static func model(seed: UInt64) throws -> DataModel {
        var random = SeededRandom(seed: seed)
        // A point in a name would be a path to a predicate.
        var names = words.filter { !$0.contains(".") }.shuffled(using: &random)[...]
        let one = names.removeFirst()
        let other = names.removeFirst()
        let heir = names.removeFirst()
        let attributes = names.prefix(4)
        names = names.dropFirst(4)
        let links = names.prefix(4)
        let start = links.startIndex
        return try DataModel {
            SyncEntity(one, identity: attributes[attributes.startIndex]) {
                for name in attributes { SyncAttribute(name, .string) }
                SyncRelationship(links[start], toOne: other, inverse: links[start + 1])
                SyncRelationship(links[start + 2], toOrdered: other, inverse: links[start + 3])
            }
            SyncEntity(heir, parent: one) {
                SyncAttribute("own", .string, default: .string(words[0]))
            }
            SyncEntity(other, identity: attributes[attributes.startIndex]) {
                for name in attributes { SyncAttribute(name, .string) }
                SyncRelationship(links[start + 1], toMany: one, inverse: links[start], deleteRule: .cascade)
                SyncRelationship(links[start + 3], toMany: one, inverse: links[start + 2])
            }
        }
    }

    private static func fill(_ store: any Store) async throws {
        try await store.transaction { transaction in
            var rows: [[ObjectID]] = []
            for layout in store.model.layouts {
                var batch = RecordBatch(of: layout)
                for (number, word) in words.enumerated() {
                    batch.beginRecord()
                    batch.setValue(.string(layout.name + word), at: 0)
                    batch.setValue(.string(word), at: 1)
                    if number % 2 == 0 { batch.setValue(.string(words[(number + 1) % words.count]), at: 2) }
                    batch.endRecord()
                }
                for _ in 0..<2 {
                    let result = try await transaction.merge(MergeRequest(batch))
                    rows.append(result.objects.compactMap { $0 })
                }
            }
            for (place, layout) in store.model.layouts.enumerated() where layout.parent == nil {
                let others = place == 0 ? rows[4] : rows[0]
                for relationship in layout.relationships {
                    var batch = LinkBatch(relationship, mode: .replace)
                    for (index, row) in rows[place * 2].enumerated() {
                        batch.append(row, to: [others[index], others[(index + 1) % others.count]])
                    }
                    _ = try await transaction.link(batch)
                }
            }
        }
    }

    /// All objects with what they are related to, without the stores' own numbers.
    private static func state(of store: any Store) async throws -> [String] {
        var lines: [String] = []
        for layout in store.model.layouts {
            let names = layout.relationships.map(\.name)
            for stored in try await store.records(StoreQuery(layout.name), with: names) {
                let related = names.map { stored.record[related: $0]?.keys ?? [] }
                lines.append("\(stored.record.entityName) \(stored.record.values) \(related)")
            }
        }
        return lines.sorted()
    }
}
