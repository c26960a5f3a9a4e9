import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// Reads the pages of a source, and merges them into a pass.
final class PassPages {
    let request: SyncRequest
    let source: any RemotePass
    let pass: StorePass
    private let report: @Sendable (StoreSyncOptions.Progress) -> Void
    private(set) var progress = StoreSyncOptions.Progress()
    /// The objects of all pages, in order; empty unless the request has a parent.
    private(set) var objects: [Int64] = []
    /// The objects that were merged, without those of rejected elements; empty unless the request
    /// notes them.
    var merged = ObjectSet()
    /// The objects that were named as gone, without those that a later element contained.
    private(set) var gone: Set<Int64> = []
    /// A digest of each page's objects in the latest reading, to compare readings. It is 0 for each
    /// page of payloads at hand.
    private(set) var digests: [UInt64] = []

    /// What the current page has had so far.
    private struct Page {
        /// The progress and the problems before the page, to return to if it is read again.
        let before: (progress: StoreSyncOptions.Progress, problems: PassProblems)
        var objects = ObjectSet()
        /// The digest of the objects.
        var digest: UInt64 = 0
        /// How many elements have an object that an earlier element had.
        var doubleCount = 0
        /// The number of elements that were mapped or rejected; the others are null.
        var readCount = 0
    }

    private var page: Page
    /// The objects of the finished pages of the current reading.
    private var readObjects = ObjectSet()
    /// How many elements of the finished pages of the current reading have an object that an
    /// earlier element of the same page had.
    private var doubleCount = 0
    /// How many objects of the finished pages of the current reading were on an earlier page,
    /// counted once for each later page.
    private(set) var overlapCount = 0
    /// The number of elements of the current reading that may be any object.
    private var unidentifiedCount = 0
    /// The first lists in the latest payload, if it was an object in place of a list.
    private var lists: [JSONError.List] = []
    /// Whether an element of any reading was null.
    private(set) var hasNull = false
    /// The digests of the pages of the current reading.
    private var known: Set<UInt64> = []
    /// How many of the latest pages in a row had the same objects as earlier pages.
    private var repeatedPageCount = 0
    /// The number of repeated pages in a row from which the pass fails. Objects that move during
    /// the reading repeat only a few pages.
    private static let repeatedPageLimit = 30
    /// Ends a change, and deletes the objects that this and earlier changes named as gone; nil
    /// unless each page is a change of its own.
    var endChange: ((_ gone: Set<Int64>) async throws -> Void)?
    /// Whether changes before the current page named objects as gone that are not yet deleted.
    private var isRemovalDue = false
    private let contents: PassContents

    /// The number of pages of the latest reading.
    var count: Int { digests.count }
    /// How many elements of the latest reading have an object that an earlier element had.
    var repeatCount: Int { doubleCount + overlapCount }
    /// The number of elements of the latest reading, where elements with the same object count
    /// once.
    var distinctCount: Int { progress.elementCount - repeatCount }

    init(
        _ request: SyncRequest, of source: any RemotePass, as contents: PassContents, into pass: StorePass,
        report: @escaping @Sendable (StoreSyncOptions.Progress) -> Void
    ) {
        self.request = request
        self.source = source
        self.pass = pass
        self.report = report
        self.contents = contents
        page = Page(before: (progress, pass.state.problems))
        pass.state.listed.reportsDuplicates = contents == .payloads
    }

    /// Reads all pages, from the first one.
    ///
    /// - Parameter number: The number of the reading, from 1.
    func readAll(asReading number: Int) async throws {
        digests = []
        known = []
        repeatedPageCount = 0
        progress.readingNumber = number
        progress.elementCount = 0
        (readObjects, doubleCount, overlapCount) = (ObjectSet(), 0, 0)
        unidentifiedCount = 0
        let (request, acceptsSingleObject) = (request, contents == .payloads)
        let options = request.readerOptions(for: pass.transaction)
        let reader = PageReader(source) { page in
            let (list, flag) = Self.tombstones(of: page)
            let payload = try PayloadReader(
                page.json, at: page.keyPath ?? request.options.keyPath, mapper: request.mapper,
                entity: request.entity, options: options, elementByteLimit: request.options.maximumElementByteCount,
                capturing: list.map { [$0] } ?? [],
                acceptsSingleObject: acceptsSingleObject || page.keyPath != nil, isOpenEnded: page.isOpenEnded,
                flag: flag)
            return (payload, flag != nil || request.rules.isHooked)
        }
        beginPage()
        // The next batch is mapped while the current one is merged.
        let steps = Handoff<[PageReader.Step]>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await BlockingExecutor.outside { await reader.readAll(into: steps) } }
            defer { steps.close() }
            while let next = try await steps.next() {
                try Task.checkCancellation()
                for step in next { try await take(step) }
            }
        }
    }

    /// Checks that the elements of a reading are not all without a usable identity. Such a list is
    /// an error report.
    ///
    /// - Throws: `StoreSyncError.unidentifiedObjects`.
    func checkForObjects() throws {
        guard unidentifiedCount > 0, unidentifiedCount >= progress.elementCount else { return }
        let keys =
            pass.state.problems.hasKeyless ? [] : try request.mapper.mapping(of: request.entity).identityKeyPaths
        throw StoreSyncError.unidentifiedObjects(
            entity: request.entity, key: keys.joined(separator: ", "), count: progress.elementCount, lists: lists)
    }

    /// Carries out one step of reading.
    private func take(_ step: PageReader.Step) async throws {
        switch step {
        case .batch(let objects, let read):
            try await removeWhatIsDue()
            page.readCount += try await merge(objects)
            note(read)
        case .elements(let first, let elements, let read):
            if !elements.allSatisfy(\.isGone) { try await removeWhatIsDue() }
            page.readCount += try await merge(elements, first: first)
            note(read)
        case .pageEnd(let remote, let read):
            note(read)
            noteLeftOut(of: remote, read)
            try await finish(remote, read)
            let before = page.before.problems
            request.call?.end(remote, rejecting: pass.state.problems.rejectedCount - before.rejectedCount)
            // The problems of an object were reported in the first reading.
            if progress.readingNumber > 1 { pass.state.problems.restore(before, areDoubtful: true) }
            // What the change states of other objects stays when those that it names as gone go.
            let isDue = !page.objects.isEmpty && !gone.isEmpty && request.deletesAbsent && endChange != nil
            try await endChange?(isDue ? gone : [])
            if isDue { gone = [] }
            beginPage()
        case .restart:
            pass.state.counts.abandonPage()
            pass.state.problems.restore(page.before.problems, areDoubtful: false)
            progress = page.before.progress
            beginPage()
        }
    }

    /// Deletes the objects that earlier changes named as gone, before a change can have them anew.
    ///
    /// Removals in a row are made together.
    private func removeWhatIsDue() async throws {
        guard isRemovalDue, request.deletesAbsent, let endChange else { return }
        try await endChange(gone)
        gone = []
        isRemovalDue = false
    }

    private func beginPage() {
        isRemovalDue = !gone.isEmpty
        if contents != .payloads {
            pass.state.beginPage()
        }
        page = Page(before: (progress, pass.state.problems))
    }

    /// Whether something needs the objects of the pages.
    var notesObjects: Bool { contents != .payloads || request.parent != nil }

    /// Notes objects of the current page, in the order of its elements.
    func note(_ found: [Found]) {
        guard contents != .payloads else {
            objects += found.map(\.object)
            return
        }
        // Taken out during the change, because a second reference would copy the whole set.
        var (objects, digest) = (page.objects, page.digest)
        page.objects = ObjectSet()
        for (_, object, isGone) in found {
            guard !isGone else {
                gone.insert(object)
                continue
            }
            if !gone.isEmpty { gone.remove(object) }
            if !objects.insert(object) { page.doubleCount += 1 }
            // Mixed, so that the sums of different sets of objects differ.
            digest &+= UInt64(bitPattern: object).mixed
        }
        (page.objects, page.digest) = (objects, digest)
    }

    private func note(_ read: PayloadReader.Progress) {
        progress.elementCount = page.before.progress.elementCount + read.elementCount
        progress.byteCount = page.before.progress.byteCount + read.byteCount
        report(progress)
    }

    /// Notes that objects may be lacking if elements of a page could not be read.
    ///
    /// An element that is null may stand for any stored object. A page in which no element is an
    /// object of the list is no list, but an error report. So may be the last element of a page
    /// without an end of its own (`isOpenEnded`): a server can report an error only there.
    private func noteLeftOut(of remote: RemotePage, _ read: PayloadReader.Progress) {
        guard read.elementCount > 0 else { return }
        let (problems, before) = (pass.state.problems, page.before.problems)
        let nullCount = read.elementCount - page.readCount
        unidentifiedCount += problems.unidentifiedCount - before.unidentifiedCount + nullCount
        if nullCount > 0 { hasNull = true }
        let leftOutCount = problems.rejectedElementCount - before.rejectedElementCount + nullCount
        let endsInError = remote.isOpenEnded && problems.lastRejectedIndex == read.elementCount - 1
        if nullCount > 0 || leftOutCount >= read.elementCount || endsInError {
            pass.state.problems.mayLackObjects = true
        }
    }

    /// Ends the current page after its last batch.
    private func finish(_ remote: RemotePage, _ read: PayloadReader.Progress) async throws {
        if let list = Self.tombstones(of: remote).list, let tombstones = read.captured[list] {
            gone.formUnion(try await find(tombstones, at: list).subtracting(page.objects.objects))
        }
        digests.append(page.digest)
        lists = read.lists
        try checkForRepetition()
        noteRepeatedObjects()
        progress.pageCount += remote.changeCount
        progress.totalElementCount = remote.totalElementCount ?? progress.totalElementCount
        report(progress)
    }

    /// Counts the elements of the finished page whose object an earlier element had.
    private func noteRepeatedObjects() {
        // Changes may go on for long.
        guard contents != .changes else { return }
        doubleCount += page.doubleCount
        guard !readObjects.isEmpty else {
            readObjects = page.objects
            return
        }
        for object in page.objects.objects where !readObjects.insert(object) { overlapCount += 1 }
    }

    /// Checks that the source does not deliver the same pages forever.
    ///
    /// Pages without objects do not count, because some servers have many of them. Changes do not
    /// count either.
    ///
    /// - Throws: `StoreSyncError.repeatedPages` at the limit.
    private func checkForRepetition() throws {
        guard !page.objects.isEmpty, contents != .changes else { return }
        repeatedPageCount = known.insert(page.digest).inserted ? 0 : repeatedPageCount + 1
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

    /// Finds the stored objects that a list of tombstones names.
    private func find(_ tombstones: JSONValue, at keyPath: String) async throws -> Set<Int64> {
        if case .null = tombstones { return [] }
        guard case .array(let elements) = tombstones else {
            throw StoreSyncError.unsuitableTombstones(entity: request.entity, keyPath: keyPath)
        }
        var collector = try RecordCollector(
            request.mapper, entity: request.entity, options: RecordMapper.Reader.Options(acceptsIdentifiers: true))
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
}
