import OneWayTestLimits
import SyncModel
import Testing

@testable import SyncStore

/// Within a transaction, objects may have the same values for a while.
@Suite(.endsInTime) struct MemoryUniqueIndexTests {
    private static func model() throws -> DataModel {
        var entity = SyncEntity("Team", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("code", .string)
        }
        entity.indexes = [SyncEntity.Index(["code"], unique: true)]
        return try DataModel([entity])
    }

    @Test func aMergeSaysWhichRowsWait() async throws {
        let store = MemoryStore(exactly: try Self.model())
        try await store.transaction { transaction in
            func merge(_ teams: [(id: Int64, code: String)]) async throws -> [Int] {
                var batch = RecordBatch(of: transaction.model.layouts[0])
                for team in teams {
                    batch.beginRecord()
                    batch.setInt(team.id, at: 0)
                    batch.setValue(.string(team.code), at: 1)
                    batch.endRecord()
                }
                return try await transaction.merge(MergeRequest(batch)).waitingRows
            }
            let free = try await merge([(1, "x"), (2, "y")])
            let taken = try await merge([(3, "z"), (4, "x"), (5, "y")])
            let left = try await merge([(1, "a"), (2, "b")])
            #expect(free == [] && taken == [1, 2] && left == [])
        }
    }

    @Test func theFirstObjectThatWaitsGetsValuesThatAnotherOneLeaves() throws {
        let model = try Self.model()
        let layout = try model.layout(of: "Team")
        var index = MemoryUniqueIndex(try #require(model.indexes(of: layout).first), of: layout)
        func team(_ id: Int64, _ code: String) -> MemoryObject {
            MemoryObject(entity: layout.index, values: [.int(id), .string(code)])
        }
        func conflicts() -> [[ObjectID]] { index.conflicts.map { [$0.object, $0.holder] } }
        for id in 1...3 as ClosedRange<Int64> { index.change(id, from: nil, to: team(id, "x")) }
        #expect(conflicts() == [[2, 1], [3, 1]])
        // One that waits gives up, and leaves the others as they are.
        index.change(3, from: team(3, "x"), to: team(3, "z"))
        #expect(conflicts() == [[2, 1]])
        index.change(1, from: team(1, "x"), to: team(1, "y"))
        #expect(conflicts().isEmpty)
        index.change(4, from: nil, to: team(4, "x"))
        #expect(conflicts() == [[4, 2]])
    }

    @Test func aRowThatIsNotMergedDoesNotWait() async throws {
        let store = MemoryStore(exactly: try Self.model())
        try await store.transaction { transaction in
            var batch = RecordBatch(of: transaction.model.layouts[0])
            for id in 1...3 as ClosedRange<Int64> {
                batch.beginRecord()
                batch.setInt(id, at: 0)
                batch.setValue("x", at: 1)
                batch.endRecord()
            }
            let result = try await transaction.merge(MergeRequest(batch, matches: [.identity, .skipped, .identity]))
            #expect(result.waitingRows == [2] && result.objects == [1, nil, 2])
            // Only the index matters here.
            _ = try await transaction.remove(StoreQuery("Team"), reportsKeys: false)
        }
    }

    /// The index of an entity has none of the objects that belong to another entity.
    @Test func anObjectOfAnotherEntityLeavesTheIndex() async throws {
        var car = SyncEntity("Car", parent: "Vehicle") { SyncAttribute("plate", .string) }
        car.indexes = [SyncEntity.Index(["plate"], unique: true)]
        let model = try DataModel([
            SyncEntity("Vehicle", identity: "id") { SyncAttribute("id", .int64) }, car,
            SyncEntity("Boat", parent: "Vehicle") { SyncAttribute("length", .int64) },
        ])
        let store = MemoryStore(exactly: model)
        func insert(_ id: Int64) async throws -> ObjectID {
            var record = Record(of: try model.layout(of: "Car"))
            record["id"] = .int(id)
            record["plate"] = "x"
            return try await store.transaction { [record] in try await $0.insert(record) }
        }
        let first = try await insert(1)
        await #expect(throws: StoreError.self) { _ = try await insert(2) }
        try await store.transaction { try await $0.changeEntity(of: [first], from: "Car", to: "Boat") }
        let second = try await insert(2)
        #expect(try await store.count(StoreQuery("Car")) == 1)
        // It has no plate when it is a car again.
        try await store.transaction { try await $0.changeEntity(of: [first], from: "Boat", to: "Car") }
        try await store.transaction {
            _ = try await $0.remove(StoreQuery("Car", objects: .only([second])), reportsKeys: false)
        }
        _ = try await insert(3)
        #expect(try await store.count(StoreQuery("Car")) == 2)
    }
}
