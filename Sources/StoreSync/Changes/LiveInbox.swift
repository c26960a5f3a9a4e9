import Foundation
import OneWaySynchronizer
import SyncBase
import SyncStore

/// Runs changes and passes one at a time, and requests a pass after a gap.
final class LiveInbox: Sendable {
    /// Changes that wait for their turn, with their result.
    private final class Delivery: Sendable {
        private enum Step { case waiting, begun, abandoned }

        let changes: [RemoteChange]
        let result = Promise<StoreSyncResult>()
        private let step = Locked(Step.waiting)

        init(_ changes: [RemoteChange]) {
            self.changes = changes
        }

        /// Begins to apply the changes; false if the caller no longer waits.
        func begin() -> Bool {
            step.withLock { step in
                if step == .waiting { step = .begun }
                return step == .begun
            }
        }

        /// Withdraws the changes.
        ///
        /// - Returns: Whether they had not begun.
        func abandon() -> Bool {
            step.withLock { step in
                if step == .waiting { step = .abandoned }
                return step == .abandoned
            }
        }
    }

    private struct State: Sendable {
        var health = LiveSync.Health()
        /// Whether changes are accepted.
        var isActive = false
        var deliveries = FIFO<Delivery>()
        var arrivals = Waiters<Void>()
        /// Whether a pass must be requested.
        var isPassNeeded = false
        var needs = Waiters<Void>()
        /// Whether changes were missed that no pass has included yet.
        var hasMissed = false
        /// The number of passes that have failed since the last success.
        var failedPassCount = 0
        /// The time at which the last pass began.
        var lastPass: Duration?
        var passCount = 0
        var passEnds = Waiters<Void>()
        var requestPass: @Sendable () -> Void = {}
    }

    /// The maximum number of waiting deliveries.
    static let limit = 1_000

    private let feed: (any RemoteFeed)?
    private let passSchedule: SyncSchedule
    private let clock: SyncClock
    private let date: @Sendable () -> Date
    /// The turns of the passes and changes of all live syncs of the store.
    private let turns: TransactionQueue
    private let applyChanges: @Sendable ([RemoteChange]) async throws -> StoreSyncResult
    private let broadcaster = Broadcaster<LiveSync.Event>.ofEvents()
    private let state = Locked(State())

    /// Creates an inbox.
    ///
    /// - Parameters:
    ///   - passSchedule: The minimum times from the beginning of a pass to one that a gap requests.
    ///   - turns: The turns of all live syncs of the store.
    ///   - change: Applies changes in one transaction.
    init(
        feed: (any RemoteFeed)?, passSchedule: SyncSchedule, clock: SyncClock,
        date: @escaping @Sendable () -> Date, turns: TransactionQueue,
        change: @escaping @Sendable ([RemoteChange]) async throws -> StoreSyncResult
    ) {
        self.feed = feed
        self.passSchedule = passSchedule
        self.clock = clock
        self.date = date
        self.turns = turns
        self.applyChanges = change
    }

    var health: LiveSync.Health { state.withLock(\.health) }

    /// The events from now on, for one observer.
    func events(bufferSize: Int) -> SyncEvents<LiveSync.Event> {
        SyncEvents(subscription: broadcaster.subscribe(capacity: bufferSize))
    }

    /// Requests a pass from the service.
    var requestPass: @Sendable () -> Void {
        get { state.withLock(\.requestPass) }
        set { state.withLock { $0.requestPass = newValue } }
    }

    // MARK: Passes

    /// Runs a pass of each list when it has its turn. A list that fails does not stop the others.
    ///
    /// - Throws: The first error of a list.
    func pass(_ lists: [@Sendable () async throws -> StoreSyncResult]) async throws -> [StoreSyncResult] {
        defer {
            let waiters = state.withLock { state in
                state.passCount += 1
                return state.passEnds.removeAll()
            }
            for waiter in waiters { waiter.resume() }
        }
        var hasMissed = false
        var results: [Result<StoreSyncResult, any Error>] = []
        for list in lists {
            do {
                let result = try await turns.run {
                    if results.isEmpty { hasMissed = beginPass() }
                    return try await list()
                }
                results.append(.success(result))
            } catch {
                results.append(.failure(error))
                if Task.isCancelled { break }
            }
        }
        do {
            let all = try results.map { try $0.get() }
            state.withLock { $0.failedPassCount = 0 }
            return all
        } catch {
            state.withLock { $0.failedPassCount += 1 }
            if hasMissed { needPass(nil) }
            throw error
        }
    }

    /// Notes the beginning of a pass, which includes all changes that were missed before it.
    ///
    /// - Returns: Whether changes were missed.
    private func beginPass() -> Bool {
        state.withLock { state in
            defer { state.hasMissed = false }
            state.lastPass = clock.now()
            state.isPassNeeded = false
            return state.hasMissed
        }
    }

    // MARK: Changes

    /// Applies changes when they have their turn, under the lease of the service.
    func apply(_ changes: [RemoteChange]) async throws -> StoreSyncResult {
        let delivery = Delivery(changes)
        let (error, waiter) = state.withLock { state -> (LiveSync.Refusal?, Waiters<Void>.Waiter?) in
            guard state.isActive else { return (.notActive, nil) }
            guard state.deliveries.count < Self.limit else { return (.tooManyWaiting(limit: Self.limit), nil) }
            state.deliveries.append(delivery)
            return (nil, state.arrivals.removeFirst())
        }
        if let error { throw error }
        waiter?.resume()
        return try await withTaskCancellationHandler {
            try await delivery.result.value(isCancellable: false)
        } onCancel: {
            if delivery.abandon() { delivery.result.settle(.failure(CancellationError())) }
        }
    }

    /// Accepts changes until the task is cancelled.
    func run() async {
        state.withLock { state in
            state.isActive = true
            state.health.hasEnded = false
        }
        await withTaskGroup { group in
            group.addTask { await self.takeDeliveries() }
            group.addTask { await self.requestPasses() }
            if let feed { group.addTask { await self.follow(feed) } }
        }
        let left = state.withLock { state in
            state.isActive = false
            state.health.isConnected = false
            defer { state.deliveries = FIFO() }
            return state.deliveries.map { $0 }
        }
        for delivery in left { delivery.result.settle(.failure(LiveSync.Refusal.notActive)) }
    }

    private func takeDeliveries() async {
        while true {
            let delivery = state.withLock { $0.deliveries.popFirst() }
            guard let delivery else {
                // Waiting ends when the task is cancelled.
                guard (try? await state.wait(in: \.arrivals) { $0.deliveries.isEmpty ? nil : .success(()) }) != nil
                else { return }
                continue
            }
            do {
                let result = try await turns.run { () -> StoreSyncResult? in
                    delivery.begin() ? try await applyChanges(delivery.changes) : nil
                }
                guard let result else { continue }
                note(result, of: delivery.changes.count)
                delivery.result.settle(.success(result))
            } catch {
                let isOver = Task.isCancelled
                if !isOver { noteFailure(error, count: delivery.changes.count) }
                delivery.result.settle(.failure(isOver ? LiveSync.Refusal.notActive : error))
                if isOver { return }
            }
        }
    }

    // MARK: The feed

    private func follow(_ feed: any RemoteFeed) async {
        while !Task.isCancelled {
            let passCount = state.withLock(\.passCount)
            do {
                try await feed.run { try await self.receive($0) }
                guard !Task.isCancelled else { return }
                // Changes since the last connection were in no event.
                state.withLock { state in
                    state.health.isConnected = false
                    state.health.hasEnded = true
                }
                broadcaster.send(.ended)
                return noteGap(nil)
            } catch {
                guard !Task.isCancelled else { return }
                noteInterruption(error)
            }
            // The next pass may fix the cause, for example an expired token.
            try? await state.wait(in: \.passEnds) { $0.passCount > passCount ? .success(()) : nil }
        }
    }

    private func receive(_ event: RemoteChange.Event) async throws {
        switch event {
        case .connected(let isContinuous):
            state.withLock { $0.health.isConnected = true }
            broadcaster.send(.connected(isContinuous: isContinuous))
            if !isContinuous { noteGap(nil) }
        case .gap(let error): noteGap(error)
        case .interrupted(let error): noteInterruption(error)
        case .changes(let changes):
            guard !changes.isEmpty else { return }
            do {
                note(try await turns.run { try await applyChanges(changes) }, of: changes.count)
            } catch {
                try Task.checkCancellation()
                guard changes.count > 1 else { return noteFailure(error, count: changes.count) }
                // Applied one by one, because a single change may be the cause.
                for change in changes { try await receive(.changes([change])) }
            }
        }
    }

    /// Changes the health. The replaced values are released outside the lock.
    private func change(_ change: (inout LiveSync.Health) -> Void) {
        let former = state.withLock { state in
            let former = state.health
            change(&state.health)
            return former
        }
        _ = former
    }

    /// Notes changes that were applied, apart from objects that were rejected.
    private func note(_ result: StoreSyncResult, of count: Int) {
        let date = date()
        let failedCount = min(result.rejectedCount, count)
        state.withLock { state in
            state.health.changeCount += count - failedCount
            state.health.lastChange = date
        }
        broadcaster.send(.applied(result, changeCount: count))
        guard failedCount > 0 else { return }
        noteFailure(
            LiveSync.Refusal.rejected(count: result.rejectedCount, first: result.rejected.first), count: failedCount)
    }

    private func noteFailure(_ error: any Error, count: Int) {
        state.withLock { $0.health.failureCount += count }
        broadcaster.send(.failed(error, changeCount: count))
        needPass(error)
    }

    private func noteInterruption(_ error: (any Error)?) {
        change { health in
            health.isConnected = false
            if let error { health.lastError = error }
        }
        broadcaster.send(.interrupted(error))
    }

    private func noteGap(_ error: (any Error)?) {
        state.withLock { $0.health.gapCount += 1 }
        broadcaster.send(.gap(error))
        needPass(error)
    }

    // MARK: Passes after a gap

    private func needPass(_ error: (any Error)?) {
        if let error { change { $0.lastError = error } }
        let waiters = state.withLock { state in
            state.isPassNeeded = true
            state.hasMissed = true
            return state.needs.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Requests a pass after each gap, with a delay between passes.
    private func requestPasses() async {
        while (try? await state.wait(in: \.needs) { $0.isPassNeeded ? .success(()) : nil }) != nil {
            let (lastPass, failedPassCount) = state.withLock { ($0.lastPass, $0.failedPassCount) }
            let delay = passSchedule.delay(consecutiveFailures: failedPassCount, random: 0)
            let wait = lastPass.map { delay.addingClamped($0).addingClamped(.zero - clock.now()) } ?? .zero
            if wait > .zero, (try? await clock.sleep(wait)) == nil { return }
            let request = state.withLock { state in
                defer { state.isPassNeeded = false }
                // Another pass may have begun in the meantime.
                return state.isPassNeeded ? state.requestPass : nil
            }
            request?()
        }
    }
}
