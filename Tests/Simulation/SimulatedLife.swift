import SyncBase
import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import OneWayTestSupport

/// A store that is kept equal to a server for some runs, in which everything may go wrong, and then
/// for some in which nothing does.
///
/// What has to hold:
///
/// - A run that fails leaves the store as it was.
/// - What a run inserts or updates is as the source had it while the run went on.
/// - What a run removes was absent from the source at a moment while it went on.
/// - Where nothing changed while a run over everything went on, the store is equal to the source,
///   but for what was kept.
/// - Once faults and changes have stopped, the store becomes equal to the source, and stays so
///   without a write.
final class SimulatedLife: @unchecked Sendable {
    // Sendable because all tasks of a simulation run on one thread.

    /// Something that should have held, and did not.
    struct Violation: Error, CustomStringConvertible {
        var description: String

        init(_ description: String) { self.description = description }
    }

    private let plan: SimulationPlan
    private let seed: UInt64
    private let defect: Defect?
    private let trace: @Sendable (String) -> Void
    private let clock: ManualClock
    private let server: SimulatedServer
    private var random: SeededRandom

    init(seed: UInt64, defect: Defect?, trace: @escaping @Sendable (String) -> Void) {
        plan = SimulationPlan(seed: seed)
        self.seed = seed
        self.defect = defect
        self.trace = trace
        clock = Scheduler.shared.clock
        server = SimulatedServer(plan, seed: seed, clock: clock, trace: trace)
        random = SeededRandom(seed: seed &* 31)
    }

    private static let mapper = Result {
        try RecordMapper(
            try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                }
                SyncEntity.bookmark
                SyncEntity.pass
            })
    }

    /// Lives the life.
    ///
    /// - Throws: ``Violation``, or an error where there should have been none.
    func live() async throws {
        trace("\(plan)")
        let mapper = try Self.mapper.get()
        let base: any Store =
            plan.usesSQLite
            ? try await Scheduler.shared.leaving { try await SQLiteStore(exactly: mapper.model, at: .memory) }
            : MemoryStore(exactly: mapper.model)
        let store = FaultyStore(base, leavesThread: plan.usesSQLite, seed: seed, defect: defect?.ofStore)
        let json = try JSONStore(store, mapper: mapper, history: plan.keepsHistory ? SyncHistory(limit: 3) : nil)
        for number in 1...plan.runCount {
            clock.advance(by: .seconds(Int.random(in: 0...1200, using: &random)))
            for _ in 0..<Int.random(in: 0...4, using: &random) { server.change() }
            trace("run \(number)")
            do { try await run(json, store) } catch let violation as Violation {
                throw Violation("run \(number): \(violation)")
            }
        }
        server.isCalm = true
        try await converge(json, store)
    }

    // MARK: Runs with faults

    private func run(_ json: JSONStore, _ store: FaultyStore) async throws {
        let before = try await names(in: store)
        let firstMoment = server.source.moment
        server.changesLeft = 50
        store.isAmbiguous = false
        store.faultRate = plan.storeFaultRate
        let usesBookmark = Double.random(in: 0..<1, using: &random) < 0.9
        let source = source
        let task = Task {
            try await json.sync(from: source, into: "User", options: options, usesBookmark: usesBookmark)
        }
        if Double.random(in: 0..<1, using: &random) < plan.cancelRate {
            Scheduler.shared.interrupt(afterSteps: Int.random(in: 0..<150, using: &random)) { task.cancel() }
        }
        let outcome = await task.result
        Scheduler.shared.dropInterruption()
        store.faultRate = 0
        let after = try await names(in: store)
        let moments = firstMoment...server.source.moment
        switch outcome {
        case .success(let result):
            trace("\(result.coverage), \(result.counts), \(after.sorted { $0.key < $1.key })")
            try checkChanges(from: before, to: after, during: moments)
            try checkEquality(after, result, during: moments)
        case .failure(let error):
            trace("failed: \(error)")
            guard
                error is HTTPError || error is FaultyStore.Fault || error is CancellationError || error is JSONError
                    || error is StoreSyncError || error is MappingError
            else { throw error }
            guard store.isAmbiguous else {
                if after != before { throw Violation("it failed by \(error), and changed \(before) to \(after)") }
                return
            }
            try checkChanges(from: before, to: after, during: moments)
        }
    }

    private func checkChanges(from before: [Int: String], to after: [Int: String], during moments: ClosedRange<Int>)
        throws
    {
        for (id, name) in after where before[id] != name {
            guard server.source.states(of: id, during: moments).contains(name) else {
                throw Violation("\(id) became \(name), which it was not at the time")
            }
        }
        for id in before.keys where after[id] == nil {
            guard server.source.states(of: id, during: moments).contains(nil) else {
                throw Violation("\(id) was removed, and the source had it all the time")
            }
        }
    }

    private func checkEquality(_ after: [Int: String], _ result: StoreSyncResult, during moments: ClosedRange<Int>)
        throws
    {
        guard moments.lowerBound == moments.upperBound, result.coverage == .everything else { return }
        try checkEquality(after, keptCount: result.counts.kept)
    }

    private func checkEquality(_ after: [Int: String], keptCount: Int = 0) throws {
        let names = server.source.names
        let surplus = after.filter { names[$0.key] == nil }
        guard surplus.count == keptCount, names.allSatisfy({ after[$0.key] == $0.value }) else {
            throw Violation("the store has \(after) instead of \(names), kept: \(keptCount)")
        }
    }

    // MARK: Runs without

    private func converge(_ json: JSONStore, _ store: FaultyStore) async throws {
        let needsFullRun = plan.hasDelta && (plan.removals == .unsaid || !plan.isSnapshot)
        clock.advance(by: needsFullRun ? .seconds(3601) : .seconds(60))
        trace("calm")
        for _ in 0..<2 {
            let result = try await json.sync(from: source, into: "User", options: options)
            trace("\(result.coverage), \(result.counts)")
        }
        do { try checkEquality(try await names(in: store)) } catch {
            throw Violation("at the end: \(error)")
        }
        clock.advance(by: .seconds(60))
        let last = try await json.sync(from: source, into: "User", options: options)
        guard last.isUnchanged else { throw Violation("a run with nothing to do did \(last)") }
        guard plan.keepsHistory else { return }
        let recorded = try await store.passes(limit: 3).map(\.status)
        guard recorded.count == 3, recorded[0] == .unchanged, recorded.allSatisfy({ $0 != .failed }) else {
            throw Violation("the history says \(recorded)")
        }
    }

    // MARK: The world

    private var options: StoreSyncOptions { StoreSyncOptions(keyPath: plan.keyPath) }

    private var source: AnySource {
        let clock = clock
        let chances = Locked(SeededRandom(seed: seed &* 17))
        let client = HTTPClient(
            transport: server, retry: RetryPolicy(maxAttempts: 4), clock: clock,
            date: { Date(timeIntervalSince1970: Double(SimulatedServer.clientTime(clock))) },
            random: { chances.withLock { Double.random(in: 0..<1, using: &$0) } })
        let pages = plan.pages
        let url = URL(string: "https://api.example.com/users") ?? URL(filePath: "/")
        var api = HTTPAPI(pages: pages, delta: plan.delta)
        api.isSnapshot = plan.isSnapshot
        var source = HTTPJSONSource(url, api: api, client: client)
        source.maximumPageCount = 1000
        return AnySource(base: source, defect: server.isCalm ? nil : defect)
    }

    private func names(in store: FaultyStore) async throws -> [Int: String] {
        let records = try await store.records(StoreQuery("User"))
        var names: [Int: String] = [:]
        for stored in records {
            guard case .int(let id) = stored.record["id"], case .string(let name) = stored.record["name"] else {
                throw Violation("there is a user of no id or no name")
            }
            guard names.updateValue(name, forKey: Int(id)) == nil else { throw Violation("there are two users \(id)") }
        }
        return names
    }
}
