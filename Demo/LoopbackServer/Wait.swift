#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The blocking waits of the server's threads: a `poll` that also watches the stop signal.
enum Wait {
    enum Outcome {
        case ready
        case stopped
    }

    /// Waits until data or the end can be read, or the server stops.
    static func until(readable descriptor: Descriptor, stopSignal: LoopbackGate) -> Outcome {
        until([(descriptor, POLLIN)], stopSignal: stopSignal)
    }

    /// Waits until data can be written, or the server stops.
    static func until(writable descriptor: Descriptor, stopSignal: LoopbackGate) -> Outcome {
        until([(descriptor, POLLOUT)], stopSignal: stopSignal)
    }

    /// Waits until one of the descriptors has data or its end to read, or the server stops.
    static func until(anyReadable descriptors: [Descriptor], stopSignal: LoopbackGate) -> Outcome {
        until(descriptors.map { ($0, POLLIN) }, stopSignal: stopSignal)
    }

    /// Returns whether data or the end can be read without waiting.
    static func isReadable(_ descriptor: Descriptor) -> Bool {
        var entry = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Waits for the server to stop, up to a time limit; false if it did not stop.
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
            // A signal interrupted the call: retry. Descriptors that the server owns cause no other
            // error.
        }
    }
}
