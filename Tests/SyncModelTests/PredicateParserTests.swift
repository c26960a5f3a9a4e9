import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct PredicateParserTests {
    @Test(
        arguments: [
            ("age > 3", PropertyPath("age") > 3), ("age>=3", PropertyPath("age") >= 3),
            ("age<-3.5", PropertyPath("age") < -3.5),
            ("a = 'x'", PropertyPath("a") == "x"), ("a == \"it's\"", PropertyPath("a") == "it's"),
            ("a <> 'it\\'s \\\\'", PropertyPath("a") != "it's \\"),
            ("a != null", PropertyPath("a").isNotNull), ("a = NIL", PropertyPath("a").isNull),
            ("a = YES", PropertyPath("a") == true),
            ("a = false", PropertyPath("a") == false), ("company.remoteID = 7", PropertyPath("company.remoteID") == 7),
            ("notes.@count > 0", PropertyPath("notes.@count") > 0), ("a in (1, 2)", PropertyPath("a").isIn([1, 2])),
            ("a IN {'x' , null}", PropertyPath("a").isIn(["x"])), ("a in ()", PropertyPath("a").isIn([Int]())),
            ("a contains 'x'", PropertyPath("a").contains("x")),
            ("a BEGINSWITH 'x'", PropertyPath("a").beginsWith("x")),
            ("a endsWith ''", PropertyPath("a").endsWith("")),
            ("createdAt > 2014-01-01", PropertyPath("createdAt") > "2014-01-01"),
            ("at <= 2014-01-01T10:00:00.5Z", PropertyPath("at") <= "2014-01-01T10:00:00.5Z"),
            ("a = 1 and b = 2 or c = 3", PropertyPath("a") == 1 && PropertyPath("b") == 2 || PropertyPath("c") == 3),
            ("a = 1 && (b = 2 || c = 3)", PropertyPath("a") == 1 && (PropertyPath("b") == 2 || PropertyPath("c") == 3)),
            ("not a = 1 and !(b = 2)", !(PropertyPath("a") == 1) && !(PropertyPath("b") == 2)),
            ("  android = 1\n", PropertyPath("android") == 1),
            ("größe = 1", PropertyPath("größe") == 1),
            // A decimal where a double is another number.
            ("a = 9223372036854775808", PropertyPath("a") == Decimal(UInt64(1) << 63)),
            ("a = -9007199254740992.5", PropertyPath("a") == -(Decimal(UInt64(1) << 53) + 0.5)),
            ("a = 0.1", PropertyPath("a") == 0.1), ("a = 1e400", PropertyPath("a") == Double.infinity),
            ("a = 1e22", PropertyPath("a") == 1e22),
        ] as [(String, RecordPredicate)])
    func aTextIsReadAsThePredicateItSays(text: String, predicate: RecordPredicate) throws {
        #expect(try RecordPredicate(parsing: text) == predicate)
    }

    @Test(arguments: [
        ("", 0, "a key"), ("a", 1, "a comparison"), ("a =", 3, "a value"), ("a = 'x", 6, "a closing quote"),
        ("a = x", 4, "a value"), ("a = 1 b", 6, "'and', 'or' or the end"), ("(a = 1", 6, "')'"),
        ("a in 1", 5, "'(' or '{'"),
        ("a in (1", 7, "',' or ')'"), ("a contains 1", 11, "a text in quotes"),
        ("a < null", 3, "a value that is not null"),
        ("a = 1 and", 9, "a key"), ("a = 1-2", 4, "a value"), ("= 1", 0, "a key"), ("a = 'x\\", 7, "a closing quote"),
    ])
    func whatIsNoPredicateIsRefusedWithItsPlace(text: String, byteOffset: Int, expected: String) {
        #expect(throws: RecordPredicateError.syntax(byteOffset: byteOffset, expected: expected)) {
            try RecordPredicate(parsing: text)
        }
    }

    @Test func nestingIsBounded() throws {
        let deep = { (depth: Int) in
            String(repeating: "(", count: depth) + "a = 1" + String(repeating: ")", count: depth)
        }
        #expect(try RecordPredicate(parsing: deep(99)) == (PropertyPath("a") == 1))
        #expect(throws: RecordPredicateError.syntax(byteOffset: 100, expected: "no deeper nesting")) {
            try RecordPredicate(parsing: deep(100))
        }
    }

    @Test func conditionsAreBounded() throws {
        for word in ["and", "or"] {
            let text = { (count: Int) in Array(repeating: "a = 1", count: count).joined(separator: " \(word) ") }
            let parts = Array(repeating: PropertyPath("a") == 1, count: 500)
            #expect(try RecordPredicate(parsing: text(500)) == (word == "and" ? .and(parts) : .or(parts)))
            // A text of any length is refused as soon as the limit is reached.
            for count in [501, 200_000] {
                let error = #expect(throws: RecordPredicateError.self) { try RecordPredicate(parsing: text(count)) }
                #expect(error?.description.contains("no more than 500 conditions") == true)
            }
        }
    }

    @Test func valuesInListsAreBounded() throws {
        let text = { (count: Int) in "a in (" + Array(repeating: "1", count: count).joined(separator: ",") + ")" }
        #expect(
            try RecordPredicate(parsing: text(10_000)) == PropertyPath("a").isIn(Array(repeating: 1, count: 10_000)))
        let error = #expect(throws: RecordPredicateError.self) {
            try RecordPredicate(parsing: "\(text(6_000)) or \(text(4_001))")
        }
        #expect(error?.description.contains("no more than 10000 values in lists") == true)
    }

    @Test func textBecomesADateWhereTheAttributeIsOne() throws {
        let model = try ModelTests.office.get()
        let layout = try model.layout(of: "Person")
        let texts = [
            ("2014-01-01", 1_388_534_400_000_000), ("2014-01-01T01:00:00Z", 1_388_538_000_000_000),
            ("2014-01-01T01:00:00.25Z", 1_388_538_000_250_000), ("2014-01-01T01:00:00+01:00", 1_388_534_400_000_000),
            ("'20140101T010000Z'", 1_388_538_000_000_000), ("'20140101T0100Z'", 1_388_538_000_000_000),
        ]
        for (text, microseconds) in texts {
            let bound = try RecordPredicate(parsing: "joinedAt > \(text)").bound(to: layout, in: model)
            guard case .comparison(_, .greater, let value) = bound else {
                Issue.record("another predicate")
                continue
            }
            #expect(value == .date(Timestamp(microseconds: Int64(microseconds))), "\(text)")
        }
        for text in ["2014-13-01", "20140101T0100:00Z", "20140101T01:00:00Z"] {
            #expect(throws: RecordPredicateError.wrongType(entity: "Person", key: "joinedAt", type: .date), "\(text)") {
                try RecordPredicate(parsing: "joinedAt > '\(text)'").bound(to: layout, in: model)
            }
        }
    }
}
