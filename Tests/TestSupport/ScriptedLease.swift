import SyncBase
package import OneWaySynchronizer

/// A lease in memory that expires by a clock, whose keeper does what a test says. Several holders
/// ask through one value.
package final class ScriptedLease: SyncLease {
    /// What the keeper did.
    package enum Event: Sendable, Equatable {
        case granted
        case refused
        case renewed
        case released
    }

    private struct State {
        var holder: SyncLeaseHolder?
        /// What the latest grant is known by.
        var token = 0
        var expiry: Duration = .zero
    }

    package let name = "the test"
    package let duration: Duration
    package let log = EventLog<Event>()
    private let state = Locked(State())
    private let clock: ManualClock
    private let onRenew: @Sendable () async throws -> Void

    /// - Parameter onRenew: Called by each renewal, before it is made.
    package init(
        duration: Duration = .seconds(9), clock: ManualClock, onRenew: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.duration = duration
        self.clock = clock
        self.onRenew = onRenew
    }

    /// Who holds it; nil if nobody does.
    package var holder: SyncLeaseHolder? {
        state.withLock { clock.now.offset < $0.expiry ? $0.holder : nil }
    }

    /// Has somebody else take it from whoever holds it.
    package func seize(by holder: SyncLeaseHolder) {
        _ = take(for: holder)
    }

    /// Ends what `seize(by:)` began.
    package func giveUp() {
        state.withLock { $0.holder = nil }
    }

    package func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
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
