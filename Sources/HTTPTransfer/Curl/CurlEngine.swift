#if os(Linux)
import COneWayCurl
import Foundation
import SyncBase

/// The thread on which libcurl performs the transfers of a transport.
///
/// Only this thread touches the handles, except for the wake-up, which libcurl allows from any
/// thread.
final class CurlEngine: Sendable {
    enum Command: Sendable {
        case add(CurlTransfer)
        case resume(CurlTransfer)
        case cancel(CurlTransfer)
        /// Ends the thread once the last transfer has ended.
        case stop
    }

    /// A pointer of libcurl.
    ///
    /// Unchecked, because only the engine's thread uses it, apart from the wake-up. libcurl allows
    /// the wake-up from any thread, and `state` guards it until `isOver`.
    private struct Multi: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private struct State {
        var commands: [Command] = []
        /// Whether the thread waits, or is about to.
        var isWaiting = false
        /// Whether the thread has ended or is about to end, which makes the pointer invalid.
        var isOver = false
    }

    private let multi: Multi
    private let options: HTTPClient.ConnectionOptions
    private let state = Locked(State())

    init?(_ options: HTTPClient.ConnectionOptions) {
        guard let pointer = owc_multi_new() else { return nil }
        multi = Multi(pointer: pointer)
        self.options = options
        // The thread keeps the engine alive until it is stopped.
        let thread = Thread { [self] in run() }
        thread.name = "HTTPClient.CurlTransport"
        thread.start()
    }

    func send(_ command: Command) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.commands.append(command)
            guard state.isWaiting else { return }
            state.isWaiting = false
            // Under the lock, so that the pointer is not freed in the meantime.
            owc_multi_wake(multi.pointer)
        }
    }

    private func run() {
        var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        // Handles are expensive to make, and keep nothing of a transfer that succeeded.
        var idle: [CurlHandle] = []
        var isStopping = false
        func remove(_ transfer: CurlTransfer, canReuse: Bool = false) {
            guard let handle = transfer.takeHandle() else { return }
            owc_multi_remove(multi.pointer, handle.pointer)
            transfers[handle.pointer] = nil
            if canReuse, idle.count < Self.idleHandleCount { idle.append(handle) }
        }
        while true {
            let commands = state.withLock { state in
                state.isWaiting = false
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands {
                switch command {
                case .add(let transfer):
                    guard let pointer = transfer.begin(by: { idle.popLast() ?? CurlHandle(options) }) else { continue }
                    transfers[pointer] = transfer
                    owc_multi_add(multi.pointer, pointer)
                case .resume(let transfer): transfer.resumeHandle()
                case .cancel(let transfer):
                    remove(transfer)
                    transfer.finish(.failure(CancellationError()))
                case .stop: isStopping = true
                }
            }
            owc_multi_perform(multi.pointer)
            var code: Int32 = 0
            while let pointer = owc_multi_ended(multi.pointer, &code) {
                guard let transfer = transfers[pointer] else { continue }
                transfer.complete(code)
                remove(transfer, canReuse: code == 0 && transfer.request.body == nil)
            }
            for transfer in transfers.values { transfer.deliver() }
            let (isOver, mustWait) = state.withLock { state in
                state.isOver = isStopping && transfers.isEmpty && state.commands.isEmpty
                state.isWaiting = !state.isOver && state.commands.isEmpty
                return (state.isOver, state.isWaiting)
            }
            if isOver { break }
            if mustWait { owc_multi_wait(multi.pointer, 60_000) }
        }
        idle = []
        owc_multi_free(multi.pointer)
    }

    /// The number of handles that are kept for further transfers.
    private static let idleHandleCount = 32
}
#endif
