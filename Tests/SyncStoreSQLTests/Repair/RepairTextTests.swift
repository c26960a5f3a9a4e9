import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// The statements that create dropped parts of tables again.
@Suite(.endsInTime) struct RepairTextTests {
    private static func repair(_ part: SQLSchemaError.Defect.Part, of table: String) throws -> SQLRepair {
        let schema = SQLSchema(try UserModel.withNotes(), dialect: .sqlite)
        return SQLRepair(
            [SQLSchemaError.Defect(table: table, part: part)], of: SQLSchemaDescription(schema),
            found: SQLFoundTables(.sqlite, hasSeparateKeys: false), .sqlite)
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

    /// Nothing but the rows' numbers says which rows others refer to.
    @Test func aLostNumberIsNotRepaired() throws {
        let repair = try Self.repair(.column("_id"), of: "User")
        #expect(throws: SQLSchemaError.self) { try repair.statements() }
    }
}
