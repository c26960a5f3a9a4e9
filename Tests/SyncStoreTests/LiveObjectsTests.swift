import OneWayStoreKinds
import OneWayStoreTestSupport
import Foundation
import OneWayTestLimits
import SyncBase
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Live queries see every commit that changes them, and no other.
@Suite(.serialized, .endsInTime) struct LiveObjectsTests {
    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        var company: Related<Company?>
        static let declaration = SyncDeclaration<User>(.identity(\.id))
    }

    struct Company: SyncObject, Equatable {
        var id: Int
        var name: String
        static let declaration = SyncDeclaration<Company>(.identity(\.id))
    }

    private func user(_ id: Int, _ name: String, at company: Company? = nil) -> User {
        User(id: id, name: name, company: .included(company))
    }

    @Test(arguments: StoreKind.all)
    func aStateFollowsEachCommitThatChangesIt(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(User.self))
            var states = store.values(
                of: User.self, where: \.id < 10 && \.company.name != "IBM", orderedBy: \.name, including: \.company
            ).makeAsyncIterator()
            #expect(try await states.next() == [])
            let apple = Company(id: 1, name: "Apple")
            try await store.insert(user(1, "Ada", at: apple))
            #expect(try await states.next() == [user(1, "Ada", at: apple)])
            // Commits that change nothing in the result cause no state.
            try await store.insert(user(11, "Zoe", at: apple))
            try await store.insert(user(1, "Ada", at: apple))
            try await store.insert(Company(id: 2, name: "Acme"))
            try await store.insert(user(2, "Bob", at: Company(id: 1, name: "Pear")))
            let pear = Company(id: 1, name: "Pear")
            #expect(try await states.next() == [user(1, "Ada", at: pear), user(2, "Bob", at: pear)])
            // Several commits become one state.
            try await store.insert(user(2, "Cyd", at: pear))
            try await store.transaction { _ = try await $0.remove(StoreQuery("User", where: PropertyPath("id") == 1)) }
            #expect(try await states.next() == [user(2, "Cyd", at: pear)])
            try await store.insert(Company(id: 1, name: "IBM"))
            #expect(try await states.next() == [])
        }
    }

    @Test func commitsOfAnotherStoreOfTheFileAreSeen() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "Live-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try DataModel(User.self)
        var options = SQLiteStore.Options()
        options.commitPollInterval = .milliseconds(5)
        let path = folder.appending(path: "store.sqlite").path
        let one = try await SQLiteStore(exactly: model, at: .file(path), options: options)
        let other = try await SQLiteStore(exactly: model, at: .file(path), options: options)
        var states = one.values(of: User.self).makeAsyncIterator()
        #expect(try await states.next() == [])
        for id in 1...3 {
            try await other.insert(user(id, "Ada"))
            #expect(try await states.next()?.count == id)
        }
    }

    /// A store in memory whose reads stop at a gate.
    private struct GatedStore: CommitSignals.Source {
        let base: MemoryStore
        let gate: Gate

        var model: DataModel { base.model }

        func commits() async throws -> CommitSignals { base.commits() }

        func transaction<Result: Sendable>(
            _ body: @Sendable (any StoreTransaction) async throws -> Result
        ) async throws -> Result {
            try await base.transaction(body)
        }

        func read<Result: Sendable>(
            _ body: @Sendable (any StoreReader) async throws -> Result
        ) async throws -> Result {
            try await base.read { reader in
                try await gate.pass()
                return try await body(reader)
            }
        }
    }

    @Test func aLiveQueryCanBeCancelledAtEachStage() async throws {
        let user = user(1, "Ada")
        for stage in 0..<4 {
            let gate = Gate(isOpen: stage >= 2)
            let store = GatedStore(base: MemoryStore(exactly: try DataModel(User.self)), gate: gate)
            let first = Gate()
            let loop = Task {
                // Before it begins.
                if stage == 0 { try? await Gate().pass() }
                var states: [[User]] = []
                for try await users in store.values(of: User.self) {
                    states.append(users)
                    first.open()
                    // In the body of the loop.
                    if stage == 3 { try? await Gate().pass() }
                }
                return states
            }
            // In the first read, and while it waits for a commit.
            if stage == 1 { try await gate.waitForArrivals() }
            if stage >= 2 { try await first.pass() }
            loop.cancel()
            let states = try await loop.value
            #expect(states == (stage >= 2 ? [[]] : []), "at stage \(stage)")
            try await store.insert(user)
        }
    }

    @Test func aLiveQueryCanBeCancelledWhileItReadsAfterACommit() async throws {
        let gate = Gate(isOpen: true)
        let store = GatedStore(base: MemoryStore(exactly: try DataModel(User.self)), gate: gate)
        let closed = Gate()
        let switching = SwitchedStore(open: store, closed: GatedStore(base: store.base, gate: closed))
        let loop = Task {
            var states: [[User]] = []
            for try await users in switching.values(of: User.self) {
                states.append(users)
                switching.isClosed.withLock { $0 = true }
                try await store.insert(user(1, "Ada"))
            }
            return states
        }
        try await closed.waitForArrivals(orEndOf: loop)
        loop.cancel()
        #expect(try await loop.value == [[]])
        #expect(try await store.all(User.self).map(\.id) == [1])
    }

    /// A store that reads through another one once it is told so.
    private struct SwitchedStore: CommitSignals.Source {
        let open: GatedStore
        let closed: GatedStore
        let isClosed = Locked(false)

        var model: DataModel { open.model }

        func commits() async throws -> CommitSignals { try await open.commits() }

        func transaction<Result: Sendable>(
            _ body: @Sendable (any StoreTransaction) async throws -> Result
        ) async throws -> Result {
            try await open.transaction(body)
        }

        func read<Result: Sendable>(
            _ body: @Sendable (any StoreReader) async throws -> Result
        ) async throws -> Result {
            try await isClosed.withLock({ $0 }) ? closed.read(body) : open.read(body)
        }
    }

    @Test func aStoreWithoutNoticesIsAnErrorThatSaysWhatToDo() async throws {
        let silent = HookedStore(MemoryStore(exactly: try DataModel(User.self)), NoHook())
        var states = silent.values(of: User.self).makeAsyncIterator()
        await #expect(throws: ObjectReadingError.notObservable) { _ = try await states.next() }
        let observed = ObservedStore(silent)
        var others = observed.values(of: User.self).makeAsyncIterator()
        #expect(try await others.next() == [])
        try await observed.insert(user(1, "Ada"))
        #expect(try await others.next()?.map(\.id) == [1])
        // Beside an observer of the changes.
        var changes = observed.changes().makeAsyncIterator()
        try await observed.insert(user(2, "Bob"))
        #expect(try await others.next()?.map(\.id) == [1, 2])
        #expect(await changes.next() == ChangeSet(["User": .init(inserted: [.identity(2)])]))
    }
}
