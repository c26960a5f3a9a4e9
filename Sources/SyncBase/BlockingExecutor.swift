#if canImport(Darwin)
import Darwin
import ObjectiveC
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Runs the calls of an actor one after another on a dedicated thread, which may block.
///
/// A dispatch queue is no substitute: on Linux its threads come from the small pool that runs all
/// other tasks, so a few blocked ones stop the whole program.
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
    /// `ExecutorJob` requires macOS 14.
    package func enqueue(_ job: UnownedJob) {
        add(job) { [self] job in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
    #else
    package func enqueue(_ job: consuming ExecutorJob) {
        add(UnownedJob(job)) { [self] job in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
    #endif

    /// Adds a job for the thread to run.
    ///
    /// - Parameter run: Runs the job. It keeps this executor alive until then.
    func add(_ job: UnownedJob, run: @escaping (UnownedJob) -> Void) {
        inbox.add(job, run: run)
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        precondition(inbox.isCurrentThread, "not on the executor's thread")
    }
}

/// The jobs that wait for the thread.
///
/// Unchecked, because the compiler does not know the lock: every variable is accessed only while
/// `mutex` is held. An idle thread blocks on `condition`, which ``Locked`` does not offer.
private final class Inbox: @unchecked Sendable {
    private struct Entry {
        let job: UnownedJob
        /// Runs the job. It keeps the executor alive until then.
        let run: (UnownedJob) -> Void
    }

    private let label: String
    /// Allocated separately, because neither must move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var entries: [Entry] = []
    private var isClosed = false
    private var thread: SystemThread?

    init(label: String) {
        self.label = label
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    var isCurrentThread: Bool {
        withLock { thread?.isCurrent ?? false }
    }

    func add(_ job: UnownedJob, run: @escaping (UnownedJob) -> Void) {
        withLock {
            entries.append(Entry(job: job, run: run))
            if thread == nil { thread = started() }
            pthread_cond_signal(condition)
        }
    }

    /// Ends the thread. No jobs are left, because every job keeps the executor alive.
    func close() {
        withLock {
            isClosed = true
            pthread_cond_signal(condition)
        }
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    // MARK: The thread

    /// Starts the thread, which keeps the inbox alive.
    private func started() -> SystemThread {
        do throws(SystemThread.Failure) {
            return try SystemThread(name: label) { self.work() }
        } catch {
            // Without a thread no job would ever run, and no error would be reported.
            preconditionFailure("the system refuses a thread: \(String(cString: strerror(error.code)))")
        }
    }

    private func work() {
        while let next = next() {
            for entry in next { Self.run(entry) }
        }
    }

    private static func run(_ entry: Entry) {
        #if canImport(Darwin)
        // A thread without an autorelease pool would keep autoreleased objects until it ends.
        autoreleasepool { entry.run(entry.job) }
        #else
        entry.run(entry.job)
        #endif
    }

    private func next() -> [Entry]? {
        withLock {
            while entries.isEmpty {
                if isClosed { return nil }
                pthread_cond_wait(condition, mutex)
            }
            defer { entries = [] }
            return entries
        }
    }
}
