import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

@testable import StoreSync

/// Several elements of the list lead to an object that can have only one of them: the last one has
/// it. The same payload again writes nothing, unless the two ends of a relationship differ.
@Suite(.endsInTime) struct MovedTargetsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let entity: String
        /// What is stored before.
        var stored: String?
        let payload: String
        /// The users of each company, or the reports of each user.
        let lists: [Int64: [AttributeValue]]
        /// The element and the key path of each contradiction.
        let conflicts: [String]
        /// Whether each of three syncs changes something.
        var changes = [true, false, false]

        var testDescription: String { payload }
    }

    static let rows = [
        Row(
            entity: "Company", payload: #"[{"id":7,"users":[{"id":1}]},{"id":8,"users":[{"id":1}]}]"#,
            lists: [7: [], 8: [1]], conflicts: ["users 1 from 1"]),
        Row(
            entity: "Company", stored: #"[{"id":7,"users":[{"id":1}]},{"id":8,"users":[{"id":2}]}]"#,
            payload: #"[{"id":7,"users_ids":[1,2]},{"id":8,"users_ids":[2,1]}]"#, lists: [7: [], 8: [1, 2]],
            conflicts: ["users 1 from 1"]),
        Row(
            entity: "Company",
            payload: #"[{"id":7,"users":[{"id":1},{"id":2}]},{"id":8,"users":[{"id":1}]},{"id":9,"users":[{"id":1}]}]"#,
            lists: [7: [2], 8: [], 9: [1]], conflicts: ["users 2 from 1"]),
        Row(
            entity: "Company", stored: #"[{"id":7,"users":[{"id":1}]},{"id":8,"users":[{"id":2}]}]"#,
            payload: #"[{"id":7,"users":[{"id":2}]},{"id":8,"users":[{"id":1}]}]"#, lists: [7: [2], 8: [1]],
            conflicts: []),
        Row(
            entity: "Company", stored: #"[{"id":7,"users":[{"id":1}]}]"#,
            payload: #"[{"id":7,"users":[]},{"id":8,"users":[{"id":1}]},{"id":9,"users":[]}]"#,
            lists: [7: [], 8: [1], 9: []], conflicts: []),
        Row(
            entity: "User", stored: #"[{"id":5,"reports_ids":[2]},{"id":2},{"id":7}]"#,
            payload: #"[{"id":7,"reports_ids":[2]},{"id":2,"manager_id":5},{"id":5}]"#, lists: [5: [2], 7: []],
            conflicts: ["manager 1 from 1"], changes: [false, false, false]),
        Row(
            entity: "User", stored: #"[{"id":5,"reports_ids":[2]},{"id":2},{"id":7}]"#,
            payload: #"[{"id":2,"manager_id":5},{"id":7,"reports_ids":[2]},{"id":5}]"#, lists: [5: [], 7: [2]],
            conflicts: ["reports 1 from 1"], changes: [true, true, true]),
    ]

    @Test(arguments: rows, [1, 2, 1000]) func theLastElementHasIt(row: Row, rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        if let stored = row.stored { try await world.sync(stored, into: row.entity) }
        for changes in row.changes {
            let result = try await world.sync(row.payload, into: row.entity)
            #expect(result.isUnchanged == !changes)
            #expect(
                result.drift.entries.map { "\($0.keyPath) \($0.count) from \($0.firstIndex)" } == row.conflicts)
            for (id, users) in row.lists {
                let source = row.entity == "Company" ? "company" : "manager"
                #expect(try await world.column("id", where: "\(source).id = \(id)") == users, "of \(id)")
            }
        }
    }

    /// Another element keeps what it has taken in the meantime.
    @Test(arguments: [1, 2, 1000]) func aSourceThatIsStatedAgainGivesUpOnlyItsOwn(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":7,"users":[{"id":1}]},{"id":8,"users":[{"id":2}]},{"id":9}]"#, into: "Company")
        let payload = """
            [{"id":8,"users":[{"id":1},{"id":2}]},{"id":9,"users":[{"id":1}]},{"id":7,"name":"a"},{"id":8,"users":[]}]
            """
        for _ in 0..<2 {
            try await world.sync(payload, into: "Company")
            #expect(try await world.column("id", where: "company.id = 9") == [1])
            #expect(try await world.column("id", where: "company.id = 8") == [])
        }
    }

    /// Nothing has to be compared with the store where all targets of the later statement are new.
    @Test(arguments: [1, 2, 1000]) func aLaterStatementOfNewObjectsTakesTheMoveBack(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":7,"users":[{"id":1}]},{"id":8}]"#, into: "Company")
        let payload = #"[{"id":7},{"id":8,"users":[{"id":1}]},{"id":8,"users":[{"id":5}]}]"#
        for _ in 0..<2 {
            try await world.sync(payload, into: "Company")
            #expect(try await world.column("id", where: "company.id = 7") == [1])
            #expect(try await world.column("id", where: "company.id = 8") == [5])
        }
    }

    /// Memory is bounded: more objects than the limit do not wait for the end of the list.
    @Test func objectsAboveTheLimitMoveAtOnce() throws {
        let inverse = try #require(try SyncWorld.model.get().layout(of: "User").relationship("company"))
        var moved = MovedTargets(limit: 2)
        let waits = (1...4).map { target in
            moved.state(target, of: 8, after: 7, isStated: false, inverse).waits
        }
        #expect(waits == [true, true, false, false])
        // One that waits is known, whatever the limit.
        let again = moved.state(1, of: 9, after: 7, isStated: true, inverse)
        #expect(again.waits && again.differs)
        // One that has moved at once contradicts an earlier statement.
        let other = moved.state(3, of: 9, after: 8, isStated: true, inverse)
        #expect(!other.waits && other.differs)
    }
}
