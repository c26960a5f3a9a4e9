#if Postgres
import COneWayLibpq

/// A message sent with `NOTIFY` on a channel to which the connection listens.
package struct PostgresNotification: Hashable, Sendable {
    /// The name of the channel.
    package let channel: String
    /// The text of the message, which can be empty.
    package let payload: String

    package init(channel: String, payload: String) {
        self.channel = channel
        self.payload = payload
    }
}

extension PostgresConnection {
    /// Waits for notifications; returns immediately if some have arrived already.
    ///
    /// Blocks the thread. If the server closes the connection, the wait ends immediately. Source:
    /// https://www.postgresql.org/docs/current/libpq-notify.html
    ///
    /// - Parameter deadline: When to stop waiting; nil for no limit.
    /// - Returns: The notifications in order; empty if the deadline passed or the thread was woken.
    /// - Throws: ``PostgresError`` if the connection is lost; `CancellationError` inside
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
