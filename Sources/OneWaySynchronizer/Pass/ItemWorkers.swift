import SyncBase

/// Runs the workers of a stage in one task group, and the watch over their time.
///
/// Returns when every call that was started has returned. A stop of the cursor cancels the running calls.
///
/// - Parameters:
///   - deadline: When the stage takes too long, by the clock; nil for never.
///   - worker: Makes calls until the cursor has none for it. Gets its number, below `width`.
func runWorkers(
    _ cursor: ItemCursor, width: Int, clock: SyncClock, deadline: Duration?,
    worker: @escaping @Sendable (Int) async -> Void
) async {
    guard width > 0 else { return }
    let isWatched = cursor.callTimeout != nil || deadline != nil
    await withTaskGroup(of: Int?.self) { group in
        func start(_ number: Int) {
            group.addTask {
                guard cursor.callTimeout != nil else {
                    await worker(number)
                    return number
                }
                // In a task that the watch can cancel without the others.
                let task = Task { await worker(number) }
                cursor.enter(number) { task.cancel() }
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
                return number
            }
        }
        for number in 0..<width { start(number) }
        if isWatched {
            group.addTask {
                await watch(cursor, clock: clock, deadline: deadline)
                return nil
            }
        }
        var running = width
        for await number in group {
            if let number {
                if cursor.leave(number) { start(number) } else { running -= 1 }
            }
            // Without workers there is nothing to watch.
            if running == 0 || cursor.isStopped { group.cancelAll() }
        }
    }
}

/// Cancels calls that take too long until the task is cancelled, and stops the stage at its deadline: one timer for a
/// stage, not one per item.
private func watch(_ cursor: ItemCursor, clock: SyncClock, deadline: Duration?) async {
    while !Task.isCancelled {
        var next = deadline ?? .longest
        if let timeout = cursor.callTimeout { next = min(next, cursor.cancelLateCalls(timeout)) }
        if let deadline, clock.now() >= deadline { return cursor.stop(isTimedOut: true) }
        // Fails only when the task is cancelled, or with a clock that cannot wait.
        guard (try? await clock.sleep(next - clock.now())) != nil else { return }
    }
}
