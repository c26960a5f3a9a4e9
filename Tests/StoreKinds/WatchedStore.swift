package import Foundation
import OneWayStoreTestSupport
import SyncBase
package import SyncModel
package import SyncStore
import SyncStoreSQLite

/// A store that counts what its transactions commit, bookkeeping included, and looks at its files.
package struct WatchedStore: Store {
    let base: any Store
    private let writes = Locked<[String]>([])

    package init(_ base: any Store) {
        self.base = base
    }

    package var model: DataModel { base.model }

    /// The writes since the last call, and the bytes of the store's files.
    package func takeWrites() throws -> Writes {
        Writes(
            calls: writes.withLock { writes in
                defer { writes = [] }
                return writes
            }, files: try (base as? SQLiteStore).map { try Self.files(at: $0.filePath) } ?? [:])
    }

    package struct Writes {
        package let calls: [String]
        package let files: [String: Data]
    }

    private static func files(at path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in [path, path + "-wal"] where FileManager.default.fileExists(atPath: path) {
            files[path] = try Data(contentsOf: URL(filePath: path))
        }
        return files
    }

    @discardableResult
    package func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        let own = Locked<[String]>([])
        let result = try await base.transaction { transaction in
            let watched = WatchedTransaction(base: transaction, writes: own)
            // A store without the refinement is watched as one without it.
            return try await body(transaction is any MergeRequest.InitialLinks.Transaction ? watched : watched.plain)
        }
        // What was rolled back was not written.
        writes.withLock { $0 += own.withLock(\.self) }
        return result
    }

    package func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}

private struct WatchedTransaction: MergeRequest.InitialLinks.Transaction {
    let base: any StoreTransaction
    let writes: Locked<[String]>

    /// The same without the refinement.
    var plain: PlainTransaction { PlainTransaction(base: self) }

    var model: DataModel { base.model }
    var batchRowCount: Int { base.batchRowCount }

    func fetch(_ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void) async throws {
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int { try await base.count(query) }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        try await base.links(relationship, of: sources)
    }

    func find(_ records: RecordBatch) async throws -> [ObjectID?] { try await base.find(records) }

    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        noted(try await base.merge(request), request)
    }

    func mergeLinking(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result
    {
        noted(try await base.merge(request, linking: links), request)
    }

    private func noted(_ result: MergeRequest.Result, _ request: MergeRequest) -> MergeRequest.Result {
        let count = result.rows.count { row in
            row.map { $0.change != .unchanged } ?? false
        }
        if count > 0 { note("\(count) \(request.records.layout?.name ?? "")") }
        return result
    }

    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        try await base.changeEntity(of: objects, from: former, to: entity)
        note("\(objects.count) \(former) to \(entity)")
    }

    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        let result = try await base.link(batch)
        if !result.changed.isEmpty { note("\(result.changed.count) by \(batch.relationship.name)") }
        return result
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        let result = try await base.remove(query, reportsKeys: reportsKeys)
        if !result.counts.isEmpty { note("removed \(result.counts)") }
        return result
    }

    func settleValues() async throws -> [StoreError.Refusal] { try await base.settleValues() }

    private func note(_ write: String) {
        writes.withLock { $0.append(write) }
    }
}
