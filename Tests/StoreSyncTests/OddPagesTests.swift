import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// Pages that repeat themselves, contradict each other, or end in an error.
@Suite(.endsInTime) struct OddPagesTests {
    /// A source whose pages a function makes by their index.
    private struct Source: RemoteSource {
        let name = "odd"
        let fingerprint = ""
        /// Nil where there are no more pages.
        let page: @Sendable (_ reading: Int, _ index: Int) -> RemotePage?
        /// Whether the pages are of one moment, so that they are read once.
        let isSnapshot: Bool
        /// How often a page was asked for after the last one.
        let endCount = Locked(0)

        init(_ page: @escaping @Sendable (_ index: Int) -> RemotePage?) {
            self.page = { page($1) }
            isSnapshot = true
        }

        init(_ pages: [String]) {
            self.init { pages.indices.contains($0) ? RemotePage(.bytes(Array(pages[$0].utf8))) : nil }
        }

        /// - Parameter readings: The pages of each reading; the last one repeats.
        init(readings: [[String]]) {
            page = { reading, index in
                let pages = readings[min(reading, readings.count - 1)]
                return pages.indices.contains(index) ? RemotePage(.bytes(Array(pages[index].utf8))) : nil
            }
            isSnapshot = false
        }

        func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
            .changed(Pass(self))
        }

        private actor Pass: RemotePass {
            private let source: Source
            private var reading = 0
            private var index = 0

            init(_ source: Source) { self.source = source }

            func next() async throws -> RemotePage? {
                defer { index += 1 }
                let page = source.page(reading, index)
                if page == nil { source.endCount.withLock { $0 += 1 } }
                return page
            }

            func rewind() async throws {
                reading += 1
                index = 0
            }

            func end() async throws -> RemoteEnd {
                RemoteEnd(.everything, isSnapshot: source.isSnapshot, bookmark: SyncBookmark(cursor: "c"))
            }
        }
    }

    // MARK: Reasons

    /// The source has no doubt, and no object is rejected.
    @Test func theResultSaysWhyAbsentObjectsWereKept() async throws {
        let world = try SyncWorld.users()
        try await world.sync(usersJSON(1...4))
        let (first, second) = (usersJSON([1]), usersJSON([2]))
        let sources = [
            (Source([#"[{"id":1,"name":"user 1"},null]"#]), 3, "an element of the list is null"),
            (
                Source(readings: [[first, second], [second, first], [first, second]]), 2,
                "the list changed each time while its pages were read"
            ),
        ]
        for (source, keptCount, reason) in sources {
            let result = try await world.json.sync(from: source, into: "User")
            #expect(result.counts.kept == keptCount)
            #expect(result.warnings.count == 1, "\(result.warnings)")
            #expect(result.warnings.first?.hasPrefix("absent objects were kept: \(reason)") == true)
        }
        #expect(try await world.names().count == 4)
    }

    // MARK: Repetition

    @Test func pagesThatRepeatForEverAreAnError() async throws {
        let world = try SyncWorld.users()
        try await world.sync(usersJSON([7]))
        let endless = Source { index in RemotePage(.bytes(Array(usersJSON([index % 2]).utf8))) }
        await #expect(throws: StoreSyncError.repeatedPages(entity: "User", count: 30)) {
            try await world.json.sync(from: endless, into: "User")
        }
        #expect(try await world.names() == [7: "user 7"])
    }

    @Test func somePagesMayRepeat() async throws {
        let world = try SyncWorld.users()
        // 29 repetitions, something new, and 29 more.
        let source = Source { index in
            switch index {
            case ..<30: RemotePage(.bytes(Array(usersJSON([1]).utf8)))
            case 30: RemotePage(.bytes(Array(usersJSON([2]).utf8)))
            case 31..<60: RemotePage(.bytes(Array(usersJSON([1]).utf8)))
            // Pages without objects do not count.
            case 60..<200: RemotePage(.bytes(Array("[]".utf8)))
            default: nil
            }
        }
        let result = try await world.json.sync(from: source, into: "User")
        #expect(result.counts.all == [2, 0, 0, 0])
        #expect(result.pageCount == 200)
    }

    /// The elements of each page count in full, null too.
    @Test(arguments: [(1, [1, 2, 3]), (2, [2, 3]), (1000, [3])], [nil, RemotePage.Tombstones.flag(keyPath: "gone")])
    func theProgressIsThatOfEachBatchAndPage(
        row: (rowCount: Int, batches: [Int]), tombstones: RemotePage.Tombstones?
    ) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(row.rowCount)) }
        let pages = [#"[{"id":1},{"id":2},{"id":3}]"#, "[null]", #"[{"id":4}]"#]
        let source = Source { index in
            pages.indices.contains(index)
                ? RemotePage(.bytes(Array(pages[index].utf8)), tombstones: tombstones) : nil
        }
        let progress = Locked<[[Int]]>([])
        try await world.json.sync(from: source, into: "User") { latest in
            progress.withLock { progress in
                let counts = [latest.elementCount, latest.pageCount]
                if progress.last != counts { progress.append(counts) }
            }
        }
        let expected = row.batches.map { [$0, 0] } + [[3, 1], [4, 1], [4, 2], [5, 2], [5, 3]]
        #expect(progress.withLock(\.self) == expected)
        #expect(source.endCount.withLock(\.self) == 1)
    }

    /// Holds a sync while it merges its first batch.
    private struct HoldingHook: StoreHook {
        let gate = Gate()
        let mergeCount = Locked(0)

        func willMake(_ call: StoreCall) {
            if call == .merge { mergeCount.withLock { $0 += 1 } }
        }

        func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
            if mergeCount.withLock(\.self) == 1 { await gate.passUncancelled() }
            return try await call()
        }
    }

    @Test func aCancelledSyncMergesNoFurtherBatch() async throws {
        let hook = HoldingHook()
        let world = try SyncWorld { HookedStore($0, hook) }
        let secondPageIsMapped = Gate()
        let source = Source { index in
            if index == 2 { secondPageIsMapped.open() }
            return index < 9 ? RemotePage(.bytes(Array(usersJSON([index]).utf8))) : nil
        }
        let sync = Task { try await world.json.sync(from: source, into: "User") }
        try await hook.gate.waitForArrivals(orEndOf: sync)
        try await secondPageIsMapped.pass(orEndOf: sync)
        sync.cancel()
        hook.gate.open()
        await #expect(throws: CancellationError.self) { try await sync.value }
        #expect(hook.mergeCount.withLock(\.self) == 1)
        #expect(try await world.store.count(StoreQuery("User")) == 0)
    }

    // MARK: Errors in place of objects

    @Test(arguments: [
        ([#"{"id":1,"name":"a"}"#, #"{"error":"broken off"}"#], true, true),
        ([#"{"id":1,"name":"a"}"#, #"{"error":"broken off"}"#], false, false),
        ([#"{"error":"one is left out"}"#, #"{"id":1,"name":"a"}"#], true, false),
        ([#"{"id":1,"name":"a"}"#, #"{"error":"x"}"#, #"{"error":"y"}"#], true, true),
        ([#"{"id":1,"name":"a"}"#], true, false),
    ])
    func anOpenEndedPageMayEndInAnError(elements: [String], isOpenEnded: Bool, isDoubtful: Bool) async throws {
        let world = try SyncWorld.users()
        try await world.sync(usersJSON(1...3))
        let source = Source { index in
            guard index < 2 else { return nil }
            let elements = index == 0 ? [#"{"id":1,"name":"user 1"}"#] : elements
            let json = isOpenEnded ? elements.joined(separator: "\n") : "[\(elements.joined(separator: ","))]"
            var page = RemotePage(.bytes(Array(json.utf8)))
            page.isOpenEnded = isOpenEnded
            return page
        }
        let result = try await world.json.sync(from: source, into: "User")
        #expect(result.counts.all == [0, 1, 0, isDoubtful ? 0 : 2])
        #expect(result.counts.kept == (isDoubtful ? 2 : 0))
        #expect(try await world.names()[1] == "a")
    }

    /// The reading that proves the absence of an object is the second one.
    @Test func anObjectThatASecondReadingLeavesOutMayBeTheOneThatIsAbsent() async throws {
        let world = try SyncWorld.users()
        try await world.sync(usersJSON([1, 2, 4]))
        let leavingOut = #"[{"id":2,"name":"user 2"},{"id":"four"}]"#
        for (second, counts) in [(leavingOut, [0, 0, 2, 0]), (usersJSON([2]), [0, 0, 2, 1])] {
            let source = Source(readings: [[usersJSON([1]), usersJSON([2])], [usersJSON([1]), second]])
            let result = try await world.json.sync(from: source, into: "User")
            #expect(result.counts.all == counts)
            #expect(result.counts.kept == 1 - counts[3])
        }
    }

    /// A contradiction counts once, however often the pages are read.
    @Test(arguments: [
        #"[{"id":1,"manager":{"id":9,"name":"x"}},{"id":3,"manager":{"id":9,"name":"y"}}]"#,
        #"[{"id":1,"manager":{"id":3,"name":"x"}},{"id":3,"name":"y"}]"#,
        #"[{"id":1,"manager":{"id":9,"company":{"id":7}}},{"id":3,"manager":{"id":9,"company":{"id":8}}}]"#,
        #"[{"id":1,"manager":{"id":3,"company":{"id":7}}},{"id":3,"company":{"id":8}}]"#,
        #"[{"id":1,"company":{"id":7,"users":[{"id":3}]}},{"id":3,"company":{"id":8}}]"#,
    ])
    func pagesThatAreReadAgainReportNothingAgain(json: String) async throws {
        for source in [Source([json, "[]"]), Source(readings: [[json, "[]"]])] {
            let world = try SyncWorld()
            try await world.sync(#"[{"id":2}]"#)
            let result = try await world.json.sync(from: source, into: "User")
            #expect(result.drift.entries.map(\.count) == [1], "\(result.drift)")
            #expect(result.counts.deleted == 1)
        }
    }

    /// What is left out was gone anyway.
    @Test func aMarkedObjectWithoutAUsableKeyKeepsNothing() async throws {
        let world = try SyncWorld(contract: ValueContract(wrongType: .reject))
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
        let json = #"[{"id":1},{"id":2,"age":"old","gone":true},{"age":5,"gone":true}]"#
        let source = Source { index in
            index == 0 ? RemotePage(.bytes(Array(json.utf8)), tombstones: .flag(keyPath: "gone")) : nil
        }
        let result = try await world.json.sync(from: source, into: "User")
        #expect(result.counts.all == [0, 0, 1, 2])
        #expect(result.counts.kept == 0)
        #expect(result.rejected.map(\.index) == [1, 2])
        #expect(result.rejected.map(\.keyPath) == ["age", "id"])
    }

    /// A page can have nothing but what is gone, or objects beside it.
    @Test(arguments: [
        (#"[{"id":1,"gone":true}]"#, 3, 0), (#"[{"id":1,"gone":true},{"id":2}]"#, 2, 0),
        (#"[{"gone":true}]"#, 0, 3),
    ])
    func whatIsGoneIsNoError(json: String, deletedCount: Int, keptCount: Int) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
        let source = Source { index in
            index == 0 ? RemotePage(.bytes(Array(json.utf8)), tombstones: .flag(keyPath: "gone")) : nil
        }
        let counts = try await world.json.sync(from: source, into: "User").counts
        #expect(counts.deleted == deletedCount && counts.kept == keptCount)
    }

    // MARK: Contradictions

    private func drift(_ result: StoreSyncResult) -> [String] {
        result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)" }
    }

    /// An object that differs between pages may have changed in the meantime; within one page it
    /// contradicts itself.
    @Test(
        arguments: [
            ([#"[{"id":1,"name":"a"}]"#, #"[{"id":1,"name":"b"}]"#], ["changedBetweenPages"]),
            ([#"[{"id":2}]"#, #"[{"id":1,"name":"a"},{"id":1,"name":"b"}]"#], ["conflict"]),
            (
                [#"[{"id":1,"name":"a"},{"id":1,"name":"b"}]"#, #"[{"id":1,"name":"c"}]"#],
                ["conflict", "changedBetweenPages"]
            ),
            ([#"[{"id":1,"name":"a"},{"id":2}]"#, #"[{"id":3},{"id":1,"name":"a"}]"#], []),
        ] as [([String], [String])], [1, 1000])
    func theKindOfAContradictionDependsOnThePages(
        row: (pages: [String], kinds: [String]), rowCount: Int
    ) async throws {
        for isStored in [false, true] {
            let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
            if isStored { try await world.sync(#"[{"id":1,"name":"z"},{"id":2},{"id":3}]"#) }
            let result = try await world.json.sync(from: Source(row.pages), into: "User")
            #expect(result.drift.entries.map { "\($0.kind)" } == row.kinds, "\(drift(result)) \(isStored)")
            let last = ["c", "b", "a"].first { row.pages.last?.contains("\"\($0)\"") == true } ?? ""
            #expect(try await world.column("name", where: "id = 1") == [.string(last)])
        }
    }

    @Test(
        arguments: [
            ([#"{"id":1,"company":{"id":7}}"#], [#"{"id":1,"company":{"id":8}}"#], "changedBetweenPages"),
            ([#"{"id":2}"#], [#"{"id":1,"company":{"id":7}}"#, #"{"id":1,"company":{"id":8}}"#], "conflict"),
            ([#"{"id":1,"tags":[{"name":"x"}]}"#], [#"{"id":1,"tags":[]}"#], "changedBetweenPages"),
            ([#"{"id":1,"tags":[{"name":"x"}]}"#], [#"{"id":1,"tags":[{"name":"x"}]}"#], nil),
        ] as [([String], [String], String?)], [1, 1000])
    func relationshipsThatDifferBetweenPagesAreReported(
        row: (first: [String], second: [String], kind: String?), rowCount: Int
    ) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        let pages = [row.first, row.second].map { "[\($0.joined(separator: ","))]" }
        let result = try await world.json.sync(from: Source(pages), into: "User")
        let entries = result.drift.entries.filter { !$0.keyPath.isEmpty }
        #expect(entries.map { "\($0.kind)" } == [row.kind].compactMap(\.self), "\(drift(result))")
        #expect(entries.allSatisfy { $0.entity == "User" && $0.count == 1 })
    }
}
