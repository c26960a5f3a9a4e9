import Dispatch
import Foundation

/// A handler of the first Ctrl-C; the second Ctrl-C ends the process as usual.
final class InterruptHandler {
    private let source: any DispatchSourceSignal

    /// Creates an active handler.
    ///
    /// - Parameter handle: Called on an arbitrary thread; must not block.
    init(_ handle: @escaping @Sendable () -> Void) {
        // The source receives the signal only if the default action is disabled.
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            signal(SIGINT, SIG_DFL)
            handle()
        }
        source.activate()
    }

    /// Runs a closure in a task that Ctrl-C cancels.
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
