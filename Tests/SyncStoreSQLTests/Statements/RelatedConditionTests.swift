import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import Testing

/// Conditions on related objects, as semi-joins or as lookups from few rows.
@Suite(.endsInTime) struct RelatedConditionTests {
    private let world: StatementWorld
    private let tags = PropertyPath("tags")
    private let owner = PropertyPath("owner")
    private let isNamed = PropertyPath("name") == "x"

    init() throws {
        world = try StatementWorld()
    }

    @Test func aPathThroughARelationshipIsASemiJoin() throws {
        #expect(
            try world.conditions(
                "owner.name = 'a'", "owner.name in ('a', 'b')", "not owner.name in ('a')", "owner.name contains 'a'",
                "not (owner.name contains 'a')", "owner.name = null", "owner.name != null", "owner = null",
                "owner != null", "label.item.count = 1", for: \.sqlite) == [
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?))) <- 'a'"#,
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY IN (?, "#
                        + "?)))) <- 'a', 'b'",
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (NOT (r1."name" COLLATE BINARY IN "#
                        + "(?))))) <- 'a'",
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (instr(CAST(r1."name" AS BLOB), ?) "#
                        + "> 0))) <- [97]",
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (NOT (instr(CAST(r1."name" AS "#
                        + "BLOB), ?) > 0)))) <- [97]",
                    #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE (NOT "#
                        + #"(r1."name" IS NULL)))))"#,
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (NOT (r1."name" IS NULL))))"#,
                    #"(t."owner" IS NULL)"#,
                    #"(NOT (t."owner" IS NULL))"#,
                    #"(t."label" IN (SELECT r1."_id" FROM "Label" r1 WHERE (r1."_id" IN (SELECT r2."label" "#
                        + #"FROM "Item" r2 WHERE r2."label" IS NOT NULL AND (r2."count" = ?))))) <- 1"#,
                ])
        let item = PropertyPath("item")
        let predicates = [
            PropertyPath("item.count") == 1, item == nil, item != nil, PropertyPath("item.owner.name") == nil,
        ]
        #expect(
            try predicates.map { try world.condition($0, of: "Label", for: \.sqlite) } == [
                #"(t."_id" IN (SELECT r1."label" FROM "Item" r1 WHERE r1."label" IS NOT NULL AND "#
                    + #"(r1."count" = ?))) <- 1"#,
                #"((SELECT r1."_id" FROM "Item" r1 WHERE r1."label" = t."_id") IS NULL)"#,
                #"(NOT ((SELECT r1."_id" FROM "Item" r1 WHERE r1."label" = t."_id") IS NULL))"#,
                #"(t."_id" NOT IN (SELECT r1."label" FROM "Item" r1 WHERE r1."label" IS NOT NULL AND "#
                    + #"(r1."owner" IN (SELECT r2."_id" FROM "Owner" r2 WHERE (NOT (r2."name" IS NULL))))))"#,
            ])
    }

    @Test func conditionsOnOneRelatedObjectAreOneSemiJoin() throws {
        #expect(
            try world.conditions(
                "owner.name = 'a' and count = 1 and owner.id = 2", "owner.name = 'a' or owner.id = 2 or count = 1",
                "owner.name = 'a' and label.id = 2 and owner.name = null", for: \.sqlite) == [
                    #"(EXISTS (SELECT 1 FROM "Owner" r1 WHERE r1."_id" = t."owner" AND ((r1."name" COLLATE "#
                        + #"BINARY = ?) AND (r1."id" = ?))) AND (t."count" = ?)) <- 'a', 2, 1"#,
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE ((r1."name" COLLATE BINARY = ?) OR "#
                        + #"(r1."id" = ?))) OR (t."count" = ?)) <- 'a', 2, 1"#,
                    #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?)) "#
                        + #"AND t."label" IN (SELECT r2."_id" FROM "Label" r2 WHERE (r2."id" = ?)) AND ((t."owner" "#
                        + #"IS NULL OR t."owner" NOT IN (SELECT r3."_id" FROM "Owner" r3 WHERE (NOT (r3."name" IS "#
                        + "NULL)))))) <- 'a', 2",
                ])
    }

    @Test func quantifiersOverManyObjects() throws {
        let predicates: [RecordPredicate] = [
            tags.any(isNamed), !tags.any(isNamed), tags.all(isNamed), !tags.all(isNamed), tags.any(.constant(true)),
            tags.all(.constant(true)), .related(tags, .count(1...2), isNamed), !.related(tags, .count(1...2), isNamed),
            .related(tags, .count(0...2), isNamed), !.related(tags, .count(0...2), isNamed),
        ]
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = r2."Tag" "#
                    + #"WHERE (r1."name" COLLATE BINARY = ?))) <- 'x'"#,
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = "#
                    + #"r2."Tag" WHERE (r1."name" COLLATE BINARY = ?))) <- 'x'"#,
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = "#
                    + #"r2."Tag" WHERE (r1."name" COLLATE BINARY = ?) IS NOT TRUE)) <- 'x'"#,
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = r2."Tag" "#
                    + #"WHERE (r1."name" COLLATE BINARY = ?) IS NOT TRUE)) <- 'x'"#,
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2))"#,
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = "#
                    + #"r2."Tag" WHERE (1) IS NOT TRUE))"#,
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = r2."Tag" "#
                    + #"WHERE (r1."name" COLLATE BINARY = ?) GROUP BY r2."Item" HAVING count(*) BETWEEN 1 AND "#
                    + "2)) <- 'x'",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = "#
                    + #"r2."Tag" WHERE (r1."name" COLLATE BINARY = ?) GROUP BY r2."Item" HAVING count(*) "#
                    + "BETWEEN 1 AND 2)) <- 'x'",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = "#
                    + #"r2."Tag" WHERE (r1."name" COLLATE BINARY = ?) GROUP BY r2."Item" HAVING NOT (count(*) "#
                    + "BETWEEN 0 AND 2))) <- 'x'",
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 JOIN "Tag" r1 ON r1."_id" = r2."Tag" "#
                    + #"WHERE (r1."name" COLLATE BINARY = ?) GROUP BY r2."Item" HAVING NOT (count(*) BETWEEN 0 "#
                    + "AND 2))) <- 'x'",
            ])
        let items = PropertyPath("items")
        let isLarge = PropertyPath("count") > 9
        let inverses: [RecordPredicate] = [
            items.any(isLarge), !items.any(isLarge), items.all(isLarge), .related(items, .count(2...2), isLarge),
        ]
        #expect(
            try inverses.map { try world.condition($0, of: "Owner", for: \.sqlite) } == [
                #"(t."_id" IN (SELECT r1."owner" FROM "Item" r1 WHERE r1."owner" IS NOT NULL AND "#
                    + #"(r1."count" > ?))) <- 9"#,
                #"(t."_id" NOT IN (SELECT r1."owner" FROM "Item" r1 WHERE r1."owner" IS NOT NULL AND "#
                    + #"(r1."count" > ?))) <- 9"#,
                #"(t."_id" NOT IN (SELECT r1."owner" FROM "Item" r1 WHERE r1."owner" IS NOT NULL AND "#
                    + #"(r1."count" > ?) IS NOT TRUE)) <- 9"#,
                #"(t."_id" IN (SELECT r1."owner" FROM "Item" r1 WHERE r1."owner" IS NOT NULL AND "#
                    + #"(r1."count" > ?) GROUP BY r1."owner" HAVING count(*) BETWEEN 2 AND 2)) <- 9"#,
            ])
    }

    @Test func quantifiersOverOneObject() throws {
        var predicates: [RecordPredicate] = [
            owner.any(isNamed), !owner.any(isNamed), owner.all(isNamed), !owner.all(isNamed),
        ]
        for range in [0...0, 1...1, 0...1, 1...5, 2...3] {
            predicates.append(.related(owner, .count(range), isNamed))
            predicates.append(!.related(owner, .count(range), isNamed))
        }
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?))) <- 'x'"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."name" COLLATE BINARY = ?)))) <- 'x'"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."name" COLLATE BINARY = ?) IS NOT TRUE))) <- 'x'"#,
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?) IS "#
                    + "NOT TRUE)) <- 'x'",
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."name" COLLATE BINARY = ?)))) <- 'x'"#,
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?))) <- 'x'"#,
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?))) <- 'x'"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."name" COLLATE BINARY = ?)))) <- 'x'"#,
                "(1)",
                "(0)",
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."name" COLLATE BINARY = ?))) <- 'x'"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."name" COLLATE BINARY = ?)))) <- 'x'"#,
                "(0)",
                "(1)",
            ])
    }

    @Test func quantifiersBehindAPath() throws {
        let items = PropertyPath("owner.items")
        let isLarge = PropertyPath("count") > 9
        let predicates: [RecordPredicate] = [
            items.any(isLarge), !items.any(isLarge), items.all(isLarge), !items.all(isLarge),
            .related(items, .count(0...3), isLarge), !.related(items, .count(0...3), isLarge),
            .related(items, .count(1...3), isLarge), !.related(items, .count(1...3), isLarge),
        ]
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."_id" IN (SELECT r2."owner" "#
                    + #"FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND (r2."count" > ?))))) <- 9"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."_id" IN (SELECT r2."owner" FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND "#
                    + #"(r2."count" > ?)))))) <- 9"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."_id" IN (SELECT r2."owner" FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND "#
                    + #"(r2."count" > ?) IS NOT TRUE))))) <- 9"#,
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."_id" IN (SELECT r2."owner" "#
                    + #"FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND (r2."count" > ?) IS NOT TRUE)))) <- 9"#,
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."_id" IN (SELECT r2."owner" FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND "#
                    + #"(r2."count" > ?) GROUP BY r2."owner" HAVING NOT (count(*) BETWEEN 0 AND 3)))))) <- 9"#,
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."_id" IN (SELECT r2."owner" "#
                    + #"FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND (r2."count" > ?) GROUP BY r2."owner" "#
                    + "HAVING NOT (count(*) BETWEEN 0 AND 3))))) <- 9",
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."_id" IN (SELECT r2."owner" "#
                    + #"FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND (r2."count" > ?) GROUP BY r2."owner" "#
                    + "HAVING count(*) BETWEEN 1 AND 3)))) <- 9",
                #"((t."owner" IS NULL OR t."owner" NOT IN (SELECT r1."_id" FROM "Owner" r1 WHERE "#
                    + #"(r1."_id" IN (SELECT r2."owner" FROM "Item" r2 WHERE r2."owner" IS NOT NULL AND "#
                    + #"(r2."count" > ?) GROUP BY r2."owner" HAVING count(*) BETWEEN 1 AND 3))))) <- 9"#,
            ])
    }

    @Test func relatedObjectsOfFewRowsAreLookedUp() throws {
        let code = PropertyPath("code") == "c"
        let predicates: [RecordPredicate] = [
            code && tags.any(isNamed), code && !tags.any(isNamed), code && tags.all(isNamed),
            code && tags.any(.constant(true)),
            code && owner.any(isNamed), code && PropertyPath("owner.name") == nil,
            code && .related(tags, .count(1...2), isNamed), code && !.related(tags, .count(0...2), .constant(true)),
        ]
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                #"((t."code" COLLATE BINARY = ?) AND (EXISTS (SELECT 1 FROM "Item_tags" r2 JOIN "Tag" r1 "#
                    + #"ON r1."_id" = r2."Tag" WHERE r2."Item" = t."_id" AND (r1."name" COLLATE BINARY = ?)))) "#
                    + "<- 'c', 'x'",
                #"((t."code" COLLATE BINARY = ?) AND (NOT EXISTS (SELECT 1 FROM "Item_tags" r2 JOIN "Tag" "#
                    + #"r1 ON r1."_id" = r2."Tag" WHERE r2."Item" = t."_id" AND (r1."name" COLLATE BINARY = "#
                    + "?)))) <- 'c', 'x'",
                #"((t."code" COLLATE BINARY = ?) AND (NOT EXISTS (SELECT 1 FROM "Item_tags" r2 JOIN "Tag" "#
                    + #"r1 ON r1."_id" = r2."Tag" WHERE r2."Item" = t."_id" AND (r1."name" COLLATE BINARY = ?) "#
                    + "IS NOT TRUE))) <- 'c', 'x'",
                #"((t."code" COLLATE BINARY = ?) AND (EXISTS (SELECT 1 FROM "Item_tags" r2 JOIN "Tag" r1 "#
                    + #"ON r1."_id" = r2."Tag" WHERE r2."Item" = t."_id"))) <- 'c'"#,
                #"((t."code" COLLATE BINARY = ?) AND (EXISTS (SELECT 1 FROM "Owner" r1 WHERE r1."_id" = "#
                    + #"t."owner" AND (r1."name" COLLATE BINARY = ?)))) <- 'c', 'x'"#,
                #"((t."code" COLLATE BINARY = ?) AND (NOT EXISTS (SELECT 1 FROM "Owner" r1 WHERE r1."_id" "#
                    + #"= t."owner" AND (NOT (r1."name" IS NULL))))) <- 'c'"#,
                #"((t."code" COLLATE BINARY = ?) AND (((SELECT count(*) FROM "Item_tags" r2 JOIN "Tag" r1 "#
                    + #"ON r1."_id" = r2."Tag" WHERE r2."Item" = t."_id" AND (r1."name" COLLATE BINARY = ?)) "#
                    + "BETWEEN 1 AND 2))) <- 'c', 'x'",
                #"((t."code" COLLATE BINARY = ?) AND (NOT ((SELECT count(*) FROM "Item_tags" r2 JOIN "#
                    + #""Tag" r1 ON r1."_id" = r2."Tag" WHERE r2."Item" = t."_id") BETWEEN 0 AND 2))) <- 'c'"#,
            ])
        let item = PropertyPath("items").any(isNamedItem)
        let inverse = try world.condition(PropertyPath("id") == 1 && item, of: "Owner", for: \.sqlite)
        #expect(
            [inverse] == [
                #"((t."id" = ?) AND (EXISTS (SELECT 1 FROM "Item" r1 WHERE r1."owner" = t."_id" AND "#
                    + #"(r1."count" > ?)))) <- 1, 9"#
            ])
    }

    @Test func onlyAnIndexMakesRowsFew() throws {
        let any = tags.any(isNamed)
        func looksUp(_ predicate: RecordPredicate) throws -> Bool {
            try world.condition(predicate, for: \.sqlite).contains("EXISTS")
        }
        #expect(try looksUp(PropertyPath("code") == "c" && any))
        #expect(try looksUp(PropertyPath("title") == "c" && any))
        #expect(try looksUp(PropertyPath("price") == 1 && any))
        #expect(try !looksUp(PropertyPath("size") == 1.0 && any))
        #expect(try !looksUp(PropertyPath("code") > "c" && any))
        #expect(try !looksUp(PropertyPath("code") != "c" && any))
        #expect(try !looksUp(PropertyPath("owner.id") == 1 && any))
        #expect(try !looksUp(PropertyPath("tags.@count") == 1 && any))
        #expect(try looksUp(PropertyPath("price").isIn(1...100) && any))
        #expect(try !looksUp(PropertyPath("price").isIn(1...101) && any))
        #expect(try !looksUp(PropertyPath("code") == "c" || any))
        // Only what is joined with the condition profits.
        let both = (PropertyPath("code") == "c" && PropertyPath("count") == 1) || any
        #expect(try !looksUp(both))
    }

    private var isNamedItem: RecordPredicate { PropertyPath("count") > 9 }
}
