import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Comparisons of numbers of different types, exact in every database.
@Suite(.endsInTime) struct NumberConditionTests {
    private let world: StatementWorld
    private let all: [PropertyPath.Comparison] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]

    init() throws {
        world = try StatementWorld()
    }

    private func comparisons(_ name: String, _ value: AttributeValue) -> [RecordPredicate] {
        all.map { .comparison(PropertyPath(name), $0, value) }
    }

    @Test func anIntegerNeverEqualsANumberBetweenTwo() throws {
        let predicates = comparisons("count", .double(2.5))
        #expect(
            try world.conditions(predicates, for: \.postgres) == [
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"(t."count" <= $1::bigint) <- 2"#,
                #"(t."count" <= $1::bigint) <- 2"#,
                #"(t."count" > $1::bigint) <- 2"#,
                #"(t."count" > $1::bigint) <- 2"#,
            ])
        let negative = comparisons("count", .decimal(Decimal(string: "-2.5")!))
        #expect(
            try world.conditions(negative, for: \.sqlite) == [
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"(t."count" <= ?) <- -3"#,
                #"(t."count" <= ?) <- -3"#,
                #"(t."count" > ?) <- -3"#,
                #"(t."count" > ?) <- -3"#,
            ])
    }

    @Test func anIntegerEqualsAWholeNumberOfAnotherType() throws {
        #expect(
            try world.conditions(comparisons("count", .double(-3)), for: \.postgres) == [
                #"(t."count" = $1::bigint) <- -3"#,
                #"(t."count" <> $1::bigint) <- -3"#,
                #"(t."count" < $1::bigint) <- -3"#,
                #"(t."count" <= $1::bigint) <- -3"#,
                #"(t."count" > $1::bigint) <- -3"#,
                #"(t."count" >= $1::bigint) <- -3"#,
            ])
        #expect(
            try world.conditions(comparisons("count", .decimal(3)), for: \.sqlite) == [
                #"(t."count" = ?) <- 3"#,
                #"(t."count" <> ?) <- 3"#,
                #"(t."count" < ?) <- 3"#,
                #"(t."count" <= ?) <- 3"#,
                #"(t."count" > ?) <- 3"#,
                #"(t."count" >= ?) <- 3"#,
            ])
        // SQLite compares both exactly itself.
        #expect(try world.conditions("count > 2.5", for: \.sqlite) == [#"(t."count" > ?) <- 2.5"#])
    }

    @Test func anIntegerComparesWithNumbersBeyondAllIntegers() throws {
        let above = comparisons("count", .decimal(Decimal(string: "99999999999999999999")!))
        #expect(
            try world.conditions(above, for: \.sqlite) == [
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NULL AND NULL))"#,
            ])
        let below = comparisons("count", .double(-1e30))
        #expect(
            try world.conditions(below, for: \.postgres) == [
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NULL AND NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
                #"((t."count" IS NOT NULL OR NULL))"#,
            ])
    }

    @Test func aRealNumberComparesWithIntegersThatItCannotHold() throws {
        let above = comparisons("size", .int(9_007_199_254_740_993))
        #expect(
            try world.conditions(above, for: \.postgres) == [
                #"((t."size" IS NULL AND NULL))"#,
                #"((t."size" IS NOT NULL OR NULL))"#,
                #"(t."size" <= $1::double precision) <- 9007199254740992.0"#,
                #"(t."size" <= $1::double precision) <- 9007199254740992.0"#,
                #"(t."size" > $1::double precision) <- 9007199254740992.0"#,
                #"(t."size" > $1::double precision) <- 9007199254740992.0"#,
            ])
        let below = comparisons("size", .int(9_007_199_254_740_995))
        #expect(
            try world.conditions(Array(below.prefix(3)), for: \.postgres) == [
                #"((t."size" IS NULL AND NULL))"#,
                #"((t."size" IS NOT NULL OR NULL))"#,
                #"(t."size" <= $1::double precision) <- 9.007199254740994e+15"#,
            ])
        #expect(
            try world.conditions(Array(above.prefix(1)), for: \.sqlite) == [#"(t."size" = ?) <- 9007199254740993"#])
        #expect(try world.conditions("size < 3", for: \.postgres) == [#"(t."size" < $1::double precision) <- 3.0"#])
    }

    @Test func whatIsNoNumberComesBeforeAllNumbers() throws {
        #expect(
            try world.conditions(comparisons("size", .double(.nan)), for: \.sqlite) == [
                #"((t."size" IS NULL AND NULL))"#,
                #"((t."size" IS NOT NULL OR NULL))"#,
                #"((t."size" IS NULL AND NULL))"#,
                #"((t."size" IS NULL AND NULL))"#,
                #"((t."size" IS NOT NULL OR NULL))"#,
                #"((t."size" IS NOT NULL OR NULL))"#,
            ])
    }

    @Test func listsKeepOnlyTheNumbersThatAColumnCanHold() throws {
        let count = PropertyPath("count")
        let size = PropertyPath("size")
        let predicates: [RecordPredicate] = [
            .isIn(count, [.double(2.5), .double(3), .int(4)]), .isIn(count, [.double(2.5)]),
            .isIn(count, [.decimal(5), .decimal(Decimal(string: "5.5")!)]),
            .isIn(count, [.decimal(Decimal(string: "0.1")!)]),
            .isIn(size, [.double(.nan), .double(1)]), .isIn(size, [.double(.nan)]), .isIn(count, []),
            .not(.isIn(count, [])), .isIn(size, [.int(9_007_199_254_740_993), .int(2)]),
        ]
        #expect(
            try world.conditions(predicates, for: \.postgres) == [
                #"(t."count" IN ($1::bigint, $2::bigint)) <- 3, 4"#,
                #"((t."count" IS NULL AND NULL))"#,
                #"(t."count" IN ($1::bigint)) <- 5"#,
                #"((t."count" IS NULL AND NULL))"#,
                #"(t."size" IN ($1::double precision)) <- 1.0"#,
                #"((t."size" IS NULL AND NULL))"#,
                "(FALSE)",
                "(TRUE)",
                #"(t."size" IN ($1::double precision)) <- 2.0"#,
            ])
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                #"(t."count" IN (?, ?, ?)) <- 2.5, 3.0, 4"#,
                #"(t."count" IN (?)) <- 2.5"#,
                #"(t."count" IN (?)) <- 5"#,
                #"((t."count" IS NULL AND NULL))"#,
                #"(t."size" IN (?)) <- 1.0"#,
                #"((t."size" IS NULL AND NULL))"#,
                "(0)",
                "(1)",
                #"(t."size" IN (?, ?)) <- 9007199254740993, 2.0"#,
            ])
    }

    @Test func longListsAreWrittenOut() throws {
        func count(_ count: Int) throws -> (text: String, parameters: Int) {
            let query = StoreQuery("Item", where: PropertyPath("count").isIn(0..<count))
            let statement = try SQLQueries(world.sqlite).rows(query, objectSet: nil)
            return (statement.text, statement.bindings.count)
        }
        #expect(try count(500).parameters == 500)
        #expect(try !count(500).text.contains("499"))
        #expect(try count(501).parameters == 0)
        #expect(
            try count(501).text.hasSuffix(#"(t."count" IN (\#((0..<501).map(String.init).joined(separator: ", "))))"#))
        // SQLite has no exact literal for these.
        let sizes = PropertyPath("size").isIn((0..<501).map(Double.init))
        #expect(
            try SQLQueries(world.sqlite).rows(StoreQuery("Item", where: sizes), objectSet: nil).bindings.count == 501)
    }

    @Test func numbersOfRelatedObjectsCompareLikeIntegers() throws {
        let tags = PropertyPath("tags.@count")
        var predicates: [RecordPredicate] = []
        for number in [-1, 0, 1, Int64.max] { predicates += all.map { .comparison(tags, $0, .int(number)) } }
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                "(0)",
                "(1)",
                "(0)",
                "(0)",
                "(1)",
                "(1)",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING NOT "#
                    + "(count(*) BETWEEN 0 AND 0)))",
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING NOT "#
                    + "(count(*) BETWEEN 0 AND 0)))",
                "(0)",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING NOT "#
                    + "(count(*) BETWEEN 0 AND 0)))",
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING count(*) >= 1))"#,
                "(1)",
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING count(*) "#
                    + "BETWEEN 1 AND 1))",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING "#
                    + "count(*) BETWEEN 1 AND 1))",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING NOT "#
                    + "(count(*) BETWEEN 0 AND 0)))",
                #"(t."_id" NOT IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING NOT "#
                    + "(count(*) BETWEEN 0 AND 1)))",
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING count(*) >= 2))"#,
                #"(t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING count(*) >= 1))"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") = ?) <- 9223372036854775807"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") <> ?) <- 9223372036854775807"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") < ?) <- 9223372036854775807"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") <= ?) <- 9223372036854775807"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") > ?) <- 9223372036854775807"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") >= ?) <- 9223372036854775807"#,
            ])
        let others: [RecordPredicate] = [
            .comparison(tags, .less, .double(2.5)), .comparison(tags, .equal, .double(2.5)),
            .isIn(tags, [.int(1), .int(2)]), .isIn(tags, [.double(1.5), .double(2)]),
            .or([tags == 1, tags == 2]), .comparison(PropertyPath("owner.items.@count"), .greater, .int(2)),
        ]
        #expect(
            try world.conditions(others, for: \.postgres) == [
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") <= $1::bigint) <- 2"#,
                #"(((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") IS NULL AND NULL))"#,
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") IN ($1::bigint, "#
                    + "$2::bigint)) <- 1, 2",
                #"((SELECT count(*) FROM "Item_tags" r1 WHERE r1."Item" = t."_id") IN ($1::bigint)) <- 2"#,
                #"((t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING count(*) "#
                    + #"BETWEEN 1 AND 1)) OR (t."_id" IN (SELECT r4."Item" FROM "Item_tags" r4 GROUP BY "#
                    + #"r4."Item" HAVING count(*) BETWEEN 2 AND 2)))"#,
                #"(t."owner" IN (SELECT r1."_id" FROM "Owner" r1 WHERE (r1."_id" IN (SELECT r2."owner" "#
                    + #"FROM "Item" r2 WHERE r2."owner" IS NOT NULL GROUP BY r2."owner" HAVING count(*) >= 3))))"#,
            ])
    }
}
