import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Sources whose objects are no JSON follow the rules of JSON.
@Suite(.endsInTime) struct RecordSourceTests {
    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        var age: Int?
        var company: Company?
        var tags: [Tag] = []
    }

    struct Company: SyncObject, Equatable {
        var id: Int
        var name: String?
    }

    struct Tag: SyncObject, Equatable {
        var id: String
    }

    private static let companies = #"[{"id": 5, "name": "Kuma"}, {"id": 6, "name": "Ori"}]"#

    /// The lines of a CSV file: id, name, age, company, and tags with spaces between them.
    @Sendable private static func read(_ line: String, _ user: inout RecordMapper.Row) throws {
        let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try user.set("id", to: Int(fields[0]))
        try user.set("name", to: fields[1])
        if fields.count > 2 { try user.set("age", to: Int(fields[2])) }
        if fields.count > 3 { try user.relate("company", to: Int(fields[3])) }
        if fields.count > 4 { try user.relate("tags", to: fields[4].split(separator: " ").map(String.init)) }
    }

    private func users(_ lines: String...) -> JSONSource {
        .records(lines, Self.read)
    }

    private func fill(_ store: some Store) async throws {
        try await store.sync(Company.self, .text(Self.companies))
        try await store.sync(Tag.self, .text(#"[{"id": "a"}, {"id": "b"}]"#))
    }

    private func withStore(_ kind: StoreKind, _ body: @Sendable (any Store) async throws -> Void) async throws {
        let model = try DataModel(User.self).prepared(nil)
        try await kind.use { makeStore in
            let store = try await makeStore(model)
            try await fill(store)
            try await body(store)
        }
    }

    @Test(arguments: StoreKind.all) func linesBecomeObjects(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let result = try await store.sync(User.self, users("1,Ada,36,5,a b", "2,Ben,,,", "3,Cleo,20,6,b"))
            #expect(result.counts.inserted == 3)
            #expect(result.drift.isEmpty)
            let found = try await store.all(User.self, orderedBy: \.id, including: \.company, \.tags)
            #expect(found.map(\.name) == ["Ada", "Ben", "Cleo"])
            #expect(found.map(\.age) == [36, nil, 20])
            #expect(found.map(\.company?.name) == ["Kuma", nil, "Ori"])
            #expect(found.map { $0.tags.map(\.id).sorted() } == [["a", "b"], [], ["b"]])
            #expect(try await store.sync(User.self, users("1,Ada,36,5,a b", "2,Ben,,,", "3,Cleo,20,6,b")).isUnchanged)
            // What a line does not have stays, and what no line has goes.
            let next = try await store.sync(User.self, users("1,Ada Lovelace", "3,Cleo,,5,a"))
            #expect(next.counts.updated == 2 && next.counts.deleted == 1)
            let rest = try await store.all(User.self, orderedBy: \.id, including: \.company, \.tags)
            #expect(rest.map(\.age) == [36, nil] && rest.map(\.company?.id) == [5, 5])
            #expect(rest.map { $0.tags.map(\.id).sorted() } == [["a", "b"], ["a"]])
        }
    }

    /// A line names two, the other none.
    @Test(arguments: StoreKind.all) func relationsThatNoOperationAllowsAreCounted(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let options = StoreSyncOptions(operations: [.insert, .update])
            let result = try await store.sync(User.self, users("1,Ada,36,5,a b", "2,Ben,,,"), options: options)
            #expect(result.counts.inserted == 2 && result.excludedRelationshipCount == 2)
            let found = try await store.all(User.self, including: \.company, \.tags)
            #expect(found.allSatisfy { $0.company == nil && $0.tags.isEmpty })
        }
    }

    private static let numberedUsers: JSONSource = {
        let numbers = AsyncStream<Int> { continuation in
            for number in 1...2_500 { continuation.yield(number) }
            continuation.finish()
        }
        return .records(numbers) { number, user in
            try user.set("id", to: number)
            try user.set("name", to: "name \(number)")
            try user.relate("company", to: 5 + number % 2)
        }
    }()

    @Test func thousandsOfRowsArriveFromAStream() async throws {
        let store = try MemoryStore(User.self)
        try await fill(store)
        #expect(try await store.sync(User.self, Self.numberedUsers).counts.inserted == 2_500)
        #expect(try await store.count(User.self, where: \.company.id == 6) == 1_250)
    }

    @Test func whatDoesNotFitIsReported() async throws {
        let store = try MemoryStore(User.self)
        try await fill(store)
        try await store.sync(User.self, users("1,Ada", "2,Ben"))
        let rows = JSONSource.records(1...3) { number, user in
            try user.set("id", to: number == 2 ? nil : number)
            if number != 3 { try user.set("name", to: "x") }
            try user.set("age", to: number == 1 ? "old" : "7")
            try user.relate("company", to: number == 1 ? 99 : nil)
        }
        let result = try await store.sync(User.self, rows)
        // Without an identity, the second row may be any user, so nobody is deleted.
        #expect(result.rejectedCount == 2)
        #expect(result.counts.deleted == 0)
        #expect(result.drift.entries.contains { $0.keyPath == "age" && $0.kind == .unfitValue })
        #expect(result.drift.count(of: .unknownIdentifier) == 1)
    }

    @Test func whatReadsJSONIsRefused() async throws {
        let store = try MemoryStore(User.self)
        try await fill(store)
        var options = StoreSyncOptions()
        options.willInsert = { object, _ in object }
        await #expect(throws: StoreSyncError.noJSON(entity: "User")) {
            try await store.sync(User.self, users("1,Ada"), options: options)
        }
        let unknown = JSONSource.records(1...1) { number, user in try user.set("identifier", to: number) }
        await #expect(throws: Record.CodingError.unknownProperty(entity: "User", property: "identifier")) {
            try await store.sync(User.self, unknown)
        }
        let unsuitable = JSONSource.records(1...1) { number, user in try user.relate("tags", to: number) }
        await #expect(throws: Record.CodingError.wrongType(entity: "User", property: "tags", type: "Tag")) {
            try await store.sync(User.self, unsuitable)
        }
        #expect(try await store.count(User.self) == 0)
    }

    @Test func anErrorOfTheSourceEndsTheSync() async throws {
        struct Torn: Error {}
        let store = try MemoryStore(User.self)
        try await fill(store)
        try await store.sync(User.self, users("1,Ada"))
        let lines = AsyncThrowingStream<String, any Error> { continuation in
            continuation.yield("2,Ben")
            continuation.finish(throwing: Torn())
        }
        await #expect(throws: Torn.self) { try await store.sync(User.self, .records(lines, Self.read)) }
        #expect(try await store.all(User.self, including: \.company, \.tags).map(\.name) == ["Ada"])
    }
}
