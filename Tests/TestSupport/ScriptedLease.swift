import SyncBase
package import OneWaySynchronizer

/// An in-memory lease that expires by a manual clock and calls a closure of the test on renewal.
///
/// Several holders acquire it through one instance.
package final class ScriptedLease: SyncLease {
    /// An operation on the lease.
    package enum Event: Sendable, Equatable {
        case granted
        case refused
        case unavailable
        case renewed
        case released
    }

    private struct State {
        var holder: SyncLeaseHolder?
        /// The number of the latest grant. A grant with an older number has lost the lease.
        var token = 0
        var expiry: Duration = .zero
        /// Why requests get no answer; nil if they do.
        var unavailability: (any Error)?
    }

    package let name = "the test"
    package let duration: Duration
    package let log = EventLog<Event>()
    private let state = Locked(State())
    private let clock: ManualClock
    private let onRenew: @Sendable () async throws -> Void

    /// Creates a lease that nobody holds.
    ///
    /// - Parameters:
    ///   - duration: The validity of a grant and of each renewal; 9 seconds by default.
    ///   - clock: The clock that the lease expires by.
    ///   - onRenew: Called before each renewal. An error makes the renewal fail.
    package init(
        duration: Duration = .seconds(9), clock: ManualClock, onRenew: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.duration = duration
        self.clock = clock
        self.onRenew = onRenew
    }

    /// The current holder; nil if nobody holds the lease or it has expired.
    package var holder: SyncLeaseHolder? {
        state.withLock { clock.now.offset < $0.expiry ? $0.holder : nil }
    }

    /// Transfers the lease to a holder, even if another one holds it.
    package func seize(by holder: SyncLeaseHolder) {
        _ = take(for: holder)
    }

    /// Ends the possession that ``seize(by:)`` began.
    package func giveUp() {
        state.withLock { $0.holder = nil }
    }

    /// Answers no requests from now on, for a reason, or answers them again without one.
    package func beUnavailable(_ error: (any Error)?) {
        state.withLock { $0.unavailability = error }
    }

    package func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        if let error = state.withLock(\.unavailability) {
            log.append(.unavailable)
            return .unavailable(error)
        }
        if let other = self.holder {
            log.append(.refused)
            return .held(by: other)
        }
        let grant = Grant(token: take(for: holder), lease: self)
        log.append(.granted)
        return .granted(grant)
    }

    private func take(for holder: SyncLeaseHolder) -> Int {
        state.withLock { state in
            state.holder = holder
            state.token += 1
            state.expiry = clock.now.offset + duration
            return state.token
        }
    }

    private struct Grant: SyncLeaseGrant {
        let token: Int
        let lease: ScriptedLease

        func renew() async throws {
            let expiry = lease.clock.now.offset + lease.duration
            try await lease.onRenew()
            try lease.state.withLock { state in
                guard state.token == token, state.holder != nil else { throw TestError("taken by another") }
                state.expiry = expiry
            }
            lease.log.append(.renewed)
        }

        func release() async {
            lease.state.withLock { state in
                if state.token == token { state.holder = nil }
            }
            lease.log.append(.released)
        }
    }
}
