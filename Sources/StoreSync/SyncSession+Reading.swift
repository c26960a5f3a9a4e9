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
}

/// One payload on its way into a run.
struct PageReading {
    let session: SyncSession
    let run: SyncRun
    let collect: SyncSession.Collect?
    /// Key paths beside the objects, of which the values are wanted.
    var captures: [String] = []
    /// The field that says that an object is gone.
    var flag: JSONProbe?
    /// Whether an object in the array's place counts as an array of it.
    var acceptsSingleObject = true
    /// Called after each batch, and at the end.
    var observe: (PayloadReader.Progress) -> Void = { _ in }

    private var options: RecordReader.Options {
        let rowCount = run.transaction.batchRowCount
        return RecordReader.Options(
            batchRowCount: rowCount, batchByteCount: max(1 << 20, rowCount << 9),
            keepsRelationships: session.rules.relates, acceptsIdentifiers: session.rules.isImport ? nil : false)
    }

    /// Whether a hook wants to see the JSON of objects that are new.
    private var isHooked: Bool { session.rules.willInsert != nil && session.rules.policy.inserts }

    /// Merges it batch by batch.
    func read(_ page: JSONSource) async throws {
        let payload = try PayloadReader(
            page, at: session.options.keyPath, mapper: session.mapper, entity: session.entity, options: options,
            capturing: captures, acceptsSingleObject: acceptsSingleObject, flag: flag)
        try await isHooked || flag != nil ? readApart(payload) : readStraight(payload)
        observe(await payload.progress)
    }

    /// Merges each batch while the next one is mapped.
    private func readStraight(_ payload: PayloadReader) async throws {
        let origin = SyncRun.Origin(policy: session.rules.policy)
        var next = try await payload.nextBatch()
        while let (batch, progress) = next {
            try Task.checkCancellation()
            async let following = payload.nextBatch()
            try await merge(batch, origin)
            observe(progress)
            next = try await following
        }
    }

    /// Merges it with its elements taken out one by one: for a hook, and for a flag that says which are gone.
    private func readApart(_ payload: PayloadReader) async throws {
        while let (first, elements) = try await payload.nextElements() {
            try Task.checkCancellation()
            try await merge(elements, first: first)
            observe(await payload.progress)
        }
    }

    private func merge(_ elements: [PayloadReader.Element], first: Int) async throws {
        var elements = elements
        var batch = try mapped(elements, areGone: false)
        if let found = batch, isHooked {
            let hooked = try await run.hook(found, elements.map(\.bytes))
            for (index, bytes) in hooked { elements[index].bytes = bytes }
            if !hooked.isEmpty { batch = try mapped(elements, areGone: false) }
        }
        let origin = SyncRun.Origin(policy: session.rules.policy, elementIndices: elements.indices.map { first + $0 })
        let gone = try mapped(elements, areGone: true)
        try await merge(batch, origin, gone: gone)
    }

    private func mapped(_ elements: [PayloadReader.Element], areGone: Bool) throws -> MappedBatch? {
        var collector = try RecordCollector(session.mapper, entity: session.entity, options: options)
        for (index, element) in elements.enumerated() where element.isGone == areGone {
            try collector.add(element.bytes, index: index)
        }
        return collector.takeBatch()
    }

    private func merge(_ batch: MappedBatch?, _ origin: SyncRun.Origin, gone: MappedBatch? = nil) async throws {
        guard let collect else {
            if let batch { try await run.merge(batch, origin) }
            return
        }
        var rows: [(ordinal: Int, row: Int64, isGone: Bool)] = []
        if let batch { try await run.merge(batch, origin) { ordinal, row, _ in rows.append((ordinal, row, false)) } }
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
            let rows = try await transaction.merge(group.records, handles: nil, policy: .find).rows
            found += zip(group.elementIndices, rows).filter { $1 != 0 }.map { ($0, $1) }
        }
        return found
    }
}
