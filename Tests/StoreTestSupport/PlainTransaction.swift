package import SyncModel
package import SyncStore

/// A transaction without the refinement `MergeRequest.InitialLinks.Transaction`, as many stores
/// have it.
package struct PlainTransaction: StoreTransaction {
    private let base: any StoreTransaction

    package init(base: any StoreTransaction) {
        self.base = base
    }

    package var model: DataModel { base.model }
    package var batchRowCount: Int { base.batchRowCount }

    package func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    package func count(_ query: StoreQuery) async throws -> Int { try await base.count(query) }

    package func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch
        .Link]
    {
        try await base.links(relationship, of: sources)
    }

    package func find(_ records: RecordBatch) async throws -> [ObjectID?] { try await base.find(records) }

    package func merge(_ request: MergeRequest) async throws -> MergeRequest.Result { try await base.merge(request) }

    package func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        try await base.changeEntity(of: objects, from: former, to: entity)
    }

    package func link(_ batch: LinkBatch) async throws -> LinkBatch.Result { try await base.link(batch) }

    package func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try await base.remove(query, reportsKeys: reportsKeys)
    }

    package func settleValues() async throws -> [StoreError.Refusal] { try await base.settleValues() }
}
