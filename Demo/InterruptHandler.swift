import Dispatch
import Foundation

/// Turns Ctrl-C into a call, once; the second Ctrl-C ends the process as usual.
final class InterruptHandler {
    private let source: any DispatchSourceSignal

    /// - Parameter handle: Called on no particular thread; must not block.
    init(_ handle: @escaping @Sendable () -> Void) {
        // The source sees a signal only when the default action does not take it first.
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            signal(SIGINT, SIG_DFL)
            handle()
        }
        source.activate()
    }

    /// Runs something in a task that Ctrl-C cancels.
    static func cancelling<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await body() }
        let interrupt = InterruptHandler { task.cancel() }
        defer { withExtendedLifetime(interrupt) {} }
        return await task.value
    }

    deinit {
        source.cancel()
        signal(SIGINT, SIG_DFL)
    }
}
