#if Postgres
import COneWayLibpq

/// A message that was sent with `NOTIFY` on a channel that the connection listens to.
package struct PostgresNotification: Hashable, Sendable {
    /// The name of the channel.
    package let channel: String
    /// The text of the message; can be empty.
    package let payload: String

    package init(channel: String, payload: String) {
        self.channel = channel
        self.payload = payload
    }
}

extension PostgresConnection {
    /// Waits for notifications; returns at once if some have come already.
    ///
    /// Blocks the thread. A connection that the server closes meanwhile is noticed at once.
    /// Source: https://www.postgresql.org/docs/current/libpq-notify.html
    ///
    /// - Parameter deadline: When to give up; nil for never.
    /// - Returns: The notifications in order; empty if the deadline passed or the thread was woken.
    /// - Throws: ``PostgresError`` if the connection is lost; `CancellationError` inside of
    ///   ``interruptible(isolation:_:)``.
    package func notifications(until deadline: ContinuousClock.Instant?) throws -> [PostgresNotification] {
        while true {
            guard !isClosed, PQconsumeInput(handle) == 1 else { throw lost(nil) }
            let received = takeNotifications()
            guard received.isEmpty else { return received }
            if isCancelled { throw CancellationError() }
            guard waker.wait(for: PQsocket(handle), until: deadline) == .ready else {
                if isCancelled { throw CancellationError() }
                return []
            }
        }
    }

    private func takeNotifications() -> [PostgresNotification] {
        var received: [PostgresNotification] = []
        while let notification = PQnotifies(handle) {
            received.append(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return received
    }
}
#endif
