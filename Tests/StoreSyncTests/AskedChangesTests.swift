import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import Testing

/// After which cursor a sync asks a source for its changes; on every store.
@Suite(.endsInTime) struct AskedChangesTests {
    /// How the store finds the object of an element.
    enum Recognition: CaseIterable {
        case key, content, nothing
    }

    private static func model(_ recognition: Recognition = .key) throws -> DataModel {
        let identity: [String] =
            switch recognition {
            case .key: ["number"]
            case .content: ["hash"]
            case .nothing: []
            }
        var attributes = [SyncAttribute("number", .int64), SyncAttribute("name", .string)]
        if recognition == .content {
            attributes.append(SyncAttribute("hash", .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"]))
        }
        return try DataModel([
            SyncEntity("Thing", identity: identity, attributes: attributes, relationships: []), SyncEntity.bookmark,
        ])
    }

    /// Without a key, a changed element is another object.
    @Test(arguments: StoreKind.all, Recognition.allCases)
    func changesAreRequestedOnlyIfTheObjectsHaveAKey(kind: StoreKind, recognition: Recognition) async throws {
        try await RealJSONWorld.with(kind, try Self.model(recognition)) { world in
            let source = ChangingList([
                ChangingList.Step(list: #"[{"number":1,"name":"a"},{"number":2,"name":"b"}]"#),
                ChangingList.Step(
                    list: #"[{"number":1,"name":"a"},{"number":2,"name":"c"}]"#,
                    changes: #"[{"number":2,"name":"c"}]"#),
            ])
            let result = try await world.store.sync(from: source, into: "Thing")
            for _ in 0..<2 { try await world.store.sync(from: source, into: "Thing") }
            #expect(try await world.values("name", of: "Thing") == ["a", "c"])
            let hasKey = recognition == .key
            let cursors: [String?] = hasKey ? [nil, "1", "2"] : [nil, nil, nil]
            #expect(source.cursors == cursors)
            let isTold = result.warnings.contains("no key identifies Thing, so every sync reads the whole list")
            #expect(isTold != hasKey, "\(result.warnings)")
        }
    }

    // MARK: Rejected objects

    @Test(arguments: StoreKind.all)
    func changesWithARejectedObjectAreRequestedAgain(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.model()) { world in
            let rejected = ChangingList.Step(changes: #"[{"number":1,"name":"b"},{"name":"c"}]"#)
            let source = ChangingList([
                ChangingList.Step(list: #"[{"number":1,"name":"a"}]"#), rejected, rejected,
                ChangingList.Step(changes: #"[{"number":1,"name":"b"},{"number":2,"name":"c"}]"#),
            ])
            for count in [0, 1, 1, 0, 0] {
                let result = try await world.store.sync(from: source, into: "Thing")
                #expect(result.rejectedCount == count)
            }
            let cursors: [String?] = [nil, "1", "1", "1", "4"]
            #expect(source.cursors == cursors)
            #expect(try await world.values("name", of: "Thing") == ["b", "c"])
        }
    }

    /// The object itself does not change when its parent comes.
    @Test(arguments: StoreKind.all)
    func aListIsReadAgainUntilTheStoreHasTheParents(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Box", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toMany: "Line", inverse: "box", deleteRule: .cascade)
            }
            SyncEntity("Line", identity: "number", within: "box") {
                SyncAttribute("number", .int64)
                SyncRelationship("box", toOne: "Box", inverse: "lines")
            }
            SyncEntity.bookmark
        }
        try await RealJSONWorld.with(kind, model) { world in
            let lines = #"[{"number":1,"box_id":1},{"number":2,"box_id":9}]"#
            let source = ChangingList([ChangingList.Step(list: lines)])
            try await world.store.sync(.text(#"[{"id":1}]"#), into: "Box")
            let first = try await world.store.sync(from: source, into: "Line")
            #expect(first.rejectedCount == 1 && first.counts.inserted == 1)
            try await world.store.sync(.text(#"[{"id":1},{"id":9}]"#), into: "Box")
            for _ in 0..<2 { try await world.store.sync(from: source, into: "Line") }
            #expect(try await world.values("number", of: "Line") == [1, 2])
            let cursors: [String?] = [nil, nil, "2"]
            #expect(source.cursors == cursors)
        }
    }

    // MARK: Cursors that expire

    /// The page of changes has an object that is gone when the whole list is read.
    @Test(arguments: StoreKind.all)
    func aCursorThatExpiresBetweenPagesMeansTheWholeList(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try Self.model()) { world in
            let source = ChangingList([
                ChangingList.Step(list: #"[{"number":1,"name":"a"},{"number":2,"name":"b"}]"#),
                ChangingList.Step(
                    list: #"[{"number":1,"name":"a"}]"#, changes: #"[{"number":2,"name":"c"}]"#, expires: true),
            ])
            try await world.store.sync(from: source, into: "Thing")
            let plan = try await world.store.plan(from: source, into: "Thing")
            let result = try await world.store.sync(from: source, into: "Thing")
            #expect(plan == result)
            #expect(result.coverage == .everything)
            #expect(result.counts.all == [0, 0, 1, 1])
            #expect(try await world.values("name", of: "Thing") == ["a"])
            let cursors: [String?] = [nil, "1", nil, "1", nil]
            #expect(source.cursors == cursors)
        }
    }
}

/// A source of a list and its changes. The cursor after a pass is its number, from 1.
private struct ChangingList: RemoteSource {
    /// What one pass has.
    struct Step {
        /// The JSON of the whole list.
        var list = "[]"
        /// The JSON of the changes after any cursor.
        var changes = "[]"
        /// Whether the cursor expires after the page of changes.
        var expires = false
    }

    let name = "changing"
    let fingerprint = ""
    /// What each pass has; the last one is repeated.
    private let steps: [Step]
    private let begun = Locked<[String?]>([])

    init(_ steps: [Step]) {
        self.steps = steps
    }

    /// The cursors after which passes began; nil for a whole list.
    var cursors: [String?] { begun.withLock(\.self) }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        let number = begun.withLock { begun in
            begun.append(bookmark?.cursor)
            return begun.count
        }
        let step = steps[min(number, steps.count) - 1]
        return .changed(Pass(step: step, isWhole: bookmark?.cursor == nil, number: number))
    }

    private actor Pass: RemotePass {
        private let step: Step
        private let isWhole: Bool
        private let number: Int
        private var isRead = false

        init(step: Step, isWhole: Bool, number: Int) {
            (self.step, self.isWhole, self.number) = (step, isWhole, number)
        }

        func next() async throws -> RemotePage? {
            guard !isRead else {
                if step.expires, !isWhole { throw ExpiredCursor() }
                return nil
            }
            isRead = true
            return RemotePage(.text(isWhole ? step.list : step.changes))
        }

        func rewind() async throws { isRead = false }

        func end() async throws -> RemoteEnd {
            RemoteEnd(
                isWhole ? .everything : .changes, isSnapshot: true, bookmark: SyncBookmark(cursor: "\(number)"))
        }
    }
}
