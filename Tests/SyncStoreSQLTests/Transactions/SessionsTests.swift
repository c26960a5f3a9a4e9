import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Transactions of a store on workers that note what they are asked for.
@Suite(.endsInTime) struct SessionsTests {
    private struct Broken: Error {}

    private let log = EventLog<String>()
    private let model: DataModel

    init() throws {
        model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("boss", toOne: "Person")
            }
            SyncEntity("Guest", parent: "Person") {}
            SyncEntity("Robot", parent: "Person") {}
        }
    }

    private func sessions() -> SQLSessions<NotingWorker> {
        let (log, layout, readers) = (log, model.layouts[0], Locked(0))
        return SQLSessions(
            model, writer: NotingWorker("writer", log, model.layouts[0]),
            committed: { log.append("committed \($0.sorted())") }
        ) {
            NotingWorker("reader \(readers.withLock { $0 += 1; return $0 })", log, layout)
        }
    }

    private func merge(_ transaction: any StoreTransaction, _ ids: [Int64]) async throws {
        var batch = RecordBatch(of: model.layouts[0])
        for id in ids {
            batch.beginRecord()
            batch.setInt(id, at: 0)
            batch.endRecord()
        }
        _ = try await transaction.merge(MergeRequest(batch))
    }

    // MARK: Writing

    @Test func aTransactionThatChangesSomethingIsCommittedAndTold() async throws {
        let sessions = sessions()
        try await sessions.transaction(begin: { await $0.begin() }) { try await merge($0, [1]) }
        #expect(log.events == ["writer begins", "writer merges", "writer commits [0]", "committed [0]"])
        try await sessions.transaction(begin: { await $0.begin() }) { _ = try await $0.count(StoreQuery("Person")) }
        #expect(log.events.dropFirst(4) == ["writer begins", "writer counts", "writer commits []"])
    }

    @Test func aTransactionThatFailsIsRolledBack() async throws {
        let sessions = sessions()
        await #expect(throws: Broken.self) {
            try await sessions.transaction(begin: { await $0.begin() }) { transaction in
                try await merge(transaction, [1])
                throw Broken()
            }
        }
        #expect(log.events == ["writer begins", "writer merges", "writer rolls back"])
    }

    @Test func aChangeThatFailedIsNotCommitted() async throws {
        let sessions = sessions()
        await #expect(throws: NotingWorker.Failure.self) {
            try await sessions.transaction(begin: { await $0.begin() }) { transaction in
                try? await merge(transaction, [])
            }
        }
        #expect(log.events == ["writer begins", "writer merges", "writer rolls back"])
    }

    /// What is refused is undone; the transaction may go on.
    @Test(arguments: [("Guest", "keeps it"), ("Robot", "undoes it")])
    func aChangeOfTheEntityIsKeptOrUndone(entity: String, end: String) async throws {
        let sessions = sessions()
        try await sessions.transaction(begin: { await $0.begin() }) { transaction in
            do {
                try await transaction.changeEntity(of: [1, 2, 3], from: "Person", to: entity)
                #expect(entity == "Guest")
            } catch StoreError.refused {
                #expect(entity == "Robot")
            }
        }
        let ofReading = ["opens", "reads", "closes", "committed"]
        let events = log.events.filter { event in !ofReading.contains { event.contains($0) } }
        #expect(
            events == [
                "writer begins", "writer tries", "writer changes 3 to \(entity)", "writer \(end)",
                entity == "Guest" ? "writer commits [0]" : "writer commits []",
            ])
    }

    @Test func aCancelledTransactionIsRolledBack() async throws {
        let (sessions, gate) = (sessions(), Gate())
        let task = Task {
            try await sessions.transaction(begin: { await $0.begin() }) { _ in await gate.passUncancelled() }
        }
        try await gate.waitForArrivals(orEndOf: task)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.events == ["writer begins", "writer rolls back"])
    }

    @Test func aTransactionIsOfNoUseAfterItsEnd() async throws {
        let sessions = sessions()
        let kept = try await sessions.transaction(begin: { await $0.begin() }) { $0 }
        await #expect(throws: StoreError.transactionEnded) { try await kept.count(StoreQuery("Person")) }
        let reader = try await sessions.read(begin: { await $0.begin() }) { $0 }
        await #expect(throws: StoreError.transactionEnded) { try await reader.count(StoreQuery("Person")) }
    }

    // MARK: Reading

    @Test func readersAreUsedAgain() async throws {
        let sessions = sessions()
        for _ in 0..<2 {
            let count = try await sessions.read(begin: { await $0.begin() }) {
                try await $0.count(StoreQuery("Person"))
            }
            #expect(count == 3)
        }
        #expect(
            log.events
                == Array(repeating: ["reader 1 begins", "reader 1 counts", "reader 1 rolls back"], count: 2).flatMap(
                    \.self))
        await #expect(throws: Broken.self) {
            try await sessions.read(begin: { await $0.begin() }) { _ in throw Broken() }
        }
        #expect(log.events.suffix(2) == ["reader 1 begins", "reader 1 rolls back"])
    }

    @Test func aReaderThatCannotBeginIsNotUsedAgain() async throws {
        let sessions = sessions()
        await #expect(throws: Broken.self) { try await sessions.read(begin: { _ in throw Broken() }) { _ in } }
        try await sessions.read(begin: { await $0.begin() }) { _ in }
        #expect(log.events == ["reader 2 begins", "reader 2 rolls back"])
    }

    @Test func aFewIdleReadersAreKept() async throws {
        let sessions = sessions()
        func read(_ count: Int) async throws {
            let gate = Gate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await sessions.read(begin: { await $0.begin() }) { _ in try await gate.pass() }
                    }
                }
                try await gate.waitForArrivals(count)
                gate.open()
                try await group.waitForAll()
            }
        }
        try await read(6)
        try await read(5)
        // Of six, four stayed for the next ones.
        #expect(Set(log.events.filter { $0.hasSuffix("begins") }) == Set((1...7).map { "reader \($0) begins" }))
    }

    // MARK: Cursors

    @Test func aCursorIsClosedAtItsEnd() async throws {
        let sessions = sessions()
        let ids = try await sessions.read(begin: { await $0.begin() }) { reader in
            let ids = Locked<[ObjectID]>([])
            try await reader.fetch(StoreQuery("Person"), batchRowCount: 0) { records in
                ids.withLock { $0 += records.map(\.object) }
            }
            return ids.withLock(\.self)
        }
        #expect(ids == [1, 2, 3])
        #expect(
            log.events == [
                "reader 1 begins", "reader 1 opens 1", "reader 1 reads 1 of 1", "reader 1 reads 1 of 1",
                "reader 1 reads 1 of 1", "reader 1 reads 1 of 1", "reader 1 closes 1", "reader 1 rolls back",
            ])
    }

    @Test func aCursorIsClosedWhenItsBodyFails() async throws {
        let sessions = sessions()
        await #expect(throws: Broken.self) {
            try await sessions.read(begin: { await $0.begin() }) { reader in
                try await reader.fetch(StoreQuery("Person"), batchRowCount: 2) { _ in throw Broken() }
            }
        }
        #expect(
            log.events == [
                "reader 1 begins", "reader 1 opens 1", "reader 1 reads 2 of 1", "reader 1 closes 1",
                "reader 1 rolls back",
            ])
    }

    @Test(arguments: [true, false]) func aSelectionIsClosed(fails: Bool) async throws {
        let sessions = sessions()
        let rows = Locked<[Int]>([])
        do {
            try await sessions.read(begin: { await $0.begin() }) { reader in
                let selection = StoreSelection(StoreQuery("Person"), columns: [.object])
                let reader = try #require(reader as? any StoreSelection.Reader)
                try await reader.selectRows(selection, batchRowCount: 2) { batch in
                    rows.withLock { $0.append(batch.count) }
                    if fails { throw Broken() }
                }
            }
            #expect(!fails)
        } catch is Broken {
            #expect(fails)
        }
        #expect(rows.withLock(\.self) == (fails ? [2] : [2, 1]))
        #expect(log.events.count { $0 == "reader 1 closes 1" } == 1)
        #expect(log.events.last == "reader 1 rolls back")
    }

    @Test func aSelectionOfFewRowsNeedsNoCursor() async throws {
        let sessions = sessions()
        let rows = Locked<[Int]>([])
        for count in [3, 9] {
            try await sessions.read(begin: { await $0.begin() }) { reader in
                let query = StoreQuery("Person", limit: count == 9 ? 0 : nil)
                let selection = StoreSelection(query, columns: [.object])
                let reader = try #require(reader as? any StoreSelection.Reader)
                try await reader.selectRows(selection, batchRowCount: count) { batch in
                    rows.withLock { $0.append(batch.count) }
                }
            }
        }
        #expect(rows.withLock(\.self) == [3])
        #expect(!log.events.contains { $0.contains("closes") })
    }
}
