import OneWayTestSupport
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQL

/// A worker with three objects, which notes its calls.
actor NotingWorker: SQLWorker {
    struct Failure: Error {}

    nonisolated let executor: BlockingExecutor
    private let name: String
    private let layout: EntityLayout
    private let log: EventLog<String>
    private var places: [Int: Int] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated var batchRowCount: Int { 2 }

    init(_ name: String, _ log: EventLog<String>, _ layout: EntityLayout) {
        self.layout = layout
        self.name = name
        self.log = log
        executor = BlockingExecutor(label: name)
    }

    private func note(_ event: String) { log.append("\(name) \(event)") }

    func begin() { note("begins") }

    func commit(changing roots: Set<Int>) { note("commits \(roots.sorted())") }

    func rollback() { note("rolls back") }

    func openCursor(_ query: StoreQuery) -> Int {
        note("opens 1")
        places[1] = 0
        return 1
    }

    func next(_ cursor: Int, count: Int) -> [StoredRecord] {
        note("reads \(count) of \(cursor)")
        return take(count, of: cursor).map { StoredRecord(object: ObjectID($0), record: Record(of: layout)) }
    }

    private func take(_ count: Int, of cursor: Int) -> [Int] {
        let start = places[cursor] ?? 3
        let end = min(start + count, 3)
        places[cursor] = end
        return Array(start..<end).map { $0 + 1 }
    }

    func closeCursor(_ cursor: Int) { note("closes \(cursor)") }

    func openSelection(_ selection: BoundSelection, count: Int) -> (RecordBatch, cursor: Int?) {
        places[1] = selection.limit == 0 ? 3 : 0
        let rows = batch(take(count, of: 1))
        return (rows, count < 3 ? 1 : nil)
    }

    func nextRows(_ cursor: Int, count: Int) -> RecordBatch { batch(take(count, of: cursor)) }

    private func batch(_ numbers: [Int]) -> RecordBatch {
        var batch = RecordBatch(columnCount: 1)
        for number in numbers {
            batch.beginRecord()
            batch.setInt(Int64(number), at: 0)
            batch.endRecord()
        }
        return batch
    }

    func counts(of queries: [StoreQuery]) -> [Int] {
        note("counts")
        return queries.map { _ in 3 }
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) -> [LinkBatch.Link] { [] }

    func find(_ records: RecordBatch) -> [ObjectID?] { [] }

    func merge(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) throws -> MergeRequest.Result {
        note("merges")
        guard !request.records.isEmpty else { throw Failure() }
        return MergeRequest.Result((0..<request.records.count).map { MergeRequest.Result.Row(Int64($0), .inserted) })
    }

    /// Refuses robots.
    func changeEntity(of objects: [StoredRecord], from former: EntityLayout, to layout: EntityLayout) throws {
        note("changes \(objects.count) to \(layout.name)")
        if layout.name == "Robot" { throw StoreError.refused(StoreError.Refusal(entity: "Robot", reason: .check)) }
    }

    func link(_ batch: LinkBatch) -> LinkBatch.Result { LinkBatch.Result() }

    func remove(_ query: StoreQuery, reportsKeys: Bool) -> RemovalResult { RemovalResult() }

    func settleValues() -> [StoreError.Refusal] { [] }

    func beginAttempt() -> SQLKeptLinks {
        note("tries")
        return SQLKeptLinks()
    }

    func endAttempt(restoring kept: SQLKeptLinks?) { note(kept == nil ? "keeps it" : "undoes it") }
}
