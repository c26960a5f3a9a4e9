#if Postgres
import COneWayLibpq
import Foundation
import SyncBase

extension PostgresConnection {
    /// Opens a connection.
    ///
    /// Hosts are tried in order, each for `connect_timeout` of the connection string or for the
    /// silence limit. Standby servers are skipped if a primary is required or preferred. A server
    /// without a free connection is tried again.
    ///
    /// - Parameters:
    ///   - address: The address of one or more servers.
    ///   - options: The options of the session.
    ///   - isolation: The actor that uses the connection.
    ///   - setUp: Runs when the session is open, on a thread that may block.
    /// - Throws: ``PostgresError``: class `08` if no server can be reached, `25006` if all servers
    ///   are standbys, `0A000` behind a pooler that is not accepted, `53300` without a free
    ///   connection, and other errors of the server, such as `28P01` for a wrong password;
    ///   `CancellationError`.
    package static func open(
        _ address: PostgresAddress, options: PostgresSessionOptions,
        isolation: isolated (any Actor)? = #isolation,
        setUp: @escaping @Sendable (PostgresConnection) throws -> Void = { _ in }
    ) async throws -> PostgresConnection {
        try await PostgresConnector().open(address, options: options, setUp: setUp).connection
    }

    /// Opens a connection on the current thread; ends early if the current task is cancelled.
    static func openBlocking(
        _ address: PostgresAddress, options: PostgresSessionOptions, waker: PostgresWaker
    ) throws -> PostgresConnection {
        let hosts = try address.hosts()
        let deadline = ContinuousClock.now + options.connectionWait
        var pause = Duration.milliseconds(50)
        while true {
            do { return try openOnce(address, hosts, options: options, waker: waker) } catch let error as PostgresError
                where error.code == .tooManyConnections
            {
                guard ContinuousClock.now + pause < deadline else {
                    throw PostgresError(
                        code: error.code,
                        message: "\(error.message); no connection has become free for \(options.connectionWait)")
                }
                let end = ContinuousClock.now + pause
                // A wake without a cancellation is left from an earlier call.
                while waker.wait(for: nil, until: end) == .woken { try Task.checkCancellation() }
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    /// Tries each host once, in order.
    static func openOnce(
        _ address: PostgresAddress, _ hosts: PostgresAddress.Hosts, options: PostgresSessionOptions,
        waker: PostgresWaker
    ) throws -> PostgresConnection {
        let attributes = options.parameters["target_session_attrs"] ?? hosts.targetSessionAttributes
        let isList = hosts.list.count > 1
        let prefersPrimary = isList && options.servers == .preferPrimary && [nil, "any"].contains(attributes)
        // libpq would choose a preferred standby among all hosts, but sees only one host at a time.
        let rounds: [String?] =
            isList && attributes == "prefer-standby" ? ["standby", "any"] : prefersPrimary ? ["primary", nil] : [nil]
        var failure: PostgresError?
        for round in rounds {
            // A server without a free connection may be the primary, so wait for it.
            if prefersPrimary, failure?.code == .tooManyConnections { break }
            for host in hosts.list {
                try Task.checkCancellation()
                do {
                    let connection = try PostgresConnection(
                        PostgresTarget(address: address, host: host, attributes: round), options: options, waker: waker)
                    try connection.connect(until: .now + (hosts.timeout ?? options.silenceLimit))
                    try connection.prepareSession()
                    connection.isSubstitute = prefersPrimary && connection.isStandby
                    return connection
                } catch let error as PostgresError where error.leadsToNextHost {
                    // The error of a full server is more useful than the error of a server that is
                    // down.
                    if failure?.code != .tooManyConnections { failure = error }
                }
            }
        }
        throw failure ?? PostgresError(code: .cannotConnect, message: "no host is given")
    }

    /// Waits until the connection is established.
    func connect(until deadline: ContinuousClock.Instant) throws {
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard PQstatus(handle) != CONNECTION_BAD, state != PGRES_POLLING_FAILED else { throw connectError() }
            let event = waker.wait(
                for: PQsocket(handle), reading: state == PGRES_POLLING_READING,
                writing: state == PGRES_POLLING_WRITING, until: deadline)
            switch event {
            case .ready: state = PQconnectPoll(handle)
            case .woken: try Task.checkCancellation()
            case .timedOut: throw PostgresError(code: .cannotConnect, message: "the server did not answer in time")
            }
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw connectError() }
    }

    /// Reads the facts about the server, and makes both ends notice the loss of the other, in one
    /// message.
    private func prepareSession() throws {
        isInterruptible = true
        let limit = answerLimit
        answerLimit = options.silenceLimit
        defer { (isInterruptible, answerLimit) = (false, limit) }
        let mark = UUID().uuidString
        let marking = options.pooling == .session ? [(name: Self.markSetting, value: mark)] : []
        let isOwned = "WHERE \(options.ownsSession(PQbackendPID(handle)))"
        func set(_ settings: [(name: String, value: String)]) -> String {
            let terms = settings.map { "pg_catalog.set_config('\($0.name)', '\($0.value)', false)" }
            return "SELECT \(terms.joined(separator: ", ")) \(isOwned)"
        }
        let beginning = ContinuousClock.now
        var answers: [PostgresResult] = []
        do {
            // With the defaults of a role, the query could wait for the transactions of other
            // sessions. The last statement is a transaction of its own, because it may fail.
            try execute(
                """
                BEGIN ISOLATION LEVEL READ COMMITTED; \
                SELECT pg_catalog.pg_backend_pid(), pg_catalog.pg_is_in_recovery(), \
                CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN (SELECT system_identifier FROM \
                pg_catalog.pg_control_system())::pg_catalog.text OPERATOR(pg_catalog.||) '/' OPERATOR(pg_catalog.||) \
                pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) END, \
                \(PostgresSideCall.serverStart), pg_catalog.current_setting('server_encoding'); \
                \(set(options.serverSettings + marking)); SELECT \(Self.workTime); COMMIT; \(set([options.clientCheck]))
                """
            ) { answers.append($0) }
        } catch let error as PostgresError where !error.isConnectionFailure && answers.count > 2 {}
        guard answers.count > 2 else { throw lost(nil) }
        noteAnswer(since: beginning, work: answers[2])
        let facts = answers[0]
        serverProcess = Int32(clamping: facts.integer(0, 0) ?? 0)
        isPooled = serverProcess != PQbackendPID(handle)
        session = isPooled && !marking.isEmpty ? mark : nil
        cluster = facts.text(0, 2) ?? ""
        serverStart = facts.text(0, 3) ?? ""
        serverEncoding = facts.text(0, 4) ?? ""
        isStandby = facts.boolean(0, 1) == true
        if options.servers == .primary, isStandby {
            throw PostgresError(
                code: .readOnlyTransaction, message: "the server is a standby, which accepts no writes",
                statement: "SELECT pg_catalog.pg_is_in_recovery()")
        }
        if isPooled, options.pooling == .none {
            throw PostgresError(
                code: .featureNotSupported,
                message: "the connection goes through a pooler; connect to the server itself, or, if the pooler gives "
                    + "each client a session of its own, set isBehindSessionPooler")
        }
    }

    private func connectError() -> PostgresError {
        let message = LibpqMessage(lastMessage)
        return PostgresError(
            code: message.code ?? .cannotConnect,
            message: message.line.isEmpty ? "the server cannot be reached" : message.line)
    }
}

extension PostgresError {
    /// Whether another host of the address may succeed.
    fileprivate var leadsToNextHost: Bool {
        isConnectionFailure || code == .tooManyConnections || code == .readOnlyTransaction
    }
}

/// Opens a connection on a thread of its own.
private actor PostgresConnector {
    /// A connection on its way to the actor that requested it.
    ///
    /// Unchecked, because only one actor at a time uses a connection: the connector keeps no
    /// reference to it.
    struct Opened: @unchecked Sendable {
        let connection: PostgresConnection
    }

    private let executor = BlockingExecutor(label: "PostgresConnector")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    func open(
        _ address: PostgresAddress, options: PostgresSessionOptions,
        setUp: @Sendable (PostgresConnection) throws -> Void
    ) async throws -> Opened {
        let waker = try PostgresWaker()
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            let connection = try PostgresConnection.openBlocking(address, options: options, waker: waker)
            connection.isInterruptible = true
            defer { connection.isInterruptible = false }
            try setUp(connection)
            return Opened(connection: connection)
        } onCancel: {
            waker.wake()
        }
    }
}
#endif
