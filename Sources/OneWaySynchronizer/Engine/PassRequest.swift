import SyncBase

/// A caller's request for a pass: its leases, and how it is answered.
struct PassRequest: Sendable {
    typealias Answer = @Sendable (Result<SyncReport, SyncFailure>) -> Void

    /// The leases that the caller runs under, outermost first.
    let leases: [HeldLease]
    let priority = Task.currentPriority
    /// Called once, with the result of the pass.
    let answer: Answer
}

/// The task-locals and priority of the request that founds a pass, held by a task until the pass
/// begins.
struct PassContext: Sendable {
    let leases: [HeldLease]
    private let begin = Promise<PassControl?>()
    private let task: Task<Void, Never>
    private let highestPriority = Locked(Task.currentPriority)

    /// Creates a context from the current task's.
    ///
    /// - Parameters:
    ///   - leases: The leases of the request.
    ///   - run: Runs the pass, in this context.
    init(leases: [HeldLease], run: @escaping @Sendable (PassControl) async -> Void) {
        self.leases = leases
        let begin = begin
        task = Task {
            // Never fails, because its task is not cancelled: a context is either begun or dropped.
            guard let control = try? await begin.value() else { return }
            await run(control)
        }
    }

    /// Begins the pass.
    func begin(_ control: PassControl) {
        begin.settle(.success(control))
    }

    /// Ends the task that holds the context.
    func drop() {
        begin.settle(.success(nil))
    }

    /// Raises the priority of the pass if it is lower.
    func raise(to priority: TaskPriority) {
        let isHigher = highestPriority.withLock { highest in
            guard highest < priority else { return false }
            highest = priority
            return true
        }
        // A task is raised to the priority of the tasks that wait for it.
        if isHigher { Task(priority: priority) { [task] in await task.value } }
    }
}
