#if Postgres
/// The options of a session, including when its connection counts as lost.
package struct PostgresSessionOptions: Sendable {
    /// The poolers that are accepted between this program and the server.
    package enum Pooling: Sendable {
        /// None, because the session has state, and a session pooler looks like one that shares
        /// sessions.
        case none
        /// A pooler that gives each client its own session.
        case session
        /// Any pooler, because the session has no state.
        case transaction
    }

    /// The kinds of server that are accepted. A standby accepts no writes, sends no notifications,
    /// and can be behind.
    package enum Servers: Sendable {
        /// Only primary servers.
        case primary
        /// A standby only if no host is a primary, or if the connection string requests one.
        case preferPrimary
        /// Any server.
        case any
    }

    /// The application name in `pg_stat_activity` if the connection string has none; the name of
    /// this process by default.
    package var applicationName: String
    /// The kinds of server that are accepted; only primary servers by default.
    package var servers = Servers.primary
    /// The poolers that are accepted; none by default.
    package var pooling = Pooling.none
    /// The time for which the network or the server may be silent before it is checked or given up.
    package var silenceLimit: Duration
    /// The time to wait for a server without a free connection; 30 seconds by default.
    package var connectionWait: Duration = .seconds(30)
    /// The shortest time for an answer of a server that is far; 4 milliseconds by default.
    package var farRoundTrip: Duration = .milliseconds(4)
    /// Settings of the session, without quotation marks in their values; none by default. Behind a
    /// pooler that shares sessions, they are not made.
    package var settings: [(name: String, value: String)] = []
    /// Keywords that override the connection string.
    package var parameters: [String: String] = [:]

    /// Creates options.
    package init(applicationName: String = PostgresProcess.name, silenceLimit: Duration = .seconds(10)) {
        self.applicationName = applicationName
        self.silenceLimit = silenceLimit
    }

    /// The silence limit in whole seconds; TCP needs at least four.
    var silenceSeconds: Int64 {
        max(4, min(silenceLimit.secondsRoundedUp, 86_400))
    }

    /// The TCP settings of the client. A server that acknowledges nothing within the limit is
    /// considered dead.
    var clientSettings: [(String, String)] {
        [
            ("keepalives", "1"), ("keepalives_idle", "\(silenceSeconds - 3)"), ("keepalives_interval", "1"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(silenceSeconds * 1000)"),
        ]
    }

    /// The same settings for the server, which also checks its client while a statement runs, and
    /// those of the program. Transactions of a single statement do not depend on settings of the
    /// role or the database.
    ///
    /// Source: https://www.postgresql.org/docs/current/runtime-config-connection.html
    var serverSettings: [(name: String, value: String)] {
        [
            ("tcp_keepalives_idle", "\(silenceSeconds - 3)"), ("tcp_keepalives_interval", "1"),
            ("tcp_keepalives_count", "3"), ("tcp_user_timeout", "\(silenceSeconds * 1000)"),
            ("default_transaction_isolation", "read committed"), ("default_transaction_read_only", "off"),
        ] + settings
    }

    /// How often the server checks its client while a statement runs, which not every operating
    /// system supports.
    var clientCheck: (name: String, value: String) {
        ("client_connection_check_interval", "\(min(silenceSeconds, 1000) * 1000 / 4)")
    }

    /// A condition that the session belongs to this program alone, so that its settings do not
    /// remain for other clients of a pooler.
    ///
    /// - Parameter process: The server process as the client knows it. A pooler has its own process
    ///   identifiers for its clients.
    func ownsSession(_ process: Int32) -> String {
        pooling == .session ? "TRUE" : "pg_catalog.pg_backend_pid() OPERATOR(pg_catalog.=) \(process)"
    }
}
#endif
