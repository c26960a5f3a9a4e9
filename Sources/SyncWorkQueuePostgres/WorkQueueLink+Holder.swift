#if Postgres
import Foundation
import OneWayPostgresClient

extension WorkQueueLink {
    /// Begins a pass, or finds the latest pass if it has the same token.
    ///
    /// - Returns: The generation of the pass.
    func begin() async throws -> Int64 {
        let generation = try await query(statements.begin, [.text(queue), .text(token)]).integer(0, 0) ?? 0
        // Tells an earlier holder that it has lost the queue.
        try await notify(statements.holderChannel)
        return generation
    }

    /// Waits until no worker works for an earlier pass.
    ///
    /// - Throws: ``PostgresWorkQueue/Failure/takenOver`` if another pass has begun since.
    func waitForWorkers(generation: Int64) async throws {
        let pass: [PostgresParameter] = [.text(queue), .integer(generation)]
        while true {
            _ = try await query(statements.clear, pass)
            let left = try await query(statements.left, pass)
            guard left.integer(0, 0) == generation else { throw PostgresWorkQueue.Failure.takenOver }
            if left.integer(0, 1) == 0 { return }
            try await notify(statements.workerChannel, WorkQueueStatements.withdrawal)
            // A worker that stops sends a notification. The items of a dead worker are removed when
            // their time is over.
            _ = try await wait(until: .now + options.visibilityTimeout / 3)
        }
    }

    /// Sends news to the server, and returns the results of ended downloads.
    ///
    /// May be repeated with the same news if it is unknown whether the server has received them.
    ///
    /// - Parameter collects: Whether workers may have ended downloads since the last exchange.
    /// - Returns: The results, and the numbers of the items whose results the server keeps until it
    ///   is told that they have arrived; nil if it was not asked for results.
    /// - Throws: ``PostgresWorkQueue/Failure/takenOver`` if another pass has begun.
    func exchange(
        _ news: WorkOffers.News, generation: Int64, collects: Bool
    ) async throws -> (results: [WorkOffers.Ending], received: [Int64]?) {
        var endings: [WorkOffers.Ending] = []
        var collects = collects
        if !news.offers.isEmpty {
            let offered = try await query(
                statements.offer,
                [
                    .text(queue), .text(token), .integer(generation), .integers(news.offers.map(\.number)),
                    .texts(news.offers.map(\.stage.rawValue)), .texts(news.offers.map(\.key)),
                    .texts(news.offers.map(\.item)), .seconds(options.asideDuration),
                    .integer(Int64(options.itemVersion)), .text(statements.workerChannel),
                ])
            // Items that were set aside have ended.
            collects = collects || offered.boolean(0, 1) == true
        }
        if !news.withdrawn.isEmpty {
            let numbers = [PostgresParameter.text(token), .integers(news.withdrawn)]
            // In this order, because the second statement finds the items that a worker takes in
            // between.
            let gone = try await query(statements.withdrawWaiting, numbers)
            for row in 0..<gone.rowCount {
                let number = gone.integer(row, 0) ?? 0
                endings.append(WorkOffers.Ending(number: number, result: .failure(CancellationError())))
            }
            if endings.count < news.withdrawn.count,
                try await query(statements.withdrawRunning, numbers).affectedCount > 0
            {
                try await notify(statements.workerChannel, WorkQueueStatements.withdrawal)
            }
        }
        guard collects else { return (endings, nil) }
        let collected = try await collect(generation, received: news.received, from: news.firstNumber)
        return (endings + collected, collected.map(\.number))
    }

    /// Takes the items of dead workers back.
    func sweep() async throws {
        _ = try await query(statements.sweep, [.text(token), .integer(Int64(options.maximumAttempts))])
        try await notify(statements.workerChannel)
    }

    /// Removes the items of the pass, all of which have ended.
    func leave() async throws {
        _ = try await query(statements.leave, [.text(token)])
    }

    /// - Parameters:
    ///   - received: The items whose results were returned before. They stay at the server until
    ///     then, so that a result that is lost with a connection can be read again.
    ///   - first: The lowest number without a result. The index still has the items before it until
    ///     the server cleans it.
    private func collect(_ generation: Int64, received: [Int64], from first: Int64) async throws -> [WorkOffers.Ending]
    {
        let result = try await query(
            statements.collect, [.text(token), .text(queue), .integers(received), .integer(first)])
        guard result.rowCount > 0, result.integer(0, 0) == generation else { throw PostgresWorkQueue.Failure.takenOver }
        return (0..<result.rowCount).compactMap { row in
            guard let number = result.integer(row, 1) else { return nil }
            let ending: Result<Void, any Error>
            switch result.text(row, 2) {
            case "done": ending = .success(())
            case "aside":
                ending = .failure(
                    PostgresWorkQueue.Failure.setAside(
                        attempts: Int(result.integer(row, 4) ?? 0), worker: result.text(row, 5) ?? "unknown"))
            default:
                let failure = result.text(row, 3).flatMap {
                    try? JSONDecoder().decode(PostgresWorkQueue.Failure.WorkerError.self, from: Data($0.utf8))
                }
                // An item without an error was withdrawn.
                ending = .failure(failure.map(PostgresWorkQueue.Failure.failed) ?? CancellationError())
            }
            return WorkOffers.Ending(number: number, result: ending)
        }
    }
}
#endif
