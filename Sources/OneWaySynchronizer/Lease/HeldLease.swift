import SyncBase

/// A granted lease that renews itself, and cancels the work under it when it is lost.
final class HeldLease: Sendable {
    /// The leases that the current task runs under, outermost first.
    @TaskLocal static var surrounding: [HeldLease] = []

    private static let lastID = Locked(0)

    private struct State {
        /// The time until which the lease is certain to be held, by the clock.
        var deadline: Duration
        /// Why the lease is no longer held.
        var loss: (any Error)?
        /// The passes that run under the lease.
        var passes: [ObjectIdentifier: PassControl] = [:]
    }

    /// A number that is unique among the leases of the process.
    let id = HeldLease.lastID.withLock { lastID in
        lastID += 1
        return lastID
    }
    let grant: any SyncLeaseGrant
    private let name: String
    private let duration: Duration
    private let clock: SyncClock
    private let state: Locked<State>
    /// Fails when the lease is lost.
    private let lossPromise = Promise<Void>()

    /// Creates a held lease from a grant.
    ///
    /// - Parameter start: When the lease was requested.
    init(_ grant: any SyncLeaseGrant, name: String, duration: Duration, clock: SyncClock, since start: Duration) {
        self.grant = grant
        self.name = name
        self.duration = duration
        self.clock = clock
        state = Locked(State(deadline: start.addingClamped(duration)))
    }

    /// Runs a function, and cancels it when the lease is lost. Returns when the function, and every
    /// pass begun under the lease, have ended.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Result<Value, any Error> {
        let result = await withTaskGroup(of: Result<Value, any Error>?.self) { group in
            group.addTask {
                await Self.$surrounding.withValue(Self.surrounding + [self]) {
                    do { return .success(try await body()) } catch { return .failure(error) }
                }
            }
            group.addTask {
                await self.keepRenewing()
                return nil
            }
            // Separate from the renewals, so that a renewal that never returns does not keep the
            // body running.
            group.addTask {
                await self.waitForExpiry()
                return nil
            }
            // Reports a loss that was noticed when the body confirmed the lease.
            group.addTask {
                try? await self.lossPromise.value()
                return nil
            }
            var result = Result<Value, any Error>.failure(CancellationError())
            for await end in group {
                group.cancelAll()
                if let end { result = end }
            }
            return result.mapError { error in state.withLock(\.loss).map(lost) ?? error }
        }
        // Nothing may run under the lease from now on, even if a caller outside waits for it.
        let passes = lose(SyncLeaseError.Reason.released).passes
        for pass in passes { try? await pass.ended.value(isCancellable: false) }
        return result
    }

    /// Runs a pass, and stops it when one of the surrounding leases ends. Fails if one has ended
    /// already.
    static func running(
        _ control: PassControl, _ pass: () async -> Result<SyncReport, SyncFailure>
    ) async -> Result<SyncReport, SyncFailure> {
        let leases = surrounding
        defer { for lease in leases { lease.detach(control) } }
        for lease in leases {
            if let error = lease.attach(control) {
                return .failure(SyncFailure(error: SyncError(stage: .begin, underlying: error)))
            }
        }
        return await pass()
    }

    private func attach(_ control: PassControl) -> SyncLeaseError? {
        let loss = state.withLock { state in
            if state.loss == nil { state.passes[ObjectIdentifier(control)] = control }
            return state.loss
        }
        return loss.map(lost)
    }

    private func detach(_ control: PassControl) {
        state.withLock { _ = $0.passes.removeValue(forKey: ObjectIdentifier(control)) }
    }

    /// Renews the lease.
    ///
    /// - Throws: ``SyncLeaseError/lost(name:underlying:)`` if the lease is lost, and on every later
    ///   call; `CancellationError` if the task is cancelled.
    func confirm() async throws {
        try Task.checkCancellation()
        try checkDeadline()
        let start = clock.now()
        do { try await grant.renew() } catch {
            try Task.checkCancellation()
            throw lose(error).error
        }
        try checkDeadline()
        state.withLock { $0.deadline = max($0.deadline, start.addingClamped(duration)) }
    }

    /// Releases the lease.
    func release() async {
        await grant.release()
    }

    private func keepRenewing() async {
        do {
            while true {
                try await clock.sleep(duration / 3)
                try await confirm()
            }
        } catch {
            // Either the loss is recorded, or the body has returned.
        }
    }

    private func waitForExpiry() async {
        do {
            while true {
                try checkDeadline()
                try await clock.sleep(state.withLock(\.deadline) - clock.now())
            }
        } catch {
            // Either the loss is recorded, or the body has returned.
        }
    }

    private func checkDeadline() throws {
        let (deadline, loss) = state.withLock { ($0.deadline, $0.loss) }
        if let loss { throw lost(loss) }
        guard clock.now() < deadline else { throw lose(SyncLeaseError.Reason.notRenewed(within: duration)).error }
    }

    /// Records that the lease is no longer held, and stops the work under it.
    ///
    /// - Returns: The error of the first loss, and the passes that have not ended yet.
    @discardableResult
    private func lose(_ error: any Error) -> (error: SyncLeaseError, passes: [PassControl]) {
        let (first, passes) = state.withLock { state in
            let first = state.loss ?? error
            state.loss = first
            return (first, Array(state.passes.values))
        }
        for pass in passes { pass.stop(.cancelled) }
        lossPromise.settle()
        return (lost(first), passes)
    }

    private func lost(_ error: any Error) -> SyncLeaseError {
        .lost(name: name, underlying: error)
    }
}
