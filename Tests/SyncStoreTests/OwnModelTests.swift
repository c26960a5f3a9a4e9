import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Typed reads and writes of a model that was not made from the types.
@Suite(.endsInTime) struct OwnModelTests {
    struct Settings: Codable, Equatable, Sendable {
        var theme: String
        var sizes: [Int]
    }

    struct User: SyncObject, Equatable {
        var id: Int
        var settings: Settings
        var draft: Settings?
        var nickname: String?
        var level: Int?
        var isNew: Bool?
        var score: Double?
        var code: UInt8?
        static let declaration = SyncDeclaration<User>(.identity(\.id))
    }

    struct Demanding: SyncObject, Equatable {
        var id: Int
        var rank: Int
        static let declaration = SyncDeclaration<Demanding>("User", .identity(\.id))
    }

    private func store(_ attributes: [SyncAttribute] = []) throws -> MemoryStore {
        let own = [
            SyncAttribute("id", .int64), SyncAttribute("settings", .binary), SyncAttribute("draft", .binary),
        ]
        return MemoryStore(
            exactly:
                try DataModel([SyncEntity("User", identity: ["id"], attributes: own + attributes, relationships: [])]))
    }

    @Test func valuesThatAreNoSingleOneAreKeptAsJSON() async throws {
        let store = try store([
            SyncAttribute("nickname", .string), SyncAttribute("level", .int64), SyncAttribute("isNew", .bool),
            SyncAttribute("score", .double), SyncAttribute("code", .int16),
        ])
        let users = [
            User(
                id: 1, settings: Settings(theme: "dark", sizes: [1, 2]), draft: Settings(theme: "", sizes: []),
                nickname: "a", level: 3, isNew: true, score: 0.5, code: 255),
            User(id: 2, settings: Settings(theme: "light", sizes: [])),
        ]
        try await store.insert(users)
        #expect(try await store.all(User.self) == users)
        let records = try await store.records(StoreQuery("User", orderedBy: [Ordering("id")]))
        guard case .binary(let bytes) = records[0].record["settings"] else {
            Issue.record("\(records[0].record["settings"])")
            return
        }
        #expect(try JSONDecoder().decode(Settings.self, from: bytes) == users[0].settings)
        #expect(records[1].record["draft"] == .null)
    }

    struct Event: SyncObject, Equatable {
        struct Stamp: Codable, Equatable, Sendable { var at: Date }

        var id: Int
        var stamp: Stamp
    }

    @Test func aDateInBytesIsTheSameTextAsInJSON() async throws {
        let attributes = [SyncAttribute("id", .int64), SyncAttribute("stamp", .binary)]
        let store = MemoryStore(
            exactly: try DataModel([SyncEntity("Event", identity: ["id"], attributes: attributes, relationships: [])]))
        let event = Event(id: 1, stamp: Event.Stamp(at: Date(timeIntervalSince1970: 1_700_000_000)))
        try await store.insert(event)
        #expect(try await store.all(Event.self) == [event])
        let record = try #require(try await store.records(StoreQuery("Event")).first?.record)
        guard case .binary(let bytes) = record["stamp"] else {
            Issue.record("\(record["stamp"])")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self).contains("2023-11-14T22:13:20"))
    }

    @Test func anOptionalPropertyThatTheModelLacksIsNil() async throws {
        let store = try store()
        try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "User"))
            record["id"] = 1
            record["settings"] = .binary(Data(#"{"theme":"dark","sizes":[3]}"#.utf8))
            try await transaction.insert(record)
        }
        #expect(
            try await store.all(User.self) == [User(id: 1, settings: Settings(theme: "dark", sizes: [3]))])
        await #expect(throws: Record.CodingError.unknownProperty(entity: "User", property: "rank")) {
            _ = try await store.all(Demanding.self)
        }
    }

    struct Team: SyncObject, Equatable {
        var id: Int
        var members: Related<[Member]>
        static let declaration = SyncDeclaration<Team>(.identity(\.id), .toMany(\.members, inverse: \.team))

        init(id: Int, members: Related<[Member]>) {
            self.id = id
            self.members = members
        }

        enum CodingKeys: CodingKey { case id, members }

        init(from decoder: any Decoder) throws {
            let properties = try decoder.container(keyedBy: CodingKeys.self)
            id = try properties.decode(Int.self, forKey: .id)
            members =
                try properties.decodeNil(forKey: .members)
                ? .included([]) : properties.decode(Related<[Member]>.self, forKey: .members)
        }
    }

    struct Member: SyncObject, Equatable {
        var id: Int
        var team: Related<Team?>
        static let declaration = SyncDeclaration<Member>(.identity(\.id))
    }

    @Test func aTypeWithADecoderOfItsOwnHasItsRelatedObjects() async throws {
        let store = MemoryStore(exactly: try DataModel(Team.self))
        let members = [Member(id: 1, team: .notIncluded), Member(id: 2, team: .notIncluded)]
        try await store.insert([Team(id: 1, members: .included(members)), Team(id: 2, members: .included([]))])
        #expect(try await store.all(Team.self).map(\.members) == [.notIncluded, .notIncluded])
        let teams = try await store.all(Team.self, including: \.members)
        #expect(teams.map(\.members) == [.included(members), .included([])])
    }
}
