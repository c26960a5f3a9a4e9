#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

// Links, and the commit, which writes the last ones.
extension PostgresWorker {
    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        try schema.model.check(batch.relationship)
        return try await perform { connection in
            let links = try plan(batch, known: ahead.links.take(), connection)
            guard !links.plan.isEmpty else { return links.plan.result }
            ahead.noteLinking()
            if case .join(let link) = schema.relationships[batch.relationship.source][batch.relationship.index] {
                growth.add(links.plan.added.count, to: link.table)
            }
            guard links.canWait, keptLinks.isEmpty, !hasTriggers else { return try write(links, connection) }
            waitingLinks = links
            return links.plan.result
        }
    }

    private func plan(
        _ batch: LinkBatch, known: PostgresKnownLinks?, _ connection: PostgresConnection
    ) throws -> PostgresLinking {
        try PostgresLinking(batch, known: known, without: keptLinks, queries: queries, connection: connection)
    }

    /// Writes links. After a conflict with another transaction, they are planned again.
    @discardableResult
    private func write(_ links: PostgresLinking, _ connection: PostgresConnection) throws -> LinkBatch.Result {
        var first: PostgresLinking? = links
        return try connection.retrying(plansLookups: true) {
            var linking = try first.take() ?? plan(links.batch, known: nil, connection)
            linking.verifiesAlways = hasTriggers
            return try linking.run(keeping: &keptLinks)
        }
    }

    /// Writes the links that wait for the next call.
    ///
    /// If they are refused, they wait on: otherwise a transaction whose body ignores the error of
    /// that call would be committed without them.
    func writeWaitingLinks(_ connection: PostgresConnection) throws {
        guard let links = waitingLinks else { return }
        try write(links, connection)
        waitingLinks = nil
    }

    /// Commits the transaction. If the commit fails, the changes are rolled back.
    ///
    /// - Throws: `PostgresError`, with code `08007` if the connection was lost and the outcome is
    ///   unknown.
    func commit(changing roots: Set<Int>) async throws {
        var number = transactionNumber
        let (growth, links) = (growth, waitingLinks)
        let hasBegun = beginning == nil
        endTransaction()
        guard hasBegun else { return }
        let connection = try current()
        // No call has sent anything.
        guard !connection.isBeginning else { return connection.dropBeginning() }
        do { try reportedDeletions.map { try connection.checkTriggers(after: $0, schema) } } catch {
            throw rolledBack(after: error, connection)
        }
        // If nothing was changed, nobody needs to know of the commit, nor what became of it.
        guard !roots.isEmpty || links != nil else { return connection.endWithoutChanges() }
        try growth.gatherStatistics(schema, connection)
        let payload = PostgresCommitWatch.payload(roots.sorted().map { schema.model.layouts[$0].name })
        let notification = "pg_catalog.pg_notify('\(settings.commitChannel)', \(SQLText.literal(payload)))"
        do {
            let end = ["SELECT \(notification)", "COMMIT"]
            if number != nil, let links, try commit(with: links, end, connection) { return }
            if number == nil {
                if let links { try write(links, connection) }
                number = try connection.execute("SELECT \(PostgresReadAhead.transactionNumber)").text(0, 0)
            }
            try connection.execute(end.joined(separator: "; "))
        } catch let error as PostgresError where error.isConnectionFailure {
            self.connection = nil
            guard let number else { throw error }
            try await PostgresSettlement(number, of: connection, settings: settings).settle(after: error)
        } catch {
            throw rolledBack(after: error, connection)
        }
    }

    /// Writes links and commits with one message.
    ///
    /// - Returns: Whether it did. If not, the links are written and the transaction goes on.
    private func commit(
        with links: PostgresLinking, _ end: [String], _ connection: PostgresConnection
    ) throws -> Bool {
        let before = ["SAVEPOINT sync_attempt"] + PostgresMergeStatements.plansLookups
        let statements = before.map { SQLStatementText($0) } + (try links.guarded()) + end.map { SQLStatementText($0) }
        do {
            _ = try connection.run(statements.map(PostgresStatement.init))
            return true
        } catch let error as PostgresError where !error.isConnectionFailure && connection.isInTransaction {
            // Step by step, they are written or tell what refuses them.
            try connection.execute("ROLLBACK TO SAVEPOINT sync_attempt")
            try write(links, connection)
            return false
        }
    }

    /// Rolls the transaction back after an error at its end.
    ///
    /// - Returns: What a deferred constraint refused, or else the error itself.
    private func rolledBack(after error: any Error, _ connection: PostgresConnection) -> any Error {
        rollback()
        if let error = error as? PostgresError, let refusal = try? connection.refusal(atCommit: error, schema) {
            return StoreError.refused(refusal)
        }
        return error
    }
}
#endif
