import JSONMapper
import OneWayStoreKinds
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Many changes in one call are the same as each change in a call of its own; on every store.
@Suite(.endsInTime) struct ChangeSequenceTests {
    private static func model(_ rule: SyncRelationship.DeleteRule) throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: rule)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
    }

    @Test(arguments: StoreKind.all, [SyncRelationship.DeleteRule.nullify, .cascade])
    func changesInOneCallEqualSingleCalls(kind: StoreKind, rule: SyncRelationship.DeleteRule) async throws {
        try await Self.with(kind, rule) { json in
            for seed in seeds(4, thorough: 40) {
                var random = SeededRandom(seed: seed)
                let changes = (0..<12).map { _ in Change(using: &random) }
                var reference = Reference(cascades: rule == .cascade)
                for change in changes { reference.apply(change) }
                for limit in [1, changes.count, 4] {
                    try await json.store.erase()
                    var rest = changes[...]
                    while !rest.isEmpty {
                        let part = rest.prefix(limit == 4 ? Int.random(in: 1...4, using: &random) : limit)
                        rest = rest.dropFirst(part.count)
                        _ = try await json.apply(part.map(\.remote), into: "User")
                    }
                    #expect(
                        try await Self.state(of: json.store) == reference.lines, "seed \(seed), \(limit): \(changes)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aChildThatOneCallGainsAndLosesIsGone(kind: StoreKind) async throws {
        try await Self.with(kind, .nullify) { json in
            let with = Change.objects([Element(id: 1, notes: [Note(id: 5)])])
            let without = Change.objects([Element(id: 1, notes: [])])
            _ = try await json.apply([with.remote, without.remote], into: "User")
            #expect(try await Self.state(of: json.store) == ["User 1 -"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aChildThatOneChangeGainsAndLosesIsGone(kind: StoreKind) async throws {
        let list = [Element(id: 1, notes: [Note(id: 5)]), Element(id: 1, notes: [])]
        try await Self.with(kind, .nullify) { json in
            _ = try await json.apply([Change.objects(list).remote], into: "User")
            #expect(try await Self.state(of: json.store) == ["User 1 -"])
        }
    }

    /// The object that was removed and the new one have nothing in common but the identity.
    @Test(arguments: StoreKind.all)
    func anObjectAfterItsRemovalIsNew(kind: StoreKind) async throws {
        try await Self.with(kind, .cascade) { json in
            let full = Change.objects([Element(id: 1, name: "a", notes: [Note(id: 5, text: "t")])])
            _ = try await json.apply([full.remote], into: "User")
            let result = try await json.apply(
                [Change.removals([1]).remote, Change.objects([Element(id: 1)]).remote], into: "User")
            #expect(try await Self.state(of: json.store) == ["User 1 -"])
            #expect(result.counts.deleted == 1)
            #expect(result.counts.inserted == 1)
        }
    }

    /// The limit applies to all removals of a call, wherever other changes stand between them.
    @Test(arguments: StoreKind.all)
    func theRemovalLimitAppliesToAllChangesOfACall(kind: StoreKind) async throws {
        try await Self.with(kind, .nullify) { json in
            let users = Change.objects([1, 2, 3].map { Element(id: $0) })
            _ = try await json.apply([users.remote], into: "User")
            let changes: [Change] = [.removals([1]), .objects([Element(id: 4)]), .removals([2])]
            await #expect(throws: StoreSyncError.self) {
                try await json.apply(
                    changes.map(\.remote), into: "User",
                    options: StoreSyncOptions(removalLimit: RemovalLimit(count: 1)))
            }
            #expect(try await Self.state(of: json.store).count == 3)
        }
    }

    private static func with(
        _ kind: StoreKind, _ rule: SyncRelationship.DeleteRule,
        _ body: @Sendable @escaping (JSONStore) async throws -> Void
    ) async throws {
        let mapper = try RecordMapper(try Self.model(rule))
        try await kind.use { make in try await body(try JSONStore(try await make(mapper.model), mapper: mapper)) }
    }

    private static func state(of store: any Store) async throws -> [String] {
        let users = try await store.records(StoreQuery("User")).map { stored in
            "User \(text(stored.record["id"])) \(text(stored.record["name"]))"
        }
        let notes = try await store.records(StoreQuery("Note"), with: ["user"]).map { stored in
            let owner = stored.record[related: "user"]?.keys.first
            let key = if case .identity(let values)? = owner { text(values[0]) } else { "-" }
            return "Note \(text(stored.record["id"])) \(text(stored.record["text"])) \(key)"
        }
        return (users + notes).sorted()
    }

    private static func text(_ value: AttributeValue) -> String {
        switch value {
        case .int(let number): "\(number)"
        case .string(let string): string
        default: "-"
        }
    }
}

private struct Note {
    var id: Int
    var text: String?

    var json: String { #"{"id":\#(id)\#(text.map { #","text":"\#($0)""# } ?? "")}"# }
}

private struct Element {
    var id: Int
    var name: String?
    /// Nil for an element that does not state its notes.
    var notes: [Note]?

    var json: String {
        let list = notes.map { #","notes":[\#($0.map(\.json).joined(separator: ","))]"# } ?? ""
        return #"{"id":\#(id)\#(name.map { #","name":"\#($0)""# } ?? "")\#(list)}"#
    }
}

private enum Change: CustomStringConvertible {
    case objects([Element])
    case removals([Int])

    init(using random: inout SeededRandom) {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func some(_ limit: Int) -> Int { Int.random(in: 1...limit, using: &random) }
        guard !chance(25) else {
            self = .removals((0..<some(2)).map { _ in some(3) })
            return
        }
        self = .objects(
            [1, 2, 3].shuffled(using: &random).prefix(chance(75) ? 1 : some(3)).map { id in
                let ids = chance(70) ? Array([1, 2, 3, 4].shuffled(using: &random).prefix(some(4) - 1)) : nil
                return Element(
                    id: id, name: chance(50) ? "n\(some(3))" : nil,
                    notes: ids?.map { Note(id: $0, text: chance(50) ? "t\(some(3))" : nil) })
            })
    }

    var remote: RemoteChange {
        switch self {
        case .objects(let elements):
            .objects(.bytes(Array("[\(elements.map(\.json).joined(separator: ","))]".utf8)))
        case .removals(let ids): .removals(.bytes(Array("\(ids)".utf8)))
        }
    }

    var description: String {
        switch self {
        case .objects(let elements): "[\(elements.map(\.json).joined(separator: ","))]"
        case .removals(let ids): "-\(ids)"
        }
    }
}

/// The objects after changes, each applied after the other.
private struct Reference {
    private var names: [Int: String?] = [:]
    private var notes: [Int: (text: String?, owner: Int?)] = [:]
    private let cascades: Bool

    init(cascades: Bool) {
        self.cascades = cascades
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .objects(let elements):
            var detached: Set<Int> = []
            for element in elements {
                names.updateValue(element.name ?? names[element.id].flatMap(\.self), forKey: element.id)
                guard let list = element.notes else { continue }
                for (id, note) in notes where note.owner == element.id {
                    notes[id]?.owner = nil
                    detached.insert(id)
                }
                for note in list { notes[note.id] = (note.text ?? notes[note.id]?.text, element.id) }
            }
            for id in detached where notes[id]?.owner == nil { notes[id] = nil }
        case .removals(let ids):
            for id in ids {
                names[id] = nil
                for (note, value) in notes where value.owner == id {
                    if cascades { notes[note] = nil } else { notes[note]?.owner = nil }
                }
            }
        }
    }

    var lines: [String] {
        let users = names.map { "User \($0) \($1 ?? "-")" }
        return (users + notes.map { "Note \($0) \($1.text ?? "-") \($1.owner.map(String.init) ?? "-")" }).sorted()
    }
}
