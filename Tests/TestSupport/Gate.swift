/// Holds whoever comes until a test opens it; whoever comes later passes.
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

    /// Waits for the gate to open.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    package func pass() async throws {
        state.update { $0.arrivals += 1 }
        try await state.wait { $0.isOpen }
    }

    /// Waits for the gate to open, also when the task is cancelled.
    package func passUncancelled() async {
        await Task { try? await self.pass() }.value
    }

    /// Waits until this many have come in all.
    package func waitForArrivals(_ count: Int = 1) async throws {
        try await state.wait { $0.arrivals >= count }
    }
}
