import Foundation
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
            for seed in seeds(2, thorough: 40) {
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

    // MARK: Versions

    /// Objects and removals in random versions, or without one.
    @Test(arguments: StoreKind.all) func versionsInOneCallEqualSingleCalls(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("version", .int64)
            }
        }
        let mapper = try RecordMapper(model)
        try await kind.use { make in
            let json = try JSONStore(try await make(mapper.model), mapper: mapper)
            for seed in seeds(2, thorough: 40) {
                var random = SeededRandom(seed: seed)
                var changes: [RemoteChange] = []
                var users: [Int: (name: String, version: Int?)] = [:]
                for number in 0..<30 {
                    let id = Int.random(in: 1...3, using: &random)
                    let version = Int.random(in: 0..<8, using: &random)
                    let isVersioned = version > 1
                    let text = #"{"id":\#(id),"name":"n\#(number)"\#(isVersioned ? ",\"version\":\(version)" : "")}"#
                    let isRemoval = Int.random(in: 0..<4, using: &random) == 0
                    changes.append(isRemoval ? .removals(.text(text)) : .objects(.text(text)))
                    let known = users[id]?.version
                    if isVersioned, let known, version < known { continue }
                    users[id] = isRemoval ? nil : ("n\(number)", isVersioned ? version : known)
                }
                let expected = users.map { "User \($0) \($1.name)" }.sorted()
                for limit in [1, 7, changes.count] {
                    try await json.store.erase()
                    for start in stride(from: 0, to: changes.count, by: limit) {
                        try await json.apply(
                            Array(changes[start...].prefix(limit)), into: "User",
                            options: StoreSyncOptions(newerBy: "version"))
                    }
                    let found = try await json.store.records(StoreQuery("User")).map { stored in
                        "User \(Self.text(stored.record["id"])) \(Self.text(stored.record["name"]))"
                    }
                    #expect(found.sorted() == expected, "seed \(seed), \(limit)")
                }
            }
        }
    }

    // MARK: Forms of payloads

    /// A file or a stream is as good as JSON in memory.
    @Test(arguments: StoreKind.all) func changesOfAllFormsAreAlike(kind: StoreKind) async throws {
        let folder = try TemporaryDirectory()
        try await Self.with(kind, .nullify) { json in
            for seed in seeds(3, thorough: 30) {
                var random = SeededRandom(seed: seed)
                let changes = (0..<12).map { _ in Change(using: &random) }
                var reference = Reference(cascades: false)
                for change in changes { reference.apply(change) }
                try await json.store.erase()
                for call in Self.cut(changes, using: &random) {
                    let remotes = try call.map { change in
                        change.remote(try Self.source(of: change.text, in: folder.url, using: &random))
                    }
                    _ = try await json.apply(remotes, into: "User")
                }
                #expect(try await Self.state(of: json.store) == reference.lines, "seed \(seed): \(changes)")
            }
        }
    }

    /// JSON in memory, in a file, or in a stream of pieces.
    private static func source(
        of text: String, in folder: URL, using random: inout SeededRandom
    ) throws -> JSONSource {
        let bytes = Array(text.utf8)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .bytes(bytes)
        case 1: return .value(try JSONValue(parsing: bytes))
        case 2:
            let file = folder.appending(path: UUID().uuidString)
            try Data(bytes).write(to: file)
            return .file(file)
        default:
            let byteCount = Int.random(in: 1...9, using: &random)
            return .chunks(
                AsyncStream { continuation in
                    for start in stride(from: 0, to: bytes.count, by: byteCount) {
                        continuation.yield(Array(bytes[start...].prefix(byteCount)))
                    }
                    continuation.finish()
                })
        }
    }

    @Test(arguments: StoreKind.all) func aStreamThatBreaksOffChangesNothing(kind: StoreKind) async throws {
        try await Self.with(kind, .nullify) { json in
            _ = try await json.apply([Change.objects([Element(id: 1, notes: [Note(id: 5)])]).remote], into: "User")
            let pieces = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(Array(#"[{"id":3},{"id":1,"notes":[]},"#.utf8))
                continuation.finish(throwing: TestError("away"))
            }
            let changes = [
                Change.objects([Element(id: 2)]).remote, .objects(.chunks(pieces)), Change.removals([1]).remote,
            ]
            await #expect(throws: TestError.self) { try await json.apply(changes, into: "User") }
            #expect(try await Self.state(of: json.store) == ["Note 5 - 1", "User 1 -"])
        }
    }

    // MARK: Two hosts

    /// Changes that state all of their objects, so that those of the slower host change nothing for
    /// good.
    @Test(arguments: UniqueDatabase.sql, [false, true])
    func twoHostsThatReceiveTheSameChangesEndAlike(kind: UniqueDatabase.Kind, areConcurrent: Bool) async throws {
        try await kind.use { database in
            let mapper = try RecordMapper(try Self.model(.cascade))
            let hosts = [
                try JSONStore(try await database.open(mapper.model), mapper: mapper),
                try JSONStore(try await database.open(mapper.model), mapper: mapper),
            ]
            for seed in seeds(2, thorough: 60) {
                var random = SeededRandom(seed: seed)
                let changes = (0..<12).map { _ in Change(using: &random, isWhole: true) }
                var reference = Reference(cascades: true)
                for change in changes { reference.apply(change) }
                try await hosts[0].store.erase()
                // The changes of each call, by host.
                let calls = hosts.map { _ in Self.cut(changes, using: &random) }
                if areConcurrent {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (host, calls) in zip(hosts, calls) {
                            group.addTask {
                                for call in calls { _ = try await host.apply(call.map(\.remote), into: "User") }
                            }
                        }
                        try await group.waitForAll()
                    }
                } else {
                    var rests = calls.map { $0[...] }
                    while let host = rests.indices.filter({ !rests[$0].isEmpty }).randomElement(using: &random) {
                        let call = rests[host].removeFirst()
                        _ = try await hosts[host].apply(call.map(\.remote), into: "User")
                    }
                }
                for host in hosts {
                    #expect(try await Self.state(of: host.store) == reference.lines, "seed \(seed): \(changes)")
                }
            }
        }
    }

    private static func cut(_ changes: [Change], using random: inout SeededRandom) -> [[Change]] {
        var calls: [[Change]] = []
        var rest = changes[...]
        while !rest.isEmpty {
            calls.append(Array(rest.prefix(Int.random(in: 1...4, using: &random))))
            rest = rest.dropFirst(calls[calls.count - 1].count)
        }
        return calls
    }

    // MARK: Single cases

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

    /// - Parameter isWhole: Whether objects state all of their properties.
    init(using random: inout SeededRandom, isWhole: Bool = false) {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func some(_ limit: Int) -> Int { Int.random(in: 1...limit, using: &random) }
        guard !chance(25) else {
            self = .removals((0..<some(2)).map { _ in some(3) })
            return
        }
        self = .objects(
            [1, 2, 3].shuffled(using: &random).prefix(chance(75) ? 1 : some(3)).map { id in
                let ids =
                    chance(70) || isWhole ? Array([1, 2, 3, 4].shuffled(using: &random).prefix(some(4) - 1)) : nil
                return Element(
                    id: id, name: chance(50) || isWhole ? "n\(some(3))" : nil,
                    notes: ids?.map { Note(id: $0, text: chance(50) || isWhole ? "t\(some(3))" : nil) })
            })
    }

    var remote: RemoteChange { remote(.text(text)) }

    func remote(_ source: JSONSource) -> RemoteChange {
        if case .removals = self { .removals(source) } else { .objects(source) }
    }

    var text: String {
        switch self {
        // A single object needs no array.
        case .objects(let elements) where elements.count == 1 && elements[0].id < 3: elements[0].json
        case .objects(let elements): "[\(elements.map(\.json).joined(separator: ","))]"
        case .removals(let ids): "\(ids)"
        }
    }

    var description: String {
        if case .removals = self { "-\(text)" } else { text }
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
            // Of several texts in one change, the first counts.
            var texts: Set<Int> = []
            for element in elements {
                names.updateValue(element.name ?? names[element.id].flatMap(\.self), forKey: element.id)
                guard let list = element.notes else { continue }
                for (id, note) in notes where note.owner == element.id {
                    notes[id]?.owner = nil
                    detached.insert(id)
                }
                for note in list {
                    let isFirst = note.text != nil && texts.insert(note.id).inserted
                    notes[note.id] = (isFirst ? note.text : notes[note.id]?.text, element.id)
                }
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
