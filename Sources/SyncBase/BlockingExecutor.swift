#if canImport(Darwin)
import Darwin
import ObjectiveC
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

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
/// while `mutex` is held. A thread that has nothing to do blocks on `condition`, which ``Locked``
/// does not offer.
private final class Inbox: @unchecked Sendable {
    private struct Entry {
        let job: UnownedJob
        /// Keeps the executor alive until the job has run.
        let executor: BlockingExecutor
    }

    private let label: String
    /// Memory of their own, because neither must move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var entries: [Entry] = []
    private var isClosed = false
    private var thread: pthread_t?

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
        withLock { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    func add(_ job: UnownedJob, of executor: BlockingExecutor) {
        withLock {
            entries.append(Entry(job: job, executor: executor))
            if thread == nil { thread = started() }
            pthread_cond_signal(condition)
        }
    }

    /// Ends the thread. No job is left: every entry keeps the executor alive.
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
    private func started() -> pthread_t? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
        // Tasks of any priority wait for these jobs.
        pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_USER_INITIATED, 0)
        #endif
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        // A pointer.
        var thread: pthread_t?
        #endif
        let inbox = Unmanaged.passRetained(self)
        let code = pthread_create(&thread, &attributes, { Inbox.run($0) }, inbox.toOpaque())
        // Without a thread no job would ever run, and nobody would be told.
        precondition(code == 0, "the system refuses a thread: \(String(cString: strerror(code)))")
        return thread
    }

    #if canImport(Darwin)
    private static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        let inbox = Unmanaged<Inbox>.fromOpaque(context).takeRetainedValue()
        pthread_setname_np(inbox.label)
        inbox.work()
        return nil
    }
    #else
    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let inbox = Unmanaged<Inbox>.fromOpaque(context).takeRetainedValue()
        nameThread(inbox.label)
        inbox.work()
        return nil
    }
    #endif

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

#if !canImport(Darwin)
/// Names the current thread for tools such as `top`, which show the first 15 bytes.
///
/// Swift does not see `pthread_setname_np` on Linux.
private func nameThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name, name.utf8.count)
    close(file)
}
#endif
