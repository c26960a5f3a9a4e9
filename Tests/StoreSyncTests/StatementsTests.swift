import OneWayTestLimits
import SyncModel
import Testing

@testable import StoreSync

/// What is left of nested records after earlier statements about the same objects.
@Suite(.endsInTime) struct StatementsTests {
    /// More attributes than a word has bits; the first one is the identity.
    private static func layout() throws -> EntityLayout {
        let model = try DataModel {
            SyncEntity("Thing", identity: "a0") {
                for column in 0..<70 { SyncAttribute("a\(column)", .int64) }
            }
        }
        return try model.layout(of: "Thing")
    }

    private static func batch(_ rows: [[Int]], of layout: EntityLayout) -> RecordBatch {
        var batch = RecordBatch(of: layout)
        for columns in rows {
            batch.beginRecord()
            for column in columns { batch.setInt(1, at: column) }
            batch.endRecord()
        }
        return batch
    }

    /// The columns of earlier records and of the next record of one object, and what is left of it.
    struct Row: Sendable, CustomTestStringConvertible {
        let earlier: [[Int]]
        let next: [Int]
        let rest: [Int]
        var isRestated = false
        var isComplete = false

        var testDescription: String { "\(next) after \(earlier)" }
    }

    static let rows = [
        Row(earlier: [], next: [0, 1], rest: [0, 1]),
        Row(earlier: [[0, 1]], next: [0, 2], rest: [0, 2]),
        Row(earlier: [[0, 1]], next: [0, 1, 2], rest: [0, 2], isRestated: true),
        Row(earlier: [[0, 1], [0, 2]], next: [0, 1, 2], rest: [0], isRestated: true, isComplete: true),
        Row(earlier: [[0, 1]], next: [0], rest: [0], isComplete: true),
        Row(earlier: [[0, 1], [0, 69]], next: [0, 1, 65, 69], rest: [0, 65], isRestated: true),
        Row(earlier: [[0, 63], [0, 64]], next: [0, 62, 63, 64, 65], rest: [0, 62, 65], isRestated: true),
    ]

    @Test(arguments: rows) func onlyWhatIsNewIsLeft(row: Row) throws {
        let layout = try Self.layout()
        var statements = Statements()
        for columns in row.earlier { statements.insert(Self.batch([columns], of: layout), [5000], of: layout) }
        // Another object has nothing to do with it.
        statements.insert(Self.batch([row.next], of: layout), [904], of: layout)
        let rest = statements.rest(of: Self.batch([row.next], of: layout), [5000], of: layout)
        guard !row.earlier.isEmpty else { return #expect(rest == nil) }
        let left = try #require(rest)
        #expect((0..<70).filter { left.records.value(row: 0, column: $0) != nil } == row.rest)
        #expect(left.restated.isEmpty != row.isRestated && left.complete.isEmpty != row.isComplete)
        statements.keep(5000, columnsBelow: 64, of: layout)
        let kept = statements.rest(of: Self.batch([row.next], of: layout), [5000], of: layout)
        let stated = Set(row.earlier.joined())
        #expect(
            (0..<70).filter { kept?.records.value(row: 0, column: $0) != nil }
                == row.next.filter { $0 == 0 || $0 >= 64 || !stated.contains($0) })
        statements.keep(5000, columnsBelow: 0, of: layout)
        #expect(statements.rest(of: Self.batch([row.next], of: layout), [5000], of: layout) == nil)
    }

    @Test func anIdentityThatWasNotedIsFoundAgain() throws {
        let layout = try Self.layout()
        var statements = Statements()
        func insert(_ identities: [Int64?]) -> [Int] {
            var batch = RecordBatch(of: layout)
            for identity in identities {
                batch.beginRecord()
                if let identity { batch.setInt(identity, at: 0) }
                batch.endRecord()
            }
            return statements.insertIdentities(of: batch, layout) { $0 < 5 }
        }
        #expect(insert([7, nil, -1, .max, 7, 8]) == [4])
        #expect(insert([8, .max, -1, nil, 7]) == [1, 2, 4])
    }

    /// The list of a relationship states the only target of each object in it.
    @Test func aRelationshipIsStatedFromBothEnds() throws {
        let model = try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toMany: "Line", inverse: "order")
                SyncRelationship("tags", toMany: "Tag", inverse: "orders")
            }
            SyncEntity("Line", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("order", toOne: "Order", inverse: "lines")
            }
            SyncEntity("Tag", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("orders", toMany: "Order", inverse: "tags")
            }
        }
        var statements = Statements()
        for (name, isStated) in [("lines", true), ("tags", false)] {
            let relationship = try #require(try model.layout(of: "Order").relationship(name))
            let inverse = try #require(model.inverse(of: relationship))
            statements.insert([1], relationship, targets: [2, nil], inverse: inverse)
            #expect(statements.stated(relationship).contains(1) && !statements.stated(relationship).contains(2))
            #expect(statements.stated(inverse).contains(2) == isStated)
            #expect(!statements.stated(inverse).isDirect)
        }
        let lines = try #require(try model.layout(of: "Order").relationship("lines"))
        statements.beginAnew()
        #expect(!statements.stated(lines).contains(1) && statements.hasStated(lines, of: 1))
    }
}
