import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// Pages that break off after objects of them were merged, and are read again with other objects.
@Suite(.endsInTime) struct BrokenPagesTests {
    @Test(
        arguments: [
            // What only a part that broke off had is gone, unless another page has it.
            ([["1 9 5|", "1 2"]], [1, 2]),
            ([["1 5|", "1"], ["5"]], [1, 5]),
            ([["5"], ["5 1|", "1"]], [1, 5]),
            ([["1"], ["1 2|", "3"]], [1, 3]),
            // A page may break off several times.
            ([["7|", "7|", "7"]], [7]),
            ([["7|", "7|", "1"]], [1]),
            ([["7|", "1|", "7|", "1 7|", "2"]], [2]),
            ([["1 2|", "2"], ["3|", "1"]], [1, 2]),
        ] as [([[String]], [Int64])])
    func onlyWhatWholePagesHaveIsThere(pages: [[String]], expected: [Int64]) async throws {
        // With single rows, what comes before a break is merged.
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        try await world.sync(#"[{"id":2},{"id":9}]"#)
        let source = BrokenSource(
            pages: pages.map { attempts in
                attempts.map { attempt in attempt.replacing(/\d+/) { #"{"id":\#($0.output)},"# } }
            })
        let result = try await world.json.sync(from: source, into: "User")
        #expect(try await world.column("id") == expected.map { .int($0) })
        let stored: Set<Int64> = [2, 9]
        #expect(result.counts.inserted == Set(expected).subtracting(stored).count)
        #expect(result.counts.deleted == stored.subtracting(expected).count)
        #expect(result.pageCount == pages.count)
    }

    /// The object is deleted at the end, and the identifier has nothing to lead to.
    @Test func anIdentifierOfAnObjectThatOnlyABrokenPartHadIsReported() async throws {
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        let source = BrokenSource(pages: [[#"{"id":5},|"#, #"{"id":1,"manager_id":5},"#]])
        let result = try await world.json.sync(from: source, into: "User")
        #expect(try await world.column("id") == [1])
        #expect(result.drift.entries.map(\.keyPath) == ["manager"])
        let kinds: Set<DriftReport.Kind> = [.unknownIdentifier, .lostIdentifier]
        #expect(kinds.isSuperset(of: result.drift.entries.map(\.kind)))
    }

    @Test func problemsOfAPartThatBrokeOffAreNotReported() async throws {
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        try await world.sync(#"[{"id":2}]"#)
        let misfit = #"{"name":"no id"},{"id":3,"age":"x","sense":1},"#
        let progress = Locked<[Int]>([])
        let once = try await world.json.sync(
            from: BrokenSource(pages: [[misfit + #"{"id":4},|"#, misfit + #"{"id":5},"#]]), into: "User"
        ) { latest in
            progress.withLock { $0.append(latest.elementCount) }
        }
        #expect(once.rejectedCount == 1)
        #expect(once.rejected.map(\.keyPath) == ["id"])
        #expect(once.drift.entries.map(\.count) == [1, 1])
        #expect(progress.value.max() == 3)
        // Without a problem in the end, what is absent is gone.
        let none = try await world.json.sync(
            from: BrokenSource(pages: [[misfit + "|", #"{"id":5},"#]]), into: "User")
        #expect(none.rejectedCount == 0)
        #expect(none.drift.isEmpty)
        #expect(try await world.column("id") == [5])
    }
}

/// A source whose pages are read several times each.
///
/// A page is the text of its objects, each with a comma behind it, for each attempt; a bar at the
/// end stands for a connection that broke.
private struct BrokenSource: RemoteSource {
    struct Broken: Error {}

    let name = "broken"
    let fingerprint = ""
    let pages: [[String]]

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        .changed(Pass(left: pages))
    }

    private actor Pass: RemotePass {
        private var left: [[String]]

        init(left: [[String]]) { self.left = left }

        func next() async throws -> RemotePage? {
            guard !left.isEmpty else { return nil }
            let page = left[0].removeFirst()
            let isWhole = !page.hasSuffix("|")
            if isWhole { left.removeFirst() }
            let objects = page.filter { $0 != "|" }
            // Bytes are mapped some at a time: what comes before a break is mapped before it.
            let text = isWhole ? objects.dropLast() + "]" : objects + String(repeating: " ", count: 1 << 20)
            let pieces = [Array("[".utf8), Array(text.utf8)]
            return RemotePage(
                .chunks(
                    AsyncThrowingStream<[UInt8], any Error> { continuation in
                        for piece in pieces { continuation.yield(piece) }
                        continuation.finish(throwing: isWhole ? nil : Broken())
                    }))
        }

        func recover(from error: any Error) async throws {
            guard error is Broken else { throw error }
        }

        func rewind() async throws {}

        func end() async throws -> RemoteEnd {
            RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark())
        }
    }
}
