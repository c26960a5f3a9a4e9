import Foundation

/// Runs the calls of an actor one after another on a thread of its own, which may block.
///
/// A dispatch queue is no substitute: on Linux its threads come from the small pool that runs all
/// other tasks, and a few blocked ones stop the whole program.
package final class BlockingExecutor: SerialExecutor {
    private let inbox: Inbox

    /// Creates an executor. Its thread starts with the first call and ends with the last reference.
    ///
    /// - Parameter label: The thread's name.
    package init(label: String) {
        inbox = Inbox(label: label)
    }

    deinit {
        inbox.close()
    }

    #if canImport(Darwin)
    /// `ExecutorJob` would need macOS 14.
    package func enqueue(_ job: UnownedJob) {
        inbox.add(job, of: self)
    }
    #else
    package func enqueue(_ job: consuming ExecutorJob) {
        inbox.add(UnownedJob(job), of: self)
    }
    #endif

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        precondition(inbox.isCurrentThread, "not on the executor's thread")
    }
}

/// The jobs that wait for a thread.
///
/// Unchecked, because the compiler does not know the lock: every variable is read and written only
/// while `condition` is held. A thread that has nothing to do blocks on the condition, which
/// ``Locked`` does not offer.
private final class Inbox: @unchecked Sendable {
    private struct Entry {
        let job: UnownedJob
        /// Keeps the executor alive until the job has run.
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
                let started = Thread { [self] in
                    // Named from inside: on Linux a name that is set before the start is lost.
                    Thread.current.name = label
                    work()
                }
                #if canImport(Darwin)
                // Tasks of any priority wait for these jobs.
                started.qualityOfService = .userInitiated
                #endif
                thread = started
                started.start()
            }
            condition.signal()
        }
    }

    /// Ends the thread. No job is left: every entry keeps the executor alive.
    func close() {
        condition.withLock {
            isClosed = true
            condition.signal()
        }
    }

    private func work() {
        while let next = next() {
            for entry in next { Self.run(entry) }
        }
    }

    private static func run(_ entry: Entry) {
        #if canImport(Darwin)
        // A thread of our own has no pool: without one, autoreleased objects would live as long as
        // the thread.
        autoreleasepool { entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor()) }
        #else
        entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor())
        #endif
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
