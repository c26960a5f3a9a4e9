import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// What each operation allows, alone and beside every other one.
@Suite(.endsInTime) struct OperationTests {
    private static let before = """
        [{"id":1,"name":"a","notes":[{"id":1,"text":"x"},{"id":2,"text":"y"}],"tags":[{"name":"p"},{"name":"q"}],
          "company":{"id":7,"name":"ACME"}},
         {"id":2,"name":"b"}]
        """
    private static let after = """
        [{"id":1,"name":"A","notes":[{"id":2,"text":"Y"},{"id":3,"text":"z"}],"tags":[{"name":"r"},{"name":"q"}],
          "company":{"id":8,"name":"New"}},
         {"id":3,"name":"c","notes":[{"id":4,"text":"w"}],"tags":[{"name":"q"}],"company":{"id":7,"name":"A7"}}]
        """

    /// Every set of operations.
    private static let sets = (0..<64).map { StoreSyncOptions.Operations(rawValue: $0) }

    /// The state of a store as the documentation of the operations describes it.
    private struct Expected {
        var users: [String] = []
        var notes: [String] = []
        var companies: [String] = []

        init(_ operations: StoreSyncOptions.Operations) {
            func has(_ operation: StoreSyncOptions.Operations) -> Bool { operations.contains(operation) }
            let (insertsNested, updatesNested) = (has(.insertRelationships), has(.updateRelationships))
            let relates = insertsNested || updatesNested
            let unlinks = has(.deleteRelationships)
            // Nested objects of a user count if the user itself may be changed.
            let isRelated = has(.update)
            var tags = ["p", "q"]
            if isRelated {
                let named = (insertsNested ? ["r"] : []) + ["q"]
                switch (relates, unlinks) {
                case (true, true): tags = named
                case (true, false): tags += named.filter { !tags.contains($0) }
                case (false, true): tags = ["q"]
                case (false, false): break
                }
            }
            var company = "7"
            if isRelated {
                if insertsNested { company = "8" } else if unlinks || updatesNested { company = "-" }
            }
            users.append("1 \(has(.update) ? "A" : "a") \(tags.joined()) \(company)")
            if !has(.delete) { users.append("2 b  -") }
            // A to-one relationship whose target may be removed leads to what the payload names.
            if has(.insert) { users.append("3 c \(relates ? "q" : "") \(relates || unlinks ? "7" : "-")") }
            if !(isRelated && unlinks) { notes.append("1 x 1") }
            notes.append("2 \(isRelated && updatesNested ? "Y" : "y") 1")
            if isRelated && insertsNested { notes.append("3 z 1") }
            if has(.insert) && insertsNested { notes.append("4 w 3") }
            companies.append("7 \(has(.insert) && updatesNested ? "A7" : "ACME")")
            if isRelated && insertsNested { companies.append("8 New") }
        }
    }

    private func text(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): text
        case .int(let number): "\(number)"
        default: "\(value)"
        }
    }

    /// The objects of an entity with the keys of their relationships.
    private func lines(
        _ world: SyncWorld, _ entity: String, _ attribute: String, _ relationships: [String]
    ) async throws -> [String] {
        let query = StoreQuery(entity, orderedBy: [Ordering("id")])
        return try await world.store.records(query, with: relationships).map { stored in
            let related = relationships.map { name in
                let relationship = stored.record.layout.relationship(name)
                let keys = (stored.record[related: name]?.keys ?? []).map { key -> String in
                    if case .identity(let values) = key { values.map(text).joined() } else { "?" }
                }
                return keys.isEmpty && relationship?.isToMany == false ? "-" : keys.joined()
            }
            return ([text(stored.record["id"]), text(stored.record[attribute])] + related).joined(separator: " ")
        }
    }

    @Test(arguments: Self.sets, [false, true])
    func eachDoesWhatItSays(operations: StoreSyncOptions.Operations, isHooked: Bool) async throws {
        let world = try SyncWorld()
        try await world.sync(Self.before)
        let former = try await keys(world)
        var options = StoreSyncOptions(operations: operations, reportsKeys: true)
        // A hook that changes nothing makes no difference.
        if isHooked { options.willInsert = { object, _ in object } }
        let payload = JSONSource.bytes(Array(Self.after.utf8))
        let plan = try await world.json.plan(payload, into: "User", options: options)
        let result = try await world.json.sync(payload, into: "User", options: options)
        #expect(plan == result)
        let expected = Expected(operations)
        #expect(try await lines(world, "User", "name", ["tags", "company"]) == expected.users)
        #expect(try await lines(world, "Note", "text", ["user"]) == expected.notes)
        #expect(try await lines(world, "Company", "name", []) == expected.companies)
        let latter = try await keys(world)
        for (entity, keys) in latter {
            let counts = result.countsByEntity[entity] ?? StoreSyncResult.Counts()
            let old = former[entity] ?? []
            #expect(counts.inserted == keys.subtracting(old).count, "\(entity)")
            #expect(counts.deleted == old.subtracting(keys).count, "\(entity)")
        }
        let users = (former["User"] ?? [], latter["User"] ?? [])
        #expect(Set(result.keys?.inserted ?? []) == users.1.subtracting(users.0))
        #expect(Set(result.keys?.deleted ?? []) == users.0.subtracting(users.1))
        #expect(result.keys?.updated == (operations.contains(.update) ? [.identity(1)] : []))
        #expect(result.drift.isEmpty && result.rejectedCount == 0 && result.toleratedCount == 0)
        // The two users have notes, tags and a company each.
        let relates = !operations.isDisjoint(
            with: [.insertRelationships, .updateRelationships, .deleteRelationships])
        #expect(result.excludedRelationshipCount == (relates ? 0 : 6))
        let again = try await world.json.sync(payload, into: "User", options: options)
        #expect(again.isUnchanged)
    }

    /// A deliberate choice of operations is no difference from the model.
    @Test func relationshipsThatNoOperationAllowsAreCounted() async throws {
        let world = try SyncWorld()
        var options = StoreSyncOptions(operations: [.insert, .update])
        options.failsOnDrift = true
        let json = #"[{"id":1,"company_id":7},{"id":2,"company":null,"tags":[],"notes":[{"id":3,"user":{"id":1}}]}]"#
        let result = try await world.json.sync(.bytes(Array(json.utf8)), into: "User", options: options)
        #expect(result.counts.all == [2, 0, 0, 0] && result.excludedRelationshipCount == 2)
    }

    @Test func aHookSeesWhatObjectsOfTheListLeadTo() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":8,"name":"known"}]"#, into: "Company")
        let options = StoreSyncOptions { object, entity in
            var object = object
            object["name"] = .string("new \(entity)")
            return object
        }
        let json = #"[{"id":1,"company":{"id":7}},{"id":2,"company":{"id":8}}]"#
        _ = try await world.json.sync(.bytes(Array(json.utf8)), into: "User", options: options)
        #expect(try await world.column("name") == ["new User", "new User"])
        #expect(try await lines(world, "Company", "name", []) == ["7 new Company", "8 known"])
    }

    /// The objects that a hook receives of a new and a stored user, each with a new company.
    @Test(
        arguments: [
            (.all, ["User 2", "Company 7", "Company 8"]),
            ([.update, .insertRelationships], ["Company 7"]),
            ([.insert, .update], ["User 2"]), ([.update], []), ([.insert], ["User 2"]),
        ] as [(StoreSyncOptions.Operations, [String])])
    func aHookSeesOnlyWhatMayBeInserted(operations: StoreSyncOptions.Operations, expected: [String]) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1}]"#)
        let seen = Locked<[String]>([])
        let options = StoreSyncOptions(operations: operations) { object, entity in
            if case .integer(let id)? = object["id"] { seen.withLock { $0.append("\(entity) \(id)") } }
            return object
        }
        let json = #"[{"id":1,"company":{"id":7}},{"id":2,"company":{"id":8}}]"#
        _ = try await world.json.sync(.bytes(Array(json.utf8)), into: "User", options: options)
        #expect(Set(seen.withLock(\.self)) == Set(expected))
    }

    /// A double does not have that many digits.
    @Test func aNumberKeepsAllItsDigitsThroughAHook() async throws {
        let model = try DataModel {
            SyncEntity("Account", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("balance", .decimal)
            }
        }
        let world = try SyncWorld(model: model)
        let number = "12345678901234567890.0123456789"
        let options = StoreSyncOptions { object, _ in object }
        _ = try await world.json.sync(
            .bytes(Array(#"[{"id":1,"balance":\#(number)}]"#.utf8)), into: "Account", options: options)
        let stored = try await world.column("balance", of: "Account")
        try await world.sync(#"[{"id":1,"balance":\#(number)}]"#, into: "Account")
        #expect(try await world.column("balance", of: "Account") == stored)
    }

    private func keys(_ world: SyncWorld) async throws -> [String: Set<Record.Key>] {
        var keys: [String: Set<Record.Key>] = [:]
        for entity in ["User", "Note", "Tag", "Company"] {
            keys[entity] = Set(try await world.store.records(StoreQuery(entity)).map(\.key))
        }
        return keys
    }

    /// A list of whose elements some cannot be read says what belongs to it, not what does not.
    @Test(
        arguments: [
            (.all, [1, 2, 3], "pqr"), ([.update, .insertRelationships, .updateRelationships], [1, 2, 3], "pqr"),
            ([.update, .deleteRelationships], [1, 2], "pq"), ([.insert, .insertRelationships], [1, 2], "pq"),
        ] as [(StoreSyncOptions.Operations, [AttributeValue], String)])
    func aListThatCannotBeReadInWholeUnlinksNothing(
        operations: StoreSyncOptions.Operations, notes: [AttributeValue], tags: String
    ) async throws {
        let world = try SyncWorld()
        try await world.sync(Self.before)
        let result = try await world.sync(
            #"[{"id":1,"notes":[{"id":3},[],{"id":2}],"tags":[[],{"name":"r"},{"name":"q"}]},{"id":2}]"#, operations)
        #expect(try await world.column("id", of: "Note", where: "user.id = 1") == notes)
        #expect(try await lines(world, "User", "name", ["tags"]).first == "1 a \(tags)")
        #expect(result.countsByEntity["Note"]?.deleted ?? 0 == 0)
        let drift = result.drift.entries.map { "\($0.kind) \($0.entity) \($0.keyPath) \($0.count) \($0.firstIndex)" }
        let expected = ["unfitIdentifier User notes 1 0", "unfitIdentifier User tags 1 0"]
        #expect(drift == (operations.contains(.update) ? expected : []))
    }
}
