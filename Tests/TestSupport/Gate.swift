/// A gate that suspends tasks until a test opens it. An open gate lets every task pass.
package final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var arrivals = 0
    }

    private let state: Watched<State>

    package init(isOpen: Bool = false) {
        state = Watched(State(isOpen: isOpen))
    }

    package var isOpen: Bool { state.value.isOpen }

    package func open() {
        state.update { $0.isOpen = true }
    }

    /// Waits until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func pass() async throws {
        state.update { $0.arrivals += 1 }
        try await state.wait { $0.isOpen }
    }

    /// Waits until the gate is open, which another task does.
    ///
    /// - Throws: The error of the other task, or ``TestError``, if it ends before;
    ///   `CancellationError` if the task is cancelled first.
    package func pass<Success, Failure>(orEndOf task: Task<Success, Failure>) async throws {
        try await state.wait(orEndOf: task) { $0.isOpen }
    }

    /// Waits until the gate is open, even if the task is cancelled.
    package func passUncancelled() async {
        await Task { try? await self.pass() }.value
    }

    /// Waits until at least this many tasks have arrived in total.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func waitForArrivals(_ count: Int = 1) async throws {
        try await state.wait { $0.arrivals >= count }
    }

    /// Waits until at least this many tasks have arrived in total, one of which another task leads
    /// there.
    ///
    /// - Throws: As ``pass(orEndOf:)``.
    package func waitForArrivals<Success, Failure>(_ count: Int = 1, orEndOf task: Task<Success, Failure>) async throws
    {
        try await state.wait(orEndOf: task) { $0.arrivals >= count }
    }
}
