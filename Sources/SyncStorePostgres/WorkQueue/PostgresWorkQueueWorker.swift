#if Postgres
import SyncBase
import Foundation
public import OneWaySynchronizer

/// Downloads the items of a ``PostgresWorkQueue``, made by its `worker(with:concurrency:)`.
public final class PostgresWorkQueueWorker<Processor: SyncProcessor>: Sendable where Processor.Item: Codable {
    private struct State {
        var link: WorkQueueLink?
        var finished: [WorkClaim: WorkEnd] = [:]
        var isStopping = false
    }

    private let processor: Processor
    private let queue: PostgresWorkQueue
    private let concurrency: Int
    private let name: String
    private let state = Locked(State())

    init(_ processor: Processor, queue: PostgresWorkQueue, concurrency: Int) {
        self.processor = processor
        self.queue = queue
        self.concurrency = concurrency
        let process = SyncLeaseHolder()
        name = "\(process.program) (process \(process.processID) on \(process.host))"
    }

    /// Downloads items until ``stop()`` is called or the task is cancelled. Run once at a time.
    ///
    /// When the connection is lost, what is being downloaded is cancelled, since others will be given it, and the worker connects again after
    /// a while: a tenth of a second, then twice as long each time, at most ten seconds.
    ///
    /// - Throws: `CancellationError` where the task is cancelled: what is being downloaded is cancelled, awaited and given back.
    ///   ``PostgresError`` where the queue cannot be used, or no connection was possible at first.
    public func run() async throws {
        var hasConnected = false
        var pause = Duration.milliseconds(100)
        while true {
            do {
                let link = try await WorkQueueLink(queue, role: .worker)
                (hasConnected, pause) = (true, .milliseconds(100))
                return try await work(link)
            } catch let error as PostgresError where error.isConnectionFailure && hasConnected {
                guard !state.withLock(\.isStopping) else { return }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(10))
            }
        }
    }

    /// Begins no further item; ``run()`` returns when what is being downloaded is done. For good.
    public func stop() {
        let link = state.withLock { state in
            state.isStopping = true
            return state.link
        }
        link?.wake()
    }

    // MARK: The loop

    private func work(_ link: WorkQueueLink) async throws {
        state.withLock { $0 = State(link: link, isStopping: $0.isStopping) }
        var running: [WorkClaim: Task<Void, Never>] = [:]
        do {
            try await loop(link, &running)
        } catch {
            for task in running.values { task.cancel() }
            for task in running.values { await task.value }
            // In a task of its own, because this one may be cancelled. Where it fails, the items' time runs out.
            let ends = state.withLock(\.finished).mapValues { $0.isCancellation ? .givenBack : $0 }
            await Task { try? await link.finish(ends) }.value
            throw error
        }
    }

    private func loop(_ link: WorkQueueLink, _ running: inout [WorkClaim: Task<Void, Never>]) async throws {
        let interval = queue.options.visibilityTimeout / 3
        var nextSign = ContinuousClock.now + interval
        var isAsked = true
        while true {
            try Task.checkCancellation()
            let (finished, isStopping) = state.withLock { ($0.finished, $0.isStopping) }
            if !finished.isEmpty {
                try await link.finish(finished)
                state.withLock { state in
                    for claim in finished.keys { state.finished[claim] = nil }
                }
                for claim in finished.keys { running[claim] = nil }
            }
            if isStopping, running.isEmpty { return }
            if isAsked || ContinuousClock.now >= nextSign {
                let kept = try await link.prolong()
                for (claim, task) in running where !kept.contains(claim) { task.cancel() }
                nextSign = ContinuousClock.now + interval
            }
            let claims = isStopping ? [] : try await link.claim(atMost: concurrency - running.count, by: name)
            for claimed in claims {
                // What was lost and given again is not downloaded twice at a time.
                let earlier = running.filter { $0.key.isSameItem(as: claimed.claim) }.values
                running[claimed.claim] = Task {
                    for task in earlier { await task.value }
                    await self.download(claimed, link)
                }
            }
            isAsked = false
            if state.withLock({ $0.finished.isEmpty && $0.isStopping == isStopping }) {
                isAsked = try await link.wait(until: nextSign).contains(WorkQueueStatements.withdrawal)
            }
        }
    }

    private func download(_ claimed: ClaimedWork, _ link: WorkQueueLink) async {
        let end: WorkEnd
        do {
            let item = try JSONDecoder().decode(Processor.Item.self, from: Data(claimed.item.utf8))
            switch claimed.stage {
            case .preview: try await processor.owsDownloadItemPreview(for: item)
            case .content: try await processor.owsDownloadItem(for: item)
            }
            end = .done
        } catch {
            end = Task.isCancelled ? .cancelled : .failed(PostgresWorkError.Failure(error, worker: name))
        }
        state.withLock { $0.finished[claimed.claim] = end }
        link.wake()
    }
}
#endif
