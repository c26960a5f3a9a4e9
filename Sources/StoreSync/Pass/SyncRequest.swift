import JSONMapper
import OneWaySynchronizer
import SyncBase
import SyncModel
import SyncStore

/// A sync request, and the steps of a pass that carry it out in a transaction.
struct SyncRequest: Sendable {
    let mapper: RecordMapper
    /// The entity of the list.
    let entity: String
    /// The object whose children the list has; nil for a list without a parent.
    let parent: StoreSyncOptions.Parent?
    let options: StoreSyncOptions
    let rules: SyncRules
    /// The call of which the request is a run; nil for a sync of its own.
    var call: ChangeCall?
    /// Whether the end of a pass over payloads names the merged objects; false by default.
    var notesMerged = false

    /// How often a pass reads the pages of a source at most. It reads them again if objects may
    /// have moved between pages during a reading.
    private static let readingLimit = 3

    /// Creates a request.
    ///
    /// - Parameter rules: The rules of the pass; nil, the default, derives them from the options.
    init(
        mapper: RecordMapper, entity: String, parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions(), rules: SyncRules? = nil
    ) {
        self.mapper = mapper
        self.entity = entity
        self.parent = parent
        self.options = options
        self.rules = rules ?? SyncRules(options, isInferred: mapper.model[entity]?.entity.isInferred == true)
    }

    /// Whether objects that are absent from the payload are deleted at the end.
    var deletesAbsent: Bool {
        !rules.isImport && options.operations.contains(.delete)
    }

    /// Merges payloads at hand in order, as the pages of one list.
    func run(
        _ payloads: [JSONSource], in transaction: any StoreTransaction
    ) async throws -> StoreSyncResult {
        try await run(PayloadList(payloads), as: .payloads, in: transaction).summary
    }

    /// Merges all pages of a source, and deletes the objects that are absent.
    /// - Returns: The summary of the pass, and the bookmark for the next one.
    func run(
        _ source: any RemotePass, as contents: PassContents, in transaction: any StoreTransaction,
        progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> PassEnd {
        try await transaction.onItsThread {
            try await runAtHand(source, as: contents, in: transaction, progress: progress)
        }
    }

    /// Runs on the transaction's thread. Only the source runs elsewhere, concurrently.
    private func runAtHand(
        _ source: any RemotePass, as contents: PassContents, in transaction: any StoreTransaction,
        progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void
    ) async throws -> PassEnd {
        let layout = try mapper.mapping(of: entity).layout
        let pass = StorePass(transaction, mapper: mapper, rules: rules, list: layout)
        pass.call = call
        pass.deletedCount = call?.removalCount(of: entity) ?? 0
        pass.children = try await SyncChildren(parent, of: layout, in: pass)
        let children = pass.children?.linked
        let scope = StoreQuery(entity, where: options.scope, objects: children.map { .only($0) } ?? .all)
        pass.limit = try await limit(in: scope, transaction)
        let pages = PassPages(self, of: source, as: contents, into: pass, report: progress)
        if let newerBy = options.newerBy, contents != .changes {
            pass.versions = try ListVersions(newerBy, of: layout)
        }
        pass.countsAtEnd =
            deletesAbsent && contents == .payloads && layout.root == layout.index && parent == nil
            && options.scope == .constant(true) && options.newerBy == nil
        if contents == .changes {
            pass.state.orphaned.beginChange()
            pages.endChange = { gone in
                var removed = scope
                removed.objects = .only(gone.sorted())
                try await pass.endChange(removing: gone.isEmpty ? nil : removed)
            }
        }
        let reading = try await read(pages, scope, layout)
        let newerCount = try await end(pages, after: reading, scope, layout)
        var summary = try await result(of: pass)
        summary.pageCount = pages.progress.pageCount
        summary.byteCount = pages.progress.byteCount
        (summary.coverage, summary.proof) = (reading.end.coverage, reading.proof)
        summary.absentKeys = rules.clearsAbsent ? .clear : .keep
        let bookmark = reading.proof == nil ? reading.end.cautiousBookmark : reading.end.bookmark
        let consequences = warnings(about: reading.end, bookmark, keptCount: summary.counts.kept, pages)
        // A consequence ends with its reason.
        summary.warnings = reading.end.warnings.filter { reason in
            !consequences.contains { $0.hasSuffix(": \(reason)") }
        }
        if layout.family.allSatisfy({ mapper.model.layouts[$0].keyColumns.isEmpty }) {
            let isWhole = reading.end.coverage == .everything
            let effect = isWhole ? "sync replaces its objects" : "change inserts an object"
            summary.warnings.append(
                "no key identifies \(entity), so every \(effect); state an identity for the entity")
        }
        summary.warnings += pass.versions?.warnings(newerCount: newerCount) ?? []
        summary.warnings += consequences
        if summary.counts.kept > newerCount, let reason = Self.reasonToKeep(after: reading, pages) {
            summary.warnings.append("absent objects were kept: \(reason)")
        }
        return PassEnd(
            summary: summary, bookmark: bookmark, mayAcceptLater: pass.state.problems.mayAcceptLater,
            merged: pages.merged)
    }

    /// What the pages of a source have, and what they lack.
    private struct Reading {
        var end: RemoteEnd
        /// The objects to delete.
        var absent: StoreQuery
        /// How the pages prove that no object is missing; nil if they do not.
        var proof: RemoteEnd.Proof?
    }

    /// Reads the pages until they prove which objects are absent, if that matters.
    private func read(_ pages: PassPages, _ scope: StoreQuery, _ layout: EntityLayout) async throws -> Reading {
        let (pass, source) = (pages.pass, pages.source)
        try await pages.readAll(asReading: 1)
        try await pass.endReading()
        let end = try await self.end(of: pages)
        var reading = Reading(
            end: end, absent: absent(of: scope, pages, layout, end), proof: Self.proof(end, pageCount: pages.count))
        for number in 2...Self.readingLimit where reading.proof == nil {
            let end = reading.end
            // A cursor is worth nothing after a list that lacked objects: they may never change.
            if end.coverage == .everything, end.bookmark.cursor == end.cautiousBookmark.cursor {
                // Reading again is pointless if nothing is absent, or if objects were left out.
                guard deletesAbsent, !pass.state.problems.mayLackObjects,
                    try await pass.mayLack(reading.absent, of: layout),
                    try await pass.transaction.count(reading.absent) > 0
                else { break }
            }
            let before = pages.digests
            pass.state.beginReading()
            pass.versions?.beginAnew()
            try await BlockingExecutor.outside { try await source.rewind() }
            try await pages.readAll(asReading: number)
            // The contradictions were reported in the first reading.
            let problems = pass.state.problems
            try await pass.endReading()
            pass.state.problems.restore(problems, areDoubtful: true)
            reading.end = try await self.end(of: pages)
            reading.proof = pages.digests == before && reading.end.doubt == nil ? .equalReadings : nil
            reading.absent = absent(of: scope, pages, layout, reading.end)
        }
        return reading
    }

    /// Deletes what is absent, and makes the changes that had to wait for that.
    ///
    /// - Returns: The number of absent objects that are newer than the list.
    private func end(
        _ pages: PassPages, after reading: Reading, _ scope: StoreQuery, _ layout: EntityLayout
    ) async throws -> Int {
        let pass = pages.pass
        let (absent, isPartial) = (reading.absent, reading.end.coverage != .everything)
        let named = try await pass.finish()
        let newerCount = deletesAbsent && parent == nil ? try await pass.countNewer(in: scope, absent.objects) : 0
        if newerCount > 0 { pass.state.counts.countKept(newerCount, of: layout) }
        if let children = pass.children {
            try await children.relate(pages.objects, deletingAbsent: deletesAbsent ? scope : nil, in: pass)
        } else if deletesAbsent, reading.proof != nil || isPartial || pass.state.problems.mayLackObjects {
            try await pass.deleteAbsent(absent, isCertain: isPartial)
        } else if deletesAbsent, try await pass.mayLack(absent, of: layout) {
            pass.state.counts.countKept(try await pass.transaction.count(absent), of: layout)
        }
        try await pass.rememberDeleted(named)
        // What one run refuses may become free in a later one.
        if call?.isLastRun ?? true { try await pass.settleValues() }
        call?.end(pass, of: entity)
        try await pass.settlePendingLinks()
        try await pass.reportIncomplete()
        return newerCount
    }

    /// Says what the end of a source leaves in doubt.
    private func warnings(
        about end: RemoteEnd, _ bookmark: SyncBookmark, keptCount: Int, _ pages: PassPages
    ) -> [String] {
        var warnings: [String] = []
        let isPartial = end.coverage != .everything
        if let doubt = end.doubt {
            if isPartial { warnings.append("the next sync asks for these changes again: \(doubt)") }
            if !isPartial, keptCount > 0 { warnings.append("absent objects were kept: \(doubt)") }
            if end.lacksObjects, keptCount == 0 { warnings.append("objects may be missing: \(doubt)") }
        }
        if !deletesAbsent, !pages.gone.isEmpty {
            warnings.append(
                "\(pages.gone.count) objects that are gone were kept, because the options do not allow to delete")
        }
        // Without its bookmark, a sync that kept objects is followed by a full one anyway.
        if !isPartial, bookmark.cursor != end.bookmark.cursor, keptCount == 0 {
            let part = bookmark.cursor == nil ? "reads the whole list" : "asks for most of the list"
            let doubt = end.doubt ?? Self.changeWarning
            warnings.append("the next sync \(part) again: \(doubt)")
        }
        return warnings
    }

    /// Why absent objects were kept although the source has no doubt; nil if the reason is a
    /// rejected object or a limit of the options.
    private static func reasonToKeep(after reading: Reading, _ pages: PassPages) -> String? {
        guard reading.end.doubt == nil, reading.end.coverage == .everything else { return nil }
        if pages.hasNull { return "an element of the list is null, and may stand for any of them" }
        return reading.proof == nil && !pages.pass.state.problems.mayLackObjects ? changeWarning : nil
    }

    private static let changeWarning = "the list changed each time while its pages were read"

    /// Ends a reading of the pages. The end has a doubt if the source counts more objects than its
    /// pages had. An object counts once, however many elements it has: while pages of a list
    /// without a unique order are read, one object may come twice and another not at all. If the
    /// source does not count, an object on two pages is a doubt of its own.
    private func end(of pages: PassPages) async throws -> RemoteEnd {
        let source = pages.source
        var end = try await BlockingExecutor.outside { try await source.end() }
        let count = pages.distinctCount
        if end.coverage == .everything {
            try pages.checkForObjects()
            if !recognizesObjects {
                if end.bookmark.cursor != nil {
                    end.warnings.append("no key identifies \(entity), so every sync reads the whole list")
                }
                (end.bookmark.cursor, end.cautiousBookmark.cursor) = (nil, nil)
            } else if end.totalElementCount == nil, !end.isSnapshot, pages.overlapCount > 0 {
                end.doubt =
                    end.doubt
                    ?? "the pages repeat objects of earlier pages (\(pages.overlapCount)), as in a list without a "
                    + "unique order, so that they may lack others"
            }
        }
        if end.coverage == .everything, let total = end.totalElementCount, total > count {
            end.lacksObjects = true
            let repeated = pages.repeatCount > 0 ? " different ones" : ""
            // Other pages are no remedy for elements that have the same object.
            let advice = total > pages.progress.elementCount ? end.advice.map { ": \($0)" } ?? "" : ""
            end.doubt =
                end.doubt ?? "the source counts \(total) objects, and its pages had \(count)\(repeated)\(advice)"
        }
        if end.proof == nil, end.totalElementCount == count { end.proof = .count }
        return end
    }

    /// Whether an element leads to its stored object: each entity of the list has a key, and not
    /// only a hash of the content.
    ///
    /// Otherwise, a changed element is another object, and only the whole list shows that the
    /// former one is gone.
    private var recognizesObjects: Bool {
        guard let list = mapper.model[entity] else { return false }
        return list.family.lazy.map { mapper.model.layouts[$0] }.allSatisfy { layout in
            layout.isAbstract
                || layout.keyColumns.contains {
                    layout.attributes[$0].userInfo[JSONDialect.contentHashAnnotation] == nil
                }
        }
    }

    /// How the first reading proves that the pages are complete; nil if it does not.
    private static func proof(_ end: RemoteEnd, pageCount: Int) -> RemoteEnd.Proof? {
        guard end.doubt == nil, let proof = end.proof else { return nil }
        return pageCount < 2 ? proof : end.isSnapshot ? .snapshot : nil
    }

    /// The summary of a pass, and the bookmark for the next one.
    struct PassEnd: Sendable {
        var summary: StoreSyncResult
        let bookmark: SyncBookmark
        /// Whether an object was rejected that may be accepted later, although its JSON stays the
        /// same.
        let mayAcceptLater: Bool
        /// The objects of the list that were merged; empty unless the request notes them.
        let merged: ObjectSet
    }

    /// The objects to delete: those named as gone by a source of changes; those not seen otherwise.
    private func absent(
        of scope: StoreQuery, _ pages: PassPages, _ layout: EntityLayout, _ end: RemoteEnd
    ) -> StoreQuery {
        var absent = scope
        if end.coverage != .everything {
            absent.objects = .only(pages.gone.sorted())
        } else {
            if let versions = pages.pass.versions { absent.predicate = absent.predicate && versions.coveredObjects }
            let seen = pages.pass.state.counts.seen(layout)
            absent.objects = .except(
                pages.gone.isEmpty ? seen : ObjectSet(seen.objects.filter { !pages.gone.contains($0) }))
        }
        return absent
    }

    /// The removal limit and the number of objects it applies to; nil without a limit.
    private func limit(
        in scope: StoreQuery, _ transaction: any StoreTransaction
    ) async throws -> (limit: RemovalLimit, localCount: Int)? {
        guard deletesAbsent, let limit = options.removalLimit else { return nil }
        if let known = call?.localCount(of: entity) { return (limit, known) }
        let count = try await transaction.count(scope)
        call?.setLocalCount(count, of: entity)
        return (limit, count)
    }

    /// The result of a finished pass.
    private func result(of pass: StorePass) async throws -> StoreSyncResult {
        let layout = try mapper.mapping(of: entity).layout
        var result = pass.state.result(for: layout)
        if options.failsOnDrift, !result.drift.isEmpty || result.rejectedCount > 0 {
            throw StoreSyncError.payloadDiffers(result.drift, rejectedCount: result.rejectedCount)
        }
        if options.reportsKeys {
            let counts = pass.state.counts
            result.keys = StoreSyncResult.Keys(
                inserted: try await pass.transaction.keys(of: counts.inserted(layout).objects, layout)
                    .sortedByKey.map(\.value),
                updated: try await pass.transaction.keys(of: counts.updated(layout).objects, layout)
                    .sortedByKey.map(\.value),
                deleted: counts.deletedKeys(layout))
        }
        return result
    }

    /// Updates one stored object, whatever identity the JSON has.
    func update(
        _ stored: StoredRecord, with json: JSONValue, in transaction: any StoreTransaction
    ) async throws -> StoreSyncResult {
        let layout = stored.record.layout
        // The JSON may hold only a part of the object.
        var rules = rules
        rules.clearsAbsent = false
        var collector = try RecordCollector(mapper, entity: layout.name, options: rules.readerOptions)
        var writer = JSONWriter()
        try writer.value(json)
        try collector.add(writer.bytes, index: 0)
        let pass = StorePass(transaction, mapper: mapper, rules: rules)
        if let batch = try collector.takeBatch() {
            try await pass.merge(
                batch, Origin(policy: rules.policy, known: stored.object))
        }
        try await pass.endReading()
        try await pass.finish()
        try await pass.settleValues()
        try await pass.settlePendingLinks()
        try await pass.reportIncomplete()
        return pass.state.result(for: layout)
    }

    /// The reader options for batches of the size that the store asks for.
    func readerOptions(for transaction: any StoreTransaction) -> RecordMapper.Reader.Options {
        var options = rules.readerOptions
        options.batchRowCount = transaction.batchRowCount
        options.batchByteCount = max(1 << 20, transaction.batchRowCount << 9)
        if !rules.isImport { options.acceptsIdentifiers = false }
        return options
    }
}
