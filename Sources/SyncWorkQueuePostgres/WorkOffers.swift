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
final class WorkOffers: Sendable {
    private struct State {
        var lastNumber: Int64 = 0
        var calls: [Int64: Promise<Void>] = [:]
        /// Offers that are not sent yet.
        var offers: [WorkOffer] = []
        /// Numbers of sent offers whose calls were cancelled since.
        var withdrawn: [Int64] = []
        var isClosed = false
        /// The error that ended the loop; nil while it runs.
        var failure: (any Error)?

        var hasWork: Bool { isClosed || !offers.isEmpty || !withdrawn.isEmpty }
    }

    /// The data for the loop to send.
    struct News: Sendable {
        var offers: [WorkOffer]
        var withdrawn: [Int64]
        var isClosed: Bool
    }

    /// The result of an item's download.
    struct Ending: Sendable {
        var number: Int64
        var result: Result<Void, any Error>
    }

    /// The generation of the pass.
    let generation: Int64
    private let link: WorkQueueLink
    private let state = Locked(State())
    private let loop: Locked<Task<Void, Never>?> = Locked(nil)

    /// Takes the queue over, and waits until no worker works for an earlier pass.
    init(_ queue: PostgresWorkQueue) async throws {
        link = try await WorkQueueLink(queue, role: .holder)
        generation = try await link.takeOver()
        let task = Task { await self.run(on: self.link) }
        loop.withLock { $0 = task }
    }

    /// Ends the loop. All calls must have returned.
    func close() async {
        state.withLock { $0.isClosed = true }
        link.wake()
        await loop.withLock(\.self)?.value
    }

    // MARK: Calls

    /// Waits until a worker has downloaded an item.
    func download(_ item: String, key: String, _ stage: WorkStage) async throws {
        try Task.checkCancellation()
        let call = Promise<Void>()
        let number = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.lastNumber += 1
            state.calls[state.lastNumber] = call
            state.offers.append(WorkOffer(number: state.lastNumber, stage: stage, key: key, item: item))
            return state.lastNumber
        }
        link.wake()
        try await withTaskCancellationHandler {
            // A cancelled call ends only when its worker has stopped.
            try await call.value(isCancellable: false)
        } onCancel: {
            withdraw(number)
        }
    }

    private func withdraw(_ number: Int64) {
        let unsent = state.withLock { state in
            guard state.calls[number] != nil else { return nil as Promise<Void>? }
            if let index = state.offers.firstIndex(where: { $0.number == number }) {
                state.offers.remove(at: index)
                return state.calls.removeValue(forKey: number)
            }
            state.withdrawn.append(number)
            return nil
        }
        unsent?.settle(.failure(CancellationError()))
        link.wake()
    }

    // MARK: The loop

    /// Runs on the link's thread.
    private func run(on link: isolated WorkQueueLink) async {
        // Dead workers are searched for as often as workers report.
        let interval = link.options.visibilityTimeout / 3
        var sweep = ContinuousClock.now + interval
        do {
            while true {
                let news = state.withLock { state in
                    defer { (state.offers, state.withdrawn) = ([], []) }
                    return News(offers: state.offers, withdrawn: state.withdrawn, isClosed: state.isClosed)
                }
                if news.isClosed { return }
                end(try await link.exchange(news, generation: generation))
                if ContinuousClock.now >= sweep {
                    end(try await link.sweep(generation: generation))
                    sweep = ContinuousClock.now + interval
                }
                let (hasWork, isIdle) = state.withLock { ($0.hasWork, $0.calls.isEmpty) }
                if !hasWork { _ = try await link.wait(until: isIdle ? nil : sweep) }
            }
        } catch {
            let calls = state.withLock { state in
                state.failure = error
                defer { state.calls = [:] }
                return state.calls.values
            }
            for call in calls { call.settle(.failure(error)) }
        }
    }

    private func end(_ endings: [Ending]) {
        let ended = state.withLock { state in
            endings.compactMap { ending in
                state.calls.removeValue(forKey: ending.number).map { ($0, ending.result) }
            }
        }
        for (call, result) in ended { call.settle(result) }
    }
}
#endif
