import SyncBase

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A gate at which a server's threads wait until somebody lets them through.
///
/// It is a pipe, so that a thread can wait for it, for its client and for the server's end in a single `poll`, and so
/// that opening it never blocks: an async function may call ``letThrough(_:)`` and ``open()``.
package final class LoopbackGate: Sendable {
    private let exit: Descriptor
    /// nil once the gate is open for good. The lock keeps a write from meeting a close.
    private let entrance: Locked<Descriptor?>

    /// Makes a closed gate.
    ///
    /// - Throws: ``LoopbackError`` when the process has no descriptor left.
    package init() throws(LoopbackError) {
        let (reading, writing) = try Descriptor.pipe()
        self.exit = reading
        self.entrance = Locked(writing)
    }

    /// Lets as many waits through as `count` says, now or when they come. Nothing happens at a gate that is open.
    package func letThrough(_ count: Int = 1) {
        entrance.withLock { entrance in
            guard let entrance else { return }
            // More than a pipe holds (64 KiB) would be lost; no script has as many steps.
            _ = entrance.writeNow(Array(repeating: 0, count: count)[...])
        }
    }

    /// Opens the gate for good.
    package func open() {
        entrance.withLock { $0 = nil }
    }

    /// What a thread polls.
    var descriptor: Descriptor { exit }

    /// Takes one passage; false when another thread was faster.
    func take() -> Bool {
        switch exit.readNow(atMost: 1) {
        case .bytes, .end: true
        case .nothing, .failed: false
        }
    }
}
