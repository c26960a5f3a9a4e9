import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreTesting
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct ObservedStoreTests {
    private let store: ObservedStore
    private let layout: EntityLayout

    init() throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("parts", toMany: "Thing", inverse: "whole", deleteRule: .cascade)
                SyncRelationship("whole", toOne: "Thing", inverse: "parts")
            }
        }
        store = ObservedStore(MemoryStore(exactly: model))
        layout = try model.layout(of: "Thing")
    }

    @Test func isAStoreWhileItIsObserved() async throws {
        try await StoreConformance.check { model in
            let store = ObservedStore(MemoryStore(exactly: model))
            return Kept(store, store.changes())
        }
    }

    @Test(arguments: StoreKind.all) func everyStoreIsOneWhileItIsObserved(kind: StoreKind) async throws {
        try await kind.use { makeStore in
            try await StoreConformance.check { model in
                let store = try #require(try await makeStore(model) as? any ChangeSet.Source)
                return Kept(store, store.changes())
            }
        }
    }

    @Test func everyObserverSeesEachCommitInOrder() async throws {
        let observers = (0..<3).map { _ in store.changes() }
        for id in 0..<20 { try await put(id) }
        for observer in observers {
            var seen = observer.makeAsyncIterator()
            for id in 0..<20 { #expect(await seen.next() == inserted(id...id)) }
        }
    }

    @Test func commitsOfManyTasksAreSeenInTheirOrder() async throws {
        var seen = store.changes().makeAsyncIterator()
        try await put(0)
        #expect(await seen.next() == inserted(0...0))
        let store = self.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    try await store.transaction { transaction in
                        let count = try await transaction.count(StoreQuery("Thing"))
                        try await transaction.insert(record(count))
                    }
                }
            }
            try await group.waitForAll()
        }
        for id in 1...30 { #expect(await seen.next() == inserted(id...id)) }
    }

    @Test func whatFailsOrChangesNothingIsNotSeen() async throws {
        var seen = store.changes().makeAsyncIterator()
        await #expect(throws: CancellationError.self) {
            try await store.transaction { transaction in
                try await transaction.insert(record(1))
                throw CancellationError()
            }
        }
        try await store.transaction { transaction in
            let row = try await transaction.insert(record(2))
            try await transaction.remove(StoreQuery("Thing", objects: .only([row])))
        }
        try await put(3)
        #expect(await seen.next() == inserted(3...3))
    }

    @Test func observersSeeWhatBeginsAfterThem() async throws {
        let gate = Gate()
        let store = self.store
        let early = Task {
            try await store.transaction { transaction in
                try await transaction.insert(record(1))
                try await gate.pass()
            }
        }
        try await gate.waitForArrivals(orEndOf: early)
        var seen = store.changes().makeAsyncIterator()
        gate.open()
        try await early.value
        try await put(2)
        #expect(await seen.next() == inserted(2...2))
    }

    @Test func aSlowObserverGetsTheLastOnesAsOne() async throws {
        var seen = store.changes(capacity: 2).makeAsyncIterator()
        for id in 0..<10 { try await put(id) }
        #expect(await seen.next() == inserted(0...0))
        #expect(await seen.next() == inserted(1...9))
    }

    @Test func aLoopEndsWithItsTaskOrTheStore() async throws {
        let gate = Gate()
        let changes = store.changes()
        let loop = Task {
            var seen = changes.makeAsyncIterator()
            _ = await seen.next()
            // Cancelled while it waits here.
            try? await gate.pass()
            return await seen.next()
        }
        try await put(1)
        try await gate.waitForArrivals(orEndOf: loop)
        loop.cancel()
        #expect(await loop.value == nil)
        var gone: ObservedStore? = ObservedStore(MemoryStore(exactly: store.model))
        var seen = gone?.changes().makeAsyncIterator()
        gone = nil
        #expect(await seen?.next() == nil)
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func changesLeadFromTheStateBeforeToTheOneAfter(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var seen = store.changes(capacity: 1).makeAsyncIterator()
        var before = try await state()
        for _ in 0..<20 {
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let steps = (0..<Int.random(in: 1...6, using: &random)).map { _ in Step(&random) }
                try await store.transaction { transaction in
                    for step in steps { try await step.run(in: transaction, layout) }
                }
            }
            let after = try await state()
            // What changes nothing in sight waits, and is told with the next.
            guard after != before else { continue }
            let changed = after.filter { before[$0.key] != nil && before[$0.key] != $0.value }
            let told = await seen.next()?["Thing"] ?? ChangeSet.Keys()
            #expect(told.inserted == Set(after.keys).subtracting(before.keys))
            #expect(told.deleted == Set(before.keys).subtracting(after.keys))
            #expect(told.updated.isSuperset(of: changed.keys))
            #expect(told.updated.isSubset(of: after.keys))
            before = after
        }
    }

    /// Names by key.
    private func state() async throws -> [Record.Key: AttributeValue] {
        let records = try await store.records(StoreQuery("Thing"))
        return Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.record["name"]) })
    }

    @Test func aTransactionSelectsWhatItHasWritten() async throws {
        let seen = store.changes()
        try await put(1, name: "a")
        let record = record(2, name: "b")
        let names = try await store.transaction { transaction in
            try await transaction.insert(record)
            let query = StoreQuery("Thing", orderedBy: [Ordering("id")])
            return try await transaction.rows(StoreSelection(query, columns: [.value(PropertyPath("name"))]))
        }
        #expect(names == [["a"], ["b"]])
        withExtendedLifetime(seen) {}
    }

    @Test func anObjectWhoseLinksChangeIsUpdated() async throws {
        for id in 1...3 { try await put(id) }
        var seen = store.changes().makeAsyncIterator()
        let layout = self.layout
        try await store.transaction { try await Step.tie(1, [2]).run(in: $0, layout) }
        #expect(await seen.next() == ChangeSet(["Thing": ChangeSet.Keys(updated: [.identity(1)])]))
        // A new object is not updated as well.
        try await store.transaction { transaction in
            try await Step.put(4, "").run(in: transaction, layout)
            try await Step.tie(4, [3]).run(in: transaction, layout)
            try await Step.tie(4, []).run(in: transaction, layout)
        }
        #expect(await seen.next() == inserted(4...4))
    }

    private func put(_ id: Int, name: String = "") async throws {
        let record = record(id, name: name)
        try await store.transaction { try await $0.insert(record) }
    }

    private func record(_ id: Int, name: String = "") -> Record {
        var record = Record(of: layout)
        record["id"] = .int(Int64(id))
        record["name"] = .string(name)
        return record
    }

    private func inserted(_ ids: ClosedRange<Int>) -> ChangeSet {
        ChangeSet(["Thing": ChangeSet.Keys(inserted: Set(ids.map { .identity($0) }))])
    }
}

/// A store that keeps what observes it.
private struct Kept: Store {
    let base: any ChangeSet.Source
    let changes: ChangeSet.Stream
    var model: DataModel { base.model }

    init(_ base: any ChangeSet.Source, _ changes: ChangeSet.Stream) {
        self.base = base
        self.changes = changes
    }

    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await base.transaction(body)
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}

/// Something that a transaction may do.
private enum Step {
    case put(Int64, String)
    case rename(Int64, to: Int64?)
    case remove(Int64)
    case tie(Int64, [Int64])

    init(_ random: inout SeededRandom) {
        let id = Int64.random(in: 0..<8, using: &random)
        let other = Int64.random(in: 0..<8, using: &random)
        self =
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: .put(id, "\(other)")
            case 2: .rename(id, to: other == 0 ? nil : other + 4)
            case 3: .remove(id)
            default: .tie(id, [other])
            }
    }

    func run(in transaction: any StoreTransaction, _ layout: EntityLayout) async throws {
        func row(_ id: Int64) async throws -> Int64? {
            try await transaction.record("Thing", key: .identity(id))?.object
        }
        switch self {
        case .put(let id, let name):
            var record = Record(of: layout)
            record["id"] = .int(id)
            record["name"] = .string(name)
            try await transaction.insert(record)
        case .rename(let id, let new):
            guard var record = try await transaction.record("Thing", key: .identity(id)) else { return }
            if let new, try await row(new) != nil { return }
            record.record["id"] = new.map { .int($0) } ?? .null
            try await transaction.update(record.object, to: record.record)
        case .remove(let id): try await transaction.remove(StoreQuery("Thing", where: PropertyPath("id") == id))
        case .tie(let id, let others):
            guard let source = try await row(id), let relationship = layout.relationship("parts") else { return }
            var targets: [Int64] = []
            for other in others { if let row = try await row(other) { targets.append(row) } }
            var batch = LinkBatch(relationship, mode: .replace)
            batch.append(source, to: targets)
            _ = try await transaction.link(batch)
        }
    }
}
