import JSONMapper
import OneWayStoreTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct StoreProcessorTests {
    /// A source that lists what it is told, and counts what is fetched from it.
    private actor Source {
        var ages: [Int: Int] = [:]
        private(set) var fetched: [Int] = []

        func set(_ ages: [Int: Int]) {
            self.ages = ages
            fetched = []
        }

        func list() -> JSONSource {
            .bytes(Array("[\(ages.map { #"{"id":\#($0.key),"age":\#($0.value)}"# }.joined(separator: ","))]".utf8))
        }

        func details(_ key: Record.Key) throws -> JSONSource {
            guard case .identity(let values) = key, case .int(let number)? = values.first else { throw NoSuchObject() }
            let id = Int(number)
            fetched.append(id)
            guard let age = ages[id] else { throw NoSuchObject() }
            if age < 0 { return .bytes(Array("{".utf8)) }
            return .bytes(Array(#"{"id":\#(id),"age":\#(age),"name":"user \#(id)","company":{"id":7}}"#.utf8))
        }

        struct NoSuchObject: Error {}
    }

    private func processor(_ world: SyncWorld, _ source: Source) throws -> StoreProcessor {
        try StoreProcessor(world.json.store, "User", revision: "age", batchCount: 3) {
            await source.list()
        } details: { key in
            try await source.details(key)
        }
    }

    @Test func aSynchronizerMakesTheStoreEqualToTheSource() async throws {
        let world = try SyncWorld()
        let source = Source()
        let processor = try processor(world, source)
        let synchronizer = Synchronizer(processor: processor)
        await source.set([1: 1, 2: 1, 3: 1, 4: 1, 5: 1])
        _ = try await synchronizer.sync()
        #expect(processor.counts.inserted == 5)
        #expect(try await world.column("name", where: "id = 5") == ["user 5"])
        #expect(try await world.column("id", where: "company.id = 7") == [1, 2, 3, 4, 5])
        await source.set([2: 1, 3: 2, 6: 1])
        _ = try await synchronizer.sync()
        #expect(await source.fetched.sorted() == [3, 6])
        #expect(try await world.column("id") == [2, 3, 6])
        #expect(processor.counts.all == [1, 1, 0, 0])
    }

    @Test func oneObjectThatCannotBeWrittenKeepsNoOtherOut() async throws {
        let world = try SyncWorld()
        let source = Source()
        await source.set([1: 1, 2: -1, 3: 1])
        await #expect(throws: (any Error).self) {
            try await Synchronizer(processor: try processor(world, source)).sync()
        }
        #expect(try await world.column("id") == [1, 3])
    }

    /// The object that completes the batch is fetched while the pass is cancelled.
    @Test func aBatchWhoseWriteIsCancelledIsWrittenAtTheEnd() async throws {
        let world = try SyncWorld()
        let synchronizer = Locked<Synchronizer<StoreProcessor>?>(nil)
        let processor = try StoreProcessor(world.json.store, "User", batchCount: 2) {
            .bytes(Array(usersJSON(1...3).utf8))
        } details: { key in
            if key == .identity(2) { synchronizer.withLock(\.self)?.cancel() }
            guard case .identity(let values) = key, case .int(let id)? = values.first else { return .bytes([]) }
            return .bytes(Array(#"{"id":\#(id)}"#.utf8))
        }
        let pass = Synchronizer(processor: processor, options: SyncOptions(concurrency: 1))
        synchronizer.withLock { $0 = pass }
        let failure = await #expect(throws: SyncFailure.self) { try await pass.sync() }
        #expect(failure?.isCancelled == true)
        #expect(failure?.report.errors.isEmpty == true)
        #expect(try await world.column("id") == [1, 2])
        #expect(processor.counts.inserted == 2)
    }

    /// Counts the transactions of a store.
    private struct CountedTransactions: StoreHook {
        let count = Locked(0)

        func willMake(_ call: StoreCall) {
            if call == .transaction { count.withLock { $0 += 1 } }
        }
    }

    @Test(arguments: [(100, 1), (5, 1), (2, 3), (1, 5), (0, 5)])
    func objectsAreWrittenInBatches(batchCount: Int, transactionCount: Int) async throws {
        let hook = CountedTransactions()
        let world = try SyncWorld { HookedStore($0, hook) }
        let processor = try StoreProcessor(world.json.store, "User", batchCount: batchCount) {
            .bytes(Array(usersJSON(1...5).utf8))
        }
        let pass = Synchronizer(processor: processor, options: SyncOptions(concurrency: 1))
        _ = try await pass.sync()
        #expect(processor.counts.inserted == 5)
        #expect(hook.count.withLock(\.self) == transactionCount)
    }

    /// Nothing is fetched then, so no other write would forget it.
    @Test func removedObjectsWaitForNoOthers() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7}]"#)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 1)
        let processor = try StoreProcessor(world.json.store, "User") { .bytes(Array("[]".utf8)) }
        #expect(try await Synchronizer(processor: processor).sync().deleted == 1)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    /// Another tool stored the objects, so that nobody knows what was fetched of them.
    @Test func eachScopeIsFetchedOnce() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"age":1},{"id":2,"age":1}]"#)
        let source = Source()
        for (id, fetched) in [(1, [1]), (1, []), (2, [2]), (2, []), (1, [])] {
            await source.set([id: 1])
            let processor = try StoreProcessor(
                world.json.store, "User", revision: "age", scope: PropertyPath("id") == AttributeValue.int(Int64(id))
            ) {
                await source.list()
            } details: { key in
                try await source.details(key)
            }
            _ = try await Synchronizer(processor: processor).sync()
            #expect(await source.fetched == fetched)
        }
    }

    /// The bookkeeping of syncs is no part of a model, and a store may do without it.
    @Test func aStoreWithoutBookkeepingFetchesOnlyWhatChanged() async throws {
        let model = try UserModel.withEverything()
        let store = MemoryStore(exactly: model.accompanied(by: try RecordMapper(model)))
        #expect(store.model["SyncPendingLink"] == nil)
        let source = Source()
        let processor = try StoreProcessor(store, "User", revision: "age") {
            await source.list()
        } details: { key in
            try await source.details(key)
        }
        for (ages, fetched) in [([1: 1, 2: 1], [1, 2]), ([1: 1, 2: 1], []), ([1: 1, 2: 5], [2])] {
            await source.set(ages)
            _ = try await Synchronizer(processor: processor).sync()
            #expect(await source.fetched.sorted() == fetched)
        }
    }

    @Test func aListIsEnoughWhereThereAreNoDetails() async throws {
        let world = try SyncWorld()
        let processor = try StoreProcessor(world.json.store, "User") {
            .bytes(Array(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#.utf8))
        }
        _ = try await Synchronizer(processor: processor).sync()
        #expect(try await world.column("name") == ["a", "b"])
        _ = try await Synchronizer(processor: processor).sync()
        #expect(processor.counts.all == [0, 0, 2, 0])
    }

    @Test func anEntryWithoutAKeyMakesTheListAPart() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1}]"#)
        let processor = try StoreProcessor(world.json.store, "User") { .bytes(Array(#"[{"id":2},{"id":null}]"#.utf8)) }
        _ = try await Synchronizer(processor: processor).sync()
        #expect(try await world.column("id") == [1, 2])
    }

    @Test(
        arguments: [
            (#"{"message":"rate limit"}"#, 1), ("{}", 1), (#"[{"x":1},{"x":2}]"#, 2), ("[null]", 1),
            (#"[{"id":null},{"x":2},null]"#, 3),
        ])
    func aListWithoutAnyKeyIsAnError(json: String, count: Int) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1}]"#)
        let processor = try StoreProcessor(world.json.store, "User") { .text(json) }
        let failure = await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).sync() }
        let error = failure?.errors.first?.underlying as? StoreSyncError
        #expect(error == StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: count))
        #expect(try await world.column("id") == [1])
    }

    @Test func aListOfOneCanBeTheObjectItself() async throws {
        let world = try SyncWorld()
        let processor = try StoreProcessor(world.json.store, "User") { .bytes(Array(#"{"id":4,"name":"d"}"#.utf8)) }
        _ = try await Synchronizer(processor: processor).sync()
        #expect(try await world.column("name") == ["d"])
    }
}
