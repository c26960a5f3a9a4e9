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
            /// The running downloads.
            var tasks: [WorkClaim: Task<Void, Never>] = [:]
            /// The item that is downloaded alone, because workers may have died of it; nil if there
            /// is none.
            var suspect: WorkClaim?
            /// The claimed items that wait for one of the others to end, in order.
            var waiting: [ClaimedWork] = []
            /// When an item was last begun or claimed.
            var lastStep = ContinuousClock.now
            /// The ended items that the server does not know of yet.
            var finished: [WorkClaim: WorkEnd] = [:]
            /// When the first of these ended.
            var firstEnd: ContinuousClock.Instant?
            /// The number of these from which the server is told while all downloads run.
            var reportCount = 1
            /// How long the latest downloads took on average; nil before the first one.
            var averageDuration: Duration?
            /// The number of items since the last readable one that could not be decoded.
            var unreadableCount = 0
            /// Why the worker ends; nil while it can read enough items.
            var unreadableReason: String?
            var isStopping = false
            /// Whether the server has answered a statement of the session.
            var hasAnswer = false

            /// The number of claimed items that have not ended.
            var claimedCount: Int { tasks.count + waiting.count }

            mutating func finish(_ claim: WorkClaim, _ end: WorkEnd) {
                finished[claim] = end
                firstEnd = firstEnd ?? .now
            }

            /// Ends waiting items without beginning them.
            mutating func endWaiting(_ end: WorkEnd, where isEnded: (WorkClaim) -> Bool = { _ in true }) {
                for work in waiting where isEnded(work.claim) { finish(work.claim, end) }
                waiting.removeAll { isEnded($0.claim) }
            }
        }

        /// How many items a worker claims ahead for each download. It then asks the server about
        /// several items at a time.
        private static var aheadLimit: Int { 8 }
        /// How long an item may have ended before the server is told, while all downloads run.
        private static var reportDelay: Duration { .milliseconds(10) }
        /// The number of unreadable items in succession after which the worker ends.
        private static var unreadableLimit: Int { 3 }

        private let processor: Processor
        private let queue: PostgresWorkQueue
        private let concurrency: Int
        private let name: String
        private let decoder = JSONDecoder()
        private let state = Locked(State())

        init(_ processor: Processor, queue: PostgresWorkQueue, concurrency: Int) {
            self.processor = processor
            self.queue = queue
            // The number of items to claim is a multiple of it.
            self.concurrency = min(concurrency, 1 << 20)
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
                    return try await work(link)
                } catch let error as PostgresError where error.endsSessionOnly && hasConnected {
                    let hasAnswered = state.withLock { state in
                        defer { state.hasAnswer = false }
                        return state.hasAnswer
                    }
                    if hasAnswered { outage.finish() }
                    guard !state.withLock({ $0.isStopping }), try await outage.wait() else { return }
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
            // Otherwise the session would live as long as the worker. The caller has the link too,
            // so that it does not end under the lock.
            defer { state.withLock { $0.link = nil } }
            do {
                try await loop(link)
            } catch {
                let tasks = state.withLock { state in
                    state.endWaiting(.givenBack)
                    return Array(state.tasks.values)
                }
                for task in tasks { task.cancel() }
                for task in tasks { await task.value }
                // In a separate task, because the current one may be cancelled. If it fails, the
                // items' time runs out.
                let ends = state.withLock { $0.finished }.mapValues { $0.isCancellation ? .givenBack : $0 }
                await Task { try? await link.finish(ends) }.value
                throw error
            }
        }

        private func loop(_ link: isolated WorkQueueLink) async throws {
            let interval = queue.options.visibilityTimeout / 3
            var nextSign = ContinuousClock.now + interval
            var isAsked = true
            while true {
                try Task.checkCancellation()
                let now = ContinuousClock.now
                let seen = state.withLock { state in
                    if state.isStopping { state.endWaiting(.givenBack) }
                    if now >= state.lastStep + queue.options.aheadWaitLimit, !state.waiting.isEmpty {
                        state.endWaiting(.givenBack)
                        state.averageDuration = max(queue.options.aheadWaitLimit, queue.options.aheadDuration * 2)
                    }
                    begin(&state, link.waker)
                    state.reportCount = max(countAhead(state.averageDuration) / 2, 1)
                    return state
                }
                var isFree = seen.tasks.count < concurrency
                let isDue = seen.firstEnd.map { now >= $0 + Self.reportDelay } ?? false
                if isDue || !seen.finished.isEmpty && (isFree || seen.finished.count >= seen.reportCount) {
                    try await link.finish(seen.finished)
                    state.withLock { state in
                        for claim in seen.finished.keys { state.finished[claim] = nil }
                        state.firstEnd = state.finished.isEmpty ? nil : .now
                    }
                    isFree = true
                }
                if let reason = state.withLock({ $0.unreadableReason }) { throw Failure.unreadableItems(reason) }
                if seen.isStopping, state.withLock({ $0.claimedCount == 0 && $0.finished.isEmpty }) { return }
                if isAsked || now >= nextSign {
                    let kept = try await link.prolong()
                    let lost = state.withLock { state in
                        state.hasAnswer = true
                        state.endWaiting(.cancelled) { !kept.contains($0) }
                        return state.tasks.filter { !kept.contains($0.key) }.values
                    }
                    // Not under the lock: what a download does on a cancel may use the worker.
                    for task in lost { task.cancel() }
                    nextSign = now + interval
                }
                if isFree, !seen.isStopping { try await claim(link) }
                isAsked = false
                let left = state.withLock(\.self)
                if seen.isStopping == left.isStopping, left.finished.keys.allSatisfy({ seen.finished[$0] != nil }) {
                    var deadline = nextSign
                    if let firstEnd = left.firstEnd { deadline = min(deadline, firstEnd + Self.reportDelay) }
                    if !left.waiting.isEmpty { deadline = min(deadline, left.lastStep + queue.options.aheadWaitLimit) }
                    isAsked = try await link.wait(until: deadline).contains(WorkQueueStatements.withdrawal)
                }
            }
        }

        /// Claims items, and begins as many as can be downloaded at a time.
        private func claim(_ link: isolated WorkQueueLink) async throws {
            let (count, claimedCount, isAlone) = state.withLock { state in
                (concurrency + countAhead(state.averageDuration), state.claimedCount, state.suspect != nil)
            }
            guard !isAlone else { return }
            let claimed = try await link.claim(
                atMost: count - claimedCount, by: name, isIdle: claimedCount == 0)
            state.withLock { state in
                state.waiting += claimed
                state.lastStep = .now
                begin(&state, link.waker)
            }
        }

        /// The number of items to claim besides those that are downloaded: few enough that they do
        /// not wait for long while other workers are idle.
        private func countAhead(_ averageDuration: Duration?) -> Int {
            guard let averageDuration, averageDuration <= queue.options.aheadDuration else { return 0 }
            let count = queue.options.aheadDuration / max(averageDuration, .microseconds(1))
            return concurrency * min(Int(count), Self.aheadLimit)
        }

        /// Begins as many of the waiting items as can be downloaded at a time.
        private func begin(_ state: inout State, _ waker: PostgresWaker) {
            while state.tasks.count < concurrency, !state.waiting.isEmpty {
                let work = state.waiting.removeFirst()
                // An item that was lost and claimed again must not be downloaded twice at a time.
                let earlier = state.tasks.filter { $0.key.isSameItem(as: work.claim) }.values
                state.tasks[work.claim] = Task {
                    for task in earlier { await task.value }
                    await self.download(work, waker)
                }
                if work.isSuspect { state.suspect = work.claim }
                state.lastStep = .now
            }
        }

        private func download(_ work: ClaimedWork, _ waker: PostgresWaker) async {
            let item: Processor.Item
            do {
                item = try decoder.decode(Processor.Item.self, from: Data(work.item.utf8))
            } catch {
                let reason = ErrorText.codingProblem(error) ?? "\(type(of: error))"
                return finish(work.claim, .unreadable("\(Processor.Item.self): \(reason)"), waker)
            }
            let end: WorkEnd
            let start = ContinuousClock.now
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
            finish(work.claim, end, waker, after: start.duration(to: .now))
        }

        private func finish(
            _ claim: WorkClaim, _ end: WorkEnd, _ waker: PostgresWaker, after duration: Duration? = nil
        ) {
            let isNews = state.withLock { state in
                let isFirst = state.firstEnd == nil
                state.finish(claim, end)
                state.tasks[claim] = nil
                if state.suspect == claim { state.suspect = nil }
                if let duration { state.averageDuration = ((state.averageDuration ?? duration) * 3 + duration) / 4 }
                if case .unreadable(let reason) = end {
                    state.unreadableCount += 1
                    if state.unreadableCount >= Self.unreadableLimit { state.unreadableReason = reason }
                } else {
                    state.unreadableCount = 0
                }
                // The next item must not wait for what the server is told meanwhile.
                if !state.isStopping, state.unreadableReason == nil { begin(&state, waker) }
                return isFirst || state.finished.count >= state.reportCount || state.tasks.count < concurrency
            }
            if isNews { waker.wake() }
        }
    }
}
#endif
