import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// Reads the pages of a source, and merges them into a pass.
final class PassPages {
    let request: SyncRequest
    private let source: any RemotePass
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
    /// The objects of the current page, and the digest of them.
    private var pageObjects = ObjectSet()
    private var digest: UInt64 = 0
    /// The objects of the finished pages of the current reading.
    private var readObjects = ObjectSet()
    /// How many elements of the finished pages of the current reading have an object that an
    /// earlier element of the same page had.
    private var doubleCount = 0
    /// The same of the current page.
    private var pageDoubleCount = 0
    /// How many objects of the finished pages of the current reading were on an earlier page,
    /// counted once for each later page.
    private(set) var overlapCount = 0
    /// The number of elements of the current page that were mapped or rejected; the others are
    /// null.
    private var readCount = 0
    /// The number of elements of the current reading that may be any object.
    private var unidentifiedCount = 0
    /// The first lists in the latest payload, if it was an object in place of a list.
    private var lists: [JSONError.List] = []
    /// Whether an element of any reading was null.
    private(set) var hasNull = false
    /// The number of the current reading, from 1.
    private var readingCount = 0
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
        pass.state.listed.reportsDuplicates = contents == .payloads
    }

    /// Reads all pages, from the first one. Each call is one reading.
    func readAll() async throws {
        digests = []
        readingCount += 1
        known = []
        repeatedPageCount = 0
        progress.readingNumber = readingCount
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
        var before = beginPage()
        // The next batch is mapped while the current one is merged.
        let steps = Handoff<[PageReader.Step]>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await BlockingExecutor.outside { await reader.readAll(into: steps) } }
            defer { steps.close() }
            while let next = try await steps.next() {
                try Task.checkCancellation()
                for step in next { try await take(step, &before) }
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
    ///
    /// - Parameter before: The state before the current page; replaced when the next page begins.
    private func take(_ step: PageReader.Step, _ before: inout Beginning) async throws {
        switch step {
        case .batch(let objects, let read):
            try await removeWhatIsDue()
            readCount += try await merge(objects)
            note(read, since: before)
        case .elements(let first, let elements, let read):
            if !elements.allSatisfy(\.isGone) { try await removeWhatIsDue() }
            readCount += try await merge(elements, first: first)
            note(read, since: before)
        case .pageEnd(let page, let read):
            note(read, since: before)
            noteLeftOut(of: page, read, since: before)
            try await finish(page, read)
            request.call?.end(page, rejecting: pass.state.problems.rejectedCount - before.problems.rejectedCount)
            // The problems of an object were reported in the first reading.
            if readingCount > 1 { pass.state.problems.restore(before.problems, areDoubtful: true) }
            // What the change states of other objects stays when those that it names as gone go.
            let isDue = !pageObjects.isEmpty && !gone.isEmpty && request.deletesAbsent && endChange != nil
            try await endChange?(isDue ? gone : [])
            if isDue { gone = [] }
            before = beginPage()
        case .restart:
            pass.state.counts.abandonPage()
            pass.state.problems.restore(before.problems, areDoubtful: false)
            progress = before.progress
            before = beginPage()
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

    private func beginPage() -> Beginning {
        isRemovalDue = !gone.isEmpty
        if contents != .payloads {
            pass.state.beginPage()
        }
        pageObjects = ObjectSet()
        (digest, readCount, pageDoubleCount) = (0, 0, 0)
        return Beginning(progress: progress, problems: pass.state.problems)
    }

    /// The state before the current page, to return to if the page is read again.
    private struct Beginning {
        let progress: StoreSyncOptions.Progress
        let problems: PassProblems
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
        var (pageObjects, digest) = (self.pageObjects, self.digest)
        self.pageObjects = ObjectSet()
        for (object, isGone) in found {
            guard !isGone else {
                gone.insert(object)
                continue
            }
            if !gone.isEmpty { gone.remove(object) }
            if !pageObjects.insert(object) { pageDoubleCount += 1 }
            // Mixed, so that the sums of different sets of objects differ.
            digest &+= UInt64(bitPattern: object).mixed
        }
        (self.pageObjects, self.digest) = (pageObjects, digest)
    }

    private func note(_ read: PayloadReader.Progress, since before: Beginning) {
        progress.elementCount = before.progress.elementCount + read.elementCount
        progress.byteCount = before.progress.byteCount + read.byteCount
        report(progress)
    }

    /// Notes that objects may be lacking if elements of a page could not be read.
    ///
    /// An element that is null may stand for any stored object. A page in which no element is an
    /// object of the list is no list, but an error report. So may be the last element of a page
    /// without an end of its own (`isOpenEnded`): a server can report an error only there.
    private func noteLeftOut(of page: RemotePage, _ read: PayloadReader.Progress, since before: Beginning) {
        guard read.elementCount > 0 else { return }
        let nullCount = read.elementCount - readCount
        unidentifiedCount += pass.state.problems.unidentifiedCount - before.problems.unidentifiedCount + nullCount
        if nullCount > 0 { hasNull = true }
        let leftOutCount =
            pass.state.problems.rejectedElementCount - before.problems.rejectedElementCount + nullCount
        let endsInError = page.isOpenEnded && pass.state.problems.lastRejectedIndex == read.elementCount - 1
        if nullCount > 0 || leftOutCount >= read.elementCount || endsInError {
            pass.state.problems.mayLackObjects = true
        }
    }

    /// Ends the current page after its last batch.
    private func finish(_ page: RemotePage, _ read: PayloadReader.Progress) async throws {
        if let list = Self.tombstones(of: page).list, let tombstones = read.captured[list] {
            gone.formUnion(try await find(tombstones, at: list).subtracting(pageObjects.objects))
        }
        digests.append(digest)
        lists = read.lists
        try checkForRepetition()
        noteRepeatedObjects()
        progress.pageCount += page.changeCount
        progress.totalElementCount = page.totalElementCount ?? progress.totalElementCount
        report(progress)
    }

    /// Counts the elements of the finished page whose object an earlier element had.
    private func noteRepeatedObjects() {
        // Changes may go on for long.
        guard contents != .changes else { return }
        doubleCount += pageDoubleCount
        guard !readObjects.isEmpty else {
            readObjects = pageObjects
            return
        }
        for object in pageObjects.objects where !readObjects.insert(object) { overlapCount += 1 }
    }

    /// Checks that the source does not deliver the same pages forever.
    ///
    /// Pages without objects do not count, because some servers have many of them. Changes do not
    /// count either.
    ///
    /// - Throws: `StoreSyncError.repeatedPages` at the limit.
    private func checkForRepetition() throws {
        guard !pageObjects.isEmpty, contents != .changes else { return }
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
