import JSONMapper
import OneWaySynchronizer
import SyncModel
import SyncStore

extension SyncSession {
    /// How often the pages are read at most, to be sure of what is absent.
    private static let passLimit = 3

    /// Merges all pages of a source, and deletes what is gone.
    func run(
        _ remote: any RemoteRun, in transaction: any StoreTransaction,
        progress: @escaping @Sendable (RemoteSyncProgress) -> Void
    ) async throws -> (RemoteSyncResult, RemoteEnd) {
        let layout = try mapper.mapping(of: entity).layout
        let run = SyncRun(transaction, mapper: mapper, rules: rules)
        var absent = StoreQuery(entity, where: options.scope)
        let limit = try await limit(in: absent, transaction)
        let pages = RemotePages(session: self, remote: remote, run: run, report: progress)
        try await pages.readAll()
        var end = try await remote.end()
        var isSure = end.coverage != .pages || pages.count < 2 || run.tally.mayLackObjects
        if sweeps {
            absent.rows = rows(absentFrom: pages, run, layout, coverage: end.coverage)
            for _ in 1..<Self.passLimit where !isSure {
                if try await transaction.count(absent) == 0 { break }
                let before = pages.digests
                run.tally.beginAnew()
                try await remote.rewind()
                try await pages.readAll()
                end = try await remote.end()
                isSure = pages.digests == before
                absent.rows = rows(absentFrom: pages, run, layout, coverage: end.coverage)
            }
        }
        try await run.settle()
        if sweeps, isSure {
            try await run.sweep(absent, isCertain: end.coverage == .changes, limit: limit)
        } else if sweeps {
            run.tally.countWithheld(try await transaction.count(absent), of: layout)
        }
        let result = RemoteSyncResult(
            result: try await result(of: run),
            coverage: end.coverage == .changes ? .changes : .everything, pageCount: pages.progress.pageCount,
            byteCount: pages.progress.byteCount)
        return (result, end)
    }

    /// The objects that are to be deleted: what was not there, or of changes alone what was named as gone.
    private func rows(
        absentFrom pages: RemotePages, _ run: SyncRun, _ layout: EntityLayout, coverage: RemoteEnd.Coverage
    ) -> StoreQuery.Rows {
        guard coverage != .changes else { return .only(pages.gone.sorted()) }
        let seen = run.tally.seen(layout)
        return .except(pages.gone.isEmpty ? seen : RowSet(seen.rows.filter { !pages.gone.contains($0) }))
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
        while let page = try await remote.next() {
            try Task.checkCancellation()
            let problems = run.tally.problems
            run.tally.beginPage()
            do {
                digests.append(try await read(page))
                // What is wrong with an object has been told when it was read first.
                if passCount > 1 { run.tally.restore(problems, areDoubtful: true) }
            } catch {
                try await remote.recover(from: error)
                run.tally.abandonPage()
                run.tally.restore(problems, areDoubtful: false)
            }
        }
    }

    /// Merges a page.
    ///
    /// - Returns: What tells apart which objects it has.
    private func read(_ page: RemotePage) async throws -> UInt64 {
        var digest: UInt64 = 0
        var there: Set<Int64> = []
        var list: String?
        var flag: JSONProbe?
        switch session.sweeps ? page.tombstones : nil {
        case .list(let keyPath): list = keyPath
        case .flag(let keyPath): flag = JSONProbe([keyPath])
        case nil: break
        }
        let before = progress
        var tombstones: JSONValue?
        let reading = PageReading(
            session: session, run: run,
            collect: { [self] row, isGone in
                guard !isGone else { return _ = gone.insert(row) }
                if !gone.isEmpty { gone.remove(row) }
                if list != nil { there.insert(row) }
                digest &+= Self.mixed(row)
            }, captures: list.map { [$0] } ?? [], flag: flag, acceptsSingleObject: false,
            observe: { [self] read in
                if let list { tombstones = read.captured[list] }
                progress.elementCount = before.elementCount + read.elementCount
                progress.byteCount = before.byteCount + read.byteCount
                report(progress)
            })
        try await reading.read(page.json)
        if let list, let tombstones { gone.formUnion(try await find(tombstones, at: list).subtracting(there)) }
        progress.pageCount += 1
        progress.totalElementCount = page.totalElementCount ?? progress.totalElementCount
        report(progress)
        return digest
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
