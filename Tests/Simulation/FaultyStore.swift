import SyncModel
import SyncStore
import OneWayStoreTestSupport
import OneWayTestSupport

/// A store whose calls fail at random, before or after they have done what they should.
final class FaultyStore: Store, StoreHook, @unchecked Sendable {
    // Sendable because all tasks of a simulation run on one thread.
    struct Fault: Error {}

    /// Ways in which a store could be wrong, to see whether the simulation notices.
    enum Defect {
        /// Keeps what a transaction has done that then failed.
        case keepsFailures
        /// Loses one in ten batches of users.
        case losesBatches
    }

    let base: any Store
    /// The share of calls that fail.
    var faultRate = 0.0
    /// Whether a transaction was committed and then said to have failed.
    var isAmbiguous = false
    private let leavesThread: Bool
    private let defect: Defect?
    private var random: SeededRandom

    init(_ base: any Store, leavesThread: Bool, seed: UInt64, defect: Defect?) {
        self.base = base
        self.leavesThread = leavesThread
        self.defect = defect
        random = SeededRandom(seed: seed &+ 0x5707)
    }

    var model: DataModel { base.model }

    func chance(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }

    func mayFail() throws {
        if chance(faultRate) { throw Fault() }
    }

    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try mayFail()
        let outcome = try await leaving { try await committed(body) }
        if chance(faultRate) {
            isAmbiguous = true
            throw Fault()
        }
        return try outcome.get()
    }

    private func committed<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Swift.Result<Result, any Error> {
        try await base.transaction { transaction in
            do {
                let faulty = HookedTransaction(transaction, self)
                let result = try await self.returning { try await body(faulty) }
                try self.mayFail()
                return .success(result)
            } catch {
                guard self.defect == .keepsFailures else { throw error }
                return .failure(error)
            }
        }
    }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) async throws -> Result) async throws -> Result {
        try mayFail()
        return try await leaving {
            try await base.read { reader in
                try await self.returning { try await body(HookedReader(reader, self)) }
            }
        }
    }

    func willMake(_ call: StoreCall) throws {
        try mayFail()
    }

    func policy(_ policy: MergeRequest.Policy, of entity: String?) -> MergeRequest.Policy {
        guard defect == .losesBatches, entity == "User", chance(0.1) else { return policy }
        return MergeRequest.Policy(inserts: false, updates: false)
    }

    func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        guard leavesThread else { return try await call() }
        return try await Scheduler.shared.leaving(call)
    }

    func returning<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        guard leavesThread else { return try await call() }
        return try await Scheduler.shared.returning(call)
    }
}
