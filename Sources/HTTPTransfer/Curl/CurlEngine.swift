#if os(Linux)
import COneWayCurl
import Foundation
import SyncBase

/// The thread on which libcurl performs the transfers of a transport.
///
/// Only this thread touches the handles, except for the wake-up, which libcurl allows from any
/// thread.
final class CurlEngine: Sendable {
    private enum Command: Sendable {
        case add(CurlTransfer)
        case resume(CurlTransfer)
        case cancel(CurlTransfer)
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
        /// Whether the thread has ended or is about to end, which makes the pointer invalid.
        var isOver = false
    }

    private let multi: Multi
    private let state = Locked(State())

    init?() {
        guard let pointer = owc_multi_new() else { return nil }
        multi = Multi(pointer: pointer)
        // The thread keeps the engine alive until it is stopped.
        let thread = Thread { [self] in run() }
        thread.name = "HTTPClient.CurlTransport"
        thread.start()
    }

    func add(_ transfer: CurlTransfer) { send(.add(transfer)) }
    func resume(_ transfer: CurlTransfer) { send(.resume(transfer)) }
    func cancel(_ transfer: CurlTransfer) { send(.cancel(transfer)) }

    /// Ends the thread once the last transfer has ended.
    func stop() { send(.stop) }

    private func send(_ command: Command) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.commands.append(command)
            // Under the lock, so that the pointer is not freed in the meantime.
            owc_multi_wake(multi.pointer)
        }
    }

    private func run() {
        var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        var handles: [ObjectIdentifier: UnsafeMutableRawPointer] = [:]
        var isStopping = false
        func remove(_ handle: UnsafeMutableRawPointer) -> CurlTransfer? {
            owc_multi_remove(multi.pointer, handle)
            owc_easy_free(handle)
            let transfer = transfers.removeValue(forKey: handle)
            if let transfer { handles[ObjectIdentifier(transfer)] = nil }
            return transfer
        }
        while true {
            let commands = state.withLock { state in
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands {
                switch command {
                case .add(let transfer):
                    guard let handle = transfer.makeHandle() else { continue }
                    transfers[handle] = transfer
                    handles[ObjectIdentifier(transfer)] = handle
                    owc_multi_add(multi.pointer, handle)
                case .resume(let transfer):
                    if let handle = handles[ObjectIdentifier(transfer)] { owc_easy_resume(handle) }
                case .cancel(let transfer):
                    if let handle = handles[ObjectIdentifier(transfer)] { _ = remove(handle) }
                    transfer.wasRemoved()
                case .stop: isStopping = true
                }
            }
            owc_multi_perform(multi.pointer)
            for transfer in transfers.values { transfer.deliver() }
            var code: Int32 = 0
            while let handle = owc_multi_ended(multi.pointer, &code) {
                remove(handle)?.complete(code)
            }
            let isOver = state.withLock { state in
                state.isOver = isStopping && transfers.isEmpty && state.commands.isEmpty
                return state.isOver
            }
            if isOver { break }
            owc_multi_wait(multi.pointer, 60_000)
        }
        owc_multi_free(multi.pointer)
    }
}
#endif
