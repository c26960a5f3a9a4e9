import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import Testing

/// Objects with an identity that belong to each object that contains them, and go with the last
/// one; on every store.
@Suite(.endsInTime) struct SharedOwnersTests {
    private static func mapper() throws -> RecordMapper {
        try RecordMapper(
            try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("notes", toOrdered: "Note", inverse: "users", owns: true)
                    SyncRelationship("company", toOne: "Company", inverse: "users", owns: true)
                }
                SyncEntity("Note", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("users", toMany: "User", inverse: "notes")
                    SyncRelationship("tags", toMany: "Tag", inverse: "notes", owns: true)
                }
                SyncEntity("Tag", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("notes", toMany: "Note", inverse: "tags")
                }
                SyncEntity("Company", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("users", toMany: "User", inverse: "company")
                }
            })
    }

    /// What random lists leave: the notes and companies of the users, and the tags of the notes.
    private struct Contents {
        var notes: [Int64: [Int64]] = [:]
        var companies: [Int64: Int64] = [:]
        var tags: [Int64: [Int64]] = [:]

        /// Takes over random users.
        ///
        /// - Returns: Their JSON.
        mutating func put(_ users: [Int64], _ random: inout SeededRandom) -> String {
            var listed: Set<Int64> = []
            for user in users {
                notes[user] = Self.some(of: 1...8, 3, &random)
                companies[user] = Self.some(of: 1...4, 1, &random).first
                listed.formUnion(notes[user] ?? [])
            }
            for note in listed { tags[note] = Self.some(of: 1...5, 2, &random) }
            let objects = users.map { user in
                let notes = (notes[user] ?? []).map { note in
                    #"{"id":\#(note),"tags":[\#((tags[note] ?? []).map { #"{"id":\#($0)}"# }.joined(separator: ","))]}"#
                }
                let company = companies[user].map { #"{"id":\#($0)}"# } ?? "null"
                return #"{"id":\#(user),"notes":[\#(notes.joined(separator: ","))],"company":\#(company)}"#
            }
            return "[\(objects.joined(separator: ","))]"
        }

        mutating func remove(_ users: some Sequence<Int64>) {
            for user in users { (notes[user], companies[user]) = (nil, nil) }
        }

        static func some(of range: ClosedRange<Int64>, _ count: Int, _ random: inout SeededRandom) -> [Int64] {
            Array(range.shuffled(using: &random).prefix(Int.random(in: 0...count, using: &random)))
        }

        /// The identifiers that are stored, by entity.
        var stored: [String: Set<Int64>] {
            let notes = Set(notes.values.joined())
            return [
                "User": Set(self.notes.keys), "Note": notes, "Company": Set(companies.values),
                "Tag": Set(notes.flatMap { tags[$0] ?? [] }),
            ]
        }

        func expect(in world: RealJSONWorld, _ what: String) async throws {
            for (entity, ids) in stored {
                let found = try await world.values("id", of: entity)
                #expect(found == ids.sorted().map { .int($0) }, "\(entity), \(what)")
            }
        }
    }

    /// Lists of all users, and lists that decide only about some of them.
    @Test(arguments: StoreKind.all)
    func whatNoObjectOfAListContainsGoes(kind: StoreKind) async throws {
        for seed in seeds(2, thorough: 20) {
            try await RealJSONWorld.withBatches(of: [1, 1000], kind, Self.mapper()) { world, _ in
                var random = SeededRandom(seed: seed)
                var contents = Contents()
                for step in 0..<8 {
                    let limit: Int64 = step.isMultiple(of: 3) ? 6 : 3
                    contents.remove(1...limit)
                    let json = contents.put(Contents.some(of: 1...6, 6, &random), &random)
                    let options = StoreSyncOptions(scope: PropertyPath("id") <= limit)
                    try await world.sync(json, into: "User", options: options)
                    try await contents.expect(in: world, "seed \(seed), step \(step), \(json)")
                }
            }
        }
    }

    /// One call has several changes. Some of them name users as gone.
    @Test(arguments: StoreKind.all)
    func whatNoObjectContainsAfterChangesGoes(kind: StoreKind) async throws {
        for seed in seeds(2, thorough: 20) {
            try await RealJSONWorld.withBatches(of: [1000], kind, Self.mapper()) { world, _ in
                var random = SeededRandom(seed: seed)
                var contents = Contents()
                for step in 0..<8 {
                    var texts: [String] = []
                    let changes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                        let users = Contents.some(of: 1...6, 2, &random)
                        if Int.random(in: 0..<3, using: &random) == 0 {
                            contents.remove(users)
                            texts.append("gone \(users)")
                            return RemoteChange.removals(.text("\(users)"))
                        }
                        texts.append(contents.put(users, &random))
                        return RemoteChange.objects(.text(texts.last ?? ""))
                    }
                    _ = try await world.store.apply(changes, into: "User")
                    try await contents.expect(in: world, "seed \(seed), step \(step), \(texts)")
                }
            }
        }
    }

    /// A rejected user may have the note that another one lost.
    @Test(arguments: StoreKind.all)
    func nothingGoesBesideARejectedObject(kind: StoreKind) async throws {
        try await RealJSONWorld.withBatches(of: [1, 1000], kind, Self.mapper()) { world, _ in
            try await world.sync(#"[{"id":1,"notes":[{"id":7}]}]"#, into: "User")
            try await world.sync(#"[{"id":1,"notes":[]},{"id":"x","notes":[{"id":7}]}]"#, into: "User")
            #expect(try await world.count("Note") == 1)
        }
    }
}
