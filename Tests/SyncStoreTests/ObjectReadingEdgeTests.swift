import OneWayStoreKinds
import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Odd values, names and shapes of typed reads, the same in every store.
@Suite(.serialized, .endsInTime) struct ObjectReadingEdgeTests {
    enum Color: String, Codable, CaseIterable, Sendable { case red, green = "GREEN" }

    struct Code: RawRepresentable, Codable, Hashable, Sendable {
        var rawValue: Int
    }

    struct Person: SyncObject, Equatable {
        var id: Int
        var title: String?
        var color: Color
        var code: Code?
        var ratio: Double?
        var boss: Related<Person?>
        var staff: Related<[Person]>

        enum CodingKeys: String, CodingKey {
            case id, title = "name", color = "colour", code, ratio, boss = "manager", staff
        }

        static let declaration = SyncDeclaration<Person>(
            .identity(\.id), .toMany(\.staff, inverse: \.boss), .index(\.title), .index(\.code, \.title))
    }

    private static func person(
        _ id: Int, _ title: String?, _ color: Color = .red, code: Int? = nil, ratio: Double? = nil, boss: Person? = nil
    ) -> Person {
        Person(
            id: id, title: title, color: color, code: code.map(Code.init), ratio: ratio, boss: .included(boss),
            staff: .notIncluded)
    }

    /// People whose bosses form a chain: 1 of 2 of 3, and 3 of itself.
    private static let people: [Person] = {
        func reference(_ id: Int, _ all: [Person]) -> Person {
            var found = all[id - 1]
            found.boss = .notIncluded
            return found
        }
        var all = [
            person(1, "100%", code: 7, ratio: 0.5), person(2, "a_b\\c", .green, code: 7, ratio: -.infinity),
            person(3, nil, ratio: .greatestFiniteMagnitude), person(4, "e\u{301}", .green, code: 0),
            person(5, "\u{E9}", code: 0, ratio: 0), person(6, "😀 a", ratio: 1), person(7, "", .green, ratio: 1.0),
            person(8, "A\u{0}B", code: -1, ratio: .infinity), person(9, "axb\\c"),
        ]
        for (id, boss) in [(1, 2), (2, 3), (3, 3), (4, 1)] { all[id - 1].boss = .included(reference(boss, all)) }
        return all
    }()

    private func withPeople(_ kind: StoreKind, _ body: @Sendable (any Store) async throws -> Void) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Person.self))
            try await store.insert(Self.people)
            try await body(store)
        }
    }

    /// Each condition, and the people that it selects.
    private static let conditions: [(ObjectPredicate<Person>, [Int])] = [
        // Patterns.
        (.like(\.title, "%\\%"), [1]), (.like(\.title, "a\\_b%"), [2]), (.like(\.title, "a_b\\\\c"), [2, 9]),
        (.like(\.title, "%"), [1, 2, 4, 5, 6, 7, 8, 9]), (.like(\.title, ""), [7]), (.like(\.title, "_"), [5]),
        (.like(\.title, "__"), [4]), (.like(\.title, "😀%"), [6]), (.like(\.title, "A%B"), [8]),
        (.like(\.title, "A\u{0}_"), [8]), (!.like(\.title, "%a%"), [1, 4, 5, 7, 8]), (.like(\.title, "\\"), []),
        // Texts by their bytes.
        (\.title == "\u{E9}", [5]), (\.title == "e\u{301}", [4]), (.beginsWith(\.title, "e"), [4]),
        (.beginsWith(\.title, "A\u{0}"), [8]), (.beginsWith(\.title, ""), [1, 2, 4, 5, 6, 7, 8, 9]),
        (.contains(\.title, "\u{0}"), [8]), (.endsWith(\.title, "\\c"), [2, 9]), (\.title > "\u{E9}", [6]),
        (\.title < "A", [1, 7]), (\.title == "", [7]), (.in(\.title, ["", "100%", "x"]), [1, 7]),
        // Lists.
        (.in(\.title, [String]()), []), (!.in(\.title, [String]()), [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (.in(\.color, []), []), (.in(\.color, [.green]), [2, 4, 7]), (.in(\.code, [Code(rawValue: 7)]), [1, 2]),
        (!.in(\.code, [Code(rawValue: 7)]), [4, 5, 8]),
        // Null.
        (\.title == nil, [3]), (\.title != nil, [1, 2, 4, 5, 6, 7, 8, 9]),
        (!(\.title == "100%"), [2, 4, 5, 6, 7, 8, 9]),
        (\.title == "100%" || \.title != "100%", [1, 2, 4, 5, 6, 7, 8, 9]), (\.code == nil, [3, 6, 7, 9]),
        (\.code == Code(rawValue: 0), [4, 5]), (\.code != Code(rawValue: 0), [1, 2, 8]),
        // Numbers.
        (\.ratio == 1, [6, 7]), (\.ratio < .infinity, [1, 2, 3, 5, 6, 7]), (\.ratio == .nan, []),
        (\.ratio != .nan, [1, 2, 3, 5, 6, 7, 8]), (\.ratio > .nan, [1, 2, 3, 5, 6, 7, 8]), (\.ratio <= .nan, []),
        (\.ratio == -0.0, [5]), (\.ratio == -.infinity, [2]),
        // Enums.
        (\.color == .green, [2, 4, 7]), (\.color != .green, [1, 3, 5, 6, 8, 9]),
        // Chains of optional objects.
        (\.boss.title == "a_b\\c", [1]), (\.boss.boss.id == 3, [1, 2, 3]), (\.boss.boss.boss.id == 3, [1, 2, 3, 4]),
        (\.boss.title == nil, [2, 3, 5, 6, 7, 8, 9]), (\.boss.title == nil && \.boss != nil, [2, 3]),
        (!(\.boss.title == nil), [1, 4]), (\.boss.boss == nil, [5, 6, 7, 8, 9]), (\.boss.color == .green, [1]),
        (.in(\.boss.color, [.green]), [1]), (.like(\.boss.title, "1__\\%"), [4]), (\.boss.staff.count == 2, [2, 3]),
        (\.staff.count == 0, [4, 5, 6, 7, 8, 9]), (\.staff.count >= 2, [3]),
        // Quantifiers, also over nothing.
        (.any(\.staff, where: .constant(true)), [1, 2, 3]),
        (.all(\.staff, where: .constant(false)), [4, 5, 6, 7, 8, 9]),
        (!.any(\.staff, where: .constant(true)), [4, 5, 6, 7, 8, 9]),
        (.all(\.staff, where: \.title == "x"), [4, 5, 6, 7, 8, 9]),
        (.all(\.staff, where: \.title == nil), [4, 5, 6, 7, 8, 9]),
        (.all(\.staff, where: \.title != nil), [1, 2, 4, 5, 6, 7, 8, 9]),
        (.any(\.staff, where: \.title == nil), [3]), (.count(\.staff, where: \.title == nil, in: 1...), [3]),
        (.count(\.staff, where: .constant(true), in: ..<2), [1, 2, 4, 5, 6, 7, 8, 9]),
        (.count(\.staff, where: \.id > 100, in: 0...0), [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (!.all(\.staff, where: .any(\.staff, where: \.id == 4)), [1, 3]),
        (.any(\.boss, where: .any(\.staff, where: \.title == "a_b\\c")), [2, 3]),
        (.all(\.boss, where: \.title != nil), [1, 4, 5, 6, 7, 8, 9]),
        (\.id == 3 && .any(\.staff, where: \.id == 2), [3]), (\.id == 3 && .all(\.staff, where: \.id == 2), []),
        (\.id == 2 && !.any(\.staff, where: \.id == 3), [2]), (.in(\.id, [1, 2]) && \.staff.count == 1, [1, 2]),
    ]

    @Test(arguments: StoreKind.all)
    func conditionsSelectTheSameInEveryStore(kind: StoreKind) async throws {
        try await withPeople(kind) { store in
            for (predicate, expected) in Self.conditions {
                let text = try predicate.recordPredicate()
                let found = try await store.all(Person.self, where: predicate).map(\.id)
                #expect(found == expected, "\(text)")
                let pages = try await store.page(ObjectQuery(where: predicate, orderedBy: \.id.descending, limit: 100))
                #expect(pages.objects.map(\.id) == expected.reversed(), "\(text)")
                #expect(pages.next == nil)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func includedCyclesEndWhereTheQueryEnds(kind: StoreKind) async throws {
        try await withPeople(kind) { store in
            let third = try #require(
                try await store.first(Person.self, where: \.id == 3, including: \.boss.staff.boss))
            let boss = try #require(third.boss.value ?? nil)
            #expect(boss.id == 3)
            #expect(boss.boss == .notIncluded)
            #expect(boss.staff.value?.map(\.id) == [2, 3])
            #expect(boss.staff.value?.map { $0.boss.value??.id } == [3, 3])
            #expect(boss.staff.value?.allSatisfy { $0.staff == .notIncluded } == true)
            #expect(boss.staff.value?.allSatisfy { $0.boss.value??.boss == .notIncluded } == true)
            #expect(third.staff == .notIncluded)
        }
    }

    @Test(arguments: StoreKind.all)
    func ordersHaveAPlaceForNullAndTies(kind: StoreKind) async throws {
        let orders: [(ObjectQuery<Person>, [Int])] = [
            (ObjectQuery(orderedBy: \.title), [3, 7, 1, 8, 2, 9, 4, 5, 6]),
            (ObjectQuery(orderedBy: \.title.descending.nullsLast), [6, 5, 4, 9, 2, 8, 1, 7, 3]),
            (ObjectQuery(orderedBy: \.ratio.descending, limit: 6), [4, 9, 8, 3, 6, 7]),
            (ObjectQuery(orderedBy: \.boss.title.nullsLast, \.id.descending), [4, 1, 9, 8, 7, 6, 5, 3, 2]),
        ]
        try await withPeople(kind) { store in
            for (query, expected) in orders {
                let found = try await store.all(query).map(\.id)
                #expect(found == expected, "\(query.ordering)")
            }
        }
    }

    private static let ownOrders: [ObjectQuery<Person>] = [
        ObjectQuery(orderedBy: \.title, limit: 2), ObjectQuery(orderedBy: \.title.descending, limit: 2),
        ObjectQuery(orderedBy: \.title.descending.nullsLast, limit: 1), ObjectQuery(orderedBy: \.ratio, limit: 2),
        ObjectQuery(orderedBy: \.ratio.nullsLast, \.title.descending, limit: 2),
        ObjectQuery(orderedBy: \.ratio.descending, \.title.descending.nullsLast, limit: 2),
        ObjectQuery(where: .like(\.title, "%a%") || \.title == nil, orderedBy: \.ratio.nullsLast, limit: 2),
        ObjectQuery(orderedBy: \.ratio.descending, limit: 1), ObjectQuery(limit: 2),
    ]

    /// The identifiers of all pages.
    ///
    /// - Parameter body: Receives the last identifier of each page before the next one is read.
    private static func readPages(
        of query: ObjectQuery<Person>, in store: any Store, afterEach body: (Int) async throws -> Void = { _ in }
    ) async throws -> [Int] {
        var seen: [Int] = []
        var key: StoreQuery.PageKey?
        repeat {
            let page = try await store.page(query, after: key)
            seen += page.objects.map(\.id)
            key = page.next
            try await body(try #require(seen.last))
        } while key != nil
        return seen
    }

    @Test(arguments: StoreKind.all)
    func pagesHoldAllObjectsInOrder(kind: StoreKind) async throws {
        try await withPeople(kind) { store in
            let related: [ObjectQuery<Person>] = [
                ObjectQuery(orderedBy: \.boss.title, limit: 2),
                ObjectQuery(orderedBy: \.boss.title.descending.nullsLast, limit: 2),
                ObjectQuery(orderedBy: \.staff.count.descending, \.title, limit: 2),
            ]
            for query in Self.ownOrders + related {
                var whole = query
                whole.limit = nil
                let all = try await store.all(whole).map(\.id)
                #expect(try await Self.readPages(of: query, in: store) == all, "\(query.ordering)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aPageGoesOnAfterItsKeyWasDeleted(kind: StoreKind) async throws {
        for query in Self.ownOrders {
            try await withPeople(kind) { store in
                var whole = query
                whole.limit = nil
                let all = try await store.all(whole).map(\.id)
                let seen = try await Self.readPages(of: query, in: store) { last in
                    try await store.transaction {
                        _ = try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == last))
                    }
                }
                #expect(seen == all, "\(query.ordering)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aValueThatIsNoCaseIsAnErrorThatNamesIt(kind: StoreKind) async throws {
        try await withPeople(kind) { store in
            try await store.transaction { transaction in
                var record = Record(of: try transaction.model.layout(of: "Person"))
                record["id"] = 50
                record["colour"] = "purple"
                _ = try await transaction.insert(record)
            }
            do {
                _ = try await store.all(Person.self, where: \.id == 50)
                Issue.record("a value that is no case was read")
            } catch {
                #expect("\(error)".contains("colour") || "\(error)".contains("purple"), "\(error)")
            }
            #expect(try await store.all(Person.self, where: \.id < 50).count == 9)
        }
    }

    private struct Sample: SyncObject {
        var id: Int
        var ratio: Double?
        var price: Decimal?
        var at: Date?
    }

    @Test(arguments: StoreKind.all)
    func notANumberIsNotStored(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Sample.self))
            let samples = [
                ("ratio", Sample(id: 2, ratio: .nan)), ("price", Sample(id: 2, price: .nan)),
                ("at", Sample(id: 2, at: Date(timeIntervalSince1970: .nan))),
            ]
            for (attribute, sample) in samples {
                await #expect(throws: StoreError.unsuitableValue(entity: "Sample", attribute: attribute)) {
                    try await store.insert([Sample(id: 1, ratio: 1), sample])
                }
            }
            #expect(try await store.count(Sample.self) == 0)
        }
    }

    private struct Diary: SyncObject, Equatable {
        struct Entry: Codable, Equatable, Sendable { var at: Date }

        var id: Int
        var latest: Entry?
        var dates: [Date]?
    }

    @Test(arguments: StoreKind.all)
    func datesInJSONAreReadAsTheyWereWritten(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Diary.self))
            let entry = Diary.Entry(at: Date(timeIntervalSince1970: 1_700_000_000.25))
            let diaries = [Diary(id: 1, latest: entry, dates: [Date(timeIntervalSince1970: -1)]), Diary(id: 2)]
            try await store.insert(diaries)
            #expect(try await store.all(Diary.self, orderedBy: \.id) == diaries)
        }
    }

    /// A type that reads a property only if it is there.
    private struct Titled: SyncObject {
        var id: Int
        var name: String
        var isNamed: Bool
        var motto: String?

        enum CodingKeys: String, CodingKey { case id, name, motto }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            isNamed = container.contains(.id) && container.contains(.name) && !container.contains(.motto)
            name = try container.decode(String.self, forKey: .name)
            if id == 1 { motto = try container.decodeIfPresent(String.self, forKey: .motto) }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(name, forKey: .name)
        }

        static let declaration = SyncDeclaration<Titled>(.identity(\.id))
    }

    private func titled(_ type: AttributeType, _ name: AttributeValue) async throws -> [Titled] {
        let attributes = [SyncAttribute("id", .int64, optional: false), SyncAttribute("name", type)]
        let store = MemoryStore(
            exactly:
                try DataModel([SyncEntity("Titled", identity: ["id"], attributes: attributes, relationships: [])]))
        try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "Titled"))
            record["id"] = 1
            record["name"] = name
            _ = try await transaction.insert(record)
        }
        return try await store.all(Titled.self)
    }

    @Test func aDecoderKnowsWhichPropertiesThereAre() async throws {
        let found = try await titled(.string, "a")
        #expect(found.map(\.isNamed) == [true])
        #expect(found.map(\.motto) == [nil])
    }

    /// A type that uses two containers in turns, one of them with texts as keys.
    private struct Mixed: SyncObject, Equatable {
        var id: Int
        var name: String
        var note: String?

        enum CodingKeys: String, CodingKey { case id, note }

        struct TextKey: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(id: Int, name: String, note: String?) {
            self.id = id
            self.name = name
            self.note = note
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let texts = try decoder.container(keyedBy: TextKey.self)
            id = try container.decode(Int.self, forKey: .id)
            name = try texts.decode(String.self, forKey: TextKey(stringValue: "name"))
            note = try container.decodeIfPresent(String.self, forKey: .note)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(id, forKey: TextKey(stringValue: "id"))
            try container.encode(name, forKey: TextKey(stringValue: "name"))
            try container.encodeIfPresent(note, forKey: TextKey(stringValue: "note"))
        }

        static let declaration = SyncDeclaration<Mixed>(.identity(\.id))
    }

    @Test(arguments: StoreKind.all)
    func aTypeMayUseTwoContainersInTurns(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Mixed.self))
            let objects = (1...5).map { Mixed(id: $0, name: "name \($0)", note: $0 % 2 == 0 ? nil : "note \($0)") }
            try await store.insert(objects)
            #expect(try await store.all(Mixed.self) == objects)
        }
    }

    private struct Noted: SyncObject, Equatable {
        var note: String?
        var id: Int

        static let declaration = SyncDeclaration<Noted>(.identity(\.id))
    }

    @Test(arguments: StoreKind.all)
    func theFirstPropertyMayBeOptional(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Noted.self))
            let objects = [Noted(note: "a", id: 1), Noted(note: nil, id: 2)]
            try await store.insert(objects)
            #expect(try await store.all(Noted.self) == objects)
        }
    }

    @Test func aTextIsNotReadFromANumber() async throws {
        await #expect(throws: (any Error).self) { try await titled(.int64, 7) }
    }
}
