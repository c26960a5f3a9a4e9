import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Notices of commits, of a store itself and of others in its file.
@Suite(.endsInTime) struct CommitWatchTests {
    private let folder: TemporaryDirectory
    private let model: DataModel

    init() throws {
        folder = try TemporaryDirectory()
        model = try DataModel {
            SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) }
        }
    }

    private func open() async throws -> SQLiteStore {
        var options = SQLiteStore.Options()
        options.commitPollInterval = .zero
        return try await SQLiteStore(
            exactly:
                model, at: .file(folder.url.appending(path: "store.sqlite").path), options: options)
    }

    private func insert(_ id: Int64, into store: SQLiteStore) async throws {
        var record = Record(of: try model.layout(of: "User"))
        record["id"] = .int(id)
        let user = record
        _ = try await store.transaction { try await $0.insert(user) }
    }

    @Test func commitsOfTheStoreNameWhatHasChanged() async throws {
        let store = try await open()
        let signals = try await store.commits()
        // Nothing else is noticed meanwhile, however often the file is looked at.
        for id in 0..<100 {
            try await insert(Int64(id), into: store)
            #expect(await signals.next() == CommitSignals.Signal(roots: [1]))
        }
    }

    @Test func commitsOfOthersAreNoticedEachTime() async throws {
        let (store, other) = (try await open(), try await open())
        let signals = try await store.commits()
        for id in 0..<3 {
            try await insert(Int64(id), into: other)
            #expect(await signals.next() == CommitSignals.Signal(roots: nil))
            #expect(try await store.count(StoreQuery("User")) == id + 1)
        }
    }

    /// Each own commit is a signal, among which that of another store comes sooner or later.
    @Test func aCommitOfAnotherIsNoticedAmongOwnOnes() async throws {
        let (store, other) = (try await open(), try await open())
        let signals = try await store.commits()
        try await insert(-1, into: other)
        var isNoticed = false
        for id in 0..<2_000 where !isNoticed {
            try await insert(Int64(id), into: store)
            isNoticed = await signals.next() == CommitSignals.Signal(roots: nil)
        }
        #expect(isNoticed)
    }

    @Test func theLastCommitIsToldEvenIfTheStoreIsGone() async throws {
        var store: SQLiteStore? = try await open()
        let signals = try #require(try await store?.commits())
        if let store { try await insert(1, into: store) }
        store = nil
        #expect(await signals.next() == CommitSignals.Signal(roots: [1]))
        #expect(await signals.next() == nil)
    }

    @Test func laterObserversNoticeCommitsToo() async throws {
        let (store, other) = (try await open(), try await open())
        for id in 0..<3 {
            let signals = try await store.commits()
            let also = try await store.commits()
            try await insert(Int64(id), into: other)
            #expect(await signals.next() == CommitSignals.Signal(roots: nil))
            #expect(await also.next() == CommitSignals.Signal(roots: nil))
        }
    }
}
