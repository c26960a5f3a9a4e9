import SyncBase

/// The work of the accepting thread: it accepts connections, starts their threads, and joins ended
/// ones.
final class Acceptor: Sendable {
    private let listener: Descriptor
    private let stopSignal: LoopbackGate
    private let limits: LoopbackHTTPServer.Limits
    private let handler: LoopbackHTTPServer.Handler

    /// The numbers of connections whose threads have ended but are not joined yet.
    private let ended = Locked<[Int]>([])

    init(
        listener: Descriptor,
        stopSignal: LoopbackGate,
        limits: LoopbackHTTPServer.Limits,
        handler: @escaping LoopbackHTTPServer.Handler
    ) {
        self.listener = listener
        self.stopSignal = stopSignal
        self.limits = limits
        self.handler = handler
    }

    /// Accepts connections until the stop signal opens, then waits for all connection threads to
    /// end.
    func run() {
        var threads: [Int: SystemThread] = [:]
        var number = 0
        while Wait.until(readable: listener, stopSignal: stopSignal) == .ready {
            for finished in takeEnded() { threads.removeValue(forKey: finished)?.join() }
            guard let socket = listener.accept() else {
                // The client has disconnected, or no descriptor is free; wait before the next
                // attempt.
                _ = Wait.stops(stopSignal, withinMilliseconds: 1)
                continue
            }
            guard threads.count < limits.connectionCount else { continue }
            number += 1
            threads[number] = try? serve(socket, number: number)
        }
        for thread in threads.values { thread.join() }
    }

    private func serve(_ socket: Descriptor, number: Int) throws -> SystemThread {
        let connection = Connection(socket: socket, stopSignal: stopSignal, limits: limits)
        return try SystemThread(name: "connection") { [self] in
            connection.run(handler)
            ended.withLock { $0.append(number) }
        }
    }

    private func takeEnded() -> [Int] {
        ended.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }
}
