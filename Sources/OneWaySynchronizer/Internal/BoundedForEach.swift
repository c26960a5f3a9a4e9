/// Makes the calls that `cursor` hands out, by `width` workers of one task group.
///
/// Returns when every call that was started has returned. The first failure of a stopping cursor, and the cancellation of
/// the surrounding task, stop the cursor and cancel the running calls.
///
/// - Parameter worker: Makes calls until the cursor has none for it.
func boundedForEach(_ cursor: ItemCursor, width: Int, worker: @escaping @Sendable () async -> Void) async {
    await withTaskCancellationHandler {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width { group.addTask { await worker() } }
            for await _ in group where cursor.isStopped { group.cancelAll() }
        }
    } onCancel: {
        cursor.stop()
    }
}
