import OneWayTestLimits
import SyncModel
import SyncStorePostgres
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// The foreign keys of a database, of the store and of others.
@Suite(.endsInTime) struct ForeignKeyTests {
    private let schema: SQLSchema
    private let exact: SQLSchema

    init() throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "Person")
                SyncRelationship("tags", toMany: "Tag")
            }
            SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
        }
        var schema = SQLSchema(model, dialect: .sqlite)
        schema.keyColumns = ["Tag": "number"]
        self.schema = schema
        exact = SQLSchema(model, dialect: .postgres(schema: "public"))
    }

    private func part(
        _ table: String, _ column: String, to target: String, _ targetColumn: String? = "_id",
        isCascade: Bool = true, isWhole: Bool = true, isMandatory: Bool = false
    ) -> SQLForeignKeys.Part {
        SQLForeignKeys.Part(
            table: table, column: column, target: target, targetColumn: targetColumn, isCascade: isCascade,
            isWhole: isWhole, isMandatory: isMandatory)
    }

    // MARK: Relationships

    @Test func relationshipsReferToTheNumbersOfTheirObjects() throws {
        let parts = [
            part("person", "BOSS", to: "PERSON", "_ID"), part("Person_tags", "Person", to: "Person"),
            part("Person_tags", "Tag", to: "Tag", "number"), part("Person", "other", to: "Tag", "id"),
            part("Tag", "boss", to: "nowhere", nil),
        ]
        try SQLForeignKeys(schema, parts: parts).checkLinks(of: ["Person", "Person_tags", "Tag"])
    }

    @Test(arguments: [
        ("Person", "boss", "Tag", "_id", "boss refers to Tag._id; a relationship has to refer to Person._id"),
        ("Person", "boss", "Person", "id", "boss refers to Person.id; a relationship has to refer to Person._id"),
        ("Person", "boss", "Person", nil, "boss refers to Person.its key; a relationship has to refer to Person._id"),
        ("Person_tags", "Tag", "Tag", "_id", "Tag refers to Tag._id; a relationship has to refer to Tag.number"),
    ])
    func aRelationshipThatRefersElsewhereIsRefused(
        table: String, column: String, target: String, targetColumn: String?, reason: String
    ) throws {
        let keys = SQLForeignKeys(schema, parts: [part(table, column, to: target, targetColumn)])
        #expect(throws: SQLSchemaError.unsuitableTable(table: table, reason: reason)) {
            try keys.checkLinks(of: [table])
        }
        // Those of the store's own tables are its own.
        try keys.checkLinks(of: [])
    }

    // MARK: Cascades

    @Test func objectsAreTakenOffColumnsWhoseForeignKeysDelete() throws {
        let parts = [
            part("Person", "mentor", to: "Person"), part("PERSON", "badge", to: "TAG", "NUMBER"),
            part("Person", "helper", to: "Person", isCascade: false),
            part("Person", "boss", to: "Person"), part("Person_tags", "Tag", to: "Tag", "number"),
            part("log", "person", to: "Person"),
            part("log", "tag", to: "Tag", "number"), part("Tag", "archive", to: "archive", "n"),
        ]
        #expect(
            try SQLForeignKeys(schema, parts: parts).cascades() == [
                SQLSchema.ColumnLink(table: "Person", column: "mentor", position: nil, target: "Person"),
                SQLSchema.ColumnLink(table: "PERSON", column: "badge", position: nil, target: "Tag"),
            ])
        // Elsewhere names that differ in case are others.
        for part in [part("PERSON", "badge", to: "Person"), part("Person", "badge", to: "PERSON")] {
            #expect(try SQLForeignKeys(exact, parts: [part]).cascades() == [])
        }
    }

    @Test(arguments: [
        (column: "mentor", target: "Person", key: "id", isWhole: true, isMandatory: false),
        ("mentor", "Person", nil, true, false), ("mentor", "Person", "_id", false, false),
        ("mentor", "Person", "_id", true, true), ("name", "Person", "_id", true, false),
    ])
    func aForeignKeyThatDeletesAndCannotBeClearedIsRefused(
        column: String, target: String, key: String?, isWhole: Bool, isMandatory: Bool
    ) {
        let keys = SQLForeignKeys(
            schema, parts: [part("Person", column, to: target, key, isWhole: isWhole, isMandatory: isMandatory)])
        #expect(throws: refusal(of: column, to: target)) { try keys.cascades() }
    }

    @Test func deletionsThatPassThroughTablesOfOthersAreRefused() {
        let parts = [
            part("Person", "mentor", to: "second", "n"), part("second", "f", to: "first", "n"),
            part("first", "p", to: "Tag", "number"),
        ]
        #expect(throws: refusal(of: "mentor", to: "second")) { try SQLForeignKeys(schema, parts: parts).cascades() }
        // Nothing of the model is deleted where they begin elsewhere.
        #expect(throws: Never.self) { try SQLForeignKeys(schema, parts: Array(parts.dropLast())).cascades() }
    }

    private func refusal(of column: String, to target: String) -> SQLSchemaError {
        .unsuitableTable(
            table: "Person",
            reason: "\(column) deletes rows with those of \(target) (ON DELETE CASCADE) and is no "
                + "relationship of the model; declare one, or remove the action")
    }

    // MARK: Removal

    @Test func deletedObjectsAreTakenOffTablesOfOthers() {
        let links = [SQLSchema.ColumnLink(table: "Tag", column: "owner", position: "place", target: "Person")]
        let removal = SQLRemoval(schema, existing: ["Person", "Person_tags"], foreignCascades: links)
        #expect(
            removal.releases(family: 0).map(\.statement) == [
                #"UPDATE "Person" SET "boss" = NULL WHERE "boss" IN (SELECT row FROM temp._sync_doomed "#
                    + "WHERE family = 0)",
                #"UPDATE "Tag" SET "owner" = NULL, "place" = NULL WHERE "owner" IN (SELECT row FROM "#
                    + "temp._sync_doomed WHERE family = 0)",
                #"DELETE FROM "Person_tags" WHERE "Person" IN (SELECT row FROM temp._sync_doomed WHERE family = 0)"#,
            ])
        #expect(
            removal.releases(family: 1).map(\.statement) == [
                #"DELETE FROM "Person_tags" WHERE "Tag" IN (SELECT row FROM temp._sync_doomed WHERE family = 1)"#
            ])
        #expect(
            removal.releases(family: 1).map(\.remaining) == [
                #"SELECT 1 FROM "Person_tags" WHERE "Tag" IN (SELECT row FROM temp._sync_doomed WHERE family = 1) LIMIT 1"#
            ])
        #expect(SQLRemoval(schema).releases(family: 0) == [])
        // Those that are deleted before keep what may not be null.
        #expect(
            removal.releases(family: 0, after: [1]).map(\.remaining)[1]
                == #"SELECT 1 FROM "Tag" WHERE "owner" IN (SELECT row FROM temp._sync_doomed WHERE family = 0) AND "#
                + #""_id" NOT IN (SELECT row FROM temp._sync_doomed WHERE family = 1) LIMIT 1"#)
        #expect(removal.deletionOrder([0, 1]) == [1, 0])
        let circle = SQLSchema.ColumnLink(table: "Person", column: "tag", position: nil, target: "Tag")
        #expect(SQLRemoval(schema, foreignCascades: links + [circle]).deletionOrder([0, 1]) == [0, 1])
    }
}
