import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

/// What a store remembers of its syncs.
@Suite(.endsInTime) struct SyncHistoryTests {
    private static let users = Result {
        try RecordMapper(
            try DataModel {
                SyncEntity("User") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                }
                SyncEntity("Note") {
                    SyncAttribute("id", .int64)
                }
            }.adding([SyncEntity.pass]))
    }

    private func store(_ history: SyncHistory = SyncHistory()) throws -> JSONStore {
        let mapper = try Self.users.get()
        return try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper, history: history)
    }

    private func json(_ text: String) -> JSONSource { .bytes(Array(text.utf8)) }

    @Test func whatASyncDidIsRecordedWithIt() async throws {
        let store = try store()
        let before = Date()
        try await store.sync(json(#"[{"id": 1}, {"id": 2}, {"name": "no key"}]"#), into: "User")
        try await store.sync(json(#"[{"id": 2, "name": "x"}, {"id": 3}]"#), into: "User")
        let runs = try await store.store.passes()
        try #require(runs.count == 2)
        #expect(runs.map(\.name) == ["User", "User"])
        #expect(runs.map(\.number) == [2, 1])
        #expect(runs.map(\.status) == [.succeeded, .succeeded])
        #expect(runs.map(\.counts.all) == [[1, 1, 0, 1], [2, 0, 0, 0]])
        #expect(runs.map(\.rejectedCount) == [0, 1])
        #expect(runs.allSatisfy { $0.error == nil && $0.duration >= .zero && $0.finished >= $0.started })
        #expect(abs(runs[1].started.timeIntervalSince(before)) < 600)
    }

    @Test func aSyncThatFailsIsRecordedThoughNothingElseIsWritten() async throws {
        let store = try store()
        try await store.sync(json(#"[{"id": 1}]"#), into: "User")
        await #expect(throws: JSONError.self) {
            try await store.sync(json(#"[{"id": 2}, {"id": "#), into: "User")
        }
        let last = try #require(try await store.store.passes().first)
        #expect(last.status == .failed && last.number == 2)
        #expect(last.error?.contains("line 1") == true, "\(last)")
        #expect(last.counts == StoreSyncResult.Counts())
        #expect(try await store.store.count(StoreQuery("User")) == 1)
    }

    /// A sync that waits for its first page.
    private func waitingSync(of store: JSONStore) async throws -> Task<StoreSyncResult, any Error> {
        let gate = Gate()
        let pages = AsyncThrowingStream<JSONSource, any Error> {
            try await gate.pass()
            return nil
        }
        let task = Task { try await store.sync(pages: pages, into: "User") }
        try await gate.waitForArrivals(orEndOf: task)
        return task
    }

    @Test func aSyncThatIsCancelledIsRecorded() async throws {
        let store = try store()
        let task = try await waitingSync(of: store)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let last = try #require(try await store.store.passes().first)
        #expect(last.status == .cancelled && last.error == nil)
    }

    @Test func theLatestRunsOfEachNameAreKept() async throws {
        let store = try store(SyncHistory(limit: 3))
        try await store.sync(json("[]"), into: "Note")
        for id in 1...5 { try await store.sync(json(#"[{"id": \#(id)}]"#), into: "User") }
        #expect(try await store.store.passes(of: "User").map(\.number) == [6, 5, 4])
        #expect(try await store.store.passes(of: "Note").map(\.status) == [.unchanged])
        #expect(try await store.store.passes(limit: 2).map(\.number) == [6, 5])
    }

    /// The clock of a device may stand still, or go back.
    @Test func theOrderOfRunsIsThatOfTheirNumbers() async throws {
        let store = try store()
        for id in 1...2 { try await store.sync(json(#"[{"id": \#(id)}]"#), into: "User") }
        try await store.sync(json(#"[{"id": 1}]"#), into: "Note")
        try await store.store.transaction { transaction in
            for stored in try await transaction.records(StoreQuery(SyncEntity.pass.name)) {
                var record = stored.record
                if case .int(let number) = record["number"] {
                    record["started"] = .date(Timestamp(microseconds: -number / 2))
                }
                _ = try await transaction.update(stored.object, to: record)
            }
        }
        #expect(try await store.store.passes().map(\.number) == [3, 2, 1])
        #expect(try await store.store.passes().map(\.entity) == ["Note", "User", "User"])
        #expect(try await store.store.passes(limit: 1).map(\.number) == [3])
    }

    /// Another tool can write any number into the table.
    @Test(arguments: [Double.nan, .infinity, 1e300, -1e300])
    func aPassWhoseDurationIsImpossibleIsLeftOut(seconds: Double) async throws {
        let store = try store()
        for id in 1...2 { try await store.sync(json(#"[{"id": \#(id)}]"#), into: "User") }
        try await store.store.transaction { transaction in
            let query = StoreQuery(SyncEntity.pass.name, where: PropertyPath("number") == 2)
            for stored in try await transaction.records(query) {
                var record = stored.record
                record["seconds"] = .double(seconds)
                _ = try await transaction.update(stored.object, to: record)
            }
        }
        #expect(try await store.store.passes().map(\.number) == [1])
    }

    /// Another tool can write any number into the table.
    @Test(arguments: [Int64.max, Int64.max - 1, 1 << 62, -1, Int64.min])
    func aPassOfAnyNumberIsFollowedByAnother(number: Int64) async throws {
        let store = try store()
        for id in 1...3 { try await store.sync(json(#"[{"id": \#(id)}]"#), into: "User") }
        let changed: Int64 = number > 0 ? 3 : 1
        try await store.store.transaction { transaction in
            let query = StoreQuery(SyncEntity.pass.name, where: PropertyPath("number") == changed)
            for stored in try await transaction.records(query) {
                var record = stored.record
                record["number"] = .int(number)
                _ = try await transaction.update(stored.object, to: record)
            }
        }
        try await store.sync(json(#"[{"id": 4}]"#), into: "Note")
        let passes = try await store.store.passes()
        #expect(passes.map(\.entity) == ["Note", "User", "User", "User"])
        #expect(passes.map(\.number) == (number > 0 ? [4, 3, 2, 1] : [4, 3, 2, Int(number)]))
    }

    @Test func syncsWithNothingToWriteCanBeLeftOut() async throws {
        let store = try store(SyncHistory(recordsUnchanged: false))
        try await store.sync(json(#"[{"id": 1}]"#), into: "User")
        try await store.sync(json(#"[{"id": 1}]"#), into: "User")
        #expect(try await store.store.passes().map(\.status) == [.succeeded])
    }

    @Test func plansAndSingleObjectsAreNotRecorded() async throws {
        let store = try store()
        _ = try await store.plan(json(#"[{"id": 1}]"#), into: "User")
        try await store.insertOrUpdate(json(#"{"id": 1}"#), into: "User")
        try await store.delete(.identity(1), in: "User")
        #expect(try await store.store.passes().isEmpty)
    }

    @Test func anErrorsTextIsCut() async throws {
        let store = try store()
        let pages = AsyncThrowingStream<JSONSource, any Error> { throw TestError(String(repeating: "x", count: 5000)) }
        await #expect(throws: TestError.self) { try await store.sync(pages: pages, into: "User") }
        #expect(try await store.store.passes().first?.error?.count == 1000)
    }

    @Test func aModelWithoutRoomForItIsAnError() async throws {
        let mapper = try RecordMapper(try DataModel { SyncEntity("User") { SyncAttribute("id", .int64) } })
        #expect(throws: ModelError.unknownEntity(entity: "SyncPass")) {
            try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper, history: SyncHistory())
        }
    }

    @Test func runsOfASourceTellWhatWasRead() async throws {
        let mapper = try Self.users.get()
        let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper, history: SyncHistory())
        let source = OnePageSource(json: #"[{"id": 1}, {"id": 2}]"#)
        try await store.sync(from: source, into: "User")
        try await store.sync(from: OnePageSource(json: nil), into: "User")
        let runs = try await store.store.passes()
        #expect(runs.map(\.name) == ["User from a list", "User from a list"])
        #expect(runs.map(\.status) == [.unchanged, .succeeded])
        #expect(runs.map(\.pageCount) == [nil, 1])
        #expect(runs.map(\.byteCount) == [nil, 22])
    }

    /// A source of one page, or of nothing new.
    private struct OnePageSource: RemoteSource {
        var name = "a list"
        let fingerprint = ""
        var json: String?

        func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
            json.map { .changed(Run(json: $0)) } ?? .unchanged(SyncBookmark())
        }

        private actor Run: RemotePass {
            private var json: String?

            init(json: String) { self.json = json }

            func next() async throws -> RemotePage? {
                defer { json = nil }
                return json.map { RemotePage(.bytes(Array($0.utf8))) }
            }

            func rewind() async throws {}
            func end() async throws -> RemoteEnd { RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark()) }
        }
    }

    // MARK: Under a lease

    @Test func aSyncThatHasLostItsLeaseCommitsNothing() async throws {
        let clock = ManualClock()
        let lease = ScriptedLease(clock: clock)
        let store = try store()
        let json = json(#"[{"id": 1}]"#)
        let hook = StoreSyncOptions(willInsert: { object, _ in
            lease.seize(by: SyncLeaseHolder(host: "web-1", program: "Demo", processID: 4711))
            return object
        })
        await #expect(throws: SyncLeaseError.self) {
            try await lease.withLease(clock: clock) { try await store.sync(json, into: "User", options: hook) }
        }
        #expect(try await store.store.count(StoreQuery("User")) == 0)
    }

    // MARK: Bounds

    @Test func aHistoryIsBoundedInAll() async throws {
        let store = try store(SyncHistory(totalLimit: 4))
        for index in 0..<6 {
            var source = OnePageSource(json: #"[{"id": 1}]"#)
            source.name = "list \(index)"
            try await store.sync(from: source, into: "User")
        }
        #expect(try await store.store.passes().map(\.name) == (2...5).reversed().map { "User from list \($0)" })
    }

    // MARK: Busy stores

    private func busy(_ history: SyncHistory) throws -> (JSONStore, GatedCalls) {
        let (mapper, hook) = (try Self.users.get(), GatedCalls())
        let store = HookedStore(MemoryStore(exactly: mapper.model), hook)
        return (try JSONStore(store, mapper: mapper, history: history), hook)
    }

    @Test(arguments: [Duration.zero, .milliseconds(1)])
    func aCancelledSyncDoesNotWaitForAGatedCalls(limit: Duration) async throws {
        let (store, hook) = try busy(SyncHistory(cancellationLimit: limit))
        let task = try await waitingSync(of: store)
        hook.isArmed.withLock { $0 = true }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        hook.isArmed.withLock { $0 = false }
        #expect(try await store.store.passes().isEmpty)
        // The next pass records both.
        try await store.sync(json(#"[{"id": 1}]"#), into: "User")
        let passes = try await store.store.passes()
        #expect(passes.map(\.status) == [.succeeded, .cancelled] && passes.map(\.number) == [2, 1])
        #expect(passes.allSatisfy { $0.name == "User" })
    }

    /// A sync without changes is a next pass, whether or not it is recorded itself.
    @Test(arguments: [true, false]) func aWaitingRecordIsWrittenThoughNothingChanges(isRemote: Bool) async throws {
        let (store, hook) = try busy(SyncHistory(recordsUnchanged: false, cancellationLimit: .zero))
        let task = try await waitingSync(of: store)
        hook.isArmed.withLock { $0 = true }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        hook.isArmed.withLock { $0 = false }
        for _ in 0..<2 {
            if isRemote {
                try await store.sync(from: OnePageSource(json: nil), into: "User")
            } else {
                try await store.sync(json("[]"), into: "User")
            }
            #expect(try await store.store.passes().map(\.status) == [.cancelled])
        }
    }

    /// Until then, it may take as long as it takes.
    @Test func aFailedSyncWaitsForAGatedCallsUntilItIsCancelled() async throws {
        let (store, hook) = try busy(SyncHistory(cancellationLimit: .zero))
        let pages = AsyncThrowingStream<JSONSource, any Error> {
            hook.isArmed.withLock { $0 = true }
            throw TestError("no list")
        }
        let task = Task { try await store.sync(pages: pages, into: "User") }
        try await hook.gate.waitForArrivals(orEndOf: task)
        task.cancel()
        await #expect(throws: TestError.self) { try await task.value }
        hook.isArmed.withLock { $0 = false }
        await #expect(throws: JSONError.self) { try await store.sync(json("["), into: "User") }
        let passes = try await store.store.passes()
        #expect(passes.map(\.status) == [.failed, .failed] && passes.last?.error == "no list")
    }

    /// What a rolled back transaction recorded is recorded again.
    @Test func aPassThatFailsRecordsTheEarlierOnesToo() async throws {
        let clock = ManualClock()
        let (store, _) = try busy(SyncHistory(cancellationLimit: .zero))
        let notes = json("[]")
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.sync(notes, into: "Note")
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let lease = ScriptedLease(clock: clock)
        let json = json(#"[{"id": 1}]"#)
        let hook = StoreSyncOptions(willInsert: { object, _ in
            lease.seize(by: SyncLeaseHolder(host: "web-1", program: "Demo", processID: 4711))
            return object
        })
        await #expect(throws: SyncLeaseError.self) {
            try await lease.withLease(clock: clock) { try await store.sync(json, into: "User", options: hook) }
        }
        try await store.sync(json, into: "User")
        #expect(try await store.store.passes().map(\.name) == ["User", "User", "Note"])
    }
}
