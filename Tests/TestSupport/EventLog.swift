/// An ordered log of events from any number of tasks.
package final class EventLog<Event: Sendable & Equatable>: Sendable {
    private let log = Watched<[Event]>([])

    package init() {}

    package var events: [Event] { log.value }

    package func append(_ event: Event) {
        log.update { $0.append(event) }
    }

    /// Waits until an event has occurred at least `count` times in total.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait(for event: Event, count: Int = 1) async throws {
        try await log.wait { $0.count { $0 == event } >= count }
    }

    /// Waits until the events satisfy a condition.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait(until isMet: @escaping @Sendable ([Event]) -> Bool) async throws {
        try await log.wait(until: isMet)
    }
}
