import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import Testing

/// Conditions of many parts and of many levels.
@Suite(.endsInTime) struct NestedConditionTests {
    private let world: StatementWorld
    private let count = PropertyPath("count")

    init() throws {
        world = try StatementWorld()
    }

    @Test func emptyConjunctionsAndDisjunctionsBecomeConstants() throws {
        let predicates: [RecordPredicate] = [
            .and([]), .or([]), .not(.and([])), .not(.or([])), .constant(false), .and([.or([]), count == 1]),
        ]
        #expect(
            try world.conditions(predicates, for: \.sqlite) == [
                "(1)",
                "(0)",
                "(0)",
                "(1)",
                "(0)",
                #"((0) AND (t."count" = ?)) <- 1"#,
            ])
    }

    @Test func equalitiesBecomeOneList() throws {
        #expect(
            try world.conditions(
                "count = 1 or size = 2.5 or count in (3, 4) or title != 'a' or count = 5", "count = 1 or size = 2.5",
                "count = null or count = 1 or count = 2", "tags.@count = 1 or tags.@count = 2", for: \.sqlite) == [
                    #"((t."count" IN (?, ?, ?, ?)) OR (t."size" = ?) OR (t."title" COLLATE BINARY <> ?)) <- "#
                        + "1, 3, 4, 5, 2.5, 'a'",
                    #"((t."count" = ?) OR (t."size" = ?)) <- 1, 2.5"#,
                    #"((t."count" IS NULL) OR (t."count" IN (?, ?))) <- 1, 2"#,
                    #"((t."_id" IN (SELECT r2."Item" FROM "Item_tags" r2 GROUP BY r2."Item" HAVING count(*) "#
                        + #"BETWEEN 1 AND 1)) OR (t."_id" IN (SELECT r4."Item" FROM "Item_tags" r4 GROUP BY "#
                        + #"r4."Item" HAVING count(*) BETWEEN 2 AND 2)))"#,
                ])
    }

    @Test func manyPartsAreABalancedTree() throws {
        func condition(_ number: Int) throws -> String {
            try world.condition(.or((0..<number).map { count > $0 }), for: \.sqlite)
        }
        let part = #"(t."count" > ?)"#
        func parts(_ number: Int) -> String { Array(repeating: part, count: number).joined(separator: " OR ") }
        #expect(try condition(16).hasPrefix("(\(parts(16))) <- "))
        #expect(try condition(17).hasPrefix("((\(parts(8))) OR (\(parts(9)))) <- "))
        #expect(try condition(33).hasPrefix("((\(parts(16))) OR ((\(parts(8))) OR (\(parts(9))))) <- "))
    }

    @Test func deepConditionsAreCases() throws {
        #expect(
            try world.conditions([Self.nested(12), Self.nested(13)], for: \.sqlite) == [
                #"((t."count" > ?) AND (((t."count" > ?) AND (((t."count" > ?) AND (((t."count" > ?) AND "#
                    + #"(((t."count" > ?) AND (((t."count" > ?) AND ((t."count" > ?) OR (t."count" > ?)) AND "#
                    + #"(t."size" > ?)) OR (t."count" > ?)) AND (t."size" > ?)) OR (t."count" > ?)) AND "#
                    + #"(t."size" > ?)) OR (t."count" > ?)) AND (t."size" > ?)) OR (t."count" > ?)) AND "#
                    + #"(t."size" > ?)) OR (t."count" > ?)) AND (t."size" > ?)) <- 12, 10, 8, 6, 4, 2, 0, 1, "#
                    + "2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0, 11, 12.0",
                #"(CASE WHEN ((t."count" > ?)) THEN 1 WHEN ((t."count" > ?) AND (t."size" > ?)) IS NOT "#
                    + #"TRUE THEN 0 WHEN ((t."count" > ?)) THEN 1 WHEN ((t."count" > ?) AND (t."size" > ?)) IS "#
                    + #"NOT TRUE THEN 0 WHEN ((t."count" > ?)) THEN 1 WHEN ((t."count" > ?) AND (t."size" > ?)) "#
                    + #"IS NOT TRUE THEN 0 WHEN ((t."count" > ?)) THEN 1 WHEN ((t."count" > ?) AND (t."size" > "#
                    + #"?)) IS NOT TRUE THEN 0 WHEN ((t."count" > ?)) THEN 1 WHEN ((t."count" > ?) AND "#
                    + #"(t."size" > ?)) IS NOT TRUE THEN 0 WHEN ((t."count" > ?)) THEN 1 WHEN ((t."count" > ?) "#
                    + #"AND (t."size" > ?)) IS NOT TRUE THEN 0 WHEN ((t."count" > ?)) THEN 1 ELSE (t."count" > "#
                    + "?) END) <- 13, 12, 12.0, 11, 10, 10.0, 9, 8, 8.0, 7, 6, 6.0, 5, 4, 4.0, 3, 2, 2.0, 1, 0",
            ])
        #expect(
            try world.conditions([.not(Self.nested(13))], for: \.postgres) == [
                #"(CASE WHEN ((t."count" <= $1::bigint)) IS NOT TRUE THEN FALSE WHEN ((t."count" <= "#
                    + #"$2::bigint) OR (t."size" <= $3::double precision)) THEN TRUE WHEN ((t."count" <= "#
                    + #"$4::bigint)) IS NOT TRUE THEN FALSE WHEN ((t."count" <= $5::bigint) OR (t."size" <= "#
                    + #"$6::double precision)) THEN TRUE WHEN ((t."count" <= $7::bigint)) IS NOT TRUE THEN "#
                    + #"FALSE WHEN ((t."count" <= $8::bigint) OR (t."size" <= $9::double precision)) THEN TRUE "#
                    + #"WHEN ((t."count" <= $10::bigint)) IS NOT TRUE THEN FALSE WHEN ((t."count" <= "#
                    + #"$11::bigint) OR (t."size" <= $12::double precision)) THEN TRUE WHEN ((t."count" <= "#
                    + #"$13::bigint)) IS NOT TRUE THEN FALSE WHEN ((t."count" <= $14::bigint) OR (t."size" <= "#
                    + #"$15::double precision)) THEN TRUE WHEN ((t."count" <= $16::bigint)) IS NOT TRUE THEN "#
                    + #"FALSE WHEN ((t."count" <= $17::bigint) OR (t."size" <= $18::double precision)) THEN "#
                    + #"TRUE WHEN ((t."count" <= $19::bigint)) IS NOT TRUE THEN FALSE ELSE (t."count" <= "#
                    + "$20::bigint) END) <- 13, 12, 12.0, 11, 10, 10.0, 9, 8, 8.0, 7, 6, 6.0, 5, 4, 4.0, 3, 2, "
                    + "2.0, 1, 0"
            ])
    }

    /// Alternating levels; the deeper part is sometimes the first, sometimes in the middle.
    private static func nested(_ levels: Int) -> RecordPredicate {
        var predicate = PropertyPath("count") > 0
        for level in 1...levels {
            let one = PropertyPath("count") > level
            let other = PropertyPath("size") > Double(level)
            predicate = level.isMultiple(of: 2) ? .and([one, predicate, other]) : .or([predicate, one])
        }
        return predicate
    }
}
