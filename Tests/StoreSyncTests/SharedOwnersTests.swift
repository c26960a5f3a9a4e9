import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
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

        /// A random list, which is also taken over.
        ///
        /// - Parameter limit: The identifier up to which absent users are deleted.
        mutating func change(upTo limit: Int64, _ random: inout SeededRandom) -> String {
            func some(of range: ClosedRange<Int64>, _ count: Int) -> [Int64] {
                Array(range.shuffled(using: &random).prefix(Int.random(in: 0...count, using: &random)))
            }
            let users = some(of: 1...6, 6)
            for user in Array(notes.keys) where user <= limit { notes[user] = nil }
            var listed: Set<Int64> = []
            for user in users {
                notes[user] = some(of: 1...8, 3)
                companies[user] = some(of: 1...4, 1).first
                listed.formUnion(notes[user] ?? [])
            }
            companies = companies.filter { notes[$0.key] != nil }
            for note in listed { tags[note] = some(of: 1...5, 2) }
            tags = tags.filter { note, _ in notes.values.contains { $0.contains(note) } }
            return "["
                + users.map { user in
                    let notes = (notes[user] ?? []).map { note in
                        #"{"id":\#(note),"tags":[\#((tags[note] ?? []).map { #"{"id":\#($0)}"# }.joined(separator: ","))]}"#
                    }
                    let company = companies[user].map { #"{"id":\#($0)}"# } ?? "null"
                    return #"{"id":\#(user),"notes":[\#(notes.joined(separator: ","))],"company":\#(company)}"#
                }.joined(separator: ",") + "]"
        }
    }

    @Test(arguments: StoreKind.all, 0..<(isThorough ? 20 : 2))
    func whatNoObjectContainsAnyMoreGoes(kind: StoreKind, seed: Int) async throws {
        try await RealJSONWorld.withBatches(of: [1, 1000], kind, Self.mapper()) { world, rowCount in
            var random = SeededRandom(seed: UInt64(seed))
            var contents = Contents()
            for step in 0..<8 {
                let limit: Int64 = step.isMultiple(of: 3) ? 6 : 3
                let json = contents.change(upTo: limit, &random)
                let options = StoreSyncOptions(scope: PropertyPath("id") <= limit)
                try await world.sync(json, into: "User", options: options)
                let (what, expected) = ("seed \(seed), step \(step), \(json)", contents)
                func expect(_ entity: String, _ ids: some Sequence<Int64>) async throws {
                    let stored = try await world.values("id", of: entity)
                    #expect(stored == Set(ids).sorted().map { .int($0) }, "\(entity), \(what)")
                }
                try await expect("User", expected.notes.keys)
                try await expect("Note", expected.notes.values.joined())
                try await expect("Company", expected.companies.values)
                try await expect("Tag", expected.tags.values.joined())
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
