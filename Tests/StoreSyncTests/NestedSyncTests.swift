import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct NestedSyncTests {
    @Test(arguments: [3, 40])
    func anObjectThatAListHasTwiceIsReported(count: Int) async throws {
        let world = try SyncWorld()
        let tags = (1...count).map { #"{"name":"\#($0)"}"# }
        for (list, duplicateCount) in [(tags, 0), (tags + [tags[1]], 1)] {
            let result = try await world.sync(#"[{"id":1,"tags":[\#(list.joined(separator: ","))]}]"#)
            #expect(result.drift.count(of: .duplicate) == duplicateCount)
            #expect(try await world.store.count(StoreQuery("Tag")) == count)
        }
    }

    @Test func aParentThatGetsANewChildIsUpdated() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1}]},{"id":2,"notes":[]}]"#)
        let result = try await world.sync(#"[{"id":1,"notes":[{"id":1}]},{"id":2,"notes":[{"id":2}]}]"#)
        #expect(result.counts.all == [0, 1, 1, 0])
        #expect(result.keys?.updated == [.identity(2)])
        #expect(result.countsByEntity["Note"]?.all == [1, 0, 1, 0])
        #expect(try await world.column("id", of: "Note", where: "user.id == 2") == [2])
    }

    @Test(arguments: ["", #"{"id":1},{"id":2},"#])
    func aNewChildOfTwoParentsBelongsToTheLaterOne(_ known: String) async throws {
        let world = try SyncWorld()
        if !known.isEmpty { try await world.sync("[\(known.dropLast())]") }
        let result = try await world.sync(#"[{"id":1,"notes":[{"id":1}]},{"id":2,"notes":[{"id":2},{"id":1}]}]"#)
        #expect(try await world.column("id", of: "Note", where: "user.id == 2") == [1, 2])
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [])
        // A stored user had the note in between, as far as the counts go.
        #expect(result.counts.all == (known.isEmpty ? [2, 0, 0, 0] : [0, 2, 0, 0]))
    }

    @Test func whatAnObjectSaysCountsMoreThanWhatItsChildrenSayOfIt() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":5,"user":{"id":1,"notes":[{"id":9}]}}]}]"#)
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [5])
        #expect(try await world.column("id", of: "Note") == [5])
    }

    /// The list says whose company it is, and only the nested object what the company is.
    @Test(arguments: [#""company":{"id":7}"#, #""company_id":7"#], [true, false])
    func whatOnlyANestedObjectSaysOfAThirdOneIsKept(company: String, isNestedFirst: Bool) async throws {
        let nesting = #"{"id":1,\#(company),"manager":{"id":2,"company":{"id":7,"name":"Apple"}}}"#
        let list = [nesting, #"{"id":2,\#(company)}"#]
        let json = "[\((isNestedFirst ? list : list.reversed()).joined(separator: ","))]"
        let world = try SyncWorld()
        let result = try await world.sync(json)
        #expect(result.countsByEntity["Company"]?.inserted == 1)
        #expect(try await world.column("name", of: "Company") == ["Apple"])
        #expect(try await world.column("id", where: "company.id == 7") == [1, 2])
        #expect(try await world.sync(json).countsByEntity.values.allSatisfy { $0.inserted + $0.updated == 0 })
    }

    @Test func aMisfitOfANestedObjectIsReportedWhereTheListDecides() async throws {
        let world = try SyncWorld()
        let result = try await world.sync(
            #"[{"id":1,"manager":{"id":2,"company":[true]}},{"id":2,"company":{"id":7}}]"#)
        #expect(result.drift.entries.map(\.keyPath) == ["company"])
        #expect(try await world.column("id", where: "company.id == 7") == [2])
    }

    @Test func aNewChildThatNamesAnotherParentBelongsToTheOneItIsNestedIn() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":2},{"id":1,"notes":[{"id":1,"user_id":2},{"id":2,"user":{"id":2}}]}]"#)
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [1, 2])
    }

    @Test func childrenAreNotRelatedWhereLinksAreOnlyTakenOff() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1},{"id":2}]}]"#)
        try await world.sync(
            #"[{"id":1,"notes":[{"id":1},{"id":3}]}]"#, [.insert, .update, .delete, .deleteRelationships])
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [1])
    }

    @Test func aNestedObjectIsGivenToTheStoreOnceAsLongAsItIsTheSame() async throws {
        let counter = MergeCounter()
        let world = try SyncWorld { HookedStore($0, counter) }
        func list(_ names: [String]) -> String {
            let users = names.enumerated().map { #"{"id":\#($0 + 1),"company":{"id":7,"name":"\#($1)"}}"# }
            return "[\(users.joined(separator: ","))]"
        }
        for _ in 0..<2 {
            counter.merged.value = []
            let result = try await world.sync(list(["a", "a", "a", "a"]))
            #expect(counter.merged.value.sorted() == ["Company", "User", "User", "User", "User"])
            #expect(result.countsByEntity["Company"].map { $0.inserted + $0.unchanged } == 1)
        }
        #expect(try await world.column("id", where: "company.id == 7") == [1, 2, 3, 4])
        // What differs from the first statement is compared with the store.
        for names in [["a", "b", "a"], ["b", "a", "b"], ["b", "c", "c", "b"], ["c", "b", "c", "c", "a"]] {
            for _ in 0..<2 {
                let result = try await world.sync(list(names))
                #expect(try await world.column("name", of: "Company") == [.string(names[0])])
                #expect(result.drift.count(of: .conflict) == names.count { $0 != names[0] })
            }
            #expect(try await world.sync(list(names)).countsByEntity["Company"]?.all == [0, 0, 1, 0])
        }
    }
}

/// Notes the entities of merges, and asks for batches of one row.
private final class MergeCounter: StoreHook {
    let merged = Locked<[String]>([])

    var batchRowCount: Int? { 1 }

    func policy(_ policy: MergeRequest.Policy, of entity: String?) -> MergeRequest.Policy {
        merged.withLock { $0.append(entity ?? "") }
        return policy
    }
}
