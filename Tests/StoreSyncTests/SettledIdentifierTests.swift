import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// When identifiers are settled whose objects come late.
@Suite(.endsInTime) struct SettledIdentifierTests {
    /// User 1 names company 7, which the store does not have yet.
    @Test(
        arguments: [
            // The company says itself who belongs to it.
            ([#"[{"id":7,"users_ids":[2]}]"#], [2]),
            // Another company says so.
            ([#"[{"id":7},{"id":8,"users_ids":[2]}]"#], [1]),
            // Another company got the user in the meantime.
            ([#"[{"id":8,"users_ids":[1]}]"#, #"[{"id":7},{"id":8}]"#], []),
        ] as [([String], [AttributeValue])])
    func aRememberedIdentifierIsSettledOnce(companies: [String], users: [AttributeValue]) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"company_id":7},{"id":2}]"#)
        for json in companies { try await world.sync(json, into: "Company") }
        #expect(try await world.column("id", where: "company.id = 7") == users)
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
    }

    /// User 4 comes after the list that names it.
    @Test(arguments: [1, 1000])
    func aListThatCannotBeReadInWholeUnlinksNothingWhenItsObjectsComeLate(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":1,"reports_ids":[2]},{"id":2}]"#)
        let json = #"[{"id":1,"reports_ids":[4,"x"]},{"id":2},{"id":4}]"#
        for round in 0..<2 {
            let result = try await world.sync(json)
            #expect(try await world.column("id", where: "manager.id = 1") == [2, 4])
            #expect(result.isUnchanged == (round == 1))
        }
    }

    /// User 2 is in two lists: beside an unknown user, then beside an unsuitable element.
    @Test(arguments: [1, 1000])
    func anObjectBelongsToALaterListThatCannotBeReadInWhole(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":1},{"id":2},{"id":3,"reports_ids":[5]},{"id":5}]"#)
        let json = #"[{"id":1,"reports_ids":[4,2]},{"id":3,"reports_ids":[2,"x"]},{"id":2},{"id":5},{"id":4}]"#
        for _ in 0..<2 {
            try await world.sync(json)
            #expect(try await world.column("id", where: "manager.id = 1") == [4])
            #expect(try await world.column("id", where: "manager.id = 3") == [2, 5])
        }
    }

    /// The list of user 1 names an unknown user, that of user 3 cannot be read in whole.
    @Test(arguments: [1, 1000])
    func aListThatCannotBeReadInWholeUnlinksNothingBesideOneWhoseObjectsComeLate(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":1},{"id":2},{"id":3,"reports_ids":[2]},{"id":5}]"#)
        let json = #"[{"id":1,"reports_ids":[4]},{"id":3,"reports_ids":[5,"x"]},{"id":2},{"id":5},{"id":4}]"#
        try await world.sync(json)
        #expect(try await world.column("id", where: "manager.id = 1") == [4])
        #expect(try await world.column("id", where: "manager.id = 3") == [2, 5])
    }
}
