import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// The statements that create dropped parts of tables again.
@Suite(.endsInTime) struct RepairTextTests {
    private static func repair(
        _ part: SQLSchemaError.Defect.Part, of table: String,
        found: SQLFoundTables = SQLFoundTables(.sqlite, hasSeparateKeys: false)
    ) throws -> SQLRepair {
        let schema = SQLSchema(try UserModel.withNotes(), dialect: .sqlite)
        return SQLRepair(
            [SQLSchemaError.Defect(table: table, part: part)], of: SQLSchemaDescription(schema), found: found,
            .sqlite)
    }

    private static let defects: [(SQLSchemaError.Defect.Part, of: String, starts: [String], locks: Set<String>)] = [
        (.column("name"), "User", [#"ALTER TABLE "User" ADD COLUMN "name""#], ["User"]),
        (.index("User_identity"), "User", [#"CREATE UNIQUE INDEX "User_identity" ON "User""#], []),
        // The references to its rows lead nowhere.
        (
            .table, "User",
            [
                #"DROP TABLE IF EXISTS "User""#, #"CREATE TABLE "User""#,
                #"UPDATE "Note" SET "user" = NULL WHERE "user" NOT IN"#, #"CREATE UNIQUE INDEX "User_identity""#,
            ], []
        ),
    ]

    @Test(arguments: defects)
    func onlyWhatIsMissingIsCreated(
        part: SQLSchemaError.Defect.Part, of table: String, starts: [String], locks: Set<String>
    ) throws {
        let repair = try Self.repair(part, of: table)
        let statements = try repair.statements()
        #expect(statements.count == starts.count)
        for (statement, start) in zip(statements, starts) { #expect(statement.hasPrefix(start)) }
        #expect(repair.locks.exclusive == locks)
    }

    /// An index that has the name, but cannot be used.
    @Test func anUnusableIndexIsDroppedBefore() throws {
        let parts: [(SQLFoundTables.Part, isDropped: Bool)] = [
            (.uniqueColumns, false), (.invalidIndex, true), (.otherIndex, true),
        ]
        for (part, isDropped) in parts {
            var found = SQLFoundTables(.sqlite, hasSeparateKeys: false)
            found.add(part, "User_identity", of: "User")
            let repair = try Self.repair(.index("User_identity"), of: "User", found: found)
            let statements = try repair.statements()
            #expect(statements.count == (isDropped ? 2 : 1))
            #expect(statements.first == #"DROP INDEX "User_identity""# || !isDropped)
            #expect(statements.last?.hasPrefix(#"CREATE UNIQUE INDEX "User_identity""#) == true)
            #expect(repair.locks.exclusive == (isDropped ? ["User"] : []))
            // An index of the same name of another table is not meant.
            let other = try Self.repair(.index("User_identity"), of: "Note", found: found)
            #expect(other.locks.exclusive == [])
        }
    }

    /// Nothing but the rows' numbers says which rows others refer to.
    @Test func aLostNumberIsNotRepaired() throws {
        let repair = try Self.repair(.column("_id"), of: "User")
        #expect(throws: SQLSchemaError.self) { try repair.statements() }
    }
}
