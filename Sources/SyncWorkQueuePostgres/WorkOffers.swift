#if Postgres
import OneWaySynchronizer
import SyncBase

/// The part of an item to download.
enum WorkStage: String, Sendable {
    case preview
    case content

    /// Creates a stage from its text; `content` for any other text.
    init(_ text: String?) {
        self = text.flatMap(Self.init(rawValue:)) ?? .content
    }

    init(_ stage: SyncStage) {
        self = stage == .preview ? .preview : .content
    }

    var stage: SyncStage {
        self == .preview ? .preview : .content
    }
}

/// An item to be offered to workers.
struct WorkOffer: Sendable {
    /// The number of the offer, from 1 within a pass.
    var number: Int64
    var stage: WorkStage
    /// The item's key as text.
    var key: String
    /// The item as JSON.
    var item: String
}

/// The calls of a pass that wait for workers, and the loop that exchanges items and results with
/// the server.
///
/// If the connection is lost, the loop connects again, and finds the pass by its token. The server
/// may or may not have received the last statement, so everything that has not ended is offered and
/// withdrawn once more; the server ignores what it knows.
final class WorkOffers: Sendable {
    private struct Call {
        let offer: WorkOffer
        let end = Promise<Void>()
        /// Whether the server may know the offer.
        var wasSent = false
        var isWithdrawn = false
    }

    private struct State {
        var lastNumber: Int64 = 0
        /// The calls that have no result yet.
        var calls: [Int64: Call] = [:]
        /// Numbers of the offers to send.
        var unsent: [Int64] = []
        /// Numbers of sent offers to withdraw, because their calls were cancelled.
        var withdrawn: [Int64] = []
        /// Numbers whose results have arrived, for the server to remove.
        var received: [Int64] = []
        var isClosed = false
        /// The connection; nil while there is none.
        var link: WorkQueueLink?
        /// The error that ended the loop; nil while it runs.
        var failure: (any Error)?

        var hasWork: Bool { isClosed || !unsent.isEmpty || !withdrawn.isEmpty }

        mutating func takeNews() -> News {
            for number in unsent { calls[number]?.wasSent = true }
            defer { (unsent, withdrawn) = ([], []) }
            return News(
                offers: unsent.compactMap { calls[$0]?.offer }, withdrawn: withdrawn, received: received,
                firstNumber: calls.keys.min() ?? lastNumber)
        }

        /// Prepares to send everything again that has not ended.
        mutating func startOver(_ link: WorkQueueLink) {
            self.link = link
            unsent = calls.filter { !$0.value.isWithdrawn }.keys.sorted()
            withdrawn = calls.filter(\.value.isWithdrawn).keys.sorted()
        }
    }

    /// The data for the loop to send.
    struct News: Sendable {
        var offers: [WorkOffer]
        var withdrawn: [Int64]
        var received: [Int64]
        /// The lowest number that has no result yet.
        var firstNumber: Int64
    }

    /// The result of an item's download.
    struct Ending: Sendable {
        var number: Int64
        var result: Result<Void, any Error>
    }

    /// The generation of the pass.
    let generation: Int64
    private let queue: PostgresWorkQueue
    private let token: String
    private let state = Locked(State())
    private let loop: Locked<Task<Void, Never>?> = Locked(nil)

    /// Takes the queue over, and waits until no worker works for an earlier pass.
    init(_ queue: PostgresWorkQueue) async throws {
        var link = try await WorkQueueLink(queue, role: .holder)
        var outage = Self.outage(of: queue)
        var begun: Int64?
        while true {
            do {
                // A pass that has begun does not begin again: another one may have followed it.
                let generation = if let begun { begun } else { try await link.begin() }
                begun = generation
                try await link.waitForWorkers(generation: generation)
                self.generation = generation
                break
            } catch {
                link = try await Self.connect(after: error, link.token, to: queue, &outage, while: { true })
            }
        }
        self.queue = queue
        token = link.token
        let first = link
        state.withLock { $0.link = first }
        let task = Task { await self.run(on: first) }
        loop.withLock { $0 = task }
    }

    /// Ends the loop. Calls that have not returned fail.
    func close() async {
        let link = state.withLock { state in
            state.isClosed = true
            return state.link
        }
        link?.wake()
        await loop.withLock(\.self)?.value
    }

    // MARK: Calls

    /// Waits until a worker has downloaded an item.
    func download(_ item: String, key: String, _ stage: WorkStage) async throws {
        try Task.checkCancellation()
        let (number, end, link) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.lastNumber += 1
            let call = Call(offer: WorkOffer(number: state.lastNumber, stage: stage, key: key, item: item))
            state.calls[state.lastNumber] = call
            state.unsent.append(state.lastNumber)
            return (state.lastNumber, call.end, state.link)
        }
        link?.wake()
        try await withTaskCancellationHandler {
            // A cancelled call ends only when its worker has stopped.
            try await end.value(isCancellable: false)
        } onCancel: {
            withdraw(number)
        }
    }

    private func withdraw(_ number: Int64) {
        let (unsent, link) = state.withLock { state -> (Promise<Void>?, WorkQueueLink?) in
            guard let call = state.calls[number] else { return (nil, nil) }
            state.unsent.removeAll { $0 == number }
            guard call.wasSent else {
                state.calls[number] = nil
                return (call.end, nil)
            }
            state.calls[number]?.isWithdrawn = true
            state.withdrawn.append(number)
            return (nil, state.link)
        }
        unsent?.settle(.failure(CancellationError()))
        link?.wake()
    }

    // MARK: The loop

    /// Exchanges items and results until the calls have ended, on a new connection after each loss.
    private func run(on first: WorkQueueLink) async {
        var link = first
        var outage = Self.outage(of: queue)
        while true {
            do {
                try await exchange(on: link, &outage)
                // No call of a pass outlives its end.
                return fail(PostgresWorkQueue.Failure.noPass)
            } catch {
                do {
                    state.withLock { $0.link = nil }
                    // Whatever cannot be removed at the end is removed by the next pass.
                    link = try await Self.connect(after: error, token, to: queue, &outage) {
                        !state.withLock(\.isClosed)
                    }
                    state.withLock { $0.startOver(link) }
                } catch {
                    return fail(error)
                }
            }
        }
    }

    /// How long the server may be out of reach.
    private static func outage(of queue: PostgresWorkQueue) -> WorkQueueOutage {
        WorkQueueOutage(longestPause: .seconds(1), limit: queue.options.visibilityTimeout)
    }

    /// Connects again after an error.
    ///
    /// - Parameter isNeeded: Whether to go on after an attempt that failed.
    /// - Throws: The last error, if another connection cannot help, or none could be made in time.
    private static func connect(
        after error: any Error, _ token: String, to queue: PostgresWorkQueue, _ outage: inout WorkQueueOutage,
        while isNeeded: () -> Bool
    ) async throws -> WorkQueueLink {
        var last = error
        while let error = last as? PostgresError, error.endsSessionOnly, try await outage.wait() {
            do { return try await WorkQueueLink(queue, role: .holder, token: token) } catch { last = error }
            guard isNeeded() else { break }
        }
        throw last
    }

    /// The shortest time between the beginnings of two exchanges. If many calls wait, short items
    /// are then sent and collected together.
    ///
    /// - Parameter callCount: The number of calls that wait for their workers.
    private static func exchangeInterval(_ callCount: Int) -> Duration {
        .milliseconds(min(callCount / 40, 6))
    }

    /// Runs on the link's thread.
    private func exchange(on link: isolated WorkQueueLink, _ outage: inout WorkQueueOutage) async throws {
        // Dead workers are searched for as often as workers report.
        let interval = link.options.visibilityTimeout / 3
        var sweep = ContinuousClock.now + interval
        // Results are announced by notifications, as is another pass.
        var isNotified = true
        while true {
            let (news, isClosed) = state.withLock { ($0.takeNews(), $0.isClosed) }
            if isClosed { return try await link.leave() }
            if ContinuousClock.now >= sweep {
                try await link.sweep()
                sweep = ContinuousClock.now + interval
                isNotified = true
            }
            let start = ContinuousClock.now
            let endings = try await link.exchange(news, generation: generation, collects: isNotified)
            end(endings.results, received: endings.received)
            outage.finish()
            isNotified = false
            let (hasWork, callCount) = state.withLock { ($0.hasWork, $0.calls.count) }
            if !hasWork { isNotified = try await !link.wait(until: callCount == 0 ? nil : sweep).isEmpty }
            let pauseEnd = start + Self.exchangeInterval(callCount)
            if ContinuousClock.now < pauseEnd {
                try await Task.sleep(until: pauseEnd)
                if try await !link.wait(until: .now).isEmpty { isNotified = true }
            }
        }
    }

    /// - Parameter received: The items for the server to remove; nil for those of before.
    private func end(_ endings: [Ending], received: [Int64]?) {
        let ended = state.withLock { state in
            if let received { state.received = received }
            return endings.compactMap { ending in
                state.calls.removeValue(forKey: ending.number).map { ($0.end, ending.result) }
            }
        }
        for (end, result) in ended { end.settle(result) }
    }

    private func fail(_ error: any Error) {
        let calls = state.withLock { state in
            state.failure = error
            defer { state.calls = [:] }
            return state.calls.values
        }
        for call in calls { call.end.settle(.failure(error)) }
    }
}
#endif
