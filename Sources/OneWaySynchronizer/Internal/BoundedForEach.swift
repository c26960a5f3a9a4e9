/// What the calls of a stage answered, by position.
struct CallAnswers: Sendable {
    /// How many calls answered `true`.
    var trueCount = 0

    /// The positions whose call answered `true`, and `false`; both empty unless they were asked for.
    var truePositions: [Int] = []
    var falsePositions: [Int] = []

    static func + (left: CallAnswers, right: CallAnswers) -> CallAnswers {
        CallAnswers(
            trueCount: left.trueCount + right.trueCount,
            truePositions: left.truePositions + right.truePositions,
            falsePositions: left.falsePositions + right.falsePositions)
    }
}

/// Makes the calls that `cursor` hands out, by at most `width` workers of one task group.
///
/// Returns when every call that was started has returned. The first failure of a stopping cursor, and the cancellation of
/// the surrounding task, stop the cursor and cancel the running calls.
///
/// - Parameters:
///   - keepsPositions: Whether the answers say which positions they are of.
///   - sleep: Waits out a step's delay.
///   - call: The call for a position, and its answer.
///   - outcome: What becomes of a step whose call threw.
/// - Returns: The answers of the calls that returned, in no particular order.
func boundedForEach(
    _ cursor: ItemCursor,
    width: Int,
    keepsPositions: Bool,
    sleep: @escaping @Sendable (Duration) async throws -> Void,
    call: @escaping @Sendable (Int) async throws -> Bool,
    outcome: @escaping @Sendable (ItemCursor.Step, any Error) -> ItemCursor.Outcome
) async -> CallAnswers {
    await withTaskCancellationHandler {
        await withTaskGroup(of: CallAnswers.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var answers = CallAnswers()
                    var last: ItemCursor.Outcome?
                    while let step = cursor.advance(after: last) {
                        do {
                            if step.delay > .zero { try await sleep(step.delay) }
                            let answer = try await call(step.index)
                            if answer { answers.trueCount += 1 }
                            if keepsPositions {
                                if answer {
                                    answers.truePositions.append(step.index)
                                } else {
                                    answers.falsePositions.append(step.index)
                                }
                            }
                            last = .done
                        } catch {
                            last = outcome(step, error)
                        }
                    }
                    return answers
                }
            }
            var all = CallAnswers()
            for await answers in group {
                all = all + answers
                if cursor.isStopped { group.cancelAll() }
            }
            return all
        }
    } onCancel: {
        cursor.stop()
    }
}
