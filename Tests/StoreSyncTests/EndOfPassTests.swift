import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// What is decided when the whole payload is known.
@Suite(.endsInTime) struct EndOfPassTests {
    // MARK: Identifiers whose objects are not there

    @Test func anIdentifierIsRememberedUntilItsObjectComes() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7},{"id":2,"company_id":8}]"#)
        #expect(try await world.column("id", where: "company != null") == [])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 2)
        // JSON: of the object an array, of what it names the identifier.
        #expect(try await world.column("objectKey", of: "SyncPendingLink") == ["[1]", "[2]"])
        #expect(try await world.column("identifier", of: "SyncPendingLink") == ["7", "8"])
        try await world.sync(#"[{"id":7}]"#, into: "Company")
        #expect(try await world.column("id", where: "company.id == 7") == [1])
        try await world.sync(#"[{"id":7},{"id":8}]"#, into: "Company")
        #expect(try await world.column("id", where: "company.id == 8") == [2])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    /// Note 7 states another owner, which says nothing about note 8.
    @Test func eachIdentifierOfAListWaitsForItself() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes_ids":[7,8,9]},{"id":2}]"#)
        #expect(try await world.column("position", of: "SyncPendingLink") == [0, 1, 2])
        try await world.sync(#"[{"id":7,"user_id":2}]"#, into: "Note")
        #expect(try await world.column("id", of: "Note", where: "user.id == 2") == [7])
        #expect(try await world.column("identifier", of: "SyncPendingLink") == ["8", "9"])
        try await world.sync(#"[{"id":7,"user_id":2},{"id":9}]"#, into: "Note")
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [9])
        #expect(try await world.column("identifier", of: "SyncPendingLink") == ["8"])
    }

    /// A list that becomes shorter leaves none of its identifiers.
    @Test func aListOfIdentifiersIsRememberedAnew() async throws {
        let world = try SyncWorld()
        let lists: [(String, [AttributeValue])] = [
            ("[7,8,9]", [0, 1, 2]), ("[9,8]", [0, 1]), ("[8]", [0]), ("[]", []),
        ]
        for (identifiers, positions) in lists {
            try await world.sync(#"[{"id":1,"notes_ids":\#(identifiers)}]"#)
            let stored = try await world.column("identifier", of: "SyncPendingLink")
            #expect(try await world.column("position", of: "SyncPendingLink") == positions)
            #expect(Set(stored.map { "\($0)" }).count == positions.count)
        }
    }

    /// The deletion of a source ends the wait, whoever deletes it.
    @Test func anObjectThatIsDeletedWaitsForNothing() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7},{"id":2,"company_id":8}]"#)
        try await world.sync(#"[{"id":2,"company_id":8}]"#)
        #expect(try await world.column("identifier", of: "SyncPendingLink") == ["8"])
        let all = StoreQuery("User")
        try await world.store.transaction { _ = try await $0.remove(all) }
        try await world.sync(#"[{"id":8}]"#, into: "Company")
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    @Test func anIdentifierThatIsTakenBackIsForgotten() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7}]"#)
        let result = try await world.sync(#"[{"id":1,"company_id":null}]"#)
        // Only what is remembered has changed.
        #expect(result.counts.all == [0, 0, 1, 0])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
        try await world.sync(#"[{"id":7}]"#, into: "Company")
        #expect(try await world.column("id", where: "company != null") == [])
    }

    @Test func anUpdateOfOneObjectRemembersAnIdentifierAndForgetsIt() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        func update(_ json: String) async throws {
            _ = try await world.json.update(.identity(1), in: "User", with: try JSONValue(parsing: json))
        }
        try await update(#"{"company_id":7}"#)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 1)
        try await update(#"{"company_id":null}"#)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
        try await update(#"{"company_id":8}"#)
        try await world.sync(#"[{"id":7},{"id":8}]"#, into: "Company")
        #expect(try await world.column("id", where: "company.id = 8") == [1])
    }

    /// The update changes the identity of the object.
    @Test func anUpdatedObjectIsFoundByItsNewIdentity() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1}]"#)
        let json = #"{"id":5,"manager_id":5,"reports":[{"id":5,"name":"own"}]}"#
        _ = try await world.json.update(.identity(1), in: "User", with: try JSONValue(parsing: json))
        #expect(try await world.column("id", where: "manager.id = 5") == [5])
        #expect(try await world.column("name") == ["own"])
    }

    /// The word comes in another batch.
    @Test func aLaterWordCountsInPlaceOfAnObjectThatIsDeleted() async throws {
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        try await world.sync(#"[{"id":1},{"id":5}]"#)
        let result = try await world.sync(#"[{"id":1,"manager_id":5},{"id":1,"manager_id":null}]"#)
        #expect(result.counts.deleted == 1)
        #expect(result.drift.entries.map(\.kind) == [.duplicate, .conflict])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    /// One object of the list is unknown, and the end of the pass deletes the other one.
    @Test func aListRemembersAllThatTheEndOfThePassLacks() async throws {
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        try await world.sync(#"[{"id":1},{"id":5}]"#)
        let result = try await world.sync(#"[{"id":1,"reports_ids":[5,9,4]},{"id":4}]"#)
        #expect(result.counts.deleted == 1)
        #expect(result.drift.count(of: .unknownIdentifier) == 2)
        #expect(try await world.column("id", where: "manager.id == 1") == [4])
        try await world.sync(#"[{"id":9},{"id":5},{"id":4},{"id":1}]"#)
        #expect(try await world.column("id", where: "manager.id == 1") == [4, 5, 9])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    /// An object belongs to the one that nests it.
    @Test func aNestedObjectForgetsTheUnknownOwnerThatItNames() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":3,"user_id":2}]}]"#)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
        try await world.sync(#"[{"id":2}]"#, [.insert])
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [3])
    }

    /// Databases give the numbers of deleted objects to new ones.
    @Test func anIdentifierIsForgottenIfAnotherObjectHasTheNumberOfItsOwn() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7},{"id":2}]"#)
        let others = try await world.store.records(StoreQuery("User", where: PropertyPath("id") == 2))
        let other = try #require(others.first)
        for stored in try await world.store.records(StoreQuery("SyncPendingLink")) {
            var record = stored.record
            record["object"] = .int(other.object)
            try await world.store.transaction { [record] in _ = try await $0.update(stored.object, to: record) }
        }
        try await world.sync(#"[{"id":7}]"#, into: "Company")
        #expect(try await world.column("id", where: "company != null") == [])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    /// Another program can write into the tables of bookkeeping.
    @Test(
        arguments: [
            ["position": .int(-5)], ["position": .int(.max)], ["position": .int(.min)], ["identifier": "x"],
            ["identifier": "[1,"], ["identifier": ""], ["object": .int(-1)], ["objectKey": "no JSON"],
        ] as [[String: AttributeValue]])
    func whatOthersWriteInPlaceOfAnIdentifierIsHarmless(values: [String: AttributeValue]) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes_ids":[7,8]}]"#)
        for stored in try await world.store.records(StoreQuery("SyncPendingLink", where: PropertyPath("position") == 0))
        {
            var record = stored.record
            for (name, value) in values { record[name] = value }
            try await world.store.transaction { [record] in _ = try await $0.update(stored.object, to: record) }
        }
        try await world.sync(#"[{"id":7},{"id":8}]"#, into: "Note")
        #expect(try await world.column("id", of: "Note", where: "user.id == 1").contains(8))
    }

    /// A double does not have that many digits.
    @Test func aRememberedIdentifierKeepsAllItsDigits() async throws {
        let model = try DataModel {
            SyncEntity("Transfer", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("account", toOne: "Account")
            }
            SyncEntity("Account", identity: "number") { SyncAttribute("number", .decimal) }
        }
        let world = try SyncWorld(model: model)
        let number = "12345678901234567890.0123456789"
        try await world.sync(#"[{"id":1,"account":\#(number)}]"#, into: "Transfer")
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 1)
        try await world.sync(#"[{"number":\#(number)}]"#, into: "Account")
        #expect(try await world.column("id", of: "Transfer", where: "account != null") == [1])
    }

    /// A relationship that the model has no more leaves nothing to wait for.
    @Test(arguments: ["User.former", .null] as [AttributeValue])
    func anIdentifierOfAnUnknownRelationshipIsForgotten(relationship: AttributeValue) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7}]"#)
        for stored in try await world.store.records(StoreQuery("SyncPendingLink")) {
            var record = stored.record
            record["relationship"] = relationship
            try await world.store.transaction { [record] in _ = try await $0.update(stored.object, to: record) }
        }
        try await world.sync(#"[{"id":1}]"#)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    // MARK: Absent objects

    private struct CountedCalls: StoreHook {
        let counts = Locked(0)

        func willMake(_ call: StoreCall) {
            if call == .count { counts.withLock { $0 += 1 } }
        }
    }

    /// Objects are counted to save a look at all of them. A scope may be a small part of a table.
    @Test func onlyAWholeTableIsCounted() async throws {
        let calls = CountedCalls()
        let world = try Self.boxes { HookedStore($0, calls) }
        try await world.sync(#"[{"id":1},{"id":2},{"id":5}]"#, into: "Tool")
        let countOfWhole = calls.counts.withLock(\.self)
        let narrow = StoreSyncOptions(scope: PropertyPath("id") < 3)
        let result = try await world.json.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "Tool", options: narrow)
        #expect(result.counts.all == [0, 0, 1, 1])
        #expect(try await world.column("id", of: "Tool") == [1, 5])
        #expect(calls.counts.withLock(\.self) - countOfWhole == countOfWhole - 1)
    }

    // MARK: Children

    private static func boxes(_ wrap: (any Store) -> any Store = { $0 }) throws -> SyncWorld {
        try SyncWorld(
            model: DataModel {
                SyncEntity("Box", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("parts", toMany: "Part", deleteRule: .cascade)
                    SyncRelationship("tools", toMany: "Tool", deleteRule: .cascade)
                    SyncRelationship("lines", toMany: "Line", inverse: "box", deleteRule: .cascade)
                }
                SyncEntity("Part") { SyncAttribute("name", .string) }
                SyncEntity("Tool", identity: "id") { SyncAttribute("id", .int64) }
                SyncEntity("Line", identity: "number", within: "box") {
                    SyncAttribute("number", .int64)
                    SyncRelationship("box", toOne: "Box", inverse: "lines")
                }
            }, contract: nil, wrap)
    }

    @Test func childrenWithoutAnIdentityThatAListLacksAreDeleted() async throws {
        let world = try Self.boxes()
        try await world.sync(#"[{"id":1,"parts":[{"name":"a"},{"name":"b"},{"name":"c"}]}]"#, into: "Box")
        let shorter = try await world.sync(#"[{"id":1,"parts":[{"name":"a"}]}]"#, into: "Box")
        #expect(try await world.column("name", of: "Part") == ["a"])
        #expect(shorter.countsByEntity["Part"]?.all == [0, 0, 1, 2])
        try await world.sync(#"[{"id":1,"parts":null}]"#, into: "Box")
        #expect(try await world.column("name", of: "Part") == [])
    }

    /// Both statements are in batches of their own.
    @Test func childrenWithoutAnIdentityThatALaterStatementHasAgainStay() async throws {
        let world = try Self.boxes { HookedStore($0, SingleRows()) }
        let all = #"{"id":1,"parts":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#
        try await world.sync("[\(all)]", into: "Box")
        let result = try await world.sync(#"[{"id":1,"parts":[{"name":"a"}]},\#(all)]"#, into: "Box")
        #expect(try await world.column("name", of: "Part").map { "\($0)" }.sorted() == ["\"a\"", "\"b\"", "\"c\""])
        #expect(result.countsByEntity["Part"].map { $0.inserted + $0.deleted } == 0)
    }

    /// Objects that a list contains belong to it; those that it names do not.
    @Test func ofTwoListsTheOneThatContainsItsObjectsDeletesThem() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1},{"id":2}]},{"id":2,"notes":[{"id":3},{"id":4}]}]"#)
        let result = try await world.sync(#"[{"id":1,"notes":[{"id":1}]},{"id":2,"notes_ids":[3]}]"#)
        #expect(result.countsByEntity["Note"]?.deleted == 1)
        #expect(try await world.column("id", of: "Note") == [1, 3, 4])
        #expect(try await world.column("id", of: "Note", where: "user == null") == [4])
    }

    @Test func linesOfAParentAreIdentifiedWithinIt() async throws {
        let world = try Self.boxes()
        try await world.sync(#"[{"id":1,"lines":[{"number":1}]},{"id":2,"lines":[{"number":1}]}]"#, into: "Box")
        let box = StoreSyncOptions.Parent("Box", where: PropertyPath("id") == 2)
        for expected in [[1, 0, 1, 0], [0, 0, 2, 0]] {
            let result = try await world.sync(#"[{"number":1},{"number":2}]"#, into: "Line", childrenOf: box)
            #expect(result.counts.all == expected)
        }
        #expect(try await world.column("number", of: "Line", where: "box.id == 2") == [1, 2])
        #expect(try await world.column("number", of: "Line", where: "box.id == 1") == [1])
    }

    /// Only an identity that does not fit may hide an object.
    @Test(arguments: [(#"{"id":1,"age":"old"}"#, 1), (#"{"id":1},{"id":"one"}"#, 0)])
    func aValueThatDoesNotFitHidesNoObject(users: String, deletedCount: Int) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        let result = try await world.sync("[\(users)]")
        #expect(result.drift.count(of: .unfitValue) == 1)
        #expect(result.counts.deleted == deletedCount)
    }

    @Test func anIdentifierThatDoesNotFitIsNoObjectThatIsLeftOut() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        let result = try await world.sync(#"[{"id":1,"manager_id":"two"}]"#)
        #expect(result.rejectedCount == 0)
        #expect(result.drift.entries.map(\.keyPath) == ["manager"])
        #expect(result.counts.deleted == 1)
    }

    /// Most objects of a batch are merged before those that lead to them.
    @Test func anObjectThatIsLeftOutBringsNoOther() async throws {
        let world = try SyncWorld()
        let json = #"[{"id":1,"company":{"id":7}},{"company":{"id":8}},{"id":3,"company":{"id":9}}]"#
        let result = try await world.sync(json)
        #expect(result.rejectedCount == 1)
        #expect(try await world.column("id", of: "Company") == [7, 9])
        #expect(try await world.column("id", where: "company != null") == [1, 3])
    }

    @Test func aChildOfADeletedParentThatThePayloadHasStays() async throws {
        let world = try Self.boxes()
        try await world.sync(#"[{"id":1,"tools":[{"id":5},{"id":6}]},{"id":2,"tools":[{"id":6}]}]"#, into: "Box")
        try await world.sync(#"[{"id":2,"tools":[{"id":6}]}]"#, into: "Box")
        #expect(try await world.column("id", of: "Tool") == [6])
        #expect(try await world.state().contains { $0.hasPrefix("Box [2]") && $0.contains("[6]") })
    }

    @Test func anObjectWhoseParentIsUnknownMayBeTheOneThatIsAbsent() async throws {
        let world = try Self.boxes()
        try await world.sync(#"[{"id":1,"lines":[{"number":1},{"number":2}]}]"#, into: "Box")
        let doubtful = try await world.sync(#"[{"number":1,"box_id":1},{"number":2}]"#, into: "Line")
        #expect(doubtful.rejectedCount == 1 && doubtful.counts.kept == 1)
        #expect(try await world.column("number", of: "Line") == [1, 2])
        let certain = try await world.sync(#"[{"number":1,"box_id":1}]"#, into: "Line")
        #expect(certain.counts.deleted == 1)
    }

    // MARK: Pages

    @Test func whatALaterPageNamesAsGoneIsGone() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":2},{"id":3}]"#)
        let source = PagedSource(
            pages: [#"{"items":[{"id":1},{"id":2}],"gone":[]}"#, #"{"items":[{"id":3}],"gone":[2]}"#])
        let result = try await world.json.sync(
            from: source, into: "User", options: StoreSyncOptions(keyPath: "items"))
        #expect(try await world.column("id") == [1, 3])
        #expect(result.counts.all == [1, 0, 2, 1])
    }

    /// Servers report errors with status 200 too, in place of a list.
    @Test(arguments: [
        ([#"[{"id":1}]"#, #"[{"error":"slow down"}]"#], 3), ([#"[{"id":1}]"#, "[{}]"], 3),
        ([#"[{"id":null}]"#, #"[{"id":1}]"#], 3),
        // One object without a key beside others is only left out.
        ([#"[{"id":1},{"error":"slow down"}]"#], 1), (["[]"], 0),
    ])
    func aPageWithoutAnyObjectDeletesNothing(pages: [String], kept: Int) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
        let result = try await world.json.sync(
            from: PagedSource(pages: pages.map { #"{"items":\#($0),"gone":[]}"# }), into: "User",
            options: StoreSyncOptions(keyPath: "items"))
        #expect(try await world.column("id").count == kept)
        #expect(result.counts.kept == (kept == 3 ? 2 : 0))
    }

    @Test(arguments: [[#"[{"error":"slow down"}]"#], ["[{}]", "[null]"], [#"[{"id":null}]"#]])
    func pagesWithoutAnyObjectFail(pages: [String]) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
        let source = PagedSource(pages: pages.map { #"{"items":\#($0),"gone":[]}"# })
        await #expect(
            throws: StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: pages.count)
        ) {
            try await world.json.sync(from: source, into: "User", options: StoreSyncOptions(keyPath: "items"))
        }
        #expect(try await world.column("id").count == 3)
    }

    @Test func aBookmarkCountsOnlyForTheSamePass() async throws {
        let world = try SyncWorld(model: UserModel.withEverything().adding([SyncEntity.bookmark]))
        let source = PagedSource(pages: [#"{"items":[{"id":1}],"others":[{"id":1}],"gone":[]}"#])
        for (keyPath, isKnown) in [("items", false), ("items", true), ("others", false), ("others", true)] {
            try await world.json.sync(from: source, into: "User", options: StoreSyncOptions(keyPath: keyPath))
            #expect(source.bookmarks.value.last == (isKnown ? "c" : ""), "\(keyPath)")
        }
        var options = StoreSyncOptions(operations: [.insert], keyPath: "others")
        try await world.json.sync(from: source, into: "User", options: options)
        #expect(source.bookmarks.value.last == "")
        options.scope = PropertyPath("age") > 3
        try await world.json.sync(from: source, into: "User", options: options)
        #expect(source.bookmarks.value.last == "")
    }

    /// The link is made at the end, by a relationship of the entity above.
    @Test func aLateLinkIsCountedForTheEntityOfItsObject() async throws {
        let model = try DataModel {
            SyncEntity("Employee", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("boss", toOne: "Employee", inverse: "reports")
                SyncRelationship("reports", toMany: "Employee", inverse: "boss")
            }
            SyncEntity("Manager", parent: "Employee") {}
        }
        let world = try SyncWorld(model: model) { HookedStore($0, SmallBatches(1)) }
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Manager")
        let result = try await world.sync(#"[{"id":1,"boss_id":3},{"id":2},{"id":3}]"#, into: "Manager")
        #expect(result.countsByEntity.mapValues(\.all) == ["Manager": [1, 1, 1, 0]])
        #expect(try await world.column("id", of: "Manager", where: "boss.id = 3") == [1])
    }
}

/// A source of whole pages with lists of what is gone, which asks for changes after `c`.
private struct PagedSource: RemoteSource {
    let name = "paged"
    let fingerprint = ""
    let pages: [String]
    /// The cursors of the bookmarks that passes began after; empty for none.
    let bookmarks = Locked<[String]>([])

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        bookmarks.withLock { $0.append(bookmark?.cursor ?? "") }
        return .changed(Pass(left: pages))
    }

    private actor Pass: RemotePass {
        private var left: [String]

        init(left: [String]) { self.left = left }

        func next() async throws -> RemotePage? {
            guard !left.isEmpty else { return nil }
            return RemotePage(.bytes(Array(left.removeFirst().utf8)), tombstones: .list(keyPath: "gone"))
        }

        func rewind() async throws {}

        func end() async throws -> RemoteEnd {
            RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark(cursor: "c"))
        }
    }
}
