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
        /// Whether a failure is noted. If not, the changes are delivered again one by one.
        let notesFailure: Bool
        let result = Promise<StoreSyncResult>()
        private let step = Locked(Step.waiting)

        init(_ changes: [RemoteChange], notesFailure: Bool = true) {
            self.changes = changes
            self.notesFailure = notesFailure
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
    private let applyChanges: @Sendable ([RemoteChange]) async throws -> ChangesResult
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
        change: @escaping @Sendable ([RemoteChange]) async throws -> ChangesResult
    ) {
        self.feed = feed
        self.passSchedule = passSchedule
        self.clock = clock
        self.date = date
        self.turns = turns
        self.applyChanges = change
    }

    var health: LiveSync.Health {
        state.withLock { state in
            var health = state.health
            health.waitingCount = state.deliveries.count
            return health
        }
    }

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
    /// - Parameter lists: The entity and the pass of each list.
    /// - Throws: The error of the only list; ``LiveSync/PassFailure`` if there are several;
    ///   `CancellationError` if the task is cancelled.
    func pass(
        _ lists: [(entity: String, sync: @Sendable () async throws -> StoreSyncResult)]
    ) async throws -> [StoreSyncResult] {
        defer {
            let waiters = state.withLock { state in
                state.passCount += 1
                return state.passEnds.removeAll()
            }
            for waiter in waiters { waiter.resume() }
        }
        var hasMissed = false
        var results: [StoreSyncResult] = []
        var failures: [LiveSync.PassFailure.Failure] = []
        for list in lists {
            do {
                let result = try await turns.run {
                    if results.isEmpty, failures.isEmpty { hasMissed = beginPass() }
                    return try await list.sync()
                }
                results.append(result)
            } catch {
                failures.append(LiveSync.PassFailure.Failure(entity: list.entity, error: error))
                if Task.isCancelled { break }
            }
        }
        guard let first = failures.first else {
            state.withLock { $0.failedPassCount = 0 }
            return results
        }
        state.withLock { $0.failedPassCount += 1 }
        if hasMissed { needPass(nil) }
        try Task.checkCancellation()
        throw lists.count == 1 ? first.error : LiveSync.PassFailure(failures: failures)
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
        try await deliver(Delivery(changes), limit: Self.limit)
    }

    /// Waits until changes, from the feed or from others, have been applied in the order of their
    /// arrival.
    private func deliver(_ delivery: Delivery, limit: Int) async throws -> StoreSyncResult {
        let (error, waiter) = state.withLock { state -> (LiveSync.Refusal?, Waiters<Void>.Waiter?) in
            guard state.isActive else { return (.notActive, nil) }
            guard state.deliveries.count < limit else { return (.tooManyWaiting(limit: limit), nil) }
            state.deliveries.append(delivery)
            return (nil, state.arrivals.removeFirst())
        }
        if let error { throw error }
        waiter?.resume()
        return try await withTaskCancellationHandler {
            try await delivery.result.value(isCancellable: false)
        } onCancel: {
            guard delivery.abandon() else { return }
            state.withLock { $0.deliveries.removeAll { $0 === delivery } }
            delivery.result.settle(.failure(CancellationError()))
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
        let (left, wasConnected) = state.withLock { state in
            state.isActive = false
            defer {
                state.deliveries = FIFO()
                state.health.isConnected = false
            }
            return (state.deliveries.map { $0 }, state.health.isConnected)
        }
        for delivery in left { delivery.result.settle(.failure(LiveSync.Refusal.notActive)) }
        if wasConnected { broadcaster.send(.interrupted(nil)) }
    }

    /// Ends the events of all observers.
    func finishEvents() {
        broadcaster.finish()
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
                // Noted in the turn, so that events have the order of the changes.
                let result = try await turns.run { () -> StoreSyncResult? in
                    guard delivery.begin() else { return nil }
                    do {
                        let result = try await applyChanges(delivery.changes)
                        note(result, of: delivery.changes.count)
                        return result.result
                    } catch {
                        if delivery.notesFailure, !Task.isCancelled {
                            noteFailure(error, count: delivery.changes.count)
                        }
                        throw error
                    }
                }
                if let result { delivery.result.settle(.success(result)) }
            } catch {
                let isOver = Task.isCancelled
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
                _ = try await deliver(Delivery(changes, notesFailure: changes.count == 1), limit: .max)
            } catch {
                try Task.checkCancellation()
                guard changes.count > 1 else { return }
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
    private func note(_ changes: ChangesResult, of count: Int) {
        let (date, result) = (date(), changes.result)
        state.withLock { state in
            state.health.changeCount += count - changes.failedCount
            state.health.lastChange = date
        }
        broadcaster.send(.applied(result, changeCount: count - changes.failedCount))
        guard changes.failedCount > 0 else { return }
        noteFailure(
            LiveSync.Refusal.rejected(count: result.rejectedCount, first: result.rejected.first),
            count: changes.failedCount)
    }

    private func noteFailure(_ error: any Error, count: Int) {
        state.withLock { $0.health.failureCount += count }
        broadcaster.send(.failed(error, changeCount: count))
        guard case LiveSync.Refusal.unknownEntity = error else { return needPass(error) }
        // No list corrects the objects.
        change { $0.lastError = error }
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
