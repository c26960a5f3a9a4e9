import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct RecordPredicateTests {
    /// A record whose related objects stand beside it.
    private final class Subject: PropertyPath.Subject {
        let record: Record
        let related: [String: Subject]
        let counts: [String: Int]

        init(_ record: Record, related: [String: Subject] = [:], counts: [String: Int] = [:]) {
            self.record = record
            self.related = related
            self.counts = counts
        }

        func value(at key: PropertyPath.Bound) -> AttributeValue {
            var place: Subject? = self
            for step in key.steps {
                place = place?.related[step.name]
            }
            guard let place else { return .null }
            switch key.leaf {
            case .attribute(let column, _): return place.record[column: column]
            case .target(let index): return place.related[name(index, place)] == nil ? .null : true
            case .count(let index): return .int(Int64(place.counts[name(index, place)] ?? 0))
            }
        }

        func countRelated(at key: PropertyPath.Bound, where predicate: RecordPredicate.Bound) -> (
            selected: Int, total: Int
        ) {
            guard case .target(let index) = key.leaf, let target = related[name(index, self)] else { return (0, 0) }
            return (predicate.selects(target) ? 1 : 0, 1)
        }

        private func name(_ index: Int, _ place: Subject) -> String {
            place.record.layout.relationships[index].name
        }
    }

    private let model: DataModel
    private let ada: Subject
    private let bob: Subject

    init() throws {
        model = try ModelTests.office.get()
        var company = Record(of: try model.layout(of: "Company"))
        company["remoteID"] = 7
        company["name"] = "Analytical"
        var person = Record(of: try model.layout(of: "Person"))
        person["email"] = "ada@a.b"
        person["age"] = 36
        person["joinedAt"] = .date(Timestamp(microseconds: 1_000_000))
        ada = Subject(person, related: ["company": Subject(company)], counts: ["notes": 2])
        person["email"] = "Bob@a.b"
        person["age"] = .null
        person["joinedAt"] = .null
        bob = Subject(person)
    }

    private func bound(_ predicate: RecordPredicate) throws -> RecordPredicate.Bound {
        try predicate.bound(to: try model.layout(of: "Person"), in: model)
    }

    /// Which records a predicate selects; its normal form selects the same.
    private func selected(_ predicate: RecordPredicate) throws -> [Bool] {
        let bound = try bound(predicate)
        let normal = bound.normalized
        let selected = [ada, bob].map { bound.selects($0) }
        #expect([ada, bob].map { normal.selects($0) } == selected, "\(predicate)")
        return selected
    }

    /// Every decimal is less than a number beyond them, and greater than its opposite.
    @Test(arguments: [
        (PropertyPath.Comparison.equal, false, false), (.notEqual, true, true), (.less, true, false),
        (.lessOrEqual, true, false), (.greater, false, true), (.greaterOrEqual, false, true),
    ])
    func aNumberBeyondAllDecimalsIsCompared(
        _ comparison: PropertyPath.Comparison, isBelow: Bool, isAbove: Bool
    ) throws {
        let model = try DataModel { SyncEntity("Thing") { SyncAttribute("price", .decimal) } }
        let layout = try model.layout(of: "Thing")
        let price = PropertyPath("price")
        var thing = Record(of: layout)
        for number in [5, .greatestFiniteMagnitude, -.greatestFiniteMagnitude] as [Decimal] {
            thing["price"] = .decimal(number)
            for (limit, holds) in [(1e300, isBelow), (-1e300, isAbove)] {
                let predicate = RecordPredicate.comparison(price, comparison, .double(limit))
                #expect(try predicate.bound(to: layout, in: model).selects(Subject(thing)) == holds)
                // The other numbers of a list are compared as ever.
                let list = price.isIn([limit, 5])
                #expect(try list.bound(to: layout, in: model).selects(Subject(thing)) == (number == 5))
            }
        }
        thing["price"] = .null
        let predicate = RecordPredicate.comparison(price, comparison, .double(1e300))
        #expect(try !predicate.bound(to: layout, in: model).selects(Subject(thing)))
    }

    @Test func comparisonsAreWrittenWithOperators() throws {
        #expect(try selected(PropertyPath("age") > 35) == [true, false])
        #expect(try selected(PropertyPath("age") >= 36 && PropertyPath("age") <= 36) == [true, false])
        #expect(try selected(PropertyPath("age") < 36.5) == [true, false])
        #expect(try selected(PropertyPath("age") < 36) == [false, false])
        #expect(try selected(PropertyPath("email") == "ada@a.b" || PropertyPath("email") == "Bob@a.b") == [true, true])
        #expect(try selected(PropertyPath("joinedAt") == Date(timeIntervalSince1970: 1)) == [true, false])
        #expect(try selected(PropertyPath("email").isIn(["x", "Bob@a.b"])) == [false, true])
        #expect(try selected(PropertyPath("email").beginsWith("ada")) == [true, false])
        #expect(try selected(PropertyPath("email").contains("@a")) == [true, true])
        #expect(try selected(PropertyPath("email").endsWith(".c")) == [false, false])
        #expect(try selected(PropertyPath("email") < "a") == [false, true])
    }

    @Test func pathsGoThroughToOneRelationships() throws {
        #expect(try selected(PropertyPath("company.remoteID") == 7) == [true, false])
        #expect(try selected(PropertyPath("company.name").beginsWith("Ana")) == [true, false])
        #expect(try selected(PropertyPath("company") == nil) == [false, true])
        #expect(try selected(PropertyPath("company").isNotNull) == [true, false])
        #expect(try selected(PropertyPath("notes.@count") > 1) == [true, false])
        #expect(try selected(PropertyPath("notes.@count") == 0) == [false, true])
    }

    @Test func nullIsUnknownAsInSQL() throws {
        #expect(try selected(PropertyPath("age") != 40) == [true, false])
        #expect(try selected(!(PropertyPath("age") == 40)) == [true, false])
        #expect(try selected(PropertyPath("age") == nil) == [false, true])
        #expect(try selected(PropertyPath("age") != nil) == [true, false])
        #expect(try selected(PropertyPath("age") == Int?.none) == [false, true])
        #expect(try selected(PropertyPath("age") > Int?.none) == [false, false])
        #expect(try selected(!(PropertyPath("age") > Int?.none)) == [false, false])
        #expect(try selected(!(PropertyPath("age") == 40 && PropertyPath("email") == "no")) == [true, true])
        #expect(try selected(!(PropertyPath("age") == 40 || PropertyPath("email") == "no")) == [true, false])
        #expect(try selected(PropertyPath("age") == 40 || PropertyPath("email") == "Bob@a.b") == [false, true])
        #expect(try selected(!PropertyPath("age").isIn([1, 2])) == [true, false])
        #expect(try selected(PropertyPath("age").isIn([36, nil])) == [true, false])
        #expect(try selected(!PropertyPath("age").isIn([Int]())) == [true, true])
        #expect(try selected(!PropertyPath("company.name").contains("x")) == [true, false])
    }

    @Test func emptyCombinationsAreDecided() throws {
        #expect(try selected(.and([])) == [true, true])
        #expect(try selected(.or([])) == [false, false])
        #expect(try selected(.constant(true)) == [true, true])
        #expect(try selected(PropertyPath("email").contains("")) == [true, true])
    }

    @Test func combinationsAreKeptFlat() {
        let a = PropertyPath("a") == 1
        let b = PropertyPath("b") == 2
        let c = PropertyPath("c") == 3
        #expect((a && b && c) == .and([a, b, c]))
        #expect((a || b || c) == .or([a, b, c]))
        #expect((a && b || c) == .or([.and([a, b]), c]))
    }

    @Test func aNormalFormIsFlatAndNegatesSingleConditions() throws {
        let old: RecordPredicate = PropertyPath("age") >= 35
        let young: RecordPredicate = PropertyPath("age") < 35
        let known: RecordPredicate = PropertyPath("email") != "no"
        let unknown: RecordPredicate = PropertyPath("email") == "no"
        let isNull = PropertyPath("age").isNull
        let cases: [(RecordPredicate, RecordPredicate)] = [
            (.not(.and([old, known])), .or([young, unknown])), (.not(.or([old, known])), .and([young, unknown])),
            (.not(.and([old, .not(.and([known, isNull]))])), .or([young, .and([known, isNull])])),
            (.and([old, .and([known, isNull])]), .and([old, known, isNull])),
            (.and([old, .not(.or([known, isNull]))]), .and([old, unknown, .not(isNull)])),
            (.or([old, .not(.and([known, isNull]))]), .or([old, unknown, .not(isNull)])),
            (.and([old]), old), (.not(.or([old])), young), (.not(.not(isNull)), isNull),
            (.not(.isIn(PropertyPath("age"), [])), .constant(true)), (.not(.constant(true)), .constant(false)),
        ]
        for (predicate, normal) in cases {
            #expect(try bound(predicate).normalized == bound(normal), "\(predicate)")
        }
    }

    @Test func valuesBecomeThoseOfTheAttribute() throws {
        let model = try DataModel {
            SyncEntity("E") {
                SyncAttribute("double", .double)
                SyncAttribute("decimal", .decimal)
                SyncAttribute("uuid", .uuid)
                SyncAttribute("uri", .uri)
                SyncAttribute("int", .int32)
            }
        }
        let layout = try model.layout(of: "E")
        let uuid = UUID()
        func bound(_ predicate: RecordPredicate) throws -> AttributeValue? {
            guard case .comparison(_, _, let value) = try predicate.bound(to: layout, in: model) else { return nil }
            return value
        }
        #expect(try bound(PropertyPath("double") == 1) == .double(1))
        #expect(try bound(PropertyPath("decimal") == 1) == .decimal(1))
        #expect(try bound(PropertyPath("decimal") == 0.1) == .decimal(Decimal(string: "0.1") ?? 0))
        #expect(try bound(RecordPredicate(parsing: "double = 0.10000000000000000001")) == .double(0.1))
        #expect(try bound(PropertyPath("uuid") == uuid.uuidString) == .uuid(uuid))
        #expect(try bound(PropertyPath("uri") == "a:b") == .uri("a:b"))
        #expect(try bound(PropertyPath("int") > 1.5) == .double(1.5))
        #expect(throws: RecordPredicateError.wrongType(entity: "E", key: "uuid", type: .uuid)) {
            try (PropertyPath("uuid") == "no").bound(to: layout, in: model)
        }
    }

    @Test func whatDoesNotFitTheEntityIsRefused() throws {
        let layout = try model.layout(of: "Person")
        func refuse(_ predicate: RecordPredicate, _ error: RecordPredicateError) {
            #expect(throws: error) { try predicate.bound(to: layout, in: model) }
        }
        refuse(PropertyPath("height") == 1, .unknownProperty(entity: "Person", key: "height", name: "height"))
        refuse(PropertyPath("") == 1, .unknownProperty(entity: "Person", key: "", name: ""))
        refuse(
            PropertyPath("company.size") == 1, .unknownProperty(entity: "Company", key: "company.size", name: "size"))
        refuse(PropertyPath("age.x") == 1, .unsuitableProperty(entity: "Person", key: "age.x", name: "age"))
        refuse(PropertyPath("notes") == 1, .unsuitableProperty(entity: "Person", key: "notes", name: "notes"))
        refuse(
            PropertyPath("notes.text") == "x", .unsuitableProperty(entity: "Person", key: "notes.text", name: "notes"))
        refuse(PropertyPath("company") == 1, .unsuitableProperty(entity: "Person", key: "company", name: "company"))
        refuse(PropertyPath("age").contains("x"), .wrongType(entity: "Person", key: "age", type: .int16))
        refuse(PropertyPath("age") == "x", .wrongType(entity: "Person", key: "age", type: .int16))
        refuse(
            !(PropertyPath("age").isIn([1]) && PropertyPath("age") == true),
            .wrongType(entity: "Person", key: "age", type: .int16))
        refuse(PropertyPath("notes.@count") == "x", .wrongType(entity: "Person", key: "notes.@count", type: .int64))
        #expect(
            RecordPredicateError.wrongType(entity: "Person", key: "age", type: .int16).description
                == "Person.age is int16, but is compared with a value of another type")
    }

    /// Texts that are a value of the attribute are no text all the same.
    @Test(arguments: AttributeType.allCases) func onlyTextsAndAddressesHavePartsOfText(type: AttributeType) throws {
        let model = try DataModel { SyncEntity("E") { SyncAttribute("x", type) } }
        let layout = try model.layout(of: "E")
        for text in ["x", "2014-01-02", "7", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"] {
            for match in PropertyPath.TextMatch.allCases {
                let predicate = RecordPredicate.text(PropertyPath("x"), match, text)
                if type == .string || type == .uri {
                    #expect(throws: Never.self) { try predicate.bound(to: layout, in: model) }
                } else {
                    #expect(throws: RecordPredicateError.self) { try predicate.bound(to: layout, in: model) }
                }
            }
        }
    }

    @Test(arguments: PropertyPath.Comparison.allCases)
    func valuesOfJSONAreOnlyEqualOrNot(comparison: PropertyPath.Comparison) throws {
        let model = try DataModel { SyncEntity("E") { SyncAttribute("x", .json) } }
        let layout = try model.layout(of: "E")
        let predicate = RecordPredicate.comparison(PropertyPath("x"), comparison, "[1]")
        if comparison == .equal || comparison == .notEqual {
            #expect(throws: Never.self) { try predicate.bound(to: layout, in: model) }
        } else {
            #expect(throws: RecordPredicateError.unsuitableProperty(entity: "E", key: "x", name: "x")) {
                try predicate.bound(to: layout, in: model)
            }
        }
    }

    @Test func recordsAreOrderedByOneCriterionAfterTheOther() throws {
        let layout = try model.layout(of: "Person")
        func isAdaFirst(_ orderings: Ordering...) throws -> Bool? {
            let bound = try orderings.map { ordering throws(RecordPredicateError) in
                try ordering.bound(to: layout, in: model)
            }
            let isFirst = bound.areInIncreasingOrder(ada, bob)
            return isFirst == bound.areInIncreasingOrder(bob, ada) ? nil : isFirst
        }
        #expect(try isAdaFirst() == nil)
        #expect(try isAdaFirst(Ordering("email")) == false)
        #expect(try isAdaFirst(Ordering("email", ascending: false)) == true)
        #expect(try isAdaFirst(Ordering("age")) == false)
        #expect(try isAdaFirst(Ordering("age", ascending: false)) == false)
        #expect(try isAdaFirst(Ordering("age", nulls: .last)) == true)
        #expect(try isAdaFirst(Ordering("age", ascending: false, nulls: .last)) == true)
        #expect(try isAdaFirst(Ordering("notes.@count"), Ordering("email")) == false)
        #expect(try isAdaFirst(Ordering("company.name", nulls: .last)) == true)
        #expect(throws: RecordPredicateError.unsuitableProperty(entity: "Person", key: "company", name: "company")) {
            try Ordering("company").bound(to: layout, in: model)
        }
    }

    @Test func negationObeysDeMorganAlsoWhereItIsUnknown() throws {
        let parts: [RecordPredicate] = [
            PropertyPath("age") > 35, PropertyPath("age") == 40, PropertyPath("age").isNull,
            PropertyPath("email").contains("a"), PropertyPath("email") == "no",
            PropertyPath("company.name").beginsWith("A"), PropertyPath("notes.@count") < 2, .constant(true),
            .constant(false),
        ]
        for one in parts {
            #expect(try selected(!(!one)) == selected(one))
            for other in parts {
                #expect(try selected(!(one && other)) == selected(!one || !other))
                #expect(try selected(!(one || other)) == selected(!one && !other))
                #expect(try selected(one && other) == selected(other && one))
                for third in parts {
                    #expect(try selected(one && (other || third)) == selected((one && other) || (one && third)))
                }
            }
        }
    }

    /// `%` stands for any text, `_` for a scalar, and a backslash makes the next byte stand for
    /// itself.
    @Test(arguments: [
        ("a_bc", #"a\_bc"#, true), ("axbc", #"a\_bc"#, false), ("a%bc", #"a\%bc"#, true), ("axbc", #"a\%bc"#, false),
        (#"a\bc"#, #"a\\bc"#, true), (#"a\"#, #"a\"#, true), ("abc", #"a\bc"#, true), ("aébc", "a_bc", true),
        ("aébc", "a__bc", false), ("abc", "%", true), ("", "%", true), ("", "_", false), ("abcabd", "%ab_", true),
        ("abcabd", "ab_", false), ("abc", "abc%%", true), ("abc", "ab", false), ("ab", "abc", false),
    ])
    func aPatternStandsForTexts(text: String, pattern: String, matches: Bool) {
        #expect(LikePattern.matches(Array(text.utf8), pattern: Array(pattern.utf8)) == matches)
    }

    @Test(arguments: [
        ("abc%", "abc"), ("a_c", "a"), ("%a", ""), ("_", ""), ("abc", "abc"), ("", ""), (#"a\%b%c"#, "a%b"),
        (#"a\_b\\_"#, #"a_b\"#), (#"a\"#, #"a\"#),
    ])
    func everyMatchBeginsWithThePrefix(pattern: String, prefix: String) {
        #expect(LikePattern.literalPrefix(of: pattern) == prefix)
    }
}
