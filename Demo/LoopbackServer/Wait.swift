#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The one place where the server's threads block: a `poll` that always looks at the stop signal too.
enum Wait {
    enum Outcome {
        case ready
        case stopped
    }

    /// Waits until there is something to read, an end included, or the server stops.
    static func until(readable descriptor: Descriptor, stopSignal: LoopbackGate) -> Outcome {
        until([(descriptor, POLLIN)], stopSignal: stopSignal)
    }

    /// Waits until something can be written, or the server stops.
    static func until(writable descriptor: Descriptor, stopSignal: LoopbackGate) -> Outcome {
        until([(descriptor, POLLOUT)], stopSignal: stopSignal)
    }

    /// Waits until one of the descriptors has something to read, or the server stops.
    static func until(anyReadable descriptors: [Descriptor], stopSignal: LoopbackGate) -> Outcome {
        until(descriptors.map { ($0, POLLIN) }, stopSignal: stopSignal)
    }

    /// Whether there is something to read right now, an end included.
    static func isReadable(_ descriptor: Descriptor) -> Bool {
        var entry = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Waits for the server to stop, and not longer than that; false when it did not.
    static func stops(_ stopSignal: LoopbackGate, withinMilliseconds milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: stopSignal.descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private static func until(_ interests: [(Descriptor, Int32)], stopSignal: LoopbackGate) -> Outcome {
        var entries = interests.map { pollfd(fd: $0.0.raw, events: Int16($0.1), revents: 0) }
        entries.append(pollfd(fd: stopSignal.descriptor.raw, events: Int16(POLLIN), revents: 0))
        while true {
            let count = poll(&entries, numericCast(entries.count), -1)
            if entries[entries.count - 1].revents != 0 { return .stopped }
            if count > 0 { return .ready }
            // Interrupted by a signal: look again. Nothing else can go wrong with descriptors that are ours.
        }
    }
}
