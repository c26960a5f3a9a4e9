#if Postgres
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends another thread's `poll` through a pipe that it polls too.
package final class PostgresWaker: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// Creates a waker, which needs two file descriptors.
    package init() throws(PostgresError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(code: .cannotConnect, message: "no file descriptor is left")
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the current wait or, if no thread waits, the next one.
    package func wake() {
        var byte: UInt8 = 0
        // Fails only if the pipe is full, which ends the wait too.
        _ = write(writeEnd, &byte, 1)
    }

    /// The event that ended a wait.
    enum Event {
        case ready
        case woken
        case timedOut
    }

    /// Waits until a socket is ready, another thread wakes this one, or a deadline passes.
    ///
    /// - Parameters:
    ///   - socket: The socket's file descriptor; nil to wait only for a wake.
    ///   - reading: Whether to wait for input.
    ///   - writing: Whether to wait until the socket accepts more output.
    ///   - deadline: When to stop waiting; nil for no limit.
    func wait(
        for socket: Int32?, reading: Bool = true, writing: Bool = false,
        until deadline: ContinuousClock.Instant? = nil
    ) -> Event {
        let interest = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        // `poll` skips negative descriptors.
        var entries = [
            pollfd(fd: socket ?? -1, events: Int16(interest), revents: 0),
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&entries, 2, Self.milliseconds(until: deadline))
            if count == 0 { return .timedOut }
            // A signal interrupted the call. Nothing else can fail with our own descriptors.
            guard count > 0 else { continue }
            if entries[1].revents != 0 {
                var bytes = [UInt8](repeating: 0, count: 64)
                while read(readEnd, &bytes, bytes.count) > 0 {}
                return .woken
            }
            return .ready
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        // Rounded up, so that a wait never ends before its deadline.
        return Int32(clamping: left.wholeMilliseconds + 1)
    }
}

extension Duration {
    /// The whole milliseconds, rounded down. At most 100 years in either direction, so that a
    /// duration that means never fits in the server's types.
    package var wholeMilliseconds: Int64 {
        let century: Int64 = 100 * 365 * 86_400
        guard components.seconds.magnitude < century.magnitude else {
            return components.seconds < 0 ? -century * 1000 : century * 1000
        }
        return components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// Whole seconds, rounded up.
    package var secondsRoundedUp: Int64 {
        components.seconds + (components.attoseconds > 0 ? 1 : 0)
    }
}
#endif
