import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

@testable import StoreSync

/// Changes that a source reports on its own.
@Suite(.endsInTime) struct ChangesTests {
    private func world(_ json: String = usersJSON(1...3)) async throws -> SyncWorld {
        let world = try SyncWorld.users()
        try await world.json.sync(.bytes(Array(json.utf8)), into: "User")
        return world
    }

    private func objects(_ json: String, at keyPath: String = "", _ tombstones: RemotePage.Tombstones? = nil)
        -> RemoteChange
    {
        .objects(.bytes(Array(json.utf8)), keyPath: keyPath, tombstones: tombstones)
    }

    private func removals(_ json: String, at keyPath: String = "") -> RemoteChange {
        .removals(.bytes(Array(json.utf8)), keyPath: keyPath)
    }

    @Test(arguments: [
        (#"{"id":4,"name":"d"}"#, ""), (#"[{"id":4,"name":"d"}]"#, ""),
        (#"{"a":{"b.c":{"id":4,"name":"d"}}}"#, #"a.b\.c"#),
        (#"{"type":"x","data":[{"id":4,"name":"d"}]}"#, "data"),
    ])
    func anObjectIsStoredAndTheOthersStay(json: String, keyPath: String) async throws {
        let world = try await world()
        let result = try await world.json.apply([objects(json, at: keyPath)], into: "User")
        #expect(result.coverage == .changes)
        #expect(result.counts.inserted == 1)
        #expect(try await world.names() == [1: "user 1", 2: "user 2", 3: "user 3", 4: "d"])
    }

    @Test(arguments: [
        ("2", ""), ("[2]", ""), (#"{"id":2}"#, ""), (#"[{"id":2,"name":"old"},9]"#, ""), (#"{"gone":2}"#, "gone"),
        (#"{"object":{"id":2}}"#, "object"), (#"{"gone":[2,{"id":7}]}"#, "gone"),
    ])
    func anObjectThatIsGoneIsDeleted(json: String, keyPath: String) async throws {
        let world = try await world()
        let result = try await world.json.apply([removals(json, at: keyPath)], into: "User")
        #expect(result.counts.deleted == 1)
        #expect(result.counts.inserted == 0)
        #expect(try await world.names().keys.sorted() == [1, 3])
    }

    @Test func theLastChangeOfAnObjectCounts() async throws {
        let world = try await world()
        let changes = [
            objects(#"{"id":1,"name":"x"}"#), removals("1"), objects(#"{"id":1,"name":"again"}"#),
            objects(#"{"id":2,"name":"y"}"#), removals("2"), objects(#"{"id":5,"name":"new"}"#), removals("5"),
            objects(#"{"id":3,"deleted":true}"#, .flag(keyPath: "deleted")),
        ]
        let result = try await world.json.apply(changes, into: "User")
        #expect(result.pageCount == changes.count)
        #expect(try await world.names() == [1: "again"])
    }

    /// A source may report one object again and again; a list of pages would never end.
    @Test func anObjectCanChangeAnyNumberOfTimes() async throws {
        let world = try await world()
        let changes = (0..<100).map { objects(#"{"id":1,"name":"name \#($0)"}"#) }
        let result = try await world.json.apply(changes, into: "User")
        #expect(result.pageCount == 100)
        #expect(try await world.names()[1] == "name 99")
    }

    @Test func theReportIsThatOfASync() async throws {
        let world = try await world()
        let json = #"[{"id":1,"name":"user 1","colour":"red"},{"id":"none"},{"id":2,"name":7}]"#
        let result = try await world.json.apply([objects(json)], into: "User")
        #expect(result.rejectedCount == 1)
        #expect(result.drift.count(of: .unknownKey) == 1)
        #expect(result.counts.deleted == 0)
        #expect(try await world.names().count == 3)
    }

    @Test func allChangesOfACallAreOneTransaction() async throws {
        let world = try await world()
        await #expect(throws: (any Error).self) {
            try await world.json.apply([objects(#"{"id":4,"name":"d"}"#), objects(#"{"id":5"#)], into: "User")
        }
        #expect(try await world.names().count == 3)
    }

    @Test func removalsNeedPermission() async throws {
        let world = try await world()
        let options = StoreSyncOptions(operations: StoreSyncOptions.Operations.all.subtracting(.delete))
        let result = try await world.json.apply(
            [removals("[1,2]"), objects(#"{"id":4}"#)], into: "User", options: options)
        #expect(result.warnings.count == 1)
        #expect(try await world.json.store.records(StoreQuery("User")).count == 4)
        await #expect(throws: StoreSyncError.self) {
            try await world.json.apply(
                [removals("[1,2]")], into: "User", options: StoreSyncOptions(removalLimit: RemovalLimit(count: 1)))
        }
        #expect(try await world.json.store.records(StoreQuery("User")).count == 4)
    }

    /// Webhooks can arrive in another order than they were sent in.
    @Test func anOlderVersionIsIgnored() async throws {
        let world = try SyncWorld.users(version: SyncAttribute("at", .date))
        func apply(_ changes: [(id: Int, name: String, at: String)]) async throws -> StoreSyncResult {
            try await world.json.apply(
                changes.map { objects(#"{"id":\#($0.id),"name":"\#($0.name)","at":"2026-01-01T00:00:\#($0.at)Z"}"#) },
                into: "User", options: StoreSyncOptions(newerBy: "at"))
        }
        _ = try await apply([(1, "new", "10"), (1, "old", "05"), (2, "a", "01")])
        #expect(try await world.names() == [1: "new", 2: "a"])
        let result = try await apply([(1, "older", "09"), (2, "b", "02"), (1, "newest", "10")])
        #expect(try await world.names() == [1: "newest", 2: "b"])
        #expect(result.warnings == ["1 of the objects were older than the stored ones, and ignored"])
        await #expect(throws: StoreSyncError.unknownVersion(entity: "User", attribute: "no")) {
            try await world.json.apply([objects(#"{"id":1}"#)], into: "User", options: StoreSyncOptions(newerBy: "no"))
        }
    }

    @Test(arguments: [#"1"#, #"{"id":1,"version":10}"#])
    func anObjectAfterItsRemovalCountsWhateverItsVersion(removal: String) async throws {
        let world = try SyncWorld.users(version: SyncAttribute("version", .int64))
        let result = try await world.json.apply(
            [
                objects(#"{"id":1,"name":"a","version":10}"#), removals(removal),
                objects(#"{"id":1,"name":"b","version":5}"#), objects(#"{"id":1,"name":"c","version":4}"#),
            ], into: "User", options: StoreSyncOptions(newerBy: "version"))
        #expect(try await world.names() == [1: "b"])
        #expect(result.warnings == ["1 of the objects were older than the stored ones, and ignored"])
    }

    /// A later value, one that is equal to it, and an earlier one.
    @Test(arguments: [
        (AttributeType.int64, "10", "10", "9"), (.double, "1.5", "1.50", "1.25"), (.decimal, "10.10", "10.1", "9.9"),
        (.string, "\"b\"", "\"b\"", "\"a\""), (.date, "\"2026-01-02T00:00:00Z\"", "1767312000", "\"2026-01-01\""),
    ])
    func versionsAreComparedAsWhatTheyAre(type: AttributeType, later: String, same: String, earlier: String)
        async throws
    {
        let world = try SyncWorld.users(version: SyncAttribute("version", type))
        for (name, version, expected) in [
            ("later", later, "later"), ("earlier", earlier, "later"), ("same", same, "same"), ("none", "null", "none"),
        ] {
            let result = try await world.json.apply(
                [objects(#"{"id":1,"name":"\#(name)","version":\#(version)}"#)], into: "User",
                options: StoreSyncOptions(newerBy: "version"))
            #expect(try await world.names() == [1: expected])
            #expect(result.warnings.count == (name == "earlier" ? 1 : 0))
        }
    }

    @Test func objectsWithinElementsAreCompared() async throws {
        let world = try SyncWorld.users(version: SyncAttribute("version", .int64))
        for (name, version) in [("new", 5), ("old", 4)] {
            let change = RemoteChange.objects(
                .text(#"{"entry":[{"resource":{"id":1,"name":"\#(name)","version":\#(version)}},{"x":1}]}"#),
                keyPath: "entry[].resource")
            _ = try? await world.json.apply([change], into: "User", options: StoreSyncOptions(newerBy: "version"))
            let whole = RemoteChange.objects(
                .text(#"{"entry":[{"resource":{"id":1,"name":"\#(name)","version":\#(version)}}]}"#),
                keyPath: "entry[].resource")
            let result = try await world.json.apply(
                [whole], into: "User", options: StoreSyncOptions(newerBy: "version"))
            #expect(result.warnings.count == (name == "old" ? 1 : 0))
            #expect(try await world.names() == [1: "new"])
        }
    }

    /// Newer than the stored one is not enough.
    @Test func ofChangesThatArriveTogetherTheNewestCounts() async throws {
        let world = try SyncWorld.users(version: SyncAttribute("version", .int64))
        try await world.json.apply([objects(#"{"id":1,"name":"stored","version":2}"#)], into: "User")
        let changes = [(5, "newest"), (3, "late")].map { version, name in
            objects(#"{"id":1,"name":"\#(name)","version":\#(version)}"#)
        }
        let result = try await world.json.apply(changes, into: "User", options: StoreSyncOptions(newerBy: "version"))
        #expect(try await world.names() == [1: "newest"])
        #expect(result.warnings.count == 1)
    }

    /// The other objects of a change are as they came, to the last digit.
    @Test func anObjectBesideAnOlderOneLosesNoDigit() async throws {
        let world = try SyncWorld.users(version: SyncAttribute("version", .decimal))
        try await world.json.apply([objects(#"[{"id":1,"name":"a","version":5}]"#)], into: "User")
        let long = "6.0000000000000000000000000000000001"
        let result = try await world.json.apply(
            [objects(#"[{"id":1,"name":"old","version":4},{"id":2,"name":"b","version":\#(long)}]"#)], into: "User",
            options: StoreSyncOptions(newerBy: "version"))
        #expect(try await world.names() == [1: "a", 2: "b"])
        #expect(result.counts.inserted == 1)
        #expect(try await world.column("version").last.map { "\($0)" } == long)
    }

    /// Truth values have no order.
    @Test func versionsWithoutAnOrderAreAllApplied() async throws {
        let world = try SyncWorld.users(version: SyncAttribute("version", .bool))
        for (name, version) in [("a", true), ("b", false), ("c", true)] {
            try await world.json.apply(
                [objects(#"{"id":1,"name":"\#(name)","version":\#(version)}"#)], into: "User",
                options: StoreSyncOptions(newerBy: "version"))
            #expect(try await world.names() == [1: name])
        }
    }

    /// Objects with versions, all of version 5.
    private func versioned() async throws -> SyncWorld {
        let world = try SyncWorld.users(version: SyncAttribute("version", .int64))
        let users = (1...3).map { #"{"id":\#($0),"name":"user \#($0)","version":5}"# }
        try await world.json.sync(.bytes(Array("[\(users.joined(separator: ","))]".utf8)), into: "User")
        return world
    }

    /// A change has nothing to compare then, and is what it is without versions.
    @Test(arguments: [nil, "version"])
    func aChangeWithoutItsListIsAnError(attribute: String?) async throws {
        let world = try await versioned()
        let change = objects(#"{"gone":[2]}"#, at: "users", .list(keyPath: "gone"))
        await #expect(throws: JSONError.self) {
            try await world.json.apply([change], into: "User", options: StoreSyncOptions(newerBy: attribute))
        }
        #expect(try await world.names().count == 3)
    }

    /// The deletions beside an object are changes of their own.
    @Test(arguments: [
        #"{"id":1,"name":"old","version":4}"#, #"[{"id":1,"version":4},{"id":3,"name":"c","version":6}]"#,
    ])
    func anOlderVersionTakesNoTombstonesAlong(users: String) async throws {
        let world = try await versioned()
        let change = objects(#"{"users":\#(users),"gone":[2]}"#, at: "users", .list(keyPath: "gone"))
        let result = try await world.json.apply([change], into: "User", options: StoreSyncOptions(newerBy: "version"))
        #expect(result.warnings == ["1 of the objects were older than the stored ones, and ignored"])
        #expect(try await world.names() == [1: "user 1", 3: users.hasPrefix("[") ? "c" : "user 3"])
    }

    @Test func anOlderRemovalIsIgnored() async throws {
        let world = try await versioned()
        let gone = removals(#"{"gone":[{"id":1,"version":4},{"id":2,"version":5},3]}"#, at: "gone")
        let result = try await world.json.apply([gone], into: "User", options: StoreSyncOptions(newerBy: "version"))
        #expect(result.warnings == ["1 of the objects were older than the stored ones, and ignored"])
        #expect(try await world.names() == [1: "user 1"])
    }

    @Test func changesWhoseVersionsAreNotComparedAreReported() async throws {
        let world = try await versioned()
        let pieces = AsyncStream<[UInt8]> { continuation in
            continuation.yield(Array(#"{"id":1,"name":"old","version":4}"#.utf8))
            continuation.finish()
        }
        let result = try await world.json.apply(
            [.objects(.chunks(pieces))], into: "User", options: StoreSyncOptions(newerBy: "version"))
        #expect(result.warnings == ["1 of the changes are not in memory, and were applied whatever their versions"])
        #expect(try await world.names()[1] == "old")
    }

    /// What names no object deletes none, and must not seem to.
    @Test func aRemovalWithoutAKeyIsReported() async throws {
        let world = try await world()
        let changes = [
            removals(#"[{"uid":1},{"id":2}]"#), objects(#"{"deleted":true}"#, .flag(keyPath: "deleted")),
            objects(#"{"users":[],"gone":[{"uid":3}]}"#, at: "users", .list(keyPath: "gone")),
        ]
        let result = try await world.json.apply(changes, into: "User")
        #expect(result.rejected.map(\.reason) == [.missingMandatory, .missingMandatory, .missingMandatory])
        #expect(result.rejected.map(\.index) == [0, 0, 0])
        #expect(try await world.names().keys.sorted() == [1, 3])
    }

    /// Without the permission to delete, an object that is gone is neither deleted nor new.
    @Test func tombstonesNeedPermission() async throws {
        let world = try await world()
        let options = StoreSyncOptions(operations: StoreSyncOptions.Operations.all.subtracting(.delete))
        let changes = [
            objects(
                #"[{"id":1,"name":"x","deleted":true},{"id":7,"deleted":true},{"id":8,"name":"new"}]"#,
                .flag(keyPath: "deleted")),
            objects(#"{"users":[],"gone":[2]}"#, at: "users", .list(keyPath: "gone")), removals("[3,9]"),
        ]
        let result = try await world.json.apply(changes, into: "User", options: options)
        #expect(
            result.warnings == ["3 objects that are gone were kept, because the options do not allow to delete"])
        #expect(try await world.names() == [1: "user 1", 2: "user 2", 3: "user 3", 8: "new"])
    }

    /// A webhook often has only what has changed.
    @Test(arguments: [StoreSyncOptions.AbsentKeys.automatic, .keep, .clear])
    func aPartOfAnObjectClearsNothing(absentKeys: StoreSyncOptions.AbsentKeys) async throws {
        let world = try SyncWorld(
            model: DataModel {
                SyncEntity("User", identity: "id", userInfo: [SyncEntity.inferredAnnotation: "true"]) {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                }
            })
        try await world.json.sync(.bytes(Array(usersJSON(1...2).utf8)), into: "User")
        try await world.json.apply(
            [objects(#"{"id":1}"#)], into: "User", options: StoreSyncOptions(absentKeys: absentKeys))
        #expect(try await world.names()[1] == (absentKeys == .clear ? nil : "user 1"))
        try await world.json.update(.identity(2), in: "User", with: JSONValue(parsing: #"{"id":2}"#))
        #expect(try await world.names()[2] == "user 2")
    }

    /// The order of the changes decides, not their entities.
    @Test func changesOfSeveralEntitiesAreOneTransactionInOrder() async throws {
        let world = try SyncWorld()
        let result = try await world.json.apply(
            [
                .objects(.text(#"{"id":1,"company":{"id":7,"name":"a"}}"#)),
                .objects(.text(#"{"id":7,"name":"b"}"#), of: "Company"),
                .objects(.text(#"[{"id":2,"company":{"id":7,"name":"c"}},{"id":"none"}]"#)),
                .removals(.text("1"), of: "User"),
            ], into: "User")
        #expect(try await world.column("name", of: "Company") == ["c"])
        #expect(try await world.column("id") == [2])
        #expect(result.coverage == .changes && result.pageCount == 4 && result.rejectedCount == 1)
        #expect(result.absentKeys == .keep)
        #expect(result.countsByEntity["User"]?.deleted == 1)
        await #expect(throws: JSONError.self) {
            try await world.json.apply(
                [.objects(.text(#"{"id":8}"#), of: "Company"), .objects(.text("{"))], into: "User")
        }
        #expect(try await world.column("id", of: "Company") == [7])
        #expect(try await world.json.apply([], into: "User").isUnchanged)
    }

    /// Nil stands for different rules, whichever entity comes first.
    @Test(
        arguments: [StoreSyncOptions.AbsentKeys.keep, .clear], [StoreSyncOptions.AbsentKeys.keep, .clear])
    func whatAbsentKeysDidIsReportedIfAllEntitiesAgree(
        ofUsers: StoreSyncOptions.AbsentKeys, ofCompanies: StoreSyncOptions.AbsentKeys
    ) async throws {
        let world = try SyncWorld()
        let changes: [RemoteChange] = [
            .objects(.text(#"{"id":1}"#), of: "User"), .objects(.text(#"{"id":7}"#), of: "Company"),
            .objects(.text(#"{"id":2}"#), of: "User"),
        ]
        let result = try await world.json.apply(changes) { entity in
            let absentKeys = entity == "User" ? ofUsers : ofCompanies
            return ChangeRules(entity: entity ?? "User", options: StoreSyncOptions(absentKeys: absentKeys))
        }
        #expect(result.result.absentKeys == (ofUsers == ofCompanies ? ofUsers : nil))
    }
}
