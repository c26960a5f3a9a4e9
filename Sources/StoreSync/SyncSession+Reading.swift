import JSONMapper
import SyncModel
import SyncStore

extension SyncSession {
    /// Gets the objects of a payload's elements, in order within a batch: an object, and whether it was named as gone.
    typealias Collect = (_ row: Int64, _ isGone: Bool) -> Void

    /// Merges a payload batch by batch.
    func read(_ page: JSONSource, into run: SyncRun, _ collect: Collect?) async throws {
        try await PageReading(session: self, run: run, collect: collect).read(page)
    }

    /// How payloads are read, in batches as large as the store asks for.
    func readerOptions(for transaction: any StoreTransaction) -> RecordReader.Options {
        let rowCount = transaction.batchRowCount
        return RecordReader.Options(
            batchRowCount: rowCount, batchByteCount: max(1 << 20, rowCount << 9), keepsRelationships: rules.relates,
            acceptsIdentifiers: rules.isImport ? nil : false)
    }
}

/// One payload on its way into a run.
struct PageReading {
    let session: SyncSession
    let run: SyncRun
    let collect: SyncSession.Collect?
    /// Merges it batch by batch.
    func read(_ page: JSONSource) async throws {
        let payload = try PayloadReader(
            page, at: session.options.keyPath, mapper: session.mapper, entity: session.entity,
            options: session.readerOptions(for: run.transaction),
            keepsNestedJSON: session.rules.isHookedWhereNested)
        try await session.rules.isHooked ? readApart(payload) : readStraight(payload)
    }

    /// Merges each batch while the next one is mapped.
    private func readStraight(_ payload: PayloadReader) async throws {
        let origin = SyncRun.Origin(policy: session.rules.policy)
        var next = try await payload.nextBatch()
        while let (objects, _) = next {
            try Task.checkCancellation()
            async let following = payload.nextBatch()
            try await merge(objects, origin)
            next = try await following
        }
    }

    /// Merges it with its elements taken out one by one, for a hook.
    private func readApart(_ payload: PayloadReader) async throws {
        while let (first, elements) = try await payload.nextElements() {
            try Task.checkCancellation()
            try await merge(elements, first: first)
        }
    }

    /// Merges elements that were taken out of the JSON.
    ///
    /// - Parameter first: The place of the first one in the payload.
    func merge(_ elements: [PayloadReader.Element], first: Int) async throws {
        var elements = elements
        var batch = try mapped(elements, areGone: false)
        if let found = batch, session.rules.isHooked {
            let hooked = try await run.hook(found, elements.map(\.bytes))
            for (index, bytes) in hooked { elements[index].bytes = bytes }
            if !hooked.isEmpty { batch = try mapped(elements, areGone: false) }
        }
        let origin = SyncRun.Origin(policy: session.rules.policy, elementIndices: elements.indices.map { first + $0 })
        let gone = try mapped(elements, areGone: true)
        try await merge(batch.map { try run.mappedObjects(of: $0) }, origin, gone: gone)
    }

    private func mapped(_ elements: [PayloadReader.Element], areGone: Bool) throws -> MappedBatch? {
        var collector = try RecordCollector(
            session.mapper, entity: session.entity, options: session.readerOptions(for: run.transaction))
        for (index, element) in elements.enumerated() where element.isGone == areGone {
            try collector.add(element.bytes, index: index)
        }
        return collector.takeBatch()
    }

    /// Merges objects, and finds those that are gone.
    func merge(_ objects: MappedObjects?, _ origin: SyncRun.Origin, gone: MappedBatch? = nil) async throws {
        guard let collect else {
            if let objects { try await run.merge(objects, origin) }
            return
        }
        var rows: [(ordinal: Int, row: Int64, isGone: Bool)] = []
        if let objects {
            try await run.merge(objects, origin) { ordinal, row, _ in rows.append((ordinal, row, false)) }
        }
        if let gone { rows += try await run.find(gone).map { ($0.ordinal, $0.row, true) } }
        for (_, row, isGone) in rows.sorted(by: { $0.ordinal < $1.ordinal }) { collect(row, isGone) }
    }
}

extension SyncRun {
    /// The objects of a batch that the store has.
    func find(_ batch: MappedBatch) async throws -> [(ordinal: Int, row: Int64)] {
        for problem in batch.rejected { tally.reject(problem, hasKey: false) }
        var found: [(ordinal: Int, row: Int64)] = []
        for group in batch.groups {
            for (ordinal, object) in zip(group.elementIndices, try await transaction.find(group.records)) {
                if let object { found.append((ordinal, object)) }
            }
        }
        return found
    }
}
