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
        /// Why no further pass may begin: the loss, or the end of the body.
        var refusal: (any Error)?
        /// The passes that run under the lease.
        var passes: [ObjectIdentifier: PassControl] = [:]

        /// Lets no further pass begin, and returns the running ones. Only the first reason counts.
        mutating func refusePasses(for reason: any Error) -> [PassControl] {
            refusal = refusal ?? reason
            return Array(passes.values)
        }
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
    /// pass begun under the lease, have ended; until then, it renews the lease.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Result<Value, any Error> {
        // In separate tasks, because work that ignores a cancel of this task still needs the lease.
        let renewals = Task { await keepRenewing() }
        // Separate from the renewals, so that a renewal that never returns does not keep the body
        // running.
        let expiry = Task { await waitForExpiry() }
        let result = await withTaskGroup(of: Result<Value, any Error>?.self) { group in
            group.addTask {
                await Self.$surrounding.withValue(Self.surrounding + [self]) {
                    do { return .success(try await body()) } catch { return .failure(error) }
                }
            }
            // Ends at a loss, whether a renewal, the expiry or a confirmation noticed it.
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
        // No pass may go on without the body, even if a caller outside waits for it. Its last calls
        // still run under the lease.
        let passes = state.withLock { $0.refusePasses(for: SyncLeaseError.Reason.released) }
        for pass in passes { pass.stop(.cancelled) }
        for pass in passes { try? await pass.ended.value(isCancellable: false) }
        lose(SyncLeaseError.Reason.released)
        renewals.cancel()
        expiry.cancel()
        await renewals.value
        await expiry.value
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
        let refusal = state.withLock { state in
            if state.refusal == nil { state.passes[ObjectIdentifier(control)] = control }
            return state.refusal
        }
        return refusal.map(lost)
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
            throw lose(error)
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
            endWaiting(after: error)
        }
    }

    private func waitForExpiry() async {
        do {
            while true {
                try checkDeadline()
                try await clock.sleep(state.withLock(\.deadline) - clock.now())
            }
        } catch {
            endWaiting(after: error)
        }
    }

    /// Records a loss if the renewals or the expiry end before they are cancelled.
    private func endWaiting(after error: any Error) {
        // Either the loss is recorded already, or the clock cannot wait.
        if !Task.isCancelled { lose(error) }
    }

    private func checkDeadline() throws {
        let (deadline, loss) = state.withLock { ($0.deadline, $0.loss) }
        if let loss { throw lost(loss) }
        guard clock.now() < deadline else { throw lose(SyncLeaseError.Reason.notRenewed(within: duration)) }
    }

    /// Records that the lease is no longer held, and stops the work under it.
    ///
    /// - Returns: The error of the first loss.
    @discardableResult
    private func lose(_ error: any Error) -> SyncLeaseError {
        let (first, passes) = state.withLock { state in
            let first = state.loss ?? error
            state.loss = first
            return (first, state.refusePasses(for: first))
        }
        for pass in passes { pass.stop(.cancelled) }
        lossPromise.settle()
        return lost(first)
    }

    private func lost(_ error: any Error) -> SyncLeaseError {
        .lost(name: name, underlying: error)
    }
}
