import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Objects at one end of many links, which are made, moved and removed from the other end.
@Suite(.endsInTime) struct HubTests {
    private static let count: Int64 = 1500

    private static func model(isOrdered: Bool, isManyToMany: Bool) throws -> DataModel {
        let spokes =
            isOrdered
            ? SyncRelationship("spokes", toOrdered: "Spoke", inverse: "hubs")
            : SyncRelationship("spokes", toMany: "Spoke", inverse: "hubs")
        let hubs =
            isManyToMany
            ? SyncRelationship("hubs", toMany: "Hub", inverse: "spokes")
            : SyncRelationship("hubs", toOne: "Hub", inverse: "spokes")
        return try DataModel {
            SyncEntity("Hub", identity: "id") {
                SyncAttribute("id", .int64)
                spokes
            }
            SyncEntity("Spoke", identity: "id") {
                SyncAttribute("id", .int64)
                hubs
            }
        }
    }

    private static func insert(
        _ ids: some Sequence<Int64>, _ entity: String, _ transaction: any StoreTransaction
    ) async throws -> [ObjectID] {
        var batch = RecordBatch(of: try transaction.model.layout(of: entity))
        for id in ids {
            batch.beginRecord()
            batch.setInt(id, at: 0)
            batch.endRecord()
        }
        return try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
    }

    /// Links each spoke to the same hubs, the last spoke first.
    private static func link(
        _ spokes: [ObjectID], to hubs: [ObjectID], _ transaction: any StoreTransaction
    ) async throws {
        let hubsOfSpokes = try #require(transaction.model.layout(of: "Spoke").relationship("hubs"))
        for start in stride(from: 0, to: spokes.count, by: 500) {
            var batch = LinkBatch(hubsOfSpokes, mode: .replace)
            for spoke in spokes[start..<min(start + 500, spokes.count)].reversed() { batch.append(spoke, to: hubs) }
            _ = try await transaction.link(batch)
        }
    }

    @Test(arguments: StoreKind.all, [(false, false), (true, false), (false, true), (true, true)])
    func manyLinksAreMadeMovedAndRemoved(kind: StoreKind, shape: (Bool, Bool)) async throws {
        let (isOrdered, isManyToMany) = shape
        try await kind.use { make in
            let store = try await make(try Self.model(isOrdered: isOrdered, isManyToMany: isManyToMany))
            try await store.transaction { transaction in
                let spokesOfHubs = try #require(transaction.model.layout(of: "Hub").relationship("spokes"))
                let hubs = try await Self.insert(0..<2, "Hub", transaction)
                let spokes = try await Self.insert(0..<Self.count, "Spoke", transaction)
                func targets() async throws -> [[ObjectID]] {
                    let targets = try await transaction.targets(of: hubs, by: spokesOfHubs)
                    return hubs.map { targets[$0] ?? [] }
                }
                try await Self.link(spokes, to: [hubs[0]], transaction)
                // An ordered list has them in the order in which they came.
                let parts = stride(from: 0, to: spokes.count, by: 500).map {
                    spokes[$0..<min($0 + 500, spokes.count)]
                }
                let all = isOrdered ? parts.flatMap { $0.reversed() } : spokes
                var found = try await targets()
                #expect(found == [all, []])
                try await Self.link(spokes, to: [hubs[1]], transaction)
                found = try await targets()
                #expect(found == [[], all])
                try await Self.link(Array(spokes.dropFirst(2)), to: [], transaction)
                found = try await targets()
                #expect(found == [[], all.filter { spokes.prefix(2).contains($0) }])
                try await Self.link(spokes, to: [hubs[0]], transaction)
                _ = try await transaction.remove(StoreQuery("Spoke", objects: .only(Array(spokes.dropLast()))))
                found = try await targets()
                #expect(found == [spokes.suffix(1), []])
                // From the other end, one hub takes all of another one.
                let others = try await Self.insert(Self.count..<2 * Self.count, "Spoke", transaction)
                try await Self.link(others, to: [hubs[1]], transaction)
                var batch = LinkBatch(spokesOfHubs, mode: .replace)
                batch.append(hubs[0], to: others)
                if isManyToMany { batch.append(hubs[1], to: []) }
                _ = try await transaction.link(batch)
                found = try await targets()
                #expect(found == [others, []])
            }
        }
    }
}
