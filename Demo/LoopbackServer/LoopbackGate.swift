import SyncBase

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A gate that makes a server's threads wait until it lets them pass.
///
/// The gate is a pipe. A thread can therefore wait for the gate, its client and the server's stop
/// in a single `poll`. Opening the gate never blocks, so async functions can call
/// ``letThrough(_:)`` and ``open()``.
package final class LoopbackGate: Sendable {
    private let exit: Descriptor
    /// The writing end; nil once the gate is open. The lock keeps a write and a close apart.
    private let entrance: Locked<Descriptor?>

    /// Creates a closed gate.
    ///
    /// - Throws: ``LoopbackError`` if the process has no file descriptor left.
    package init() throws(LoopbackError) {
        let (reading, writing) = try Descriptor.pipe()
        self.exit = reading
        self.entrance = Locked(writing)
    }

    /// Lets a number of waits pass, now or later; has no effect on an open gate.
    package func letThrough(_ count: Int = 1) {
        entrance.withLock { entrance in
            guard let entrance else { return }
            // A pipe holds 64 KiB, and more passages would be lost; no script needs that many.
            _ = entrance.writeNow(Array(repeating: 0, count: count)[...])
        }
    }

    /// Opens the gate permanently.
    package func open() {
        entrance.withLock { $0 = nil }
    }

    /// The descriptor to poll.
    var descriptor: Descriptor { exit }

    /// Takes one passage; false if another thread took it first.
    func take() -> Bool {
        switch exit.readNow(atMost: 1) {
        case .bytes, .end: true
        case .nothing, .failed: false
        }
    }
}
