import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Identifiers without an object that are too many to wait for the end of a pass in memory.
@Suite(.endsInTime) struct EarlyPendingLinksTests {
    /// Users that name companies, notes, tags and each other, before or without them.
    private static func list(_ random: inout SeededRandom) -> String {
        var reports = (0..<12).shuffled(using: &random)
        var notes = (0..<8).shuffled(using: &random)
        var nested = Set(0..<3)
        let users = (0..<10).shuffled(using: &random).map { id in
            var members = [#""id":\#(id)"#, #""name":"n\#(id)""#]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: members.append(#""company_id":null"#)
            case 1: break
            case 2:
                guard let company = nested.popFirst() else { break }
                members.append(#""company":{"id":\#(company),"name":"c\#(company)"}"#)
            default: members.append(#""company_id":\#(Int.random(in: 0..<5, using: &random))"#)
            }
            func take(_ numbers: inout [Int]) -> [Int] {
                let count = min(numbers.count, Int.random(in: 0..<4, using: &random))
                defer { numbers.removeLast(count) }
                return Array(numbers.suffix(count))
            }
            if Bool.random(using: &random) { members.append(#""reports_ids":\#(take(&reports))"#) }
            if Bool.random(using: &random) { members.append(#""notes_ids":\#(take(&notes))"#) }
            if Bool.random(using: &random) {
                let tags = (0..<4).shuffled(using: &random).prefix(2).map { "t\($0)" }
                members.append(#""tags_ids":\#(tags)"#)
            }
            return "{\(members.joined(separator: ","))}"
        }
        return "[\(users.joined(separator: ","))]"
    }

    private static let others = [
        ("Note", #"[{"id":0},{"id":1},{"id":2},{"id":5}]"#), ("Tag", #"[{"name":"t0"},{"name":"t2"},{"name":"t3"}]"#),
        ("Company", #"[{"id":1},{"id":0},{"id":2},{"id":4}]"#),
    ]

    @Test(arguments: sampled(0..<120, every: 4))
    func theyEndAsThoseThatWait(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let lists = (0..<3).map { _ in Self.list(&random) }
        let steps = [("User", lists[0]), ("User", lists[0])] + Self.others + [("User", lists[1]), ("User", lists[2])]
        let worlds = try [(1000, 1000), (0, 1), (0, 3), (2, 1), (3, 1000)].map { limit, rowCount in
            (limit, rowCount, try SyncWorld { HookedStore($0, SmallBatches(rowCount)) })
        }
        for (entity, json) in steps {
            var expected: (state: [String], result: StoreSyncResult)?
            for (limit, rowCount, world) in worlds {
                var options = StoreSyncOptions()
                options.waitingLimit = limit
                let result = try await world.json.sync(.bytes(Array(json.utf8)), into: entity, options: options)
                let state = try await world.state()
                let place = "\(entity) with limit \(limit) in batches of \(rowCount): \(json)"
                if let expected {
                    #expect(state == expected.state, "\(place)")
                    #expect(result.countsByEntity == expected.result.countsByEntity, "\(place)")
                    let kinds: [DriftReport.Kind] = [.unknownIdentifier, .duplicate, .conflict, .contradiction]
                    for kind in kinds {
                        #expect(result.drift.count(of: kind) == expected.result.drift.count(of: kind), "\(place)")
                    }
                }
                expected = expected ?? (state, result)
            }
        }
    }

    @Test(arguments: [0, 1000])
    func theFirstOfThemIsReported(limit: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        var options = StoreSyncOptions()
        options.waitingLimit = limit
        let json = #"[{"id":1},{"id":2,"company_id":5},{"id":3},{"id":4,"company_id":6}]"#
        let result = try await world.json.sync(.bytes(Array(json.utf8)), into: "User", options: options)
        let entry = try #require(result.drift.entries.first)
        #expect(result.drift.entries.count == 1 && entry.kind == .unknownIdentifier && entry.count == 2)
        #expect(entry.firstIndex == 1)
    }

    /// The second change brings the object that it names: the identifier does not wait for another
    /// one after that is gone.
    @Test(arguments: [0, 1000])
    func anIdentifierLeadsToTheObjectThatItsChangeBrings(limit: Int) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("boss", toOne: "User")
            }
        }
        let world = try SyncWorld(model: model) { HookedStore($0, SingleRows()) }
        var options = StoreSyncOptions()
        options.waitingLimit = limit
        let changes: [RemoteChange] = [
            .objects(.text(#"{"id":1}"#)), .objects(.text(#"[{"id":2,"boss_id":7},{"id":7}]"#)),
            .removals(.text("7")), .objects(.text(#"{"id":7}"#)),
        ]
        try await world.json.apply(changes, into: "User", options: options)
        #expect(try await world.column("id") == [1, 2, 7])
        #expect(try await world.column("id", where: "boss != null") == [])
    }

    /// The list states user 1 twice. What was stored for the first statement is gone.
    @Test(arguments: [0, 1, 1000])
    func aLaterStatementReplacesWhatWasStored(limit: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SingleRows()) }
        var options = StoreSyncOptions()
        options.waitingLimit = limit
        for last in ["[8]", "[]", "[6,7,8]"] {
            let json = #"[{"id":1,"notes_ids":[7,9]},{"id":2,"company_id":5},{"id":1,"notes_ids":\#(last)},{"id":3}]"#
            _ = try await world.json.sync(.bytes(Array(json.utf8)), into: "User", options: options)
            let waiting = try await world.column("identifier", of: "SyncPendingLink").map { "\($0)" }
            let expected = try JSONValue(parsing: last)
            guard case .array(let elements) = expected else { return }
            #expect(waiting.count == elements.count + 1, "\(last): \(waiting)")
        }
        try await world.sync(#"[{"id":6},{"id":7},{"id":8},{"id":9}]"#, into: "Note")
        #expect(try await world.column("id", of: "Note", where: "user.id == 1") == [6, 7, 8])
    }
}
