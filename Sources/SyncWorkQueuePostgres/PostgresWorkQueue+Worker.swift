#if Postgres
import Foundation
import OneWayPostgresClient
public import OneWaySynchronizer
import SyncBase

extension PostgresWorkQueue {
    /// Downloads the items of a ``PostgresWorkQueue``; created by `worker(with:concurrency:)`.
    public final class Worker<Processor: SyncProcessor>: Sendable where Processor.Item: Codable {
        private struct State {
            var link: WorkQueueLink?
            var finished: [WorkClaim: WorkEnd] = [:]
            /// The number of items since the last readable one that could not be decoded.
            var unreadableCount = 0
            /// Why the worker ends; nil while it can read enough items.
            var unreadableReason: String?
            var isStopping = false
        }

        /// The running downloads.
        private struct Downloads {
            var tasks: [WorkClaim: Task<Void, Never>] = [:]
            /// The item that is downloaded alone, because workers may have died of it; nil if there
            /// is none.
            var suspect: WorkClaim?
        }

        /// The number of unreadable items in succession after which the worker ends.
        private static var unreadableLimit: Int { 3 }

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

        /// Downloads items until ``stop()`` is called or the task is cancelled. Must not be called
        /// again while it runs.
        ///
        /// If the connection is lost, running downloads are cancelled, because other workers will
        /// get their items. The worker connects again after 0.1 s, and doubles the time after each
        /// failure, up to 10 s. It continues to try while the server has no free connection, and
        /// after conflicts with other transactions.
        ///
        /// An item that cannot be decoded is returned to the queue for other workers.
        ///
        /// - Throws: ``PostgresWorkQueue/Failure/unreadableItems(_:)`` after three such items in
        ///   succession; `CancellationError` if the task is cancelled. Running downloads are then
        ///   cancelled, awaited and returned to the queue. `PostgresError` if the queue cannot be
        ///   used, or if the first connection fails.
        public func run() async throws {
            var hasConnected = false
            var outage = WorkQueueOutage(longestPause: .seconds(10), limit: nil)
            while true {
                do {
                    let link = try await WorkQueueLink(queue, role: .worker)
                    hasConnected = true
                    outage.finish()
                    return try await work(link)
                } catch let error as PostgresError where error.endsSessionOnly && hasConnected {
                    guard !state.withLock(\.isStopping), try await outage.wait() else { return }
                }
            }
        }

        /// Stops taking items. ``run()`` returns when the running downloads have ended. Cannot be
        /// undone.
        public func stop() {
            let link = state.withLock { state in
                state.isStopping = true
                return state.link
            }
            link?.wake()
        }

        // MARK: The loop

        /// Runs on the link's thread, which processors cannot block.
        private func work(_ link: isolated WorkQueueLink) async throws {
            state.withLock { $0 = State(link: link, isStopping: $0.isStopping) }
            var downloads = Downloads()
            do {
                try await loop(link, &downloads)
            } catch {
                for task in downloads.tasks.values { task.cancel() }
                for task in downloads.tasks.values { await task.value }
                // In a separate task, because the current one may be cancelled. If it fails, the
                // items' time runs out.
                let ends = state.withLock(\.finished).mapValues { $0.isCancellation ? .givenBack : $0 }
                await Task { try? await link.finish(ends) }.value
                throw error
            }
        }

        private func loop(_ link: isolated WorkQueueLink, _ downloads: inout Downloads) async throws {
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
                    for claim in finished.keys {
                        downloads.tasks[claim] = nil
                        if downloads.suspect == claim { downloads.suspect = nil }
                    }
                }
                if let reason = state.withLock(\.unreadableReason) { throw Failure.unreadableItems(reason) }
                if isStopping, downloads.tasks.isEmpty { return }
                if isAsked || ContinuousClock.now >= nextSign {
                    let kept = try await link.prolong()
                    for (claim, task) in downloads.tasks where !kept.contains(claim) { task.cancel() }
                    nextSign = ContinuousClock.now + interval
                }
                if !isStopping, downloads.suspect == nil {
                    let claimed = try await link.claim(
                        atMost: concurrency - downloads.tasks.count, by: name, isIdle: downloads.tasks.isEmpty)
                    for work in claimed { start(work, &downloads, link.waker) }
                }
                isAsked = false
                if state.withLock({ $0.finished.isEmpty && $0.isStopping == isStopping }) {
                    isAsked = try await link.wait(until: nextSign).contains(WorkQueueStatements.withdrawal)
                }
            }
        }

        private func start(_ work: ClaimedWork, _ downloads: inout Downloads, _ waker: PostgresWaker) {
            // An item that was lost and claimed again must not be downloaded twice at a time.
            let earlier = downloads.tasks.filter { $0.key.isSameItem(as: work.claim) }.values
            downloads.tasks[work.claim] = Task {
                for task in earlier { await task.value }
                await self.download(work, waker)
            }
            if work.isSuspect { downloads.suspect = work.claim }
        }

        private func download(_ work: ClaimedWork, _ waker: PostgresWaker) async {
            let item: Processor.Item
            do {
                item = try JSONDecoder().decode(Processor.Item.self, from: Data(work.item.utf8))
            } catch {
                let reason = ErrorText.codingProblem(error) ?? "\(type(of: error))"
                return finish(work.claim, .unreadable("\(Processor.Item.self): \(reason)"), waker)
            }
            let end: WorkEnd
            do {
                try await PostgresWorkQueue.$generation.withValue(work.claim.generation) {
                    switch work.stage {
                    case .preview: try await processor.owsDownloadItemPreview(for: item)
                    case .content: try await processor.owsDownloadItem(for: item)
                    }
                }
                end = .done
            } catch {
                end = Task.isCancelled ? .cancelled : .failed(Failure.WorkerError(error, worker: name))
            }
            finish(work.claim, end, waker)
        }

        private func finish(_ claim: WorkClaim, _ end: WorkEnd, _ waker: PostgresWaker) {
            state.withLock { state in
                state.finished[claim] = end
                guard case .unreadable(let reason) = end else {
                    state.unreadableCount = 0
                    return
                }
                state.unreadableCount += 1
                if state.unreadableCount >= Self.unreadableLimit { state.unreadableReason = reason }
            }
            waker.wake()
        }
    }
}
#endif
