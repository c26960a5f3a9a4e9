#if Postgres
import COneWayLibpq

/// Something that was sent with `NOTIFY` on a channel that the connection listens to.
package struct PostgresNotification: Hashable, Sendable {
    /// The channel's name.
    package let channel: String
    /// What was sent along; may be empty.
    package let payload: String

    package init(channel: String, payload: String) {
        self.channel = channel
        self.payload = payload
    }
}

extension PostgresConnection {
    /// Waits for a notification; returns at once where some have come already (https://www.postgresql.org/docs/current/libpq-notify.html).
    ///
    /// The thread waits as long: it is for connections that do little else. A connection that the server closes meanwhile shows at once.
    ///
    /// - Parameter deadline: When to give up; nil: never.
    /// - Returns: What came, in order; empty when the deadline passed, or the thread was woken.
    /// - Throws: ``PostgresError`` where the connection is lost; `CancellationError` inside of ``interruptible(isolation:_:)``.
    package func notifications(until deadline: ContinuousClock.Instant?) throws -> [PostgresNotification] {
        while true {
            guard !isClosed, PQconsumeInput(handle) == 1 else { throw lost(nil) }
            let received = takeNotifications()
            guard received.isEmpty else { return received }
            if isCancelled { throw CancellationError() }
            let outcome = waker.wait(for: PQsocket(handle), until: deadline)
            guard outcome == .ready else {
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
