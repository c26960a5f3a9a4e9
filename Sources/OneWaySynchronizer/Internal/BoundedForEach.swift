/// Calls `body` for the positions that `cursor` hands out, by at most `width` workers of one task group.
///
/// Returns when every call that was started has returned. The first failure of a stopping cursor, and the cancellation of
/// the surrounding task, stop the cursor and cancel the running calls.
///
/// - Parameters:
///   - initial: What each worker starts its own tally with.
///   - sleep: Waits out a step's delay.
///   - body: Makes the call and notes its result in the worker's tally.
/// - Returns: The tally of each worker.
func boundedForEach<Tally: Sendable>(
    _ cursor: ItemCursor,
    width: Int,
    initial: Tally,
    sleep: @escaping @Sendable (Duration) async throws -> Void,
    body: @escaping @Sendable (ItemCursor.Step, inout Tally) async -> ItemCursor.Outcome
) async -> [Tally] {
    await withTaskCancellationHandler {
        await withTaskGroup(of: Tally.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var tally = initial
                    var outcome: ItemCursor.Outcome?
                    while let step = cursor.advance(after: outcome) {
                        if step.delay > .zero, (try? await sleep(step.delay)) == nil {
                            outcome = .interrupted
                        } else {
                            outcome = await body(step, &tally)
                        }
                    }
                    return tally
                }
            }
            var tallies: [Tally] = []
            for await tally in group {
                tallies.append(tally)
                if cursor.isStopped { group.cancelAll() }
            }
            return tallies
        }
    } onCancel: {
        cursor.stop()
    }
}
