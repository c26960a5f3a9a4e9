#if Postgres
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends the `poll` of another thread, by a pipe that it looks at too.
final class PostgresWaker: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() throws(PostgresError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(code: PostgresError.cannotConnect, message: "no file descriptor is left")
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

    /// Ends the wait that is going on; where none is, the next one ends at once.
    func wake() {
        var byte: UInt8 = 0
        // It fails where the pipe is full; then the wait ends anyway.
        _ = write(writeEnd, &byte, 1)
    }

    /// What ended a wait.
    enum Outcome {
        case ready
        case woken
        case timedOut
    }

    /// Waits until a socket has something to read, or takes more, or someone wakes the thread.
    ///
    /// - Parameters:
    ///   - socket: The socket's file descriptor.
    ///   - forWriting: Whether to wait for writing as well; for reading always.
    ///   - deadline: When to give up; nil: never.
    func wait(
        for socket: Int32, reading: Bool = true, writing: Bool = false, until deadline: ContinuousClock.Instant? = nil
    ) -> Outcome {
        let interest = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        var entries = [
            pollfd(fd: socket, events: Int16(interest), revents: 0),
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&entries, 2, Self.milliseconds(until: deadline))
            if count == 0 { return .timedOut }
            // Below zero a signal interrupted it: look again. Nothing else can go wrong with descriptors that are ours.
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
        // Rounded up, so that a wait does not end shortly before its deadline.
        return Int32(clamping: left.wholeMilliseconds + 1)
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
#endif
