#if Postgres
import COneWayLibpq

extension PostgresConnection {
    /// The maximum number of prepared statements.
    private static let statementLimit = 200

    /// Runs statements without parameters in order. Outside a transaction, they are one
    /// transaction.
    ///
    /// - Parameters:
    ///   - text: The statements.
    ///   - shown: What errors show in their place, if they have data; nil, the default, for `text`.
    ///   - collect: Receives each result with rows, in order.
    /// - Returns: The last result with rows or, without one, the result of the last statement.
    /// - Throws: ``PostgresError``; `CancellationError` inside ``interruptible(isolation:_:)``.
    @discardableResult
    package func execute(
        _ text: String, shown: String? = nil, each collect: (PostgresResult) -> Void = { _ in }
    ) throws -> PostgresResult {
        var earlier = takeLater()
        let shown = earlier.text(before: shown ?? text)
        let text = earlier.text(before: text)
        try start(shown) { PQsendQuery(handle, text) }
        let result: PostgresResult
        do { result = try finish(shown) { if !earlier.take($0) { collect($0) } } } catch {
            throw earlier.failure ?? error
        }
        if let failure = earlier.failure { throw failure }
        return result
    }

    /// Runs statements that return nothing together with the next statement of the transaction,
    /// which saves a message. They are not run if the transaction ends before.
    package func executeLater(_ statements: [String]) {
        for statement in statements { later.append(statement) }
    }

    /// Begins a transaction together with its first statement; see ``isBeginning``.
    ///
    /// - Parameters:
    ///   - statements: Statements that return nothing, the first of which begins the transaction.
    ///   - lock: Selects something that does not matter; nil for none.
    ///   - selection: Selects one row at the end.
    ///   - read: Receives this row. If it throws, so does the first statement of the transaction,
    ///     which the server has run then.
    package func beginLater(
        _ statements: [String], lock: String?, selection: String, _ read: @escaping (PostgresResult) throws -> Void
    ) {
        executeLater(statements)
        if let lock { later.append(lock) { _ in } }
        later.append(selection) { [unowned self] result in
            isBeginning = false
            try read(result)
        }
        isBeginning = true
    }

    /// Gives up the beginning of a transaction that has not been sent, or that failed.
    package func dropBeginning() {
        later.removeAll()
        isBeginning = false
    }

    /// The statements to send before the next one.
    func takeLater() -> PostgresLaterStatements {
        defer { later.removeAll() }
        return later
    }

    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - text: The statement, with `$1`, `$2` … for values.
    ///   - parameters: The values.
    ///   - isPrepared: Whether to prepare the statement for later calls.
    ///   - binaryResult: Whether the result has values in the binary form of their types.
    /// - Throws: ``PostgresError``; `CancellationError` inside ``interruptible(isolation:_:)``.
    @discardableResult
    package func query(
        _ text: String, _ parameters: [PostgresParameter] = [], isPrepared: Bool = false, binaryResult: Bool = false
    ) throws -> PostgresResult {
        let name = isPrepared ? try prepare(text, types: parameters.map(\.type)) : nil
        return try run([PostgresStatement(text, parameters, binaryResult: binaryResult)], name: name)[0]
    }

    /// Runs statements in order, in one message and with one answer. Outside a transaction, they
    /// are one transaction.
    ///
    /// - Parameters:
    ///   - statements: The statements, at least one. Each has one statement in its text.
    ///   - read: Receives each result with its place, in order; not those after an error.
    /// - Returns: The result of each.
    /// - Throws: The first error of a statement or of `read`: ``PostgresError`` of a statement,
    ///   after which the server runs none; `CancellationError` inside
    ///   ``interruptible(isolation:_:)``.
    package func run(
        _ statements: [PostgresStatement], each read: (Int, PostgresResult) throws -> Void = { _, _ in }
    ) throws -> [PostgresResult] {
        try run(statements, name: nil, each: read)
    }

    /// - Parameter name: The name of the last statement, if it is prepared.
    private func run(
        _ statements: [PostgresStatement], name: String?, each read: (Int, PostgresResult) throws -> Void = { _, _ in }
    ) throws -> [PostgresResult] {
        try statements.forEach(check)
        let earlier = takeLater()
        let all = earlier.texts.map { PostgresStatement($0) } + statements
        if all.count == 1 {
            try start(all[0].text) { send(all[0], name: name) }
            let result = try finish(all[0].text)
            try read(0, result)
            return [result]
        }
        // Source: https://www.postgresql.org/docs/current/libpq-pipeline-mode.html
        try start(all[0].text, answerCount: all.count) {
            guard PQenterPipelineMode(handle) == 1 else { return 0 }
            for (place, statement) in all.enumerated() {
                guard send(statement, name: place == all.count - 1 ? name : nil) == 1 else { return 0 }
            }
            return PQpipelineSync(handle)
        }
        let results = try finishPipeline(all.map(\.text)) { place, result in
            let readings = earlier.readings
            if place < readings.count { try readings[place]?(result) } else { try read(place - readings.count, result) }
        }
        return Array(results.dropFirst(earlier.readings.count))
    }

    private func check(_ statement: PostgresStatement) throws {
        guard statement.parameters.contains(where: \.hasNUL) else { return }
        throw PostgresError(
            code: .characterNotInRepertoire, message: "PostgreSQL cannot store U+0000 in a text",
            statement: statement.text)
    }

    private func send(_ statement: PostgresStatement, name: String?) -> Int32 {
        let format: Int32 = statement.binaryResult ? 1 : 0
        return withPointers(to: statement.parameters) { count, types, values, lengths, formats in
            if let name {
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, format)
            } else {
                PQsendQueryParams(handle, statement.text, count, types, values, lengths, formats, format)
            }
        }
    }

    /// Rolls the transaction back. If the server does not answer, the connection is given up.
    package func rollback() {
        dropBeginning()
        guard isInTransaction else { return }
        withoutInterruption {
            // The server rolls back when it loses the connection.
            do { try execute("ROLLBACK") } catch { isBroken = true }
        }
    }

    /// Ends a transaction that has changed nothing, without waiting for the server.
    ///
    /// The next statement reads the answer. What it says does not matter: a server that has lost
    /// the transaction has lost nothing.
    package func endWithoutChanges() {
        dropBeginning()
        guard isInTransaction else { return }
        withoutInterruption {
            do {
                try start("COMMIT") { PQsendQuery(handle, "COMMIT") }
                hasUnreadAnswer = true
            } catch { isBroken = true }
        }
    }

    /// The name of a statement, which is prepared if necessary.
    private func prepare(_ text: String, types: [UInt32]) throws -> String {
        if let known = statements[text] { return known }
        if statements.count >= Self.statementLimit {
            try execute("DEALLOCATE ALL")
            statements.removeAll()
        }
        lastStatement += 1
        let name = "s\(lastStatement)"
        try start(text) { PQsendPrepare(handle, name, text, Int32(types.count), types) }
        try finish(text)
        statements[text] = name
        return name
    }

    // MARK: Sending and receiving

    /// Sends a request that the server answers.
    ///
    /// - Parameter answerCount: The number of statements in a pipeline; nil, the default, without
    ///   one.
    func start(_ text: String, answerCount: Int? = nil, _ send: () -> Int32) throws {
        if hasUnreadAnswer {
            hasUnreadAnswer = false
            withoutInterruption { _ = try? finish(text) }
        }
        guard !isClosed else { throw lost(text) }
        if isCancelled { throw CancellationError() }
        guard send() == 1 else { throw lost(text) }
        do { try flush(text) } catch let error as CancellationError {
            // Otherwise, the next statement would receive the answer to this one.
            withoutInterruption {
                if let answerCount {
                    _ = try? finishPipeline(Array(repeating: text, count: answerCount))
                } else {
                    _ = try? finish(text)
                }
            }
            throw error
        }
    }

    /// Runs calls that a cancellation does not interrupt, each of them within the silence limit.
    func withoutInterruption(_ body: () -> Void) {
        guard !isClosed else { return }
        let (limit, wasInterruptible) = (answerLimit, isInterruptible)
        answerLimit = limit ?? options.silenceLimit
        isInterruptible = false
        defer { (answerLimit, isInterruptible) = (limit, wasInterruptible) }
        body()
    }

    /// Sends the data that libpq has buffered. Also reads, because a server that cannot send stops
    /// reading.
    ///
    /// - Throws: ``PostgresError`` if the connection is lost; `CancellationError` if the task was
    ///   cancelled. The server has then received the cancellation, but its answer must still be
    ///   read.
    func flush(_ text: String) throws {
        var wait: PostgresAnswerWait?
        while true {
            switch PQflush(handle) {
            case 0:
                guard var wait, wait.hasCancelled else { return }
                try wait.finish()
                throw CancellationError()
            case 1: break
            default: throw lost(text)
            }
            if wait == nil { wait = PostgresAnswerWait(self, text) }
            try wait?.wait(writing: true)
        }
    }

    /// Waits for the answers to the statements of a pipeline, and ends it.
    private func finishPipeline(
        _ texts: [String], each read: (Int, PostgresResult) throws -> Void = { _, _ in }
    ) throws -> [PostgresResult] {
        var results: [PostgresResult] = []
        var failure: (any Error)?
        for (place, text) in texts.enumerated() where !isClosed {
            // After an error, the server skips the other statements, and libpq answers for them.
            do {
                results.append(try finish(text))
                if failure == nil { try read(place, results[place]) }
            } catch { failure = failure ?? error }
        }
        // The end of the pipeline is an answer of its own.
        if !isClosed { do { try finish(texts[0]) } catch { failure = failure ?? error } }
        if !isClosed, PQexitPipelineMode(handle) != 1 { isBroken = true }
        if let failure { throw failure }
        guard results.count == texts.count else { throw lost(texts[0]) }
        return results
    }

    /// Waits for the complete answer.
    ///
    /// - Parameter collect: Receives each result with rows.
    /// - Returns: The last result with rows or, without one, the last result. For a COPY, returns
    ///   as soon as the server accepts data; for a pipeline, one statement's result.
    @discardableResult
    func finish(_ text: String, each collect: (PostgresResult) -> Void = { _ in }) throws -> PostgresResult {
        var last: PostgresResult?
        var failure: PostgresError?
        var wait = PostgresAnswerWait(self, text)
        // A lost connection can report the same result forever.
        while PQstatus(handle) == CONNECTION_OK || failure == nil {
            while !isBroken, PQisBusy(handle) == 1 { try wait.wait(writing: false) }
            guard let result = PQgetResult(handle).map(PostgresResult.init) else { break }
            switch result.status {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: failure = failure ?? result.error(statement: text)
            case PGRES_COPY_IN, PGRES_PIPELINE_SYNC:
                try wait.finish()
                return result
            case PGRES_TUPLES_OK:
                collect(result)
                last = result
            default: if last?.status != PGRES_TUPLES_OK { last = result }
            }
        }
        try wait.finish()
        if PQstatus(handle) == CONNECTION_BAD { isBroken = true }
        if let failure {
            // In a pipeline, the cancellation can end the statement after the awaited one.
            if wait.hasCancelled || isCancelled, failure.code == .queryCanceled { throw CancellationError() }
            throw failure
        }
        guard let last else { throw lost(text) }
        return last
    }
}
#endif
