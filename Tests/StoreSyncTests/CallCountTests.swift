import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// The calls of the store that a sync saves.
@Suite(.endsInTime) struct CallCountTests {
    private struct Calls: StoreHook {
        var batchRowCount: Int?
        private let calls = Locked<[StoreCall]>([])

        init(batchRowCount: Int? = nil) { self.batchRowCount = batchRowCount }

        func willMake(_ call: StoreCall) { calls.withLock { $0.append(call) } }

        func count(of call: StoreCall) -> Int { calls.withLock { calls in calls.count { $0 == call } } }
    }

    /// Objects of a list are inserted with the one object that they lead to, nested objects with
    /// the object that contains them.
    @Test(arguments: [
        #"[{"id":1,"company":{"id":7}},{"id":2,"company":{"id":8}}]"#,
        #"[{"id":1,"notes":[{"id":1}]},{"id":2,"notes":[{"id":2},{"id":3}]}]"#,
    ])
    func newObjectsAreInsertedWithTheirLinks(json: String) async throws {
        let calls = Calls()
        let world = try SyncWorld { HookedStore($0, calls) }
        #expect(try await world.sync(json).counts.inserted == 2)
        #expect(calls.count(of: .link) == 0)
        #expect(try await world.sync(json).isUnchanged)
    }

    /// Nothing leads back from a place to its orders.
    @Test func anObjectThatManyContainIsMergedOnce() async throws {
        let calls = Calls(batchRowCount: 1)
        let model = try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("place", toOne: "Place")
            }
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
        }
        let world = try SyncWorld(model: model) { HookedStore($0, calls) }
        let orders = (1...3).map { #"{"id":\#($0),"place":{"id":5,"name":"here"}}"# }
        try await world.sync("[\(orders.joined(separator: ","))]", into: "Order")
        #expect(try await world.column("id", of: "Order", where: "place.id = 5") == [1, 2, 3])
        #expect(calls.count(of: .merge) == 4)
    }

    /// Companies that several users share, and notes of their own.
    @Test func changesThatContainObjectsAreMergedTogether() async throws {
        let calls = Calls()
        let world = try SyncWorld { HookedStore($0, calls) }
        func changes(_ name: String) -> [RemoteChange] {
            (1...100).map { id in
                let company = #"{"id":\#(id % 10),"name":"\#(name)"}"#
                return .objects(
                    .text(#"{"id":\#(id),"company":\#(company),"notes":[{"id":\#(id),"text":"\#(name)"}]}"#))
            }
        }
        for name in ["a", "b"] {
            let mergeCount = calls.count(of: .merge)
            try await world.json.apply(changes(name), into: "User")
            #expect(calls.count(of: .merge) - mergeCount == 3)
            #expect(try await world.column("id", of: "Note", where: "text = '\(name)'").count == 100)
        }
    }

    /// Only lists of children need to be compared with what an earlier change has left.
    @Test func changesOfKnownObjectsThatStateNoChildrenAreMergedTogether() async throws {
        let calls = Calls()
        let world = try SyncWorld { HookedStore($0, calls) }
        let changes = ["a", "b"].flatMap { name in
            (1...100).map { RemoteChange.objects(.text(#"{"id":\#($0),"name":"\#(name)"}"#)) }
        }
        try await world.json.apply(changes, into: "User")
        #expect(calls.count(of: .merge) == 2)
        #expect(try await world.column("id", where: "name = 'b'").count == 100)
    }

    /// The later of two statements counts, so they are not merged together.
    @Test(arguments: [
        (#"{"id":1,"company":{"id":7,"name":"a"}}"#, #"{"id":2,"company":{"id":7,"name":"b"}}"#),
        (#"{"id":1,"notes":[{"id":5}]}"#, #"{"id":2,"notes":[{"id":5}]}"#),
    ])
    func changesOfWhichOneMayUndoTheOtherAreMergedOneByOne(first: String, second: String) async throws {
        let (calls, singleCalls) = (Calls(), Calls())
        let world = try SyncWorld { HookedStore($0, calls) }
        let single = try SyncWorld { HookedStore($0, singleCalls) }
        let changes = [first, second].map { RemoteChange.objects(.text($0)) }
        try await world.json.apply(changes, into: "User")
        for change in changes { try await single.json.apply([change], into: "User") }
        #expect(calls.count(of: .merge) == singleCalls.count(of: .merge))
        #expect(try await world.state() == single.state())
    }

    /// Identifiers that wait are looked up after changes that insert something, and at the end.
    @Test func changesThatInsertNothingDoNotLookForWaitingObjects() async throws {
        let calls = Calls()
        let world = try SyncWorld { HookedStore($0, calls) }
        try await world.sync(#"[{"id":1,"company_id":7},{"id":2,"company_id":8}]"#)
        func lookUps(_ texts: String...) async throws -> Int {
            let count = calls.count(of: .find)
            try await world.json.apply(texts.map { .objects(.text($0)) }, into: "User")
            return calls.count(of: .find) - count
        }
        let (one, other) = (#"{"id":1,"name":"a"}"#, #"{"id":1,"name":"b"}"#)
        #expect(try await lookUps(one, other) == lookUps(one, other, one, other, one, other))
        _ = try await lookUps(one, #"{"id":3,"company":{"id":7}}"#, other)
        #expect(try await world.column("id", where: "company.id = 7") == [1, 3])
    }

    /// What the store has already is compared, and not linked again.
    @Test(arguments: [
        (#"[{"id":7,"users":[{"id":1},{"id":2}]}]"#, #"[{"id":7,"users_ids":[1,2]}]"#, "Company"),
        (#"[{"id":1,"address":{"city":"A"}},{"id":2}]"#, #"[{"id":1,"address":{"city":"A"}},{"id":2}]"#, "User"),
    ])
    func aListThatStatesTheLinksOfTheStoreLinksNothing(first: String, second: String, entity: String) async throws {
        let calls = Calls()
        let world = try SyncWorld { HookedStore($0, calls) }
        try await world.sync(first, into: entity)
        let count = calls.count(of: .link)
        #expect(try await world.sync(second, into: entity).isUnchanged)
        #expect(calls.count(of: .link) == count)
    }
}
