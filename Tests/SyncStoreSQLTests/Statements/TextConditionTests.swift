import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Conditions on texts and bytes, written so that indices of them, or of parts of them, are used.
@Suite(.endsInTime) struct TextConditionTests {
    private let world: StatementWorld

    init() throws {
        world = try StatementWorld()
    }

    @Test func theIndexedPartOfAValueIsCompared() throws {
        #expect(
            try world.conditions(
                "title = 'a'", "title != 'a'", "title < 'a'", "title <= 'a'", "title > 'a'", "title >= 'a'",
                "title in ('a', 'b')", "owner.name = 'a'", for: \.postgres) == [
                    #"((t."title"::text COLLATE "C" = $1::text AND pg_catalog."left"(t."title"::text "#
                        + #"COLLATE "C", 128) = "#
                        + #"pg_catalog."left"($1::text COLLATE "C", 128))) <- 'a'"#,
                    #"(t."title"::text COLLATE "C" <> $1::text) <- 'a'"#,
                    #"((t."title"::text COLLATE "C" < $1::text AND pg_catalog."left"(t."title"::text "#
                        + #"COLLATE "C", 128) <= "#
                        + #"pg_catalog."left"($1::text COLLATE "C", 128))) <- 'a'"#,
                    #"((t."title"::text COLLATE "C" <= $1::text AND pg_catalog."left"(t."title"::text "#
                        + #"COLLATE "C", 128) "#
                        + #"<= pg_catalog."left"($1::text COLLATE "C", 128))) <- 'a'"#,
                    #"((t."title"::text COLLATE "C" > $1::text AND pg_catalog."left"(t."title"::text "#
                        + #"COLLATE "C", 128) >= "#
                        + #"pg_catalog."left"($1::text COLLATE "C", 128))) <- 'a'"#,
                    #"((t."title"::text COLLATE "C" >= $1::text AND pg_catalog."left"(t."title"::text "#
                        + #"COLLATE "C", 128) "#
                        + #">= pg_catalog."left"($1::text COLLATE "C", 128))) <- 'a'"#,
                    #"((t."title"::text COLLATE "C" IN ($1::text, $2::text) AND "#
                        + #"pg_catalog."left"(t."title"::text COLLATE "#
                        + #""C", 128) IN (pg_catalog."left"($1::text COLLATE "C", 128), pg_catalog."left"($2::text "#
                        + #"COLLATE "C", 128)))) <- 'a', 'b'"#,
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name"::text COLLATE "C" "#
                        + #"= $1::text))) <- 'a'"#,
                ])
        #expect(
            try world.conditions([.isIn(PropertyPath("bytes"), [.binary(Data([1, 2]))])], for: \.postgres) == [
                #"((t."bytes" IN ($1::bytea) AND pg_catalog.substring(t."bytes", 1, 512) IN "#
                    + "(pg_catalog.substring($1::bytea, 1, 512)))) <- [1, 2]"
            ])
    }

    @Test func anOrderBeginsWithTheIndexedPart() throws {
        let query = StoreQuery(
            "Item",
            orderedBy: [Ordering("title", ascending: false, nulls: .last), Ordering("owner.name"), Ordering("count")],
            limit: 1)
        let texts = [try world.text(of: query, for: \.postgres), try world.text(of: query, for: \.sqlite)]
        #expect(
            texts == [
                #"SELECT t."_id" FROM "Item" t ORDER BY pg_catalog."left"(t."title"::text COLLATE "C", 128) "#
                    + #"DESC NULLS LAST, t."title"::text COLLATE "C" DESC NULLS LAST, (SELECT "#
                    + #"r1."name"::text FROM "Owner" "#
                    + #"r1 WHERE r1."_id" = t."owner") COLLATE "C" ASC NULLS FIRST, t."count" ASC NULLS FIRST, "#
                    + #"t."_id" LIMIT $1::bigint OFFSET $2::bigint <- 1, 0"#,
                #"SELECT t."_id" FROM "Item" t ORDER BY t."title" COLLATE BINARY DESC NULLS LAST, (SELECT "#
                    + #"r1."name" FROM "Owner" r1 WHERE r1."_id" = t."owner") COLLATE BINARY ASC NULLS FIRST, "#
                    + #"t."count" ASC NULLS FIRST, t."_id" LIMIT ? OFFSET ? <- 1, 0"#,
            ])
    }

    @Test func aBeginningIsARange() throws {
        #expect(
            try world.conditions(
                "title beginswith 'ab'", "title like 'ab%c'", "title like '%c'", "title contains 'a'",
                "title endswith 'a'", "title contains ''", "title like ''", for: \.postgres) == [
                    #"((pg_catalog."left"(t."title"::text COLLATE "C", 128) >= $1::text AND "#
                        + #"pg_catalog."left"(t."title"::text COLLATE "C", 128) < $2::text AND "#
                        + #"starts_with(t."title"::text "#
                        + #"COLLATE "C", $3::text))) <- 'ab', 'ac', 'ab'"#,
                    #"((pg_catalog."left"(t."title"::text COLLATE "C", 128) >= $1::text AND "#
                        + #"pg_catalog."left"(t."title"::text COLLATE "C", 128) < $2::text AND "#
                        + #"t."title"::text COLLATE "C" ~ "#
                        + "$3::text)) <- 'ab', 'ac', "
                        + #"'^\U00000061\U00000062(?:\u0001[\u0001\u0002]|[^\u0001])*\U00000063$'"#,
                    #"(t."title"::text COLLATE "C" ~ $1::text) <- '^(?:\u0001[\u0001\u0002]|[^\u0001])*\U00000063$'"#,
                    #"(strpos(t."title"::text COLLATE "C", $1::text) > 0) <- 'a'"#,
                    #"(right(t."title"::text, 1) COLLATE "C" = $1::text) <- 'a'"#,
                    #"((t."title"::text IS NOT NULL OR NULL))"#,
                    #"(t."title"::text COLLATE "C" ~ $1::text) <- '^$'"#,
                ])
        #expect(
            try world.conditions(
                "title beginswith 'ab'", "title like 'ab%c'", "title contains 'a'", "not title endswith 'a'",
                "title beginswith ''", "owner.name beginswith 'a'", for: \.sqlite) == [
                    #"((t."title" COLLATE BINARY >= ? AND t."title" COLLATE BINARY < ? AND "#
                        + #"(length(CAST(t."title" AS BLOB)) >= 2 AND substr(CAST(t."title" AS BLOB), 1, 2) = ?))) "#
                        + "<- 'ab', 'ac', [97, 98]",
                    #"((t."title" COLLATE BINARY >= ? AND t."title" COLLATE BINARY < ? AND "#
                        + #"sync_like(CAST(t."title" AS BLOB), ?))) <- 'ab', 'ac', [97, 98, 37, 99]"#,
                    #"(instr(CAST(t."title" AS BLOB), ?) > 0) <- [97]"#,
                    #"(NOT ((length(CAST(t."title" AS BLOB)) >= 1 AND substr(CAST(t."title" AS BLOB), -1) = "#
                        + "?))) <- [97]",
                    #"((t."title" IS NOT NULL OR NULL))"#,
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE ((r1."name" COLLATE BINARY >= ? "#
                        + #"AND r1."name" COLLATE BINARY < ? AND (length(CAST(r1."name" AS BLOB)) >= 1 AND "#
                        + #"substr(CAST(r1."name" AS BLOB), 1, 1) = ?))))) <- 'a', 'b', [97]"#,
                ])
    }

    @Test(arguments: [
        ("\u{D7FF}", "\u{E000}"), ("a\u{10FFFF}", "b"), ("\u{10FFFF}", nil), ("ab\u{10FFFF}\u{10FFFF}", "ac"),
        (String(repeating: "a", count: 64) + "bc", String(repeating: "a", count: 63) + "b"),
    ])
    func aRangeEndsWithTheNextText(prefix: String, end: String?) throws {
        let query = StoreQuery("Item", where: PropertyPath("code").beginsWith(prefix))
        let bindings = try SQLQueries(world.sqlite).rows(query, objectSet: nil).bindings
        let start = String(String.UnicodeScalarView(prefix.unicodeScalars.prefix(64)))
        let range = [SQLBinding.text(start)] + (end.map { [SQLBinding.text($0)] } ?? [])
        #expect(bindings == range + [.blob(Data(prefix.utf8))])
    }

    @Test(arguments: [AttributeType.string, .uri]) func everyTextIsLookedUpByItsRange(type: AttributeType) throws {
        let model = try DataModel([SyncEntity("Item", attributes: [SyncAttribute("text", type)], relationships: [])])
        let query = StoreQuery("Item", where: PropertyPath("text").beginsWith("ab"))
        let bindings = try SQLQueries(SQLSchema(model, dialect: .sqlite)).rows(query, objectSet: nil).bindings
        #expect(bindings == [.text("ab"), .text("ac"), .blob(Data("ab".utf8))])
    }

    @Test func anIdentityThatFitsInAnIndexIsLookedUpThere() throws {
        #expect(
            try world.conditions("code = 'a'", "code in ('a', 'b')", "code != 'a'", "code > 'a'", for: \.postgres) == [
                #"((t."code"::text COLLATE "C" = $1::text AND pg_catalog.octet_length(t."code") <= 2000)) <- 'a'"#,
                #"((t."code"::text COLLATE "C" IN ($1::text, $2::text) AND pg_catalog.octet_length(t."code") <= "#
                    + "2000)) <- 'a', 'b'",
                #"(t."code"::text COLLATE "C" <> $1::text) <- 'a'"#,
                #"(t."code"::text COLLATE "C" > $1::text) <- 'a'"#,
            ])
        let code = PropertyPath("code")
        func usesIndex(_ predicate: RecordPredicate) throws -> Bool {
            try world.condition(predicate, for: \.postgres).contains("octet_length")
        }
        let longest = String(repeating: "a", count: 2000)
        #expect(try usesIndex(code == longest))
        #expect(try !usesIndex(code == longest + "a"))
        #expect(try usesIndex(code.isIn(["a", longest])))
        #expect(try !usesIndex(code.isIn(["a", longest + "a"])))
        #expect(try world.condition(code == "a", for: \.sqlite) == #"(t."code" COLLATE BINARY = ?) <- 'a'"#)
    }

    @Test func theConditionOfAPartialIndexIsWrittenOut() throws {
        #expect(
            try world.conditions(
                "isNew = true and count = 1", "isNew = false", "isNew != true", "label.item.isNew = true",
                for: \.postgres) == [
                    #"((t."isNew" = 'true'::boolean) AND (t."count" = $1::bigint)) <- 1"#,
                    #"(t."isNew" = $1::boolean) <- boolean 'false'"#,
                    #"(t."isNew" <> $1::boolean) <- boolean 'true'"#,
                    #"(t."label" IN (SELECT r1."_id" FROM "Label" r1 WHERE (r1."_id" IN (SELECT r2."label" "#
                        + #"FROM "Item" r2 WHERE r2."label" IS NOT NULL AND (r2."isNew" = 'true'::boolean)))))"#,
                ])
        #expect(
            try world.conditions("isNew = true and size != null", for: \.sqlite) == [
                #"((t."isNew" = 1) AND (NOT (t."size" IS NULL)))"#
            ])
    }
}
