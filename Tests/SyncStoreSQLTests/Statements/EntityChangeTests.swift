import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// The statements that give objects another entity.
@Suite(.endsInTime) struct EntityChangeTests {
    /// Notes statements, and answers each with the same number of rows.
    private final class Connection: SQLWritingConnection {
        struct Row: SQLRow {
            func integer(at column: Int) -> Int64? { nil }
            func text(at column: Int) -> String? { nil }
            func value(at column: Int, as type: AttributeType) -> AttributeValue { .null }
        }

        private(set) var statements: [String] = []
        private let count: Int

        init(changing count: Int) { self.count = count }

        func change(_ statement: SQLStatementText) -> Int? { changeAtOnce(statement) }

        func changeAtOnce(_ statement: SQLStatementText) -> Int {
            statements.append(StatementWorld.text(statement))
            return count
        }

        func forEachRow(of text: String, _ body: @escaping (Row) throws -> Bool) { statements.append(text) }

        func finish() {}
    }

    private let schema: SQLSchema

    init() throws {
        let person = SyncEntity("Person", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("name", .string, default: "none")
        }
        let guest = SyncEntity("Guest", parent: "Person") { SyncAttribute("room", .int64) }
        var worker = SyncEntity("Worker", parent: "Person") {
            SyncAttribute("level", .int64, default: 3)
            SyncAttribute("badge", .string, default: "new")
            SyncAttribute("note", .string)
        }
        worker.indexes = [SyncEntity.Index(["badge"], unique: true)]
        let visit = SyncEntity("Visit", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("guest", toOne: "Guest")
            SyncRelationship("people", toMany: "Person")
            SyncRelationship("others", toMany: "Guest")
        }
        schema = SQLSchema(try DataModel([person, guest, worker, visit]), dialect: .sqlite)
    }

    private func statements(from former: String, to entity: String, changing count: Int = 2) throws -> [String] {
        let model = schema.model
        let change = SQLEntityChange(
            from: try model.layout(of: former), to: try model.layout(of: entity), schema: schema)
        let connection = Connection(changing: count)
        try change.run([4, 5], on: connection)
        return connection.statements
    }

    /// Attributes that only the former entity has are emptied, those of the new one get their
    /// defaults. What a unique index has waits. References that the entity rules out are removed.
    @Test func anObjectGetsTheAttributesOfItsEntity() throws {
        let toWorker = try statements(from: "Guest", to: "Worker")
        #expect(
            toWorker == [
                #"UPDATE "Visit" SET "guest" = NULL WHERE "guest" IN (SELECT value FROM json_each(?)) <- [4, 5]"#,
                #"DELETE FROM "Visit_others" WHERE "Guest" IN (SELECT value FROM json_each(?)) <- [4, 5]"#,
                #"UPDATE "Person" SET "_entity" = 'Worker', "room" = NULL, "level" = ?, "badge" = NULL "#
                    + #"WHERE "_id" IN (SELECT value FROM json_each(?)) <- 3, [4, 5]"#,
            ])
        let toGuest = try statements(from: "Worker", to: "Guest")
        #expect(
            toGuest == [
                #"UPDATE "Person" SET "_entity" = 'Guest', "level" = NULL, "badge" = NULL, "note" = NULL "#
                    + #"WHERE "_id" IN (SELECT value FROM json_each(?)) <- [4, 5]"#
            ])
        let ofPerson = try statements(from: "Person", to: "Guest")
        #expect(
            ofPerson == [
                #"UPDATE "Person" SET "_entity" = 'Guest' WHERE "_id" IN (SELECT value FROM json_each(?)) <- [4, 5]"#
            ])
    }

    @Test func aRowThatKeepsItsEntityIsAnError() throws {
        #expect(try statements(from: "Person", to: "Guest", changing: 2).count == 1)
        #expect(throws: SQLKeptRows("1 of 2 rows from changing their entity", in: "Person")) {
            try statements(from: "Person", to: "Guest", changing: 1)
        }
    }
}
