package import SyncModel
package import SyncStore

/// A store whose calls go through a hook on their way to another store.
package struct HookedStore<Hook: StoreHook>: Store {
    package let base: any Store
    package let hook: Hook

    package init(_ base: any Store, _ hook: Hook) {
        self.base = base
        self.hook = hook
    }

    package var model: DataModel { base.model }

    @discardableResult
    package func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try hook.willMake(.transaction)
        return try await hook.leaving {
            try await base.transaction { transaction in
                let hooked = HookedTransaction(transaction, hook)
                return try await hook.returning {
                    try await body(hook.linksInitially ? hooked : PlainTransaction(base: hooked))
                }
            }
        }
    }

    package func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try hook.willMake(.read)
        return try await hook.leaving {
            try await base.read { reader in
                try await hook.returning { try await body(HookedReader(reader, hook)) }
            }
        }
    }
}

/// A reader whose calls go through a hook.
package struct HookedReader<Hook: StoreHook>: StoreReader {
    private let base: any StoreReader
    private let hook: Hook

    package init(_ base: any StoreReader, _ hook: Hook) {
        self.base = base
        self.hook = hook
    }

    package var model: DataModel { base.model }

    package func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try hook.willMake(.fetch)
        try await hook.leaving {
            try await base.fetch(query, batchRowCount: batchRowCount) { records in
                try await hook.returning { try await body(records) }
            }
        }
    }

    package func count(_ query: StoreQuery) async throws -> Int {
        try hook.willMake(.count)
        return try await hook.leaving { try await base.count(query) }
    }

    package func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch
        .Link]
    {
        try hook.willMake(.links)
        return try await hook.leaving { try await base.links(relationship, of: sources) }
    }
}

/// A transaction whose calls go through a hook.
package struct HookedTransaction<Hook: StoreHook>: MergeRequest.InitialLinks.Transaction {
    private let base: any StoreTransaction
    private let hook: Hook

    package init(_ base: any StoreTransaction, _ hook: Hook) {
        self.base = base
        self.hook = hook
    }

    package var model: DataModel { base.model }
    package var batchRowCount: Int { hook.batchRowCount ?? base.batchRowCount }
    private var reader: HookedReader<Hook> { HookedReader(base, hook) }

    package func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await reader.fetch(query, batchRowCount: batchRowCount, body)
    }

    package func count(_ query: StoreQuery) async throws -> Int {
        try await reader.count(query)
    }

    package func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch
        .Link]
    {
        try await reader.links(relationship, of: sources)
    }

    package func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try hook.willMake(.find)
        return try await hook.leaving { try await base.find(records) }
    }

    package func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        try await merge(request, links: [])
    }

    package func mergeLinking(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws
        -> MergeRequest.Result
    {
        try await merge(request, links: links)
    }

    private func merge(_ request: MergeRequest, links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result
    {
        try hook.willMake(.merge)
        var request = request
        request.policy = hook.policy(request.policy, of: request.records.layout?.name)
        return try await hook.leaving { [request] in try await base.merge(request, linking: links) }
    }

    package func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        try hook.willMake(.changeEntity)
        try await hook.leaving { try await base.changeEntity(of: objects, from: former, to: entity) }
    }

    package func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        try hook.willMake(.link)
        return try await hook.leaving { try await base.link(batch) }
    }

    package func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try hook.willMake(.remove)
        return try await hook.leaving { try await base.remove(query, reportsKeys: reportsKeys) }
    }

    package func settleValues() async throws -> [StoreError.Refusal] {
        try await hook.leaving { try await base.settleValues() }
    }
}
