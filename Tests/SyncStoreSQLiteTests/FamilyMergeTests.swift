import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Merges into a family of entities whose objects can have the same identity.
@Suite(.endsInTime) struct FamilyMergeTests {
    private let store: SQLiteStore

    init() async throws {
        let model = try DataModel {
            SyncEntity("Being", abstract: true, identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity("Person", parent: "Being") {}
            SyncEntity("Guest", parent: "Person") {}
            SyncEntity("Visitor", parent: "Person") {}
        }
        store = try await SQLiteStore(exactly: model, at: .memory)
    }

    /// Merges objects with names, and returns what became of each.
    @discardableResult
    private func merge(
        _ entity: String, _ rows: [(id: Int64, name: String?)], policy: MergeRequest.Policy = MergeRequest.Policy()
    ) async throws -> [MergeRequest.Result.Row?] {
        var batch = RecordBatch(of: try store.model.layout(of: entity))
        for row in rows {
            batch.beginRecord()
            batch.setInt(row.id, at: 0)
            if let name = row.name { batch.setValue(.string(name), at: 1) }
            batch.endRecord()
        }
        let request = MergeRequest(batch, policy: policy)
        return try await store.transaction { try await $0.merge(request).rows }
    }

    private func names() async throws -> [String] {
        try await store.records(StoreQuery("Being")).map { stored in
            let name: String = if case .string(let name) = stored.record["name"] { name } else { "" }
            return "\(stored.record.entityName) \(name)"
        }.sorted()
    }

    @Test(arguments: ["Guest", "Visitor"]) func theObjectOfTheEntityItselfIsMeant(other: String) async throws {
        try await merge("Person", [(1, "a"), (2, "b"), (3, "c")])
        try await merge(other, [(2, "x"), (3, "y")])
        // The other object is found too, before it or after it, and is left alone.
        let rows = try await merge("Person", [(1, "A"), (2, "B"), (3, "c"), (4, "D")])
        #expect(rows.map { $0?.change } == [.updated, .updated, .unchanged, .inserted])
        #expect(rows.prefix(3).map { $0?.object } == [1, 2, 3])
        let expected = ["\(other) x", "\(other) y", "Person A", "Person B", "Person D", "Person c"]
        #expect(try await names() == expected.sorted())
        let same = try await merge(other, [(2, "x"), (3, "z")])
        #expect(same.map { $0?.change } == [.unchanged, .updated])
    }

    /// Each object gets the cells in which it differs itself, not another one of its identity.
    @Test func theCellsOfTheObjectThatIsMeantAreWritten() async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("note", .string)
            }
            SyncEntity("Guest", parent: "Person") {}
        }
        let store = try await SQLiteStore(exactly: model, at: .memory)
        func merge(_ entity: String, _ rows: [(id: Int64, name: String, note: String)]) async throws {
            var batch = RecordBatch(of: try model.layout(of: entity))
            for row in rows {
                batch.beginRecord()
                batch.setInt(row.id, at: 0)
                batch.setValue(.string(row.name), at: 1)
                batch.setValue(.string(row.note), at: 2)
                batch.endRecord()
            }
            let request = MergeRequest(batch)
            _ = try await store.transaction { try await $0.merge(request) }
        }
        try await merge("Person", [(1, "a", "n"), (2, "b", "m")])
        try await merge("Guest", [(1, "x", "N")])
        try await merge("Person", [(1, "a", "N"), (2, "B", "m")])
        let stored = try await store.records(StoreQuery("Person")).map { stored in
            [stored.record.entityName, "\(stored.record["name"])", "\(stored.record["note"])"]
        }
        func row(_ entity: String, _ name: AttributeValue, _ note: AttributeValue) -> [String] {
            [entity, "\(name)", "\(note)"]
        }
        #expect(Set(stored) == [row("Person", "a", "N"), row("Person", "B", "m"), row("Guest", "x", "N")])
    }

    @Test func theFirstObjectIsMeantIfNoneIsOfTheEntityItself() async throws {
        try await merge("Visitor", [(1, "v"), (2, "w")])
        try await merge("Guest", [(1, "g"), (2, "h")])
        let rows = try await merge("Person", [(1, "A"), (2, "w")])
        #expect(rows == [MergeRequest.Result.Row(1, .updated), MergeRequest.Result.Row(2, .unchanged)])
        #expect(try await names() == ["Guest g", "Guest h", "Visitor A", "Visitor w"])
    }

    @Test func rowsOfOneIdentityAreRefused() async throws {
        try await merge("Person", [(1, "a"), (5, "e")])
        try await merge("Guest", [(1, "x")])
        for rows in [[(5, "e"), (1, "b"), (5, "f")], [(7, nil), (7, "n")]] as [[(Int64, String?)]] {
            await #expect(throws: StoreError.repeatedObject(entity: "Person")) { try await merge("Person", rows) }
        }
        #expect(try await names() == ["Guest x", "Person a", "Person e"])
    }

    @Test func objectsThatAreNamedAreMerged() async throws {
        try await merge("Person", [(1, "a"), (2, "b"), (3, "c")])
        func mergeNamed(
            _ rows: [(match: MergeRequest.Match, id: Int64?, name: String)],
            policy: MergeRequest.Policy = MergeRequest.Policy()
        ) async throws -> [MergeRequest.Result.Row?] {
            var batch = RecordBatch(of: try store.model.layout(of: "Person"))
            for row in rows {
                batch.beginRecord()
                if let id = row.id { batch.setInt(id, at: 0) }
                batch.setValue(.string(row.name), at: 1)
                batch.endRecord()
            }
            var request = MergeRequest(batch, policy: policy)
            request.matches = rows.map(\.match)
            let sent = request
            return try await store.transaction { try await $0.merge(sent).rows }
        }
        let apart = try await mergeNamed([
            (.object(1), nil, "A"), (.object(3), nil, "c"), (.identity, 2, "B"), (.skipped, 3, "-"),
        ])
        #expect(apart == [.init(1, .updated), .init(3, .unchanged), .init(2, .updated), nil])
        #expect(try await names() == ["Person A", "Person B", "Person c"])
        // The same object twice, by number or by identity.
        for twice in [
            [(.object(1), nil, "p"), (.object(1), nil, "q")], [(.identity, 2, "B"), (.object(2), nil, "r")],
            [(.object(2), 9, "s"), (.identity, 2, "t")],
        ] as [[(MergeRequest.Match, Int64?, String)]] {
            await #expect(throws: StoreError.repeatedObject(entity: "Person")) { try await mergeNamed(twice) }
        }
        let given = try await mergeNamed([(.object(2), 9, "s"), (.identity, 10, "t")])
        #expect(given == [.init(2, .updated), .init(4, .inserted)])
        #expect(try await names() == ["Person A", "Person c", "Person s", "Person t"])
        // Without updates, they are found all the same.
        let found = try await mergeNamed(
            [(.object(1), nil, "u"), (.object(99), nil, "v"), (.identity, 10, "w")],
            policy: MergeRequest.Policy(updates: false))
        #expect(found == [.init(1, .unchanged), nil, .init(4, .unchanged)])
        #expect(try await names() == ["Person A", "Person c", "Person s", "Person t"])
    }
}
