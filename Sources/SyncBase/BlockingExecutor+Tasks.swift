extension BlockingExecutor {
    /// Whether the current task prefers an executor's thread.
    @TaskLocal private static var isHosting = false

    /// Runs an operation on the executor's thread, except where an actor requires another executor.
    ///
    /// Calls of an actor that uses this executor then need no thread switch. Two alternating
    /// threads cost more than the switches themselves: on a machine with few processors, the thread
    /// with the next call waits behind a third one. Tasks that the operation starts also run on the
    /// thread, except in ``outside(_:)``.
    ///
    /// On systems without task executors, the operation runs on the shared thread pool.
    package func run<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return try await operation() }
        return try await Self.$isHosting.withValue(true) {
            try await withTaskExecutorPreference(ThreadTaskExecutor(executor: self), operation: operation)
        }
    }

    /// Runs an operation on the shared thread pool, even inside ``run(_:)``.
    package static func outside<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *), isHosting else {
            return try await operation()
        }
        return try await $isHosting.withValue(false) {
            try await withTaskExecutorPreference(globalConcurrentExecutor, operation: operation)
        }
    }
}

/// Runs the jobs of tasks on a blocking executor's thread.
///
/// A separate type: jobs that arrive through an actor run as the actor's, and both protocols name
/// their method `enqueue`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ThreadTaskExecutor: TaskExecutor {
    private let executor: BlockingExecutor

    init(executor: BlockingExecutor) {
        self.executor = executor
    }

    func enqueue(_ job: consuming ExecutorJob) {
        executor.add(UnownedJob(job)) { [self] job in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
