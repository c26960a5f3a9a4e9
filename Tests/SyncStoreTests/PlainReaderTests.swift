import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// A reader that computes no selections gives the rows that one that does gives.
@Suite(.endsInTime) struct PlainReaderTests {
    /// What every reader has.
    private struct PlainReader: StoreReader {
        let base: any StoreReader

        var model: DataModel { base.model }

        func fetch(
            _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
        ) async throws {
            try await base.fetch(query, batchRowCount: batchRowCount, body)
        }

        func count(_ query: StoreQuery) async throws -> Int { try await base.count(query) }

        func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
            try await base.links(relationship, of: sources)
        }
    }

    private static let teamNames: [String?] = ["a", "b", "b", nil]

    /// Eight people; the first six of them have one of four teams.
    private func store() async throws -> MemoryStore {
        let store = MemoryStore(
            exactly:
                try DataModel {
                    SyncEntity("Person", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncAttribute("age", .int32)
                        SyncAttribute("size", .double)
                        SyncAttribute("wage", .decimal)
                        SyncRelationship("team", toOne: "Team", inverse: "people")
                    }
                    SyncEntity("Team", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncAttribute("name", .string)
                        SyncRelationship("people", toMany: "Person", inverse: "team")
                    }
                })
        try await store.transaction { transaction in
            let (people, teams) = (try transaction.model.layout(of: "Person"), try transaction.model.layout(of: "Team"))
            var numbers: [ObjectID] = []
            for (id, name) in Self.teamNames.enumerated() {
                var record = Record(of: teams)
                record["id"] = .int(Int64(id))
                record["name"] = name.map { .string($0) } ?? .null
                numbers.append(try await transaction.insert(record))
            }
            var batch = LinkBatch(try #require(people.relationship("team")), mode: .replace)
            for id in 1...8 {
                var record = Record(of: people)
                record["id"] = .int(Int64(id))
                record["age"] = id % 4 == 0 ? .null : .int(Int64(10 * (id % 3)))
                record["size"] = .double(Double(id) / 2)
                record["wage"] = .decimal(Decimal(id) / 4)
                let person = try await transaction.insert(record)
                if id <= 6 { batch.append(person, to: [numbers[id % 4]]) }
            }
            _ = try await transaction.link(batch)
        }
        return store
    }

    /// Each selection, and its rows.
    private static let selections: [(StoreSelection, [[AttributeValue]])] = {
        func select(
            _ columns: [StoreSelection.Column], of entity: String = "Person", where text: String = "id > 0",
            by orders: [Ordering] = [], limit: Int? = nil, offset: Int = 0, isDistinct: Bool = false,
            after: StoreSelection.Position? = nil
        ) -> StoreSelection {
            var selection = StoreSelection(
                StoreQuery(
                    entity, where: (try? RecordPredicate(parsing: text)) ?? .constant(false), orderedBy: orders,
                    limit: limit, offset: offset), columns: columns)
            selection.isDistinct = isDistinct
            selection.after = after
            return selection
        }
        let (id, age, team) = (PropertyPath("id"), PropertyPath("age"), PropertyPath("team.name"))
        return [
            (select([.value(id), .value(age)], where: "id < 4"), [[1, 10], [2, 20], [3, 0]]),
            (
                select([.value(team), .value(id)], by: [Ordering("id", ascending: false)], limit: 3, offset: 1),
                [[.null, 7], ["b", 6], ["b", 5]]
            ),
            (
                select([.value(id), .target(PropertyPath("team"))], where: "id > 5"),
                [[6, 3], [7, .null], [8, .null]]
            ),
            (
                select([.value(PropertyPath("team.people.@count")), .value(id)], where: "id > 4"),
                [[2, 5], [2, 6], [.null, 7], [.null, 8]]
            ),
            (select([.value(PropertyPath("age"))], isDistinct: true), [[.null], [0], [10], [20]]),
            // The order of the query counts neither for distinct rows nor for groups.
            (
                select([.value(age)], by: [Ordering("id", ascending: false)], limit: 2, offset: 1, isDistinct: true),
                [[0], [10]]
            ),
            (
                select([.value(age), .count], by: [Ordering("id", ascending: false)]),
                [[.null, 2], [0, 2], [10, 2], [20, 2]]
            ),
            // A key may follow what is computed.
            (select([.count, .value(age)], where: "id < 4"), [[1, 0], [1, 10], [1, 20]]),
            (
                select([.aggregate(.sum, id), .value(team), .aggregate(.maximum, id)]),
                [[18, .null, 8], [4, "a", 4], [14, "b", 6]]
            ),
            (
                select([
                    .aggregate(.minimum, age), .aggregate(.maximum, age), .aggregate(.sum, age),
                    .aggregate(.average, age),
                ]), [[0, 20, 60, 10.0]]
            ),
            (
                select([
                    .aggregate(.sum, PropertyPath("size")), .aggregate(.average, PropertyPath("size")),
                    .aggregate(.sum, PropertyPath("wage")), .aggregate(.average, PropertyPath("wage")),
                ]), [[18.0, 2.25, .decimal(9), 1.125]]
            ),
            (
                select([.count, .aggregate(.sum, age), .aggregate(.average, age)], where: "id > 9"),
                [[0, .null, .null]]
            ),
            (select([.value(age), .count], where: "id > 9"), []),
            (select([.value(id)], limit: 0), []), (select([.value(id)], offset: 8), []),
            (
                select(
                    [.value(id)], by: [Ordering("age"), Ordering("id", ascending: false)],
                    after: StoreSelection.Position(values: [10, 5], object: 0)), [[1], [5], [2]]
            ),
            (select([.value(PropertyPath("people.@count"))], of: "Team", where: "id >= 0"), [[1], [2], [2], [1]]),
        ]
    }()

    @Test(arguments: Self.selections.indices)
    func everyReaderComputesTheSame(index: Int) async throws {
        let (selection, expected) = Self.selections[index]
        let store = try await store()
        let (plain, own) = try await store.read { reader in
            (try await PlainReader(base: reader).rows(selection), try await reader.rows(selection))
        }
        #expect(own == expected)
        #expect(plain == expected)
    }

    @Test func rowsComeInBatches() async throws {
        let selection = StoreSelection(StoreQuery("Person"), columns: [.value(PropertyPath("id"))])
        let sizes = try await store().read { reader in
            var sizes: [[Int]] = []
            for rowCount in [0, 1, 3, 8, 9] {
                var own: [Int] = []
                try await PlainReader(base: reader).select(selection, batchRowCount: rowCount) { own.append($0.count) }
                sizes.append(own)
            }
            return sizes
        }
        #expect(sizes == [Array(repeating: 1, count: 8), Array(repeating: 1, count: 8), [3, 3, 2], [8], [8]])
    }
}
