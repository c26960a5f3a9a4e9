import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// What the pages of a source prove about absent objects.
@Suite(.endsInTime) struct RemotePassTests {
    /// A source whose pages are read several times.
    struct Source: RemoteSource {
        let name = "readings"
        let fingerprint = ""
        /// The lists of identifiers of each reading; the last reading is repeated.
        var readings: [[[Int]]]
        var coverage = StoreSyncResult.Coverage.everything
        var isSnapshot = false
        /// The doubts about each reading; none after the last.
        var doubts: [String?] = []
        var total: Int?
        let readCount = Locked(0)

        func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
            .changed(Pass(source: self))
        }

        private actor Pass: RemotePass {
            private let source: Source
            private var index = 0
            private var left: [[Int]]

            init(source: Source) {
                self.source = source
                left = source.readings[0]
                source.readCount.withLock { $0 += 1 }
            }

            func next() async throws -> RemotePage? {
                guard !left.isEmpty else { return nil }
                return RemotePage(.bytes(Array(usersJSON(left.removeFirst()).utf8)))
            }

            func rewind() async throws {
                index += 1
                left = source.readings[min(index, source.readings.count - 1)]
                source.readCount.withLock { $0 += 1 }
            }

            func end() async throws -> RemoteEnd {
                var end = RemoteEnd(
                    source.coverage, isSnapshot: source.isSnapshot, bookmark: SyncBookmark(cursor: "sure"),
                    cautiousBookmark: SyncBookmark(cursor: "cautious"))
                end.doubt = source.doubts.indices.contains(index) ? source.doubts[index] : nil
                end.totalElementCount = source.total
                return end
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: Source
        /// What is stored of the users 1 to 4 and of those of the pages.
        let stored: [Int64]
        let readCount: Int
        var kept = 0
        /// The cursor that is kept; nil for none, so that the next sync reads everything.
        var cursor: String? = "sure"
        var warning: String?
        var operations = StoreSyncOptions.Operations.all
        var scope = RecordPredicate.constant(true)
    }

    static let cases: [Case] = [
        Case(
            testDescription: "the same twice", source: Source(readings: [[[1], [2]]]), stored: [1, 2], readCount: 2),
        Case(
            testDescription: "an object that moved to a page that was read",
            source: Source(readings: [[[1, 2], [4]], [[1, 2, 3], [4]]]), stored: [1, 2, 3, 4], readCount: 3),
        Case(
            testDescription: "another list at first", source: Source(readings: [[[1], [2]], [[1], [3]]]),
            stored: [1, 3], readCount: 3),
        Case(
            testDescription: "nothing is absent", source: Source(readings: [[[1, 2], [3, 4, 5]]]),
            stored: [1, 2, 3, 4, 5], readCount: 2),
        Case(
            testDescription: "a list that keeps changing",
            source: Source(readings: [[[1, 2, 3, 4], [5]], [[1, 2, 3], [4, 5]], [[1, 2, 3, 4, 5], [6]]]),
            stored: [1, 2, 3, 4, 5, 6], readCount: 3, cursor: "cautious",
            warning: "the next sync asks for most of the list again: the list changed each time"),
        Case(
            testDescription: "nothing of the scope is absent", source: Source(readings: [[[1], [2]]]),
            stored: [1, 2, 3, 4], readCount: 2, scope: PropertyPath("id") < 3),
        Case(testDescription: "one page", source: Source(readings: [[[1]]]), stored: [1], readCount: 1),
        Case(
            testDescription: "a snapshot", source: Source(readings: [[[1], [2]]], isSnapshot: true), stored: [1, 2],
            readCount: 1),
        Case(
            testDescription: "a doubt that passes", source: Source(readings: [[[1]]], doubts: ["old"]), stored: [1],
            readCount: 2),
        Case(
            testDescription: "a doubt that stays",
            source: Source(readings: [[[1]]], doubts: Array(repeating: "old", count: 9)), stored: [1, 2, 3, 4],
            readCount: 3, kept: 3, cursor: nil, warning: "absent objects were kept: old"),
        Case(
            testDescription: "a snapshot with a doubt",
            source: Source(readings: [[[1]]], isSnapshot: true, doubts: Array(repeating: "old", count: 9)),
            stored: [1, 2, 3, 4], readCount: 3, kept: 3, cursor: nil,
            warning: "absent objects were kept: old"),
        Case(
            testDescription: "fewer objects than the source counts",
            source: Source(readings: [[[1, 2]]], isSnapshot: true, total: 3), stored: [1, 2, 3, 4], readCount: 3,
            kept: 2, cursor: nil,
            warning: "absent objects were kept: "),
        Case(
            testDescription: "as many as the source counts",
            source: Source(readings: [[[1, 2]]], isSnapshot: true, total: 2), stored: [1, 2], readCount: 1),
        Case(
            testDescription: "an object on two pages, and another on none",
            source: Source(readings: [[[1, 2], [2, 3]]], total: 4), stored: [1, 2, 3, 4], readCount: 3, kept: 1,
            cursor: nil,
            warning: "absent objects were kept: the source counts 4 objects, and its pages had 3 different ones"),
        Case(
            testDescription: "an object twice on a page, and another not at all",
            source: Source(readings: [[[1, 2, 3, 3]]], total: 4), stored: [1, 2, 3, 4], readCount: 3, kept: 1,
            cursor: nil, warning: "absent objects were kept: the source counts 4 objects"),
        Case(
            testDescription: "an object on two pages, which the source counts once",
            source: Source(readings: [[[1, 2], [2, 3]]], total: 3), stored: [1, 2, 3], readCount: 2),
        Case(
            testDescription: "an object on two pages of a source that does not count",
            source: Source(readings: [[[1, 2], [2, 3]]]), stored: [1, 2, 3, 4], readCount: 3, kept: 1, cursor: nil,
            warning: "absent objects were kept: the pages repeat objects of earlier pages (1)"),
        Case(
            testDescription: "an object on two pages, and nothing is absent",
            source: Source(readings: [[[1, 2], [2, 3, 4]]]), stored: [1, 2, 3, 4], readCount: 3, cursor: "cautious",
            warning: "the next sync asks for most of the list again: the pages repeat objects"),
        Case(
            testDescription: "an object on two pages of a snapshot",
            source: Source(readings: [[[1, 2], [2, 3]]], isSnapshot: true), stored: [1, 2, 3], readCount: 1),
        Case(
            testDescription: "an object on two pages of the first reading only",
            source: Source(readings: [[[1, 2], [2, 3]], [[1, 2], [3, 5]]]), stored: [1, 2, 3, 5], readCount: 3),
        Case(
            testDescription: "an object twice on a page of a source that does not count",
            source: Source(readings: [[[1, 2, 2], [3]]]), stored: [1, 2, 3], readCount: 2),
        Case(
            testDescription: "without permission to delete", source: Source(readings: [[[1], [2]]]),
            stored: [1, 2, 3, 4], readCount: 2, operations: [.insert, .update]),
        Case(
            testDescription: "changes on one page", source: Source(readings: [[[5]]], coverage: .changes),
            stored: [1, 2, 3, 4, 5], readCount: 1),
        Case(
            testDescription: "changes on pages that agree",
            source: Source(readings: [[[5], [6]]], coverage: .changes), stored: [1, 2, 3, 4, 5, 6], readCount: 2),
        Case(
            testDescription: "changes with a doubt",
            source: Source(readings: [[[5]]], coverage: .changes, doubts: Array(repeating: "old", count: 9)),
            stored: [1, 2, 3, 4, 5], readCount: 3, cursor: "cautious",
            warning: "the next sync asks for these changes again: old"),
    ]

    /// An object that the same sync inserted, and that the list lacks when it is read again, is no
    /// loss.
    @Test(arguments: [0, 4]) func whatCameWithTheSameSyncIsNoRemoval(storedCount: Int) async throws {
        let world = try SyncWorld()
        if storedCount > 0 { try await world.sync(usersJSON(Array(1...storedCount))) }
        let source = Source(readings: [[[1, 2, 3, 4], [5, 6, 7]], [[1, 2, 3, 4], [7]]])
        let limit = RemovalLimit(count: 0)
        try await world.json.sync(from: source, into: "User", options: StoreSyncOptions(removalLimit: limit))
        #expect(try await world.store.count(StoreQuery("User")) == 5)
        // The others are.
        let fewer = Source(readings: [[[1, 2, 3], [8, 9]], [[1, 2, 3], [8]]])
        let error = await #expect(throws: StoreSyncError.self) {
            try await world.json.sync(from: fewer, into: "User", options: StoreSyncOptions(removalLimit: limit))
        }
        #expect(error == .removalLimitExceeded(entity: "User", removals: 2, localCount: 5, limit: limit))
    }

    @Test(arguments: cases) func absentObjectsAreDeletedOnlyIfThePagesProveIt(_ example: Case) async throws {
        let world = try SyncWorld.users()
        try await world.sync(usersJSON(1...4))
        let result = try await world.json.sync(
            from: example.source, into: "User",
            options: StoreSyncOptions(operations: example.operations, scope: example.scope))
        #expect(try await world.names().keys.sorted() == example.stored)
        #expect(example.source.readCount.withLock(\.self) == example.readCount)
        #expect(result.counts.kept == example.kept)
        #expect(result.coverage == example.source.coverage)
        let bookmarks = try await world.store.records(StoreQuery("SyncBookmark"))
        #expect(bookmarks.map { $0.record["cursor"] } == (example.cursor.map { [.string($0)] } ?? []))
        #expect(result.warnings.count == (example.warning == nil ? 0 : 1), "\(result.warnings)")
        if let warning = example.warning { #expect(result.warnings.first?.hasPrefix(warning) == true) }
    }

    // MARK: Marks of what is gone

    @Test(arguments: [
        ("true", true), ("false", false), ("1", true), ("0", false), ("0.0", false), ("0.5", true), ("-0.0", false),
        ("1.00000000000000000000000000001", true), ("0.00000000000000000000000000000", false), ("null", false),
        ("18446744073709551615", true), (#""""#, false), (#""2026-01-01""#, true), ("{}", true), ("[]", true),
    ])
    func aFlagMarksWhatIsGone(value: String, isGone: Bool) async throws {
        #expect(try await isGone == self.isGone(value, .flag(keyPath: "mark")))
    }

    @Test(arguments: [
        (#""gone""#, "gone", true), (#""here""#, "gone", false), ("3", "3", true), ("4", "3", false),
        ("true", "true", true), ("false", "true", false), ("null", "null", false), (#"["gone"]"#, "gone", false),
    ])
    func aFieldMarksWhatIsGoneByItsValue(value: String, mark: String, isGone: Bool) async throws {
        #expect(try await isGone == self.isGone(value, .field(keyPath: "mark", equals: mark)))
    }

    /// Whether an object with a mark is deleted.
    private func isGone(_ value: String, _ tombstones: RemotePage.Tombstones) async throws -> Bool {
        let world = try SyncWorld.users()
        try await world.sync(usersJSON(1...2))
        let json = #"[{"id":2,"name":"marked","mark":\#(value)},{"id":3,"name":"other"}]"#
        try await world.json.apply([.objects(.bytes(Array(json.utf8)), tombstones: tombstones)], into: "User")
        let names = try await world.names()
        #expect(names[1] == "user 1" && names[3] == "other")
        #expect(names[2] == nil || names[2] == "marked")
        return names[2] == nil
    }
}
