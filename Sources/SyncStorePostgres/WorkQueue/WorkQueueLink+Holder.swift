#if Postgres
import Foundation

extension WorkQueueLink {
    /// Takes what an earlier pass left out of the queue, and waits until nobody works on it any more.
    func takeOver() async throws {
        while true {
            _ = try await query(statements.takeOver, [.text(queue)])
            guard try await query(statements.leftCount, [.text(queue)]).integer(0, 0) != 0 else { return }
            try await notify(statements.workerChannel, WorkQueueStatements.withdrawal)
            // A worker that stops notifies; one that has died is out when its time is over.
            _ = try await wait(until: .now + options.visibilityTimeout / 3)
        }
    }

    /// Tells the server what is new, and learns what has ended.
    func exchange(_ news: WorkOffers.News) async throws -> [WorkOffers.Outcome] {
        var outcomes: [WorkOffers.Outcome] = []
        if !news.offers.isEmpty {
            _ = try await query(
                statements.offer,
                [
                    .text(queue), .text(token), .integers(news.offers.map(\.number)),
                    .texts(news.offers.map(\.stage.rawValue)), .texts(news.offers.map(\.item)),
                    .seconds(options.asideDuration),
                ])
            try await notify(statements.workerChannel)
        }
        if !news.withdrawn.isEmpty {
            let numbers = [PostgresParameter.text(token), .integers(news.withdrawn)]
            // In this order: what a worker takes in between is found by the second.
            let waiting = try await query(statements.withdrawWaiting, numbers)
            for row in 0..<waiting.rowCount {
                let number = waiting.integer(row, 0) ?? 0
                outcomes.append(WorkOffers.Outcome(number: number, result: .failure(CancellationError())))
            }
            if outcomes.count < news.withdrawn.count,
                try await query(statements.withdrawRunning, numbers).affectedCount > 0
            {
                try await notify(statements.workerChannel, WorkQueueStatements.withdrawal)
            }
        }
        return try await outcomes + collect()
    }

    /// Looks after the items of workers that died, and learns what has ended.
    ///
    /// - Parameter numbers: What waits for workers; what is not there any more has been taken by another pass.
    func sweep(_ numbers: [Int64]) async throws -> [WorkOffers.Outcome] {
        _ = try await query(statements.sweep, [.text(token), .integer(Int64(options.maximumAttempts))])
        try await notify(statements.workerChannel)
        let ended = try await collect()
        let result = try await query(statements.present, [.text(token), .integers(numbers)])
        let present = Set((0..<result.rowCount).map { result.integer($0, 0) ?? 0 }).union(ended.map(\.number))
        let missing = numbers.filter { !present.contains($0) }
        return ended
            + missing.map { WorkOffers.Outcome(number: $0, result: .failure(PostgresWorkError.takenOver)) }
    }

    private func collect() async throws -> [WorkOffers.Outcome] {
        let result = try await query(statements.collect, [.text(token)])
        return (0..<result.rowCount).map { row in
            let outcome: Result<Void, any Error>
            switch result.text(row, 1) {
            case "done": outcome = .success(())
            case "aside":
                outcome = .failure(
                    PostgresWorkError.setAside(
                        attempts: Int(result.integer(row, 3) ?? 0), worker: result.text(row, 4) ?? "unknown"))
            default:
                let failure = result.text(row, 2).flatMap {
                    try? JSONDecoder().decode(PostgresWorkError.Failure.self, from: Data($0.utf8))
                }
                // Without an error it was withdrawn.
                outcome = .failure(failure.map(PostgresWorkError.failed) ?? CancellationError())
            }
            return WorkOffers.Outcome(number: result.integer(row, 0) ?? 0, result: outcome)
        }
    }
}
#endif
