import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Changes whose objects contain others. Neighbouring changes are merged together if the effect is
/// the same.
@Suite(.endsInTime) struct JoinedChangesTests {
    private static let model = Result {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("company", toOne: "Company", inverse: "users")
                SyncRelationship("badge", toOne: "Badge", inverse: "user")
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
                SyncRelationship("tags", toMany: "Tag", inverse: "users")
                SyncRelationship("boss", toOne: "User")
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("city", toOne: "City")
                SyncRelationship("users", toMany: "User", inverse: "company")
            }
            SyncEntity("City", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity("Badge", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("color", .string)
                SyncRelationship("user", toOne: "User", inverse: "badge")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
                SyncRelationship("place", toOne: "City")
            }
            SyncEntity("Tag", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("users", toMany: "User", inverse: "tags")
            }
        }
    }

    /// Random changes of few users, half of which contain objects of one kind only.
    private struct Changes {
        var random: SeededRandom
        /// The relationships that the changes state.
        let keys: [String]

        init(seed: UInt64) {
            random = SeededRandom(seed: seed)
            let all = ["company", "badge", "notes", "tags", "boss"]
            keys = Bool.random(using: &random) ? all : [all[Int.random(in: 0..<5, using: &random)]]
        }

        private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        private mutating func some(_ limit: Int) -> Int { Int.random(in: 1...limit, using: &random) }

        /// A change; a text without objects is that of a removal.
        mutating func next() -> String {
            if chance(10) { return "\(some(8))" }
            return chance(5) ? "[\(user()),\(user())]" : user()
        }

        private mutating func user() -> String {
            var parts = [#""id":\#(some(8))"#]
            if chance(50) { parts.append(#""name":"n\#(some(3))""#) }
            for key in keys where chance(50) { parts.append(value(of: key)) }
            return "{\(parts.joined(separator: ","))}"
        }

        private mutating func value(of key: String) -> String {
            switch key {
            case "company" where chance(20): #""company_id":\#(some(3))"#
            case "company" where chance(10): #""company":null"#
            case "company": #""company":\#(company())"#
            case "badge": #""badge":{"id":\#(some(6))\#(chance(30) ? #","color":"c\#(some(2))""# : "")}"#
            case "notes": #""notes":[\#(list(of: 16) { $0.note($1) })]"#
            case "tags": #""tags":[\#(list(of: 4) { $0.tag($1) })]"#
            default: #""boss":{"id":\#(some(8))\#(chance(30) ? #","name":"b\#(some(2))""# : "")}"#
            }
        }

        private mutating func list(of limit: Int, _ element: (inout Changes, Int) -> String) -> String {
            let ids = (1...limit).shuffled(using: &random).prefix(some(4) - 1)
            return ids.map { element(&self, $0) }.joined(separator: ",")
        }

        private mutating func company() -> String {
            // Most companies are always the same.
            let (id, city) = (some(3), some(2))
            let name = chance(80) ? id : some(3)
            return #"{"id":\#(id),"name":"c\#(name)"\#(chance(30) ? #","city":{"id":\#(city)}"# : "")}"#
        }

        private mutating func note(_ id: Int) -> String {
            if chance(10) { return "\(id)" }
            let place = chance(20) ? #","place":{"id":\#(some(3)),"name":"p\#(some(2))"}"# : ""
            return #"{"id":\#(id)\#(chance(50) ? #","text":"t\#(some(3))""# : "")\#(place)}"#
        }

        private mutating func tag(_ id: Int) -> String {
            chance(20) ? "\(id)" : #"{"id":\#(id),"name":"t\#(chance(80) ? id : some(3))"}"#
        }
    }

    /// Everything that an identifier can name.
    private static let named = [("Company", 3), ("Note", 16), ("Tag", 4)].map { entity, count in
        let list = (1...count).map { #"{"id":\#($0)}"# }.joined(separator: ",")
        return RemoteChange.objects(.text("[\(list)]"), of: entity)
    }

    @Test(arguments: StoreKind.all) func changesInOneCallEqualSingleCalls(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try Self.model.get())
        try await kind.use { make in
            let json = try JSONStore(try await make(mapper.model), mapper: mapper)
            for seed in seeds(2, thorough: 16) {
                var changes = Changes(seed: seed)
                let texts = (0..<20).map { _ in changes.next() }
                let all = texts.map { $0.contains("{") ? RemoteChange.objects(.text($0)) : .removals(.text($0)) }
                var expected: [String] = []
                for limit in [1, all.count, Int.random(in: 2...8, using: &changes.random)] {
                    try await json.store.erase()
                    for start in stride(from: 0, to: all.count, by: limit) {
                        try await json.apply(Array(all[start...].prefix(limit)), into: "User")
                    }
                    // Identifiers that wait for their objects lead to them then.
                    try await json.apply(Self.named, into: "User")
                    let state = try await SyncWorld.state(of: json.store)
                    if limit == 1 { expected = state }
                    let difference = Set(state).symmetricDifference(expected).sorted()
                    #expect(difference == [], "seed \(seed), \(limit): \(texts)")
                }
            }
        }
    }

    /// A child belongs to the object that contained it last, whoever named its identifier before.
    @Test(arguments: [true, false]) func anEarlierIdentifierTakesNoChildAway(areTogether: Bool) async throws {
        let world = try SyncWorld(model: Self.model.get())
        func apply(_ texts: String...) async throws {
            let changes = texts.map { RemoteChange.objects(.text($0)) }
            let calls = areTogether ? [changes] : changes.map { [$0] }
            for call in calls { try await world.json.apply(call, into: "User") }
        }
        func notes(of id: Int) async throws -> [AttributeValue] {
            try await world.column("id", of: "Note", where: "user.id = \(id)")
        }
        try await apply(#"{"id":1,"notes":[1,2]}"#, #"{"id":3,"notes":[{"id":1}]}"#)
        #expect(try await notes(of: 3) == [1])
        // Nothing waits for the note any longer.
        try await apply(#"{"id":3,"notes":[]}"#, #"{"id":4,"notes":[{"id":3}]}"#)
        #expect(try await world.column("id", of: "Note") == [3])
        try await world.json.apply([.objects(.text(#"[{"id":1},{"id":2}]"#), of: "Note")], into: "User")
        #expect(try await notes(of: 1) == [2])
    }

    /// An identifier leads to the object that comes first, and to none after that one is gone,
    /// although another one with the same key comes then.
    @Test(arguments: [true, false], [true, false])
    func anIdentifierWaitsForOneObjectOnly(isStored: Bool, areTogether: Bool) async throws {
        let world = try SyncWorld(model: Self.model.get())
        let object = #"{"id":7,"name":"n"}"#
        let changes: [RemoteChange] = [
            .objects(.text(#"{"id":1,"boss_id":7}"#)), .objects(.text(object)), .removals(.text("7")),
            .objects(.text(object)),
        ]
        let calls =
            areTogether
            ? [Array(changes.prefix(isStored ? 1 : 0)), Array(changes.dropFirst(isStored ? 1 : 0))]
            : changes.map { [$0] }
        for call in calls { try await world.json.apply(call, into: "User") }
        #expect(try await world.column("id") == [1, 7])
        #expect(try await world.column("id", where: "boss != null") == [])
    }

    /// Objects that are known by their content: of equal ones in one list, each is an object of its
    /// own.
    @Test func anEqualObjectOfALaterChangeIsTheSame() async throws {
        let model = try DataModel {
            SyncEntity("Event", identity: "contentHash") {
                SyncAttribute("contentHash", .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"])
                SyncAttribute("text", .string)
            }
        }
        let world = try SyncWorld(model: model)
        let event = #"{"text":"a"}"#
        try await world.json.apply([.objects(.text(event)), .objects(.text(event))], into: "Event")
        #expect(try await world.column("text", of: "Event") == ["a"])
        try await world.json.apply([.objects(.text("[\(event),\(event)]"))], into: "Event")
        #expect(try await world.column("text", of: "Event") == ["a", "a"])
    }

    /// The size is that of what arrived, and not only of the object in it.
    @Test func aSingleChangeHasTheSizeOfItsText() async throws {
        let world = try SyncWorld(model: Self.model.get())
        let text = #"{"event":"changed", "data": {"object": {"id": 1, "name": "n"}}}"#
        let result = try await world.json.apply([.objects(.text(text), keyPath: "data.object")], into: "User")
        #expect(result.counts.inserted == 1 && result.byteCount == text.utf8.count)
    }
}
