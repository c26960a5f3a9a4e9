import Foundation

/// Runs the calls of an actor one after another on a thread of its own, which may block as long as it likes.
///
/// A dispatch queue would not do: on Linux its threads come from the same few that all other tasks run on, and two that block stop a program.
package final class BlockingExecutor: SerialExecutor {
    private let inbox: Inbox

    /// Makes an executor; its thread starts with the first call, and ends with the last reference.
    ///
    /// - Parameter label: The thread's name.
    package init(label: String) {
        inbox = Inbox(label: label)
    }

    deinit {
        inbox.close()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        inbox.add(UnownedJob(job), of: self)
    }

    package func checkIsolated() {
        precondition(inbox.isCurrentThread, "not on the executor's thread")
    }
}

/// What a thread has to do next.
///
/// Unchecked, because the compiler does not know the lock: all that changes is read and written only while `condition` is held.
private final class Inbox: @unchecked Sendable {
    private struct Entry {
        let job: UnownedJob
        /// Lives at least until its jobs have run.
        let executor: BlockingExecutor
    }

    private let label: String
    private let condition = NSCondition()
    private var entries: [Entry] = []
    private var isClosed = false
    private var thread: Thread?

    init(label: String) {
        self.label = label
    }

    var isCurrentThread: Bool {
        condition.withLock { thread === Thread.current }
    }

    func add(_ job: UnownedJob, of executor: BlockingExecutor) {
        condition.withLock {
            entries.append(Entry(job: job, executor: executor))
            if thread == nil {
                let started = Thread { [self] in work() }
                started.name = label
                thread = started
                started.start()
            }
            condition.signal()
        }
    }

    /// Lets the thread end; nothing is left to do then, since every entry holds the executor.
    func close() {
        condition.withLock {
            isClosed = true
            condition.signal()
        }
    }

    private func work() {
        while let next = next() {
            for entry in next { entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor()) }
        }
    }

    private func next() -> [Entry]? {
        condition.withLock {
            while entries.isEmpty {
                if isClosed { return nil }
                condition.wait()
            }
            defer { entries = [] }
            return entries
        }
    }
}
