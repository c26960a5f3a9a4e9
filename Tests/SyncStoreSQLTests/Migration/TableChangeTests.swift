import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// The statements that make, rename and drop tables, and connect them.
@Suite(.endsInTime) struct TableChangeTests {
    @Test func namesOfTablesAreSwapped() throws {
        let old = try DataModel([Self.entity("A"), Self.entity("B")])
        let new = try DataModel([Self.entity("A", formerName: "B"), Self.entity("B", formerName: "A")])
        let plan = try MigrationText(from: old, to: new)
        #expect(
            plan.statements == [
                #"DROP INDEX IF EXISTS "B_identity""#,
                #"ALTER TABLE "B" RENAME TO "_sync_new_0""#,
                #"DROP INDEX IF EXISTS "A_identity""#,
                #"ALTER TABLE "A" RENAME TO "_sync_new_1""#,
                #"DROP TABLE IF EXISTS "A""#,
                #"DROP TABLE IF EXISTS "B""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "A""#,
                #"CREATE UNIQUE INDEX "A_identity" ON "A" ("id")"#,
                #"ALTER TABLE "_sync_new_1" RENAME TO "B""#,
                #"CREATE UNIQUE INDEX "B_identity" ON "B" ("id")"#,
            ])
    }

    @Test func deleteRulesBecomeForeignKeys() throws {
        let plan = try MigrationText(from: Self.people(), to: Self.people(rule: .cascade))
        #expect(
            plan.statements == [
                #"ALTER TABLE "Person" DROP CONSTRAINT IF EXISTS "Person_boss_fkey""#,
                #"ALTER TABLE "Person_tags" DROP CONSTRAINT IF EXISTS "Person_tags_Person_fkey""#,
                #"ALTER TABLE "Person_tags" DROP CONSTRAINT IF EXISTS "Person_tags_Tag_fkey""#,
                #"ALTER TABLE "Person" ADD CONSTRAINT "Person_boss_fkey" FOREIGN KEY ("boss") REFERENCES "#
                    + #""Person"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_tags" ADD CONSTRAINT "Person_tags_Person_fkey" FOREIGN KEY "#
                    + #"("Person") REFERENCES "Person"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_tags" ADD CONSTRAINT "Person_tags_Tag_fkey" FOREIGN KEY ("Tag") "#
                    + #"REFERENCES "Tag"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
            ])
        #expect(try MigrationText(from: Self.people(), to: Self.people()).statements == [])
        #expect(try MigrationText(from: Self.people(), to: Self.people(), dialect: .sqlite).statements == [])
    }

    @Test func aTableOfPairsIsRenamed() throws {
        let plan = try MigrationText(from: Self.people(), to: Self.people(tags: "labels"))
        #expect(
            plan.statements == [
                #"ALTER TABLE "Person" DROP CONSTRAINT IF EXISTS "Person_boss_fkey""#,
                #"ALTER TABLE "Person_tags" DROP CONSTRAINT IF EXISTS "Person_tags_Person_fkey""#,
                #"ALTER TABLE "Person_tags" DROP CONSTRAINT IF EXISTS "Person_tags_Tag_fkey""#,
                #"DROP INDEX IF EXISTS "Person_tags_Tag""#,
                #"ALTER TABLE "Person_tags" RENAME TO "_sync_new_0""#,
                #"DROP TABLE IF EXISTS "Person_tags""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Person_labels""#,
                #"CREATE INDEX "Person_labels_Tag" ON "Person_labels" ("Tag")"#,
                #"UPDATE "Person" SET "boss" = NULL WHERE "boss" NOT IN (SELECT "_id" FROM "Person")"#,
                #"DELETE FROM "Person_labels" WHERE "Person" NOT IN (SELECT "_id" FROM "Person") OR "Tag" "#
                    + #"NOT IN (SELECT "_id" FROM "Tag")"#,
                #"ALTER TABLE "Person" ADD CONSTRAINT "Person_boss_fkey" FOREIGN KEY ("boss") REFERENCES "#
                    + #""Person"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_labels" ADD CONSTRAINT "Person_labels_Person_fkey" FOREIGN KEY "#
                    + #"("Person") REFERENCES "Person"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_labels" ADD CONSTRAINT "Person_labels_Tag_fkey" FOREIGN KEY ("Tag") "#
                    + #"REFERENCES "Tag"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
            ])
    }

    @Test func aTableOfPairsGetsAndLosesPositions() throws {
        let plan = try MigrationText(from: Self.people(), to: Self.people(isOrdered: true))
        #expect(
            plan.statements.filter { !$0.contains("CONSTRAINT") } == [
                #"ALTER TABLE "Person_tags" ADD COLUMN "_sync_column_2" bigint"#,
                #"ALTER TABLE "Person_tags" ADD COLUMN "_sync_column_3" bigint"#,
                #"ALTER TABLE "Person_tags" RENAME COLUMN "_sync_column_2" TO "position""#,
                #"ALTER TABLE "Person_tags" RENAME COLUMN "_sync_column_3" TO "inverse_position""#,
                #"UPDATE "Person" SET "boss" = NULL WHERE "boss" NOT IN (SELECT "_id" FROM "Person")"#,
                #"DELETE FROM "Person_tags" WHERE "Person" NOT IN (SELECT "_id" FROM "Person") OR "Tag" "#
                    + #"NOT IN (SELECT "_id" FROM "Tag")"#,
            ])
        let back = try MigrationText(from: Self.people(isOrdered: true), to: Self.people(), keepsRemoved: false)
        #expect(
            back.statements.filter { !$0.contains("CONSTRAINT") } == [
                #"ALTER TABLE "Person_tags" DROP COLUMN "position""#,
                #"ALTER TABLE "Person_tags" DROP COLUMN "inverse_position""#,
                #"UPDATE "Person" SET "boss" = NULL WHERE "boss" NOT IN (SELECT "_id" FROM "Person")"#,
                #"DELETE FROM "Person_tags" WHERE "Person" NOT IN (SELECT "_id" FROM "Person") OR "Tag" "#
                    + #"NOT IN (SELECT "_id" FROM "Tag")"#,
            ])
        let kept = try MigrationText(from: Self.people(isOrdered: true), to: Self.people(isOrdered: true))
        #expect(kept.statements == [])
    }

    @Test func tablesThatTheModelLacksStay() throws {
        let old = try Self.people()
        let new = try DataModel([Self.entity("Crew"), Self.entity("Tag")])
        let plan = try MigrationText(from: old, to: new)
        #expect(
            plan.statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "#
                    + #""id" bigint)"#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Crew""#,
                #"CREATE UNIQUE INDEX "Crew_identity" ON "Crew" ("id")"#,
            ])
        #expect(
            plan.tables == [
                #"CREATE TABLE "Crew" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "id" bigint)"#,
                #"CREATE TABLE "Tag" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "id" bigint)"#,
                #"CREATE TABLE "Person" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "id" "#
                    + #"bigint, "boss" bigint)"#,
                #"CREATE TABLE "Person_tags" ("Person" bigint NOT NULL, "Tag" bigint NOT NULL, PRIMARY "#
                    + #"KEY ("Person", "Tag"))"#,
            ])
        #expect(plan.plan.dropped == [])
        let dropping = try MigrationText(from: old, to: new, keepsRemoved: false)
        #expect(
            dropping.statements == [
                #"ALTER TABLE "Person" DROP CONSTRAINT IF EXISTS "Person_boss_fkey""#,
                #"ALTER TABLE "Person_tags" DROP CONSTRAINT IF EXISTS "Person_tags_Person_fkey""#,
                #"ALTER TABLE "Person_tags" DROP CONSTRAINT IF EXISTS "Person_tags_Tag_fkey""#,
                #"CREATE TABLE "_sync_new_0" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "#
                    + #""id" bigint)"#,
                #"DROP TABLE IF EXISTS "Person""#,
                #"DROP TABLE IF EXISTS "Person_tags""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Crew""#,
                #"CREATE UNIQUE INDEX "Crew_identity" ON "Crew" ("id")"#,
            ])
        #expect(dropping.plan.dropped == ["Person", "Person_tags"])
    }

    @Test func aTableWithoutAnEntityIsRenamedIfAnotherNeedsItsName() throws {
        let old = try Self.people()
        let new = try DataModel([Self.entity("Crew"), Self.entity("Tag")])
        let naming = SQLNaming(tables: ["Crew": "person"])
        let plan = try MigrationText(from: old, to: new, naming: naming)
        #expect(
            plan.statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "#
                    + #""id" bigint)"#,
                #"DROP INDEX IF EXISTS "Person_identity""#,
                #"DROP INDEX IF EXISTS "Person_boss""#,
                #"ALTER TABLE "Person" RENAME TO "Person_removed""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "person""#,
                #"CREATE UNIQUE INDEX "Crew_identity" ON "person" ("id")"#,
            ])
        #expect(
            plan.tables == [
                #"CREATE TABLE "person" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "id" bigint)"#,
                #"CREATE TABLE "Tag" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "id" bigint)"#,
                #"CREATE TABLE "Person_tags" ("Person" bigint NOT NULL, "Tag" bigint NOT NULL, PRIMARY "#
                    + #"KEY ("Person", "Tag"))"#,
            ])
        // Something else in the database has the next name.
        var found = SQLMigration.Found()
        found.names = ["person_REMOVED"]
        let other = try MigrationText(from: old, to: new, naming: naming, found: found)
        #expect(other.statements.contains(#"ALTER TABLE "Person" RENAME TO "Person_removed_2""#))
        // Where statements cannot rename tables, that comes first.
        let moving = try MigrationText(from: old, to: new, naming: naming, dialect: .sqlite)
        #expect(
            moving.statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" INTEGER PRIMARY KEY, "id" INTEGER)"#,
                #"DROP INDEX IF EXISTS "Person_identity""#,
                #"DROP INDEX IF EXISTS "Person_boss""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "person""#,
                #"CREATE UNIQUE INDEX "Crew_identity" ON "person" ("id")"#,
            ])
        #expect(moving.plan.moves.map { [$0.from, $0.to] } == [["Person", "Person_removed"]])
        #expect(moving.plan.dropped == [])
    }

    @Test func aTableIsRenamedToTheNameOfADroppedOne() throws {
        let old = try DataModel([Self.entity("A"), Self.entity("B")])
        let new = try DataModel([Self.entity("a", formerName: "B")])
        let plan = try MigrationText(from: old, to: new, dialect: .sqlite, keepsRemoved: false)
        #expect(plan.plan.moves.map { [$0.from, $0.to] } == [["B", "a"], ["A", "_sync_old_1"]])
        #expect(plan.plan.dropped == ["A"])
        #expect(
            plan.statements == [
                #"DROP INDEX IF EXISTS "B_identity""#,
                #"DROP TABLE IF EXISTS "A""#,
                #"CREATE UNIQUE INDEX "a_identity" ON "a" ("id")"#,
            ])
        var found = SQLMigration.Found()
        found.moved = ["B": "a", "A": "_sync_old_1"]
        let then = try MigrationText(from: old, to: new, dialect: .sqlite, found: found, keepsRemoved: false)
        #expect(
            then.statements == [
                #"DROP INDEX IF EXISTS "B_identity""#,
                #"DROP TABLE IF EXISTS "_sync_old_1""#,
                #"CREATE UNIQUE INDEX "a_identity" ON "a" ("id")"#,
            ])
    }

    private static func entity(_ name: String, formerName: String? = nil) -> SyncEntity {
        SyncEntity(name, identity: "id", formerName: formerName) { SyncAttribute("id", .int64) }
    }

    /// People with a boss and with tags, which they have in common.
    private static func people(
        rule: SyncRelationship.DeleteRule = .nullify, tags: String = "tags", isOrdered: Bool = false
    ) throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toMany: "Person", inverse: "boss", deleteRule: rule)
                isOrdered
                    ? SyncRelationship(tags, toOrdered: "Tag", inverse: "people", formerName: "tags")
                    : SyncRelationship(tags, toMany: "Tag", inverse: "people", formerName: "tags")
            }
            SyncEntity("Tag", identity: "id") {
                SyncAttribute("id", .int64)
                isOrdered
                    ? SyncRelationship("people", toOrdered: "Person", inverse: tags)
                    : SyncRelationship("people", toMany: "Person", inverse: tags)
            }
        }
    }
}
