import OneWayStoreKinds
import Foundation
import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Typed reads do the same in every store.
@Suite(.serialized, .endsInTime) struct ObjectReadingTests {
    enum Role: String, Codable, CaseIterable, AttributeRepresentable { case reader, editor }

    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        var age: Int?
        var role: Role
        var score: Double
        var joined: Date?
        var balance: Decimal
        var tags: [String]
        var company: Company?
        var notes: [Note]
        static let declaration = SyncDeclaration<User>(
            .identity(\.id), .toMany(\.notes, inverse: \.author, ordered: true, deleteRule: .cascade), .index(\.name))
    }

    struct Company: SyncObject, Equatable {
        var id: Int
        var name: String
        var city: Related<City?>
        static let declaration = SyncDeclaration<Company>(.identity(\.id), .index(\.name))
    }

    struct City: SyncObject, Equatable {
        var name: String
        static let declaration = SyncDeclaration<City>(.identity(\.name))
    }

    struct Note: SyncObject, Equatable {
        var id: Int
        var text: String?
        var author: Related<User?>
        var topics: Related<[Topic]>
        static let declaration = SyncDeclaration<Note>(.identity(\.id))
    }

    struct Topic: SyncObject, Equatable {
        var name: String
        static let declaration = SyncDeclaration<Topic>(.identity(\.name))
    }

    /// The same objects without what they are related to.
    struct PlainUser: SyncObject, Equatable {
        var id: Int
        var name: String
        var age: Int?
        var notes: Related<[Note]>
        static let declaration = SyncDeclaration<PlainUser>("User")
    }

    static let json = """
        [{"id": 1, "name": "Ada", "age": 36, "role": "editor", "score": 1.5, "joined": "1815-12-10T12:00:00Z",
          "balance": "10.10", "tags": ["a", "b"], "company": {"id": 7, "name": "Apple", "city": {"name": "Cupertino"}},
          "notes": [{"id": 1, "text": "x", "topics": [{"name": "art"}, {"name": "zoo"}]}, {"id": 2, "text": null}]},
         {"id": 2, "name": "Bob", "age": 50, "role": "reader", "score": 2.5, "balance": "0.30", "tags": [],
          "company": {"id": 8, "name": "IBM", "city": null}, "notes": [{"id": 3, "text": "xy", "topics": [{"name": "art"}]}]},
         {"id": 3, "name": "Cyd", "age": null, "role": "reader", "score": 3.5, "balance": "0.60", "tags": ["c"],
          "company": null, "notes": []},
         {"id": 4, "name": "Ada", "age": 20, "role": "reader", "score": 0, "balance": "1", "tags": [],
          "company": {"id": 7, "name": "Apple", "city": {"name": "Cupertino"}}, "notes": []}]
        """

    /// Runs a test with a store of each kind that holds the users.
    private func withUsers(_ kind: StoreKind, _ body: @Sendable (any Store) async throws -> Void) async throws {
        let mapper = try RecordMapper(try DataModel(User.self))
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            try await JSONStore(store, mapper: mapper).sync(.bytes(Array(Self.json.utf8)), into: "User")
            try await body(store)
        }
    }

    @Test(arguments: StoreKind.all)
    func objectsComeWithWhatIsIncluded(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            let users = try await store.all(
                User.self, where: \.age > 30 && \.company.name == "Apple", orderedBy: \.name, limit: 50,
                including: \.company.city, \.notes.topics)
            let apple = Company(id: 7, name: "Apple", city: .included(City(name: "Cupertino")))
            let notes = [
                Note(
                    id: 1, text: "x", author: .notIncluded,
                    topics: .included([Topic(name: "art"), Topic(name: "zoo")])),
                Note(id: 2, text: nil, author: .notIncluded, topics: .included([])),
            ]
            let ada = User(
                id: 1, name: "Ada", age: 36, role: .editor, score: 1.5,
                joined: Date(timeIntervalSince1970: -4_861_684_800), balance: 10.1, tags: ["a", "b"], company: apple,
                notes: notes)
            #expect(users == [ada])
            let all = try await store.all(User.self, orderedBy: \.id.descending, including: \.company, \.notes)
            #expect(all.map(\.id) == [4, 3, 2, 1])
            #expect(all.map(\.company?.name) == ["Apple", nil, "IBM", "Apple"])
            #expect(all.map { $0.notes.map(\.id) } == [[], [], [3], [1, 2]])
            #expect(all[0].company?.city == .notIncluded)
        }
    }

    @Test(arguments: StoreKind.all)
    func relatedObjectsThatWereNotAskedForAreAnError(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            await #expect(throws: ObjectReadingError.notIncluded(type: "User", property: "notes")) {
                _ = try await store.all(User.self, including: \.company)
            }
            let plain = try await store.first(PlainUser.self, where: \.id == 2)
            #expect(plain == PlainUser(id: 2, name: "Bob", age: 50, notes: .notIncluded))
            let whole = try await store.first(PlainUser.self, where: \.id == 2, including: \.notes)
            #expect(whole?.notes.value?.map(\.id) == [3])
        }
    }

    private struct Author: SyncObject {
        var id: Int
        var books: Related<[Book]>
    }

    private struct Book: SyncObject {
        var id: Int
        var authors: [Author]
        static let declaration = SyncDeclaration<Book>(.toMany(\.authors, inverse: \.books))
    }

    @Test func theErrorNamesTheWholePathOfWhatIsMissing() async throws {
        let store = try MemoryStore(Author.self)
        try await store.sync(Author.self, .text(#"[{"id":1,"books":[{"id":1}]}]"#))
        await #expect(throws: ObjectReadingError.notIncluded(type: "Author", property: "books.authors")) {
            _ = try await store.all(Author.self, including: \.books)
        }
    }

    /// Each condition, and the users that it selects.
    static let conditions: [(ObjectPredicate<User>, [Int])] = [
        (\.company.name == "Apple", [1, 4]), (\.company.name != "Apple", [2]), (!(\.company.name == "Apple"), [2]),
        (\.company.name == nil, [3]), (\.company.name != nil, [1, 2, 4]), (\.company == nil, [3]),
        (!(\.company == nil), [1, 2, 4]), (\.company.city.name == "Cupertino", [1, 4]),
        (\.company.city.name == nil, [2, 3]), (!(\.company.city.name == nil || \.company.id == 7), []),
        (!(\.company.name == "IBM" && \.age > 1), [1, 4]), (\.company.name == "Apple" || \.company.id == 8, [1, 2, 4]),
        (\.company.name == "Apple" && \.company.id == 8, []), (.in(\.company.id, [8, 9]), [2]),
        (!.in(\.company.id, [8, 9]), [1, 4]), (.in(\.company.id, []), []), (!.in(\.company.id, []), [1, 2, 3, 4]),
        (.like(\.company.name, "_p%"), [1, 4]), (!.like(\.company.name, "_p%"), [2]),
        (.any(\.notes, where: \.text == "x"), [1]), (!.any(\.notes, where: \.text == "x"), [2, 3, 4]),
        (.all(\.notes, where: \.text == "xy"), [2, 3, 4]), (!.all(\.notes, where: \.text == "xy"), [1]),
        (.all(\.notes, where: \.text != "x"), [2, 3, 4]),
        (.count(\.notes, where: .beginsWith(\.text, "x"), in: 1...), [1, 2]),
        (.count(\.notes, where: \.text == "x", in: 0...0), [2, 3, 4]),
        (!.count(\.notes, where: \.text == "x", in: 0...0), [1]), (.count(\.notes, where: \.id > 0, in: 3...), []),
        (\.notes.count == 2, [1]), (\.notes.count > 0, [1, 2]), (\.notes.count < 1, [3, 4]),
        (\.notes.count >= 0, [1, 2, 3, 4]),
        (\.notes.count != 2, [2, 3, 4]), (!(\.notes.count != 2), [1]), (\.notes.count < 0, []),
        (.any(\.notes, where: .any(\.topics, where: \.name == "zoo")), [1]),
        (.any(\.notes, where: .all(\.topics, where: \.name == "art")), [1, 2]),
        (.any(\.notes, where: \.author.company.name == "IBM"), [2]), (.any(\.company, where: \.name == "IBM"), [2]),
        (!.any(\.company, where: \.name == "IBM"), [1, 3, 4]), (.all(\.company, where: \.name == "IBM"), [2, 3]),
        (\.role == .editor, [1]), (\.role != .editor, [2, 3, 4]), (.in(\.role, [.editor]), [1]), (\.age == nil, [3]),
        (\.age > 36 || \.age == nil, [2, 3]),
        (\.joined < Date(), [1]), (\.balance > 0.5, [1, 3, 4]), (.like(\.name, "%d_"), [1, 4]),
        (.like(\.name, "a%"), []),
        (.endsWith(\.name, "b") && \.score == 2.5, [2]), (.constant(true), [1, 2, 3, 4]),
    ]

    @Test(arguments: StoreKind.all)
    func conditionsSelectTheSameInEveryStore(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            for (predicate, expected) in Self.conditions {
                let query = ObjectQuery(where: predicate, including: \.company, \.notes)
                let found = try await store.all(query).map(\.id)
                let text = try predicate.recordPredicate()
                #expect(found == expected, "\(text)")
                let count = try await store.count(User.self, where: predicate)
                #expect(count == expected.count)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func valuesOfManyObjectsAreComputed(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            #expect(try await store.distinct(User.self, of: \.name) == ["Ada", "Bob", "Cyd"])
            #expect(try await store.distinct(User.self, of: \.role) == [.editor, .reader])
            #expect(try await store.distinct(Note.self, of: \.author.role) == [.editor, .reader])
            #expect(try await store.counts(User.self, by: \.role).map(\.count) == [1, 3])
            #expect(try await store.maximum(User.self, of: \.role) == .reader)
            let byRole = try await store.all(
                User.self, orderedBy: \.role.descending, \.id.descending, including: \.company, \.notes)
            #expect(byRole.map(\.id) == [4, 3, 2, 1])
            #expect(try await store.distinct(User.self, of: \.company.name) == [nil, "Apple", "IBM"])
            let byName = try await store.counts(User.self, by: \.company.name, where: \.id > 1)
            #expect(
                byName == [
                    StoreQuery.GroupCount(value: nil, count: 1), StoreQuery.GroupCount(value: "Apple", count: 1),
                    StoreQuery.GroupCount(value: "IBM", count: 1),
                ])
            #expect(try await store.minimum(User.self, of: \.age) == 20)
            #expect(try await store.maximum(User.self, of: \.name) == "Cyd")
            #expect(try await store.maximum(User.self, of: \.balance) == 10.1)
            #expect(try await store.sum(User.self, of: \.balance) == Decimal(string: "12.00"))
            #expect(try await store.sum(User.self, of: \.age, where: \.company.name == "Apple") == 56)
            #expect(try await store.average(User.self, of: \.score) == 1.875)
            #expect(try await store.sum(User.self, of: \.age, where: \.id > 100) == nil)
            #expect(try await store.maximum(User.self, of: \.notes.count) == 2)
        }
    }

    @Test(arguments: StoreKind.all)
    func aSumBeyond64BitsIsAnError(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            try await store.insert([
                User(
                    id: .max, name: "", age: nil, role: .reader, score: 0, balance: 0, tags: [], notes: [])
            ])
            await #expect(throws: StoreError.sumOverflow(entity: "User")) {
                _ = try await store.sum(User.self, of: \.id)
            }
        }
    }

    private struct Score: SyncObject {
        var id: Int
        var points: Int8?
    }

    @Test(arguments: StoreKind.all)
    func aSumBeyondTheTypeOfThePropertyIsAnError(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Score.self))
            try await store.insert([Score(id: 1, points: 100), Score(id: 2, points: 100)])
            await #expect(throws: StoreError.sumOverflow(entity: "Score")) {
                _ = try await store.sum(Score.self, of: \.points)
            }
            #expect(try await store.sum(Score.self, of: \.points, where: \.id == 1) == 100)
        }
    }

    @Test(arguments: StoreKind.all)
    func pagesFollowEachOther(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            func ids(_ query: ObjectQuery<PlainUser>) async throws -> [[Int]] {
                var pages: [[Int]] = []
                var key: StoreQuery.PageKey?
                repeat {
                    let page = try await store.page(query, after: key)
                    pages.append(page.objects.map(\.id))
                    // As a server passes it on.
                    key = try page.next.map {
                        try JSONDecoder().decode(StoreQuery.PageKey.self, from: try JSONEncoder().encode($0))
                    }
                } while key != nil
                return pages
            }
            let queries: [(ObjectQuery<PlainUser>, [[Int]])] = [
                (ObjectQuery(limit: 2), [[1, 2], [3, 4]]),
                (ObjectQuery(orderedBy: \.name, limit: 1), [[1], [4], [2], [3]]),
                (ObjectQuery(orderedBy: \.age, limit: 1), [[3], [4], [1], [2]]),
                (ObjectQuery(orderedBy: \.age.descending.nullsLast, limit: 3), [[2, 1, 4], [3]]),
                (ObjectQuery(orderedBy: \.age.nullsLast, limit: 1), [[4], [1], [2], [3]]),
                (ObjectQuery(orderedBy: \.age.descending, limit: 3), [[3, 2, 1], [4]]),
            ]
            for (query, expected) in queries {
                let found = try await ids(query)
                #expect(found == expected)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func objectsAreInserted(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(User.self))
            let company = Company(id: 1, name: "Apple", city: .included(City(name: "Cupertino")))
            let note = Note(id: 5, text: "n", author: .notIncluded, topics: .included([Topic(name: "t")]))
            var user = User(
                id: 1, name: "Ada", age: nil, role: .editor, score: 1, joined: Date(timeIntervalSince1970: 1),
                balance: 2, tags: ["x"], company: company, notes: [note])
            try await store.insert(user)
            let stored = try await store.all(User.self, including: \.company.city, \.notes.topics)
            #expect(stored == [user])
            user.name = "Eve"
            user.company = nil
            user.notes[0].topics = .notIncluded
            try await store.insert([user])
            let changed = try await store.first(User.self, including: \.company, \.notes.topics)
            user.notes[0].topics = .included([Topic(name: "t")])
            #expect(changed == user)
        }
    }

    struct Account: SyncObject, Equatable {
        var id: Int
        var email: String?
        var isOpen: Bool
        static let declaration = SyncDeclaration<Account>(.identity(\.id), .unique(\.email, where: \.isOpen == true))
    }

    @Test(arguments: StoreKind.all)
    func aUniqueIndexRefusesEqualValues(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(Account.self))
            try await store.insert([
                Account(id: 1, email: "a", isOpen: true), Account(id: 2, email: "a", isOpen: false),
                Account(id: 3, email: nil, isOpen: true), Account(id: 4, email: nil, isOpen: true),
            ])
            for id in [5, 2] {
                await #expect {
                    try await store.insert(Account(id: id, email: "a", isOpen: true))
                } throws: {
                    $0.isTaken(["email"], of: "Account")
                }
            }
            try await store.insert(Account(id: 1, email: "a", isOpen: false))
            try await store.insert(Account(id: 2, email: "a", isOpen: true))
            try await store.transaction {
                _ = try await $0.remove(StoreQuery("Account", where: PropertyPath("id") == 2))
            }
            try await store.insert(Account(id: 6, email: "a", isOpen: true))
            #expect(try await store.count(Account.self) == 4)
        }
    }

    @Test(arguments: StoreKind.all)
    func batchesHoldAllObjectsInOrder(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            let sizes = try await store.read { reader in
                var sizes: [[Int]] = []
                try await reader.batches(
                    of: ObjectQuery<User>(orderedBy: \.name, including: \.company, \.notes), rowCount: 3
                ) {
                    sizes.append($0.map(\.id))
                }
                return sizes
            }
            #expect(sizes == [[1, 4, 2], [3]])
        }
    }
}
