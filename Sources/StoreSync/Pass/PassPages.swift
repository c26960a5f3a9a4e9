import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// The pages of a source on their way into a pass.
final class PassPages {
    private let request: SyncRequest
    private let source: any RemotePass
    private let pass: SyncPass
    private let report: @Sendable (RemoteSyncProgress) -> Void
    private(set) var progress = RemoteSyncProgress()
    /// The objects of all pages, in order; empty unless the request has a parent.
    private(set) var objects: [Int64] = []
    /// Objects that were named as gone and have not come again since.
    private(set) var gone: Set<Int64> = []
    /// A digest of each page's objects, as it was read last; empty digests where the source does
    /// not move.
    private(set) var digests: [UInt64] = []
    /// The objects of the page at hand and their digest.
    private var there = ObjectSet()
    private var digest: UInt64 = 0
    /// The number of elements of the page at hand that were mapped or rejected; others are null.
    private var readCount = 0
    private var readingCount = 0
    /// The digests of this reading's pages.
    private var known: Set<UInt64> = []
    /// How many pages in a row had the same objects as pages before.
    private var repeatedPageCount = 0
    /// How many pages in a row may have the same objects as pages before. Objects that move while
    /// the pages are read repeat a small page or a few.
    private static let repeatedPageLimit = 30
    /// Whether the source may hand out a page again. A list of payloads at hand never does.
    private let isRemote: Bool

    /// How many pages there are.
    var count: Int { digests.count }

    init(
        _ request: SyncRequest, of source: any RemotePass, into pass: SyncPass,
        report: @escaping @Sendable (RemoteSyncProgress) -> Void
    ) {
        self.request = request
        self.source = source
        self.pass = pass
        self.report = report
        isRemote = !(source is PayloadList)
        pass.reportsDuplicates = !isRemote
    }

    /// Reads all pages from the first one on.
    func readAll() async throws {
        digests = []
        readingCount += 1
        known = []
        repeatedPageCount = 0
        progress.readingNumber = readingCount
        progress.elementCount = 0
        let (request, acceptsSingleObject) = (request, !isRemote)
        let options = request.readerOptions(for: pass.transaction)
        let reader = PageReader(source) { page in
            let (list, flag) = Self.tombstones(of: page)
            let payload = try PayloadReader(
                page.json, at: page.keyPath ?? request.options.keyPath, mapper: request.mapper,
                entity: request.entity, options: options, capturing: list.map { [$0] } ?? [],
                acceptsSingleObject: acceptsSingleObject || page.keyPath != nil, flag: flag)
            return (payload, flag != nil || request.rules.isHooked)
        }
        let merger = PageMerger(request: request, pass: pass, collect: collector)
        var before = beginPage()
        // The next objects are mapped while these are merged.
        let steps = Handoff<[PageReader.Step]>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await BlockingExecutor.outside { await reader.readAll(into: steps) } }
            defer { steps.close() }
            while let next = try await steps.next() {
                try Task.checkCancellation()
                for step in next { try await take(step, merger, &before) }
            }
        }
    }

    /// Carries out a step of reading.
    ///
    /// - Parameter before: The state before the page at hand; replaced where the next one begins.
    private func take(_ step: PageReader.Step, _ merger: PageMerger, _ before: inout Beginning) async throws {
        switch step {
        case .batch(let objects, let read):
            readCount += try await merger.merge(objects)
            note(read, since: before)
        case .elements(let first, let elements, let read):
            readCount += try await merger.merge(elements, first: first)
            note(read, since: before)
        case .pageEnd(let page, let read):
            note(read, since: before)
            noteLeftOut(of: page, read, since: before)
            try await finish(page, read)
            // Problems of an object were reported when it was read first.
            if readingCount > 1 { pass.tally.restore(before.problems, areDoubtful: true) }
            before = beginPage()
        case .restart:
            pass.tally.abandonPage()
            pass.tally.restore(before.problems, areDoubtful: false)
            progress = before.progress
            before = beginPage()
        }
    }

    private func beginPage() -> Beginning {
        if isRemote {
            pass.tally.beginPage()
            pass.statedInPage = [:]
        }
        there = ObjectSet()
        (digest, readCount) = (0, 0)
        return Beginning(progress: progress, problems: pass.tally.problems)
    }

    /// The state before the page at hand.
    private struct Beginning {
        let progress: RemoteSyncProgress
        let problems: SyncTally.Problems
    }

    /// Notes the objects of the page at hand; nil where that would be wasted effort.
    private var collector: PageMerger.Collect? {
        if isRemote {
            return { [self] found in
                // Taken out during the change: a second reference would copy all of it.
                var (there, digest) = (self.there, self.digest)
                self.there = ObjectSet()
                for (object, isGone) in found {
                    guard !isGone else {
                        gone.insert(object)
                        continue
                    }
                    if !gone.isEmpty { gone.remove(object) }
                    there.insert(object)
                    digest &+= Self.mixed(object)
                }
                (self.there, self.digest) = (there, digest)
            }
        }
        return request.parent == nil ? nil : { [self] in objects += $0.map(\.object) }
    }

    private func note(_ read: PayloadReader.Progress, since before: Beginning) {
        progress.elementCount = before.progress.elementCount + read.elementCount
        progress.byteCount = before.progress.byteCount + read.byteCount
        report(progress)
    }

    /// Notes that objects may be lacking if a page of a remote source has elements, but none with a
    /// key. Such a page is a report of an error rather than a list. So may be the last element of a
    /// page that has no end of its own: its server has no other place for one.
    private func noteLeftOut(of page: RemotePage, _ read: PayloadReader.Progress, since before: Beginning) {
        guard isRemote, read.elementCount > 0 else { return }
        let nullCount = read.elementCount - readCount
        let leftOutCount = pass.tally.rejectedCount - before.problems.rejectedCount + nullCount
        let hasNone = there.isEmpty && leftOutCount >= read.elementCount
        let endsInError = page.isOpenEnded && pass.tally.lastRejectedIndex == read.elementCount - 1
        if hasNone || endsInError { pass.tally.mayLackObjects = true }
    }

    /// Ends a page that has been merged.
    private func finish(_ page: RemotePage, _ read: PayloadReader.Progress) async throws {
        if let list = Self.tombstones(of: page).list, let tombstones = read.captured[list] {
            gone.formUnion(try await find(tombstones, at: list).subtracting(there.objects))
        }
        digests.append(digest)
        try checkForRepetition()
        progress.pageCount += 1
        progress.totalElementCount = page.totalElementCount ?? progress.totalElementCount
        report(progress)
    }

    /// - Throws: `StoreSyncError.repeatedPages` if the source seems to hand out the same pages for
    ///   ever. Pages without objects do not count: some servers have many of them. Nor do changes
    ///   at hand, which may well be of one object.
    private func checkForRepetition() throws {
        guard !there.isEmpty, !(source is ChangePages) else { return }
        repeatedPageCount = known.insert(digest).inserted ? 0 : repeatedPageCount + 1
        guard repeatedPageCount < Self.repeatedPageLimit else {
            throw StoreSyncError.repeatedPages(entity: request.entity, count: repeatedPageCount)
        }
    }

    /// How a page names objects that are gone: by the key path of a list, or by a flag.
    private static func tombstones(of page: RemotePage) -> (list: String?, flag: PayloadReader.Flag?) {
        if page.areGone { return (nil, PayloadReader.Flag.always) }
        switch page.tombstones {
        case .list(let keyPath): return (keyPath, nil)
        case .flag(let keyPath): return (nil, PayloadReader.Flag(probe: JSONProbe([keyPath])))
        case .field(let keyPath, let value): return (nil, PayloadReader.Flag(probe: JSONProbe([keyPath]), value: value))
        case nil: return (nil, nil)
        }
    }

    /// The stored objects that a list of tombstones names.
    private func find(_ tombstones: JSONValue, at keyPath: String) async throws -> Set<Int64> {
        if case .null = tombstones { return [] }
        guard case .array(let elements) = tombstones else {
            throw StoreSyncError.unsuitableTombstones(entity: request.entity, keyPath: keyPath)
        }
        var collector = try RecordCollector(
            request.mapper, entity: request.entity, options: RecordReader.Options(acceptsIdentifiers: true))
        var found: Set<Int64> = []
        for (index, element) in elements.enumerated() {
            var writer = JSONWriter()
            try writer.value(element)
            try collector.add(writer.bytes, index: index)
            guard collector.isFull() || index == elements.count - 1, let batch = try collector.takeBatch() else {
                continue
            }
            found.formUnion(try await pass.find(batch).map(\.object))
        }
        return found
    }

    /// A number for an object, such that the sums of different sets of objects differ (SplitMix64).
    private static func mixed(_ object: Int64) -> UInt64 {
        var mixed = UInt64(bitPattern: object) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
