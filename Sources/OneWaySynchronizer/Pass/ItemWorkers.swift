import SyncBase

/// Runs the workers of a stage, and the watch over their time-outs, in one task group.
///
/// Returns when every started call has returned. Stopping the cursor cancels the running calls.
///
/// - Parameters:
///   - deadline: When the stage times out, by the clock; nil for no limit.
///   - worker: Makes calls until the cursor has none left for it. Receives its number, below
///     `width`.
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
                // In a separate task, which the watch can cancel without the others.
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

/// Cancels calls that time out, and stops the stage at its deadline: one timer per stage, not per
/// item.
private func watch(_ cursor: ItemCursor, clock: SyncClock, deadline: Duration?) async {
    while !Task.isCancelled {
        var next = deadline ?? .longest
        if let timeout = cursor.callTimeout { next = min(next, cursor.cancelLateCalls(timeout)) }
        if let deadline, clock.now() >= deadline { return cursor.stop(isTimedOut: true) }
        // Fails only if the task is cancelled, or the clock cannot wait.
        guard (try? await clock.sleep(next - clock.now())) != nil else { return }
    }
}
