import SyncBase
/// A lease that is held: keeps it, knows for how long that is certain, and ends what runs under it when it is lost.
final class HeldLease: Sendable {
    /// The leases that the current task runs under, the outermost first.
    @TaskLocal static var surrounding: [HeldLease] = []

    private struct State {
        /// Until when it is certain to be held, by the clock.
        var deadline: Duration
        /// Why it is not held any more.
        var loss: (any Error)?
    }

    private let grant: any SyncLeaseGrant
    private let name: String
    private let duration: Duration
    private let clock: SyncClock
    private let state: Locked<State>
    /// Ends when the lease is lost.
    private let losses = AsyncStream<Never>.makeStream()

    /// Takes care of a grant.
    ///
    /// - Parameter start: When the lease was asked for.
    init(_ grant: any SyncLeaseGrant, name: String, duration: Duration, clock: SyncClock, since start: Duration) {
        self.grant = grant
        self.name = name
        self.duration = duration
        self.clock = clock
        state = Locked(State(deadline: start + duration))
    }

    /// Runs a function, and cancels it when the lease is lost. Awaits it in any case.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Result<Value, any Error> {
        await withTaskGroup(of: Result<Value, any Error>?.self) { group in
            group.addTask {
                await Self.$surrounding.withValue(Self.surrounding + [self]) {
                    do { return .success(try await body()) } catch { return .failure(error) }
                }
            }
            group.addTask {
                await self.keepRenewing()
                return nil
            }
            // Apart from the renewals, so that one that takes for ever does not keep the body running.
            group.addTask {
                await self.waitForExpiry()
                return nil
            }
            // A loss that is noticed when the body confirms the lease.
            group.addTask {
                for await _ in self.losses.stream {}
                return nil
            }
            var result = Result<Value, any Error>.failure(CancellationError())
            for await end in group {
                group.cancelAll()
                if let end { result = end }
            }
            return result.mapError { error in state.withLock(\.loss).map(lost) ?? error }
        }
    }

    /// Renews the lease.
    ///
    /// - Throws: ``SyncLeaseError/lost(name:underlying:)``, then and from then on; `CancellationError` where the task is cancelled.
    func confirm() async throws {
        try Task.checkCancellation()
        try checkDeadline()
        let start = clock.now()
        do { try await grant.renew() } catch {
            try Task.checkCancellation()
            throw lose(error)
        }
        try checkDeadline()
        state.withLock { $0.deadline = max($0.deadline, start + duration) }
    }

    /// Gives the lease back.
    func release() async {
        _ = lose(SyncLeaseError.Reason.released)
        await grant.release()
    }

    private func keepRenewing() async {
        do {
            while true {
                try await clock.sleep(duration / 3)
                try await confirm()
            }
        } catch {
            // It is lost, which is known, or the body has returned.
        }
    }

    private func waitForExpiry() async {
        do {
            while true {
                try checkDeadline()
                try await clock.sleep(state.withLock(\.deadline) - clock.now())
            }
        } catch {
            // The same.
        }
    }

    private func checkDeadline() throws {
        let (deadline, loss) = state.withLock { ($0.deadline, $0.loss) }
        if let loss { throw lost(loss) }
        guard clock.now() < deadline else { throw lose(SyncLeaseError.Reason.notRenewed(within: duration)) }
    }

    /// Notes that the lease is not held any more, if that is not known yet.
    ///
    /// - Returns: The error that says so.
    private func lose(_ error: any Error) -> SyncLeaseError {
        let first = state.withLock { state in
            let first = state.loss ?? error
            state.loss = first
            return first
        }
        losses.continuation.finish()
        return lost(first)
    }

    private func lost(_ error: any Error) -> SyncLeaseError {
        .lost(name: name, underlying: error)
    }
}
