import JSONMapper
import OneWaySynchronizer
import SyncModel
import SyncStore

extension SyncSession {
    /// How often the pages are read at most, to be sure of what they have and what they lack.
    private static let passLimit = 3

    /// Merges all pages of a source, and deletes what is gone.
    ///
    /// - Returns: What was done, and what the next run begins after.
    func run(
        _ remote: any RemoteRun, in transaction: any StoreTransaction,
        progress: @escaping @Sendable (RemoteSyncProgress) -> Void
    ) async throws -> (RemoteSyncResult, SyncBookmark) {
        let layout = try mapper.mapping(of: entity).layout
        let run = SyncRun(transaction, mapper: mapper, rules: rules)
        var absent = StoreQuery(entity, where: options.scope)
        let limit = try await limit(in: absent, transaction)
        let pages = RemotePages(session: self, remote: remote, run: run, report: progress)
        try await pages.readAll()
        var end = try await remote.end()
        absent.objects = rows(absentFrom: pages, run, layout, end)
        var isSure = end.isSnapshot || pages.count < 2
        for _ in 1..<Self.passLimit where !isSure {
            if end.coverage == .everything {
                // There is nothing to be sure of, or no way to be.
                guard sweeps, !run.tally.mayLackObjects, try await transaction.count(absent) > 0 else { break }
            }
            let before = pages.digests
            run.tally.beginAnew()
            try await remote.rewind()
            try await pages.readAll()
            end = try await remote.end()
            isSure = pages.digests == before
            absent.objects = rows(absentFrom: pages, run, layout, end)
        }
        try await run.settle()
        if sweeps, isSure || end.coverage == .changes || run.tally.mayLackObjects {
            try await run.sweep(absent, isCertain: end.coverage == .changes, limit: limit)
        } else if sweeps {
            run.tally.countWithheld(try await transaction.count(absent), of: layout)
        }
        let result = RemoteSyncResult(
            result: try await result(of: run),
            coverage: end.coverage == .changes ? .changes : .everything, pageCount: pages.progress.pageCount,
            byteCount: pages.progress.byteCount)
        return (result, isSure ? end.bookmark : end.cautiousBookmark)
    }

    /// The objects that are to be deleted: what was not there, or of changes alone what was named as gone.
    private func rows(
        absentFrom pages: RemotePages, _ run: SyncRun, _ layout: EntityLayout, _ end: RemoteEnd
    ) -> StoreQuery.Objects {
        guard end.coverage == .everything else { return .only(pages.gone.sorted()) }
        let seen = run.tally.seen(layout)
        return .except(pages.gone.isEmpty ? seen : ObjectSet(seen.objects.filter { !pages.gone.contains($0) }))
    }
}

/// The pages of a source on their way into a run.
private final class RemotePages {
    private let session: SyncSession
    private let remote: any RemoteRun
    private let run: SyncRun
    private let report: @Sendable (RemoteSyncProgress) -> Void
    private(set) var progress = RemoteSyncProgress()
    /// Objects that were named as gone, and not come again since.
    private(set) var gone: Set<Int64> = []
    /// What tells apart which objects each page had when it was read last.
    private(set) var digests: [UInt64] = []
    /// The objects of the page at hand, and what tells apart which they are.
    private var there = ObjectSet()
    private var digest: UInt64 = 0
    private var passCount = 0

    /// How many pages there are.
    var count: Int { digests.count }

    init(
        session: SyncSession, remote: any RemoteRun, run: SyncRun,
        report: @escaping @Sendable (RemoteSyncProgress) -> Void
    ) {
        self.session = session
        self.remote = remote
        self.run = run
        self.report = report
    }

    /// Reads all pages from the first one on.
    func readAll() async throws {
        digests = []
        passCount += 1
        let (session, rules) = (session, session.rules)
        let options = session.readerOptions(for: run.transaction)
        let reader = PageReader(remote) { page in
            let (list, flag) = Self.tombstones(of: page, in: session)
            let payload = try PayloadReader(
                page.json, at: session.options.keyPath, mapper: session.mapper, entity: session.entity,
                options: options, capturing: list.map { [$0] } ?? [], acceptsSingleObject: false, flag: flag,
                keepsNestedJSON: rules.isHookedWhereNested)
            return (payload, flag != nil || rules.isHooked)
        }
        var before = beginPage()
        var next = try await reader.next()
        while !next.isEmpty {
            try Task.checkCancellation()
            async let following = reader.next()
            for step in next {
                switch step {
                case .batch(let objects, let read):
                    try await merging.merge(objects, SyncRun.Origin(policy: rules.policy))
                    note(read, since: before)
                case .elements(let first, let elements, let read):
                    try await merging.merge(elements, first: first)
                    note(read, since: before)
                case .pageEnd(let page, let read):
                    note(read, since: before)
                    try await finish(page, read)
                    // What is wrong with an object has been told when it was read first.
                    if passCount > 1 { run.tally.restore(before.problems, areDoubtful: true) }
                    before = beginPage()
                case .restart:
                    run.tally.abandonPage()
                    run.tally.restore(before.problems, areDoubtful: false)
                    progress = before.progress
                    before = beginPage()
                }
            }
            next = try await following
        }
    }

    private func beginPage() -> Beginning {
        run.tally.beginPage()
        there = ObjectSet()
        digest = 0
        return Beginning(progress: progress, problems: run.tally.problems)
    }

    /// How things stood before the page at hand.
    private struct Beginning {
        let progress: RemoteSyncProgress
        let problems: SyncTally.Problems
    }

    /// What merges the objects of the page at hand.
    private var merging: PageReading {
        PageReading(session: session, run: run) { [self] row, isGone in
            guard !isGone else { return _ = gone.insert(row) }
            if !gone.isEmpty { gone.remove(row) }
            there.insert(row)
            digest &+= Self.mixed(row)
        }
    }

    private func note(_ read: PayloadReader.Progress, since before: Beginning) {
        progress.elementCount = before.progress.elementCount + read.elementCount
        progress.byteCount = before.progress.byteCount + read.byteCount
        report(progress)
    }

    /// Ends a page that has been merged.
    private func finish(_ page: RemotePage, _ read: PayloadReader.Progress) async throws {
        if let list = Self.tombstones(of: page, in: session).list, let tombstones = read.captured[list] {
            gone.formUnion(try await find(tombstones, at: list).subtracting(there.objects))
        }
        digests.append(digest)
        progress.pageCount += 1
        progress.totalElementCount = page.totalElementCount ?? progress.totalElementCount
        report(progress)
    }

    /// How a page names objects that are gone: by the key path of a list, or by a flag.
    private static func tombstones(of page: RemotePage, in session: SyncSession) -> (list: String?, flag: JSONProbe?) {
        switch session.sweeps ? page.tombstones : nil {
        case .list(let keyPath): (keyPath, nil)
        case .flag(let keyPath): (nil, JSONProbe([keyPath]))
        case nil: (nil, nil)
        }
    }

    /// The objects of a list of those that are gone.
    private func find(_ tombstones: JSONValue, at keyPath: String) async throws -> Set<Int64> {
        if case .null = tombstones { return [] }
        guard case .array(let elements) = tombstones else {
            throw StoreSyncError.unsuitableTombstones(entity: session.entity, keyPath: keyPath)
        }
        var collector = try RecordCollector(
            session.mapper, entity: session.entity, options: RecordReader.Options(acceptsIdentifiers: true))
        var found: Set<Int64> = []
        for (index, element) in elements.enumerated() {
            var writer = JSONWriter()
            try writer.value(element)
            try collector.add(writer.bytes, index: index)
            guard collector.isFull || index == elements.count - 1, let batch = collector.takeBatch() else { continue }
            found.formUnion(try await run.find(batch).map(\.row))
        }
        return found
    }

    /// A number for a row, such that the sums of different sets of rows differ (SplitMix64).
    private static func mixed(_ row: Int64) -> UInt64 {
        var mixed = UInt64(bitPattern: row) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
