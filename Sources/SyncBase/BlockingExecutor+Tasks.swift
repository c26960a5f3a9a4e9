extension BlockingExecutor {
    /// Whether the current task prefers the thread of an executor.
    @TaskLocal private static var isHosting = false

    /// Runs an operation on the executor's thread, wherever no actor asks for another executor.
    ///
    /// Calls of an actor of this executor then need no switch of threads. Two threads that work in
    /// turns cost more than their switches: on a machine with few processors, the one that has the
    /// next call to make waits behind a third one. The tasks that the operation starts run on the
    /// thread as well, except in ``outside(_:)``.
    ///
    /// Systems without executors of tasks run the operation on the shared pool of threads.
    package func run<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return try await operation() }
        return try await Self.$isHosting.withValue(true) {
            try await withTaskExecutorPreference(ThreadTaskExecutor(executor: self), operation: operation)
        }
    }

    /// Runs an operation on the shared pool of threads, also inside of ``run(_:)``.
    package static func outside<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *), isHosting else {
            return try await operation()
        }
        return try await $isHosting.withValue(false) {
            try await withTaskExecutorPreference(globalConcurrentExecutor, operation: operation)
        }
    }
}

/// Runs the jobs of tasks on the thread of a blocking executor.
///
/// A type of its own: a job that comes by way of an actor runs as the actor's, and both ways have
/// the same name.
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
