import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// What happens to the bookmark of one list when something else changes its objects.
@Suite(.endsInTime) struct BookmarkTests {
    private let world: SyncWorld

    init() throws {
        world = try SyncWorld(model: Self.model())
    }

    private static func model() throws -> DataModel {
        try UserModel.withEverything().adding([SyncEntity.bookmark])
    }

    @discardableResult
    private func sync(
        _ source: Listing, into entity: String = "User", options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await world.json.sync(from: source, into: entity, options: options)
    }

    /// An entity of the user's that happens to have the name of bookmarks.
    @Test func anotherEntityOfTheNameGetsNoBookmarks() async throws {
        let own = SyncEntity(SyncEntity.bookmark.name, identity: "name") { SyncAttribute("name", .string) }
        let world = try SyncWorld(model: try UserModel.withEverything().adding([own]))
        let listing = Listing("a", .tagged, #"[{"id":1}]"#)
        #expect(try await world.json.sync(from: listing, into: "User").counts.inserted == 1)
        #expect(try await world.store.count(StoreQuery(own.name)) == 0)
    }

    @Test(arguments: [Listing.Kind.tagged, .changes])
    func aListWhoseObjectsAnotherOneReplacedIsReadAgain(kind: Listing.Kind) async throws {
        let first = Listing("a", kind, #"[{"id":1},{"id":2}]"#)
        let second = Listing("b", kind, #"[{"id":2},{"id":3}]"#)
        for _ in 0..<2 {
            try await sync(first)
            #expect(try await world.column("id") == [1, 2])
            #expect(try await sync(first).coverage == .unchanged)
            try await sync(second)
            #expect(try await world.column("id") == [2, 3])
        }
    }

    @Test func unchangedPagesWithRejectedObjectsAreReportedAgain() async throws {
        let source = Listing("a", .tagged, #"[{"id":1},{"name":"Ada"}]"#)
        for _ in 0..<3 {
            let result = try await sync(source)
            #expect(result.coverage == .everything && result.rejectedCount == 1)
        }
        // A cursor stays, because it asks for changes only.
        let changes = Listing("b", .changes, #"[{"id":1},{"name":"Ada"}]"#)
        try await sync(changes)
        #expect(try await sync(changes).coverage == .unchanged)
    }

    @Test func unchangedPagesThatDifferFromTheModelFailEachStrictSync() async throws {
        let source = Listing("a", .tagged, #"[{"id":1,"unknown":1}]"#)
        try await sync(source)
        #expect(try await sync(source).coverage == .unchanged)
        var strict = StoreSyncOptions()
        strict.failsOnDrift = true
        for _ in 0..<2 {
            await #expect(throws: StoreSyncError.self) { try await sync(source, options: strict) }
        }
        #expect(try await sync(source).coverage == .unchanged)
    }

    @Test func aFileIsAnotherList() async throws {
        let source = Listing("a", .changes, #"[{"id":1},{"id":2}]"#)
        try await sync(source)
        try await world.sync(#"[{"id":9}]"#)
        try await sync(source)
        #expect(try await world.column("id") == [1, 2])
    }

    @Test func aListThatChangesNothingTakesNothingBack() async throws {
        let source = Listing("a", .tagged, #"[{"id":1}]"#)
        try await sync(source)
        try await world.sync(#"[{"id":1}]"#)
        try await sync(Listing("b", .tagged, #"[{"id":1}]"#))
        #expect(try await sync(source).coverage == .unchanged)
    }

    @Test func valuesThatAnotherListNestsAreCorrected() async throws {
        let companies = Listing("a", .tagged, #"[{"id":7,"name":"Apple"}]"#)
        try await sync(companies, into: "Company")
        try await world.sync(#"[{"id":1,"company":{"id":7,"name":"Pear"}}]"#)
        #expect(try await world.column("name", of: "Company") == [.string("Pear")])
        try await sync(companies, into: "Company")
        #expect(try await world.column("name", of: "Company") == [.string("Apple")])
    }

    /// What brings objects without replacing the list of all.
    enum Delivery: CaseIterable {
        case insertion, push, delta
    }

    @Test(arguments: Delivery.allCases)
    func objectsThatAreInsertedOrUpdatedTakeTagsBackButNoCursors(delivery: Delivery) async throws {
        let tagged = Listing("a", .tagged, #"[{"id":1,"name":"Ada"}]"#)
        let changes = Listing("b", .changes, #"[{"id":1,"name":"Ada"}]"#)
        try await sync(tagged)
        try await sync(changes)
        let text = #"[{"id":1,"name":"Bob"}]"#
        let json = JSONSource.bytes(Array(text.utf8))
        switch delivery {
        case .insertion: try await world.json.insertOrUpdate(json, into: "User")
        case .push: try await world.json.apply([.objects(json)], into: "User")
        case .delta: #expect(try await sync(Listing("c", .delta, text)).coverage == .changes)
        }
        #expect(try await world.column("name") == [.string("Bob")])
        #expect(try await sync(changes).coverage == .unchanged)
        try await sync(tagged)
        #expect(try await world.column("name") == [.string("Ada")])
    }

    /// The same list, from a source that reads it in another way, or in another dialect.
    @Test func aBookmarkIsForOneSourceAndDialect() async throws {
        var source = Listing("a", .tagged, #"[{"id":1}]"#)
        try await sync(source)
        source.fingerprint = "with other fields"
        #expect(try await sync(source).coverage == .everything)
        #expect(try await sync(source).coverage == .unchanged)
        var dialect = JSONDialect.sync
        dialect.acceptsIdentifiers.toggle()
        let other = try JSONStore(world.store, mapper: RecordMapper(Self.model(), JSONMapping(dialect: dialect)))
        #expect(try await other.sync(from: source, into: "User").coverage == .everything)
        #expect(try await other.sync(from: source, into: "User").coverage == .unchanged)
    }

    /// Counts the transactions of a store.
    private struct CountedTransactions: StoreHook {
        let count = Locked(0)

        func willMake(_ call: StoreCall) {
            if call == .transaction { count.withLock { $0 += 1 } }
        }
    }

    /// A source may report no change, and a new cursor with it.
    @Test func aBookmarkIsWrittenOnlyIfItChanges() async throws {
        let hook = CountedTransactions()
        let world = try SyncWorld.users { HookedStore($0, hook) }
        let source = Unchanged()
        for (cursor, transactionCount) in [("a", 1), ("a", 1), ("b", 2), ("b", 2)] {
            source.cursor.withLock { $0 = cursor }
            try await world.json.sync(from: source, into: "User")
            #expect(hook.count.withLock(\.self) == transactionCount)
        }
        #expect(source.known.withLock(\.self) == [nil, "a", "a", "b"])
    }

    @Test func listsOfDifferentScopesKeepTheirBookmarks() async throws {
        let young = Listing("young", .tagged, #"[{"id":1,"age":3}]"#)
        let old = Listing("old", .changes, #"[{"id":2,"age":50}]"#)
        let scopes = [
            StoreSyncOptions(scope: PropertyPath("age") < 20), StoreSyncOptions(scope: PropertyPath("age") >= 20),
        ]
        try await sync(young, options: scopes[0])
        try await sync(old, options: scopes[1])
        #expect(try await sync(young, options: scopes[0]).coverage == .unchanged)
        #expect(try await sync(old, options: scopes[1]).coverage == .unchanged)
        // A list without a scope has the objects of all others.
        try await world.sync(#"[{"id":1,"age":3}]"#)
        try await sync(old, options: scopes[1])
        #expect(try await world.column("id") == [1, 2])
    }
}

/// A source that has no objects to report, but a cursor.
private struct Unchanged: RemoteSource {
    let name = "unchanged"
    let fingerprint = ""
    let cursor = Locked("")
    /// The cursors of the bookmarks that syncs began after.
    let known = Locked<[String?]>([])

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        known.withLock { $0.append(bookmark?.cursor) }
        return .unchanged(SyncBookmark(cursor: cursor.withLock(\.self)))
    }

    /// A program may sync from any number of addresses.
    @Test func bookmarksAreBounded() async throws {
        let world = try SyncWorld.users()
        func sync(_ index: Int) async throws -> StoreSyncResult {
            let source = Listing("list \(index)", .tagged, #"[{"id":1}]"#)
            return try await world.json.sync(
                from: source, into: "User", options: StoreSyncOptions(scope: RecordPredicate(parsing: "id = \(index)")))
        }
        for index in 0..<1_002 { _ = try await sync(index) }
        #expect(try await world.json.store.count(StoreQuery(SyncEntity.bookmark.name)) == 1_000)
        for (index, count) in [(0, 0), (1, 0), (2, 1), (1_001, 1)] {
            let isNamed = "name = 'User from list \(index)'"
            #expect(try await world.column("name", of: SyncEntity.bookmark.name, where: isNamed).count == count)
        }
    }
}

/// A list that never changes, and that its source reports as unchanged once it was read.
struct Listing: RemoteSource {
    /// How the source knows that the list was read.
    enum Kind {
        /// By the tags of its pages.
        case tagged
        /// By a cursor of changes.
        case changes
        /// The same; the list has only changes.
        case delta
    }

    let name: String
    var fingerprint = ""
    let kind: Kind
    let json: String

    init(_ name: String, _ kind: Kind, _ json: String) {
        self.name = name
        self.kind = kind
        self.json = json
    }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let isKnown = kind == .tagged ? bookmark?.pages.isEmpty == false : bookmark?.cursor != nil
        return if let bookmark, isKnown { .unchanged(bookmark) } else { .changed(Pass(kind: kind, json: json)) }
    }

    private actor Pass: RemotePass {
        let kind: Kind
        private var json: String?

        init(kind: Kind, json: String) {
            self.kind = kind
            self.json = json
        }

        func next() async throws -> RemotePage? {
            defer { json = nil }
            return json.map { RemotePage(.bytes(Array($0.utf8))) }
        }

        func rewind() async throws {}

        func end() async throws -> RemoteEnd {
            let bookmark =
                kind == .tagged
                ? SyncBookmark(pages: [SyncBookmark.Page(token: nil, entityTag: "t")]) : SyncBookmark(cursor: "c")
            return RemoteEnd(kind == .delta ? .changes : .everything, isSnapshot: true, bookmark: bookmark)
        }
    }
}
