import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import Testing

/// In how many portions objects come makes no difference: batches of a list, pages of a source, and
/// changes that are pushed.
@Suite(.endsInTime) struct PortionsTests {
    /// Users that share companies and have notes of their own; equal objects are always described
    /// equally.
    private static func users(seed: UInt64) -> [String] {
        var random = SeededRandom(seed: seed)
        return (1...12).shuffled(using: &random).map { id in
            var parts = [#""id":\#(id),"name":"user \#(id)""#]
            let company = Int.random(in: 0...3, using: &random)
            if company > 0 { parts.append(#""company":{"id":\#(company),"name":"company \#(company)"}"#) }
            let notes = (0..<Int.random(in: 0...2, using: &random)).map { #"{"id":\#(id * 10 + $0),"text":"\#(id)"}"# }
            parts.append(#""notes":[\#(notes.joined(separator: ","))]"#)
            if id > 1, Bool.random(using: &random) { parts.append(#""manager_id":\#(id / 2)"#) }
            return "{\(parts.joined(separator: ","))}"
        }
    }

    private static func portions(of users: [String], _ count: Int) -> [String] {
        stride(from: 0, to: users.count, by: count).map { first in
            "[\(users[first..<min(first + count, users.count)].joined(separator: ","))]"
        }
    }

    /// Batches of some rows.
    private struct Rows: StoreHook {
        let batchRowCount: Int?
    }

    private struct Pages: RemoteSource {
        let name = "portions"
        let fingerprint = ""
        let pages: [String]

        func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
            .changed(Pass(pages: pages))
        }

        actor Pass: RemotePass {
            private let pages: [String]
            private var index = 0

            init(pages: [String]) { self.pages = pages }

            func next() async throws -> RemotePage? {
                guard index < pages.count else { return nil }
                defer { index += 1 }
                return RemotePage(.bytes(Array(pages[index].utf8)))
            }

            func rewind() async throws { index = 0 }

            func end() async throws -> RemoteEnd {
                RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark())
            }
        }
    }

    private func world(_ rowCount: Int = 1000) throws -> SyncWorld {
        try SyncWorld { HookedStore($0, Rows(batchRowCount: rowCount)) }
    }

    /// What a store has, without what depends on the numbers of its rows and on the way in.
    private func state(of world: SyncWorld) async throws -> [String] {
        try await world.state().filter { !$0.hasPrefix("SyncPendingLink") && !$0.hasPrefix("SyncBookmark") }
    }

    @Test(arguments: seeds(1, thorough: 12)) func howManyObjectsComeTogetherMakesNoDifference(seed: UInt64) async throws
    {
        let users = Self.users(seed: seed)
        let whole = try world()
        try await whole.sync("[\(users.joined(separator: ","))]")
        let expected = try await state(of: whole)
        #expect(expected.count { $0.hasPrefix("User ") } == users.count)
        try await Axes.forEach(Axes.pageRowCounts, Axes.batchRowCounts) { pageRowCount, batchRowCount in
            let portions = Self.portions(of: users, pageRowCount)
            let list = try world(batchRowCount)
            try await list.sync("[\(users.joined(separator: ","))]")
            #expect(try await state(of: list) == expected, "batches of \(batchRowCount)")
            let paged = try world(batchRowCount)
            let result = try await paged.json.sync(from: Pages(pages: portions), into: "User")
            #expect(try await state(of: paged) == expected, "pages of \(pageRowCount), batches of \(batchRowCount)")
            #expect(result.counts.inserted == users.count && result.counts.deleted == 0)
            #expect(try await paged.json.sync(from: Pages(pages: portions), into: "User").isUnchanged)
            let pushed = try world(batchRowCount)
            for portion in portions {
                try await pushed.json.apply([.objects(.bytes(Array(portion.utf8)))], into: "User")
            }
            #expect(try await state(of: pushed) == expected, "pushes of \(pageRowCount), batches of \(batchRowCount)")
            let together = try world(batchRowCount)
            try await together.json.apply(portions.map { .objects(.bytes(Array($0.utf8))) }, into: "User")
            #expect(try await state(of: together) == expected, "one push of portions of \(pageRowCount)")
        }
    }

    /// Cancelled before any of its pages, a sync has changed nothing or everything; the next one
    /// completes it.
    @Test(arguments: Axes.pageRowCounts) func aSyncCancelledAtAnyPageIsWholeOrNothing(rowCount: Int) async throws {
        let portions = Self.portions(of: Self.users(seed: 1), rowCount)
        let whole = try world()
        try await whole.json.sync(from: Pages(pages: portions), into: "User")
        let expected = try await state(of: whole)
        for cut in 0...portions.count {
            let world = try world()
            let source = CancellingSource(source: Pages(pages: portions), cut: cut)
            let sync = Task { try await world.json.sync(from: source, into: "User") }
            source.cancel.value = { sync.cancel() }
            source.mayBegin.open()
            let result = await sync.result
            let after = try await state(of: world)
            switch result {
            case .success: #expect(after == expected, "\(cut)")
            case .failure(let error):
                #expect(error is CancellationError, "\(cut): \(error)")
                #expect(after == [], "\(cut)")
            }
            try await world.json.sync(from: Pages(pages: portions), into: "User")
            #expect(try await state(of: world) == expected, "\(cut)")
        }
    }

    /// Cancels the sync that reads it before a page.
    private struct CancellingSource: RemoteSource {
        let name = "portions"
        let fingerprint = ""
        let source: Pages
        let cut: Int
        let cancel = Locked<(@Sendable () -> Void)?>(nil)
        let mayBegin = Gate()

        func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
            try await mayBegin.pass()
            return .changed(Pass(source: self, pass: Pages.Pass(pages: source.pages)))
        }

        actor Pass: RemotePass {
            private let source: CancellingSource
            private let pass: Pages.Pass
            private var index = 0

            init(source: CancellingSource, pass: Pages.Pass) {
                self.source = source
                self.pass = pass
            }

            func next() async throws -> RemotePage? {
                if index == source.cut { source.cancel.value?() }
                index += 1
                return try await pass.next()
            }

            func rewind() async throws { try await pass.rewind() }

            func end() async throws -> RemoteEnd { try await pass.end() }
        }
    }
}
