import Dispatch
import Foundation

/// A handler of the first Ctrl-C; the second Ctrl-C ends the process as usual, and so does one
/// before the handler exists.
///
/// On Linux, only the first handler of a process receives the signal.
final class InterruptHandler {
    private let number: Int32
    private let source: any DispatchSourceSignal

    /// Creates a handler, which is active when the initializer returns.
    ///
    /// - Parameters:
    ///   - number: The signal; by default `SIGINT`, that of Ctrl-C.
    ///   - handle: Called on an arbitrary thread; must not block.
    init(of number: Int32 = SIGINT, _ handle: @escaping @Sendable () -> Void) {
        self.number = number
        // A queue of its own, because the wait below may block the last thread of the global one.
        source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "InterruptHandler"))
        source.setEventHandler {
            signal(number, SIG_DFL)
            handle()
        }
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler {
            #if canImport(Darwin)
            // The default action would end the process beside the source. It may be disabled only
            // now: a signal that is ignored before would be lost. On Linux, the source replaces the
            // action itself when it is registered, and receives nothing if the signal is ignored.
            signal(number, SIG_IGN)
            #endif
            isRegistered.signal()
        }
        source.activate()
        isRegistered.wait()
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
        signal(number, SIG_DFL)
    }
}
