#if Postgres
/// How a session is opened and when its connection counts as lost.
package struct PostgresSessionOptions: Sendable {
    /// Which poolers may stand between this program and the server.
    package enum Pooling: Sendable {
        /// None: session state must stay, and a pooler cannot be told from one that shares
        /// sessions.
        case none
        /// One that gives each client a session of its own.
        case session
        /// Any; the session keeps no state.
        case transaction
    }

    /// Which servers are accepted: standby servers accept no writes, report no notifications, and
    /// can be behind.
    package enum Servers: Sendable {
        /// Primary servers only.
        case primary
        /// A standby only if no host is a primary, or if the connection string asks for one.
        case preferPrimary
        /// Any.
        case any
    }

    /// What `pg_stat_activity` shows if the connection string names no application; this process by
    /// default.
    package var applicationName: String
    /// Which servers are accepted; primary servers by default.
    package var servers = Servers.primary
    /// Which poolers are accepted; none by default.
    package var pooling = Pooling.none
    /// How long the network or the other end may be silent before it is checked or given up.
    package var silenceLimit: Duration
    /// How long to wait for a server that has no connection left.
    package var connectionWait: Duration = .seconds(30)
    /// Keywords of the connection string that outrank the string.
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

    /// TCP settings of this end: a peer that does not acknowledge anything for the limit is gone.
    var clientSettings: [(String, String)] {
        [
            ("keepalives", "1"), ("keepalives_idle", "\(silenceSeconds - 3)"), ("keepalives_interval", "1"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(silenceSeconds * 1000)"),
        ]
    }

    /// The same settings of the server's end, which also checks its client while a statement runs.
    /// Transactions of a single statement do not depend on settings of the role or the database.
    ///
    /// Source: https://www.postgresql.org/docs/current/runtime-config-connection.html
    var serverSettings: String {
        """
        SET tcp_keepalives_idle = \(silenceSeconds - 3); SET tcp_keepalives_interval = 1; \
        SET tcp_keepalives_count = 3; SET tcp_user_timeout = \(silenceSeconds * 1000); \
        SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off
        """
    }

    /// How often the server checks its client while a statement runs; not every operating system
    /// can.
    var clientCheck: String {
        "SET client_connection_check_interval = \(min(silenceSeconds, 1000) * 1000 / 4)"
    }
}
#endif
