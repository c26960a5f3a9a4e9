import Foundation
import OneWayTestLimits
import SyncModel
import SyncStorePostgres
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// What a database records about its tables, and whether a model can use them as they are.
@Suite(.endsInTime) struct SchemaDescriptionTests {
    private static func model(
        _ change: (inout [SyncEntity]) -> Void = { _ in }
    ) throws -> DataModel {
        var entities = [
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toMany: "Person", inverse: "boss")
                SyncRelationship("tags", toMany: "Tag")
            },
            SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) },
        ]
        change(&entities)
        return try DataModel(entities)
    }

    private static func description(
        _ model: DataModel, naming: SQLNaming = SQLNaming(), dates: SQLNaming.DateStorage = .iso8601,
        dialect: any SQLDialect = .sqlite
    ) -> SQLSchemaDescription {
        SQLSchemaDescription(SQLSchema(model, naming: naming, dates: dates, dialect: dialect))
    }

    // MARK: Containment

    /// Whether tables of one model are enough for another.
    private func serves(_ stored: (inout [SyncEntity]) -> Void, _ wanted: (inout [SyncEntity]) -> Void) throws -> Bool {
        try Self.description(Self.model(stored)).contains(Self.description(Self.model(wanted)))
    }

    @Test func tablesServeAModelThatNeedsLess() throws {
        #expect(try serves({ _ in }, { _ in }))
        #expect(try serves({ $0[0].attributes.append(SyncAttribute("age", .int64)) }, { _ in }))
        #expect(try !serves({ _ in }, { $0[0].attributes.append(SyncAttribute("age", .int64)) }))
        #expect(
            try serves({ $0.append(SyncEntity("Robot", identity: "id") { SyncAttribute("id", .int64) }) }, { _ in }))
        #expect(
            try !serves({ _ in }, { $0.append(SyncEntity("Robot", identity: "id") { SyncAttribute("id", .int64) }) }))
        let likes = SyncRelationship("likes", toOne: "Tag")
        #expect(try serves({ $0[0].relationships.append(likes) }, { _ in }))
        #expect(try !serves({ _ in }, { $0[0].relationships.append(likes) }))
        // A column names the entity of each row, which an older program would not write.
        let guest = SyncEntity("Guest", parent: "Person") {}
        #expect(try !serves({ $0.append(guest) }, { _ in }))
        #expect(try serves({ $0 += [guest, SyncEntity("Worker", parent: "Person") {}] }, { $0.append(guest) }))
        #expect(
            try !serves(
                { $0 += [guest, SyncEntity("Worker", parent: "Guest") {}] },
                { $0 += [guest, SyncEntity("Worker", parent: "Person") {}] }))
    }

    @Test func propertiesHaveToBeTheSame() throws {
        #expect(try !serves({ $0[0].attributes[1] = SyncAttribute("name", .uri) }, { _ in }))
        #expect(try !serves({ $0[0].attributes[1] = SyncAttribute("title", .string) }, { _ in }))
        #expect(try !serves({ $0[0].relationships[2] = SyncRelationship("tags", toMany: "Person") }, { _ in }))
        #expect(
            try !serves({ $0[0].relationships[2] = SyncRelationship("tags", toOrdered: "Tag") }, { _ in }))
        let mapped = Self.description(try Self.model(), naming: SQLNaming(columns: ["Person.name": "full_name"]))
        #expect(try !mapped.contains(Self.description(Self.model())))
        #expect(try !Self.description(Self.model()).contains(mapped))
    }

    @Test func aPlaceBelongsToOneProperty() throws {
        let naming = SQLNaming(columns: ["Person.title": "name", "Person.labels": "Person_tags"])
        let stored = Self.description(try Self.model(), naming: naming)
        let attribute = try Self.model { $0[0].attributes[1] = SyncAttribute("title", .string) }
        #expect(!stored.contains(Self.description(attribute, naming: naming)))
        let relationship = try Self.model { $0[0].relationships[2] = SyncRelationship("labels", toMany: "Tag") }
        let wanted = Self.description(relationship, naming: naming)
        #expect(wanted.tables == stored.tables)
        #expect(!stored.contains(wanted))
    }

    @Test func namesAndDatesHaveToBeTheSame() throws {
        let model = try Self.model()
        let plain = Self.description(model)
        for other in [
            Self.description(model, dates: .secondsSince1970),
            Self.description(model, naming: SQLNaming(rowColumn: "n")),
            Self.description(model, naming: SQLNaming(entityColumn: "e")),
            Self.description(model, naming: SQLNaming(tables: ["Tag": "labels"])),
        ] {
            #expect(!plain.contains(other))
            #expect(!other.contains(plain))
            #expect(other.contains(other))
        }
    }

    @Test func renamingsHaveToBeFollowed() throws {
        func named(_ formerName: String?) -> (inout [SyncEntity]) -> Void {
            { $0[0].formerName = formerName }
        }
        #expect(try serves(named("Human"), named(nil)))
        #expect(try serves(named("Human"), named("Human")))
        #expect(try !serves(named("Human"), named("Man")))
        #expect(try !serves(named(nil), named("Human")))
        let title = SyncAttribute("name", .string, formerName: "title")
        #expect(try serves({ $0[0].attributes[1] = title }, { _ in }))
        #expect(try !serves({ _ in }, { $0[0].attributes[1] = title }))
        let labels = SyncRelationship("tags", toMany: "Tag", formerName: "labels")
        #expect(try serves({ $0[0].relationships[2] = labels }, { _ in }))
        #expect(try !serves({ _ in }, { $0[0].relationships[2] = labels }))
    }

    @Test func indicesHaveToBeThereAndUniqueOnesTheSame() throws {
        func indexed(_ indexes: SyncEntity.Index...) -> (inout [SyncEntity]) -> Void {
            { $0[0].indexes = indexes }
        }
        let name = SyncEntity.Index(["name"])
        let unique = SyncEntity.Index(["name"], unique: true)
        #expect(try serves(indexed(name), indexed()))
        #expect(try !serves(indexed(), indexed(name)))
        #expect(try !serves(indexed(unique), indexed()))
        #expect(try !serves(indexed(), indexed(unique)))
        #expect(try serves(indexed(unique, name), indexed(unique)))
    }

    @Test func foreignKeysHaveToBeTheSame() throws {
        let cascade = try Self.model { $0[0].relationships[1].deleteRule = .cascade }
        for dialect in [.sqlite, .postgres(schema: "public")] as [any SQLDialect] {
            let plain = Self.description(try Self.model(), dialect: dialect)
            let cascading = Self.description(cascade, dialect: dialect)
            #expect(!plain.contains(cascading) && !cascading.contains(plain))
            #expect(plain.contains(plain) && cascading.contains(cascading))
            let unlinking = try Self.model { $0[0].relationships[1].deleteRule = .noAction }
            #expect(plain.contains(Self.description(unlinking, dialect: dialect)))
            let more = Self.description(
                try Self.model { $0[0].relationships.append(SyncRelationship("likes", toOne: "Tag")) },
                dialect: dialect)
            #expect(more.contains(plain))
        }
        // Foreign keys within tables of others are theirs.
        let schema = SQLSchema(try Self.model(), dialect: .sqlite)
        #expect(SQLSchemaDescription(schema, existing: ["Person"]).contains(Self.description(cascade)))
        // Another text of a declaration is no reason to rebuild a table.
        let text = try SQLSchemaDescription(schema).text.replacing(#"\"name\" TEXT"#, with: #"\"name\" CLOB"#)
        #expect(try SQLSchemaDescription(text: text).contains(SQLSchemaDescription(schema)))
    }

    @Test func inversesHaveToBeOfTheSameKind() throws {
        let toMany = SyncRelationship("owner", toMany: "Person", inverse: "badge")
        let toOne = SyncRelationship("owner", toOne: "Person", inverse: "badge")
        func inverse(_ relationship: SyncRelationship?) -> (inout [SyncEntity]) -> Void {
            { entities in
                entities[0].relationships.append(
                    SyncRelationship("badge", toOne: "Tag", inverse: relationship?.name))
                if let relationship { entities[1].relationships.append(relationship) }
            }
        }
        for other in [nil, toMany] as [SyncRelationship?] {
            #expect(try !serves(inverse(other), inverse(toOne)))
            #expect(try !serves(inverse(toOne), inverse(other)))
        }
        #expect(try serves(inverse(toOne), inverse(toOne)))
        #expect(try serves(inverse(toMany), inverse(nil)))
    }

    // MARK: The record

    @Test func aRecordIsReadAsItWasWritten() throws {
        let wanted = SQLSchemaRecord(Self.description(try Self.model()), modelVersion: 3)
        let text = try wanted.description.text
        #expect(try wanted.bindings() == [.integer(1), .integer(3), .text(text)])
        #expect(try SQLSchemaRecord(format: 1, modelVersion: 3, text: text, wanted: wanted) == wanted)
        let older = try SQLSchemaRecord(format: 0, modelVersion: 2, text: text, wanted: wanted)
        #expect(older.modelVersion == 2)
        #expect(throws: SQLSchemaError.newer(found: 2, known: 1)) {
            try SQLSchemaRecord(format: 2, modelVersion: 3, text: text, wanted: wanted)
        }
        #expect(throws: SQLSchemaError.newer(found: 4, known: 3)) {
            try SQLSchemaRecord(format: 1, modelVersion: 4, text: text, wanted: wanted)
        }
        #expect(throws: SQLSchemaError.unreadable) {
            try SQLSchemaRecord(format: 1, modelVersion: 3, text: "{}", wanted: wanted)
        }
    }

    @Test func tablesOfOthersStayRecorded() throws {
        let schema = SQLSchema(try Self.model(), dialect: .sqlite)
        #expect(SQLSchemaDescription(schema).existing == nil)
        let existing = SQLSchemaDescription(schema, existing: ["b", "a"])
        #expect(existing.existing == ["a", "b"])
        let record = SQLSchemaRecord(existing, modelVersion: 3).with(SQLSchemaDescription(schema))
        #expect(record == SQLSchemaRecord(existing, modelVersion: 3))
    }

    @Test func damagedRecordsAreRefused() throws {
        let model = try Self.model()
        let other = SQLSchema(try Self.model { $0[0].attributes.remove(at: 1) }, dialect: .sqlite)
        // The record has no definition that the package wrote.
        let text = try Self.description(model).text.replacing(#"\"name\" TEXT"#, with: #"\"other\" TEXT"#)
        let damaged = try SQLSchemaDescription(text: text)
        #expect(throws: SQLSchemaError.unreadable) {
            try SQLMigration.plan(from: damaged, to: other, keepsRemoved: true)
        }
        // Its rows are moved where they can be.
        let statements = try SQLMigration.plan(from: damaged, to: other, keepsRemoved: false).statements
        #expect(
            statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "boss" INTEGER "#
                    + #"REFERENCES "Person"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED)"#,
                #"INSERT INTO "_sync_new_0" ("_id", "id", "boss") SELECT "_id", "id", "boss" FROM "Person""#,
                #"DROP TABLE IF EXISTS "Person""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Person""#,
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id")"#,
                #"CREATE INDEX "Person_boss" ON "Person" ("boss") WHERE "boss" IS NOT NULL"#,
                #"UPDATE "Person" SET "boss" = NULL WHERE "boss" NOT IN (SELECT "_id" FROM "Person")"#,
                #"DELETE FROM "Person_tags" WHERE "Person" NOT IN (SELECT "_id" FROM "Person") OR "Tag" "#
                    + #"NOT IN (SELECT "_id" FROM "Tag")"#,
            ])
        #expect(throws: SQLSchemaError.otherDates) {
            let schema = SQLSchema(model, dates: .secondsSince1970, dialect: .sqlite)
            _ = try SQLMigration.plan(from: Self.description(model), to: schema, keepsRemoved: true)
        }
    }

    // MARK: Types

    @Test func sqlConvertsTypesThatHoldEveryValue() throws {
        let wider: [AttributeType: Set<AttributeType>] = [
            .int16: [.int32, .int64, .double, .float, .decimal, .json], .int32: [.int64, .double, .decimal, .json],
            .int64: [.decimal, .json], .float: [.double], .double: [.json], .decimal: [.json], .string: [.json],
            .uri: [.string, .json], .bool: [.json], .uuid: [.string, .json],
            .transformable: [.binary],
        ]
        for from in AttributeType.allCases {
            for to in AttributeType.allCases {
                func model(_ type: AttributeType) throws -> DataModel {
                    try Self.model { $0[1].attributes.append(SyncAttribute("value", type)) }
                }
                let isWider = from == to || wider[from]?.contains(to) == true
                let plan = try MigrationText(from: model(from), to: model(to)).plan
                #expect(plan.conversions.isEmpty == isWider, "\(from) became \(to)")
            }
        }
    }

    @Test func uuidsBecomeTextsInTheCaseThatJSONHas() throws {
        func expression(_ type: AttributeType, _ userInfo: [String: String] = [:]) throws -> String? {
            func model(_ type: AttributeType) throws -> DataModel {
                try Self.model { $0[1].attributes.append(SyncAttribute("value", type, userInfo: userInfo)) }
            }
            let statements = try MigrationText(from: model(.uuid), to: model(type)).statements
            return statements.first { $0.contains("USING") }?.components(separatedBy: "USING ").last
        }
        #expect(try expression(.string) == #"upper(CAST("value" AS text))"#)
        #expect(try expression(.json) == #"pg_catalog.to_jsonb(upper(CAST("value" AS text)))"#)
        #expect(try expression(.uuid) == nil)
        let lower = [SyncAttribute.letterCaseAnnotation: "lower"]
        #expect(try expression(.string, lower) == #"lower(upper(CAST("value" AS text)))"#)
        #expect(try expression(.uuid, lower) == nil)
    }
}
