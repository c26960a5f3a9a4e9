/// Passes elements from one task to another, one at a time.
///
/// The sender waits until its last element is taken, so it is never more than one element ahead
/// (back-pressure).
package final class Handoff<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var element: Element?
        /// The sender's result; nil until it has finished.
        var end: Result<Void, any Error>?
        /// Whether the receiver has stopped taking elements.
        var isClosed = false
        var senders = Waiters<Void>()
        var takers = Waiters<Void>()
    }

    private let state = Locked(State())

    /// Creates an empty handoff.
    package init() {}

    /// Waits until the last element is taken, then offers the next one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the receiver has stopped.
    package func send(_ element: Element) async throws {
        while true {
            let (isSent, taker) = try state.withLock { state in
                if state.isClosed { throw CancellationError() }
                guard state.element == nil else { return (false, nil as Waiters<Void>.Waiter?) }
                state.element = element
                return (true, state.takers.removeFirst())
            }
            taker?.resume()
            if isSent { return }
            try await state.wait(in: \.senders) { $0.element == nil || $0.isClosed ? .success(()) : nil }
        }
    }

    /// Ends the sequence after the elements sent so far.
    package func finish(_ result: Result<Void, any Error>) {
        let takers = state.withLock { state in
            state.end = result
            return state.takers.removeAll()
        }
        for taker in takers { taker.resume() }
    }

    /// Waits for the next element; nil after the last one.
    ///
    /// - Throws: The sender's error; `CancellationError` if the task is cancelled.
    package func next() async throws -> Element? {
        while true {
            let (element, end, sender) = state.withLock { state in
                let element = state.element.take()
                return (element, element == nil ? state.end : nil, element == nil ? nil : state.senders.removeFirst())
            }
            sender?.resume()
            if let element { return element }
            if let end {
                try end.get()
                return nil
            }
            try await state.wait(in: \.takers) { $0.element != nil || $0.end != nil ? .success(()) : nil }
        }
    }

    /// Stops receiving, which ends the sender.
    package func close() {
        let senders = state.withLock { state in
            state.isClosed = true
            return state.senders.removeAll()
        }
        for sender in senders { sender.resume() }
    }
}
