/// Passes elements from one task to another, one at a time.
///
/// The sender waits until its last element was taken, so that it is never more than one element
/// ahead: back-pressure.
package final class Handoff<Element: Sendable>: Sendable {
    private struct State: Sendable {
        var element: Element?
        /// How the sender ended; nil while it goes on.
        var end: Result<Void, any Error>?
        /// Whether nobody takes elements any more.
        var isClosed = false
        var senders = Waiters<Void>()
        var takers = Waiters<Void>()
    }

    private let state = Locked(State())

    /// Creates a handoff without an element.
    package init() {}

    /// Waits until the last element was taken, and offers the next one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or nobody takes elements any more.
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

    /// Ends the sequence after the elements so far.
    package func finish(_ result: Result<Void, any Error>) {
        let takers = state.withLock { state in
            state.end = result
            return state.takers.removeAll()
        }
        for taker in takers { taker.resume() }
    }

    /// Waits for the next element; nil after the last.
    ///
    /// - Throws: The error that the sender ended with; `CancellationError`.
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

    /// Ends the sender: nobody takes elements any more.
    package func close() {
        let senders = state.withLock { state in
            state.isClosed = true
            return state.senders.removeAll()
        }
        for sender in senders { sender.resume() }
    }
}
