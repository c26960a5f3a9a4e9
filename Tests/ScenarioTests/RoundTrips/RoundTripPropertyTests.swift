import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Random documents that are shaped like real ones are the same after a sync and an export.
@Suite(.endsInTime) struct RoundTripPropertyTests {
    @Test(arguments: seeds(10, thorough: 120))
    func aRandomDocumentComesBackAsItWas(seed: UInt64) async throws {
        var documents = DocumentGenerator(seed: seed)
        let json = try documents.document()
        for kind in StoreKind.all.prefix(seed % 4 == 0 ? 3 : 2) { try await RoundTrip.check(json, on: kind) }
    }
}

/// Makes documents with the habits of real APIs: maps by code, identifiers per parent, shared
/// objects, objects beside their identifiers, nulls and absent keys, and mixed styles.
struct DocumentGenerator {
    private var random: SeededRandom
    private var shared: [[JSONValue.Object]] = []

    private indirect enum Shape {
        case integer, decimal, text, date(Int), flag, uuid, timestamp, mixed, empty
        case scalars, map(Shape), object([Member]), list([Member], Identity), shared(Int), sharedList(Int)
    }

    private enum Identity: CaseIterable {
        case none, global, perParent
    }

    private struct Member {
        let key: String
        let shape: Shape
        /// In how many of ten objects the value is absent, and null.
        let absence: Int
        let nulls: Int
    }

    private static let words = [
        "name", "title", "kind", "type", "value", "owner", "home_address", "lineItems", "created_at", "updatedAt",
        "URL",
        "x.y", "Full Name", "tags", "children", "parent", "data", "e-mail", "größe", "_links", "user", "user_id",
        "items",
        "order", "select", "2nd", "currency", "amount", "description", "node", "Name", "",
    ]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// Returns a document.
    mutating func document() throws -> [UInt8] {
        for _ in 0..<2 { shared.append(sharedObjects()) }
        let members = members(depth: 3)
        let identity = Int.random(in: 0..<4, using: &random)
        let elements = (0..<Int.random(in: 1...8, using: &random)).map { index -> JSONValue in
            var object = object(members)
            switch identity {
            case 0: object["id"] = .integer(Int64(index))
            case 1: object["code"] = .string("c\(index)")
            case 2 where index > 0: object["id"] = .integer(Int64(index / 2))
            default: break
            }
            return .object(object)
        }
        var writer = JSONWriter()
        try writer.value(
            .array(elements.contains { $0 != .object(JSONValue.Object()) } ? elements : [.object(["a": .integer(1)])]))
        return writer.bytes
    }

    private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func sharedObjects() -> [JSONValue.Object] {
        let members = members(depth: 1)
        return (0..<4).map { index in
            var object = object(members)
            object["id"] = .integer(Int64(index))
            return object
        }
    }

    private mutating func members(depth: Int) -> [Member] {
        var keys: Set<String> = []
        return (0..<(1 + number(6))).compactMap { _ in
            let key = Self.words[number(Self.words.count)]
            guard keys.insert(key).inserted else { return nil }
            let habit = number(6)
            return Member(
                key: key, shape: shape(depth: depth), absence: habit == 0 || habit == 2 ? 3 : 0,
                nulls: habit == 1 || habit == 2 ? 3 : 0)
        }
    }

    private mutating func shape(depth: Int) -> Shape {
        switch number(depth > 0 ? 19 : 10) {
        case 0: .integer
        case 1: .decimal
        case 2, 3: .text
        case 4: .date(number(6))
        case 5: .flag
        case 6: .uuid
        case 7: .timestamp
        case 8: .mixed
        case 9: .scalars
        case 10: .empty
        case 11: .map(depth > 1 ? .object(members(depth: 0)) : .text)
        case 12, 13: .object(members(depth: depth - 1))
        case 14, 15, 16: .list(members(depth: depth - 1), Identity.allCases[number(3)])
        case 17: .shared(number(shared.count + 1))
        default: .sharedList(number(shared.count + 1))
        }
    }

    private mutating func object(_ members: [Member]) -> JSONValue.Object {
        var object = JSONValue.Object()
        for member in members {
            if number(10) < member.absence { continue }
            object[member.key] = number(10) < member.nulls ? .null : value(member.shape)
        }
        return object
    }

    private mutating func value(_ shape: Shape) -> JSONValue {
        switch shape {
        case .integer: return .integer(Int64(number(1000)) * (number(5) == 0 ? 1_000_000_000_000_000 : 1))
        case .decimal:
            return number(3) == 0 ? .integer(Int64(number(9))) : .decimal("\(number(1000)).\(1 + number(998))")
        case .text: return .string(["", "a", "Ä\n\"", "42", "true", "2014"][number(6)])
        case .date(let style):
            let second = 10 + number(50)
            return .string(
                [
                    "2014-01-02T10:00:\(second)Z", "2014-01-\(10 + number(19))", "2014-01-02 10:00:\(second)",
                    "2014-01-02T10:00:\(second).\(100 + number(900))+02:00", "Sun Aug 31 00:29:\(second) +0000 2014",
                    "Sun, 31 Aug 2014 00:29:\(second) GMT",
                ][style])
        case .flag: return .bool(number(2) == 0)
        case .uuid: return .string("e621e1f8-c36c-495a-93fc-0c247a3e6e5\(number(10))")
        case .timestamp: return .integer(Int64(1_400_000_000 + number(1000)))
        case .mixed:
            return [.integer(1), .string("1"), .bool(true), .array([]), .object(["a": .integer(1)])][number(5)]
        case .empty: return number(2) == 0 ? .array([]) : .object(JSONValue.Object())
        case .scalars: return .array((0..<number(4)).map { .integer(Int64($0)) })
        case .map(let inner):
            var map = JSONValue.Object()
            for _ in 0..<number(4) { map[["CHF", "EUR", "USD", "GBP", "10", "x/y"][number(6)]] = value(inner) }
            return .object(map)
        case .object(let members): return .object(object(members))
        case .list(let members, let identity):
            return .array(
                (0..<number(4)).map { index in
                    var object = object(members)
                    switch identity {
                    case .none: break
                    case .global: object["id"] = .integer(Int64(number(1_000_000)))
                    case .perParent: object["id"] = .integer(Int64(index + 1))
                    }
                    return .object(object)
                })
        case .shared(let group):
            guard group < shared.count else { return .null }
            return .object(shared[group][number(4)])
        case .sharedList(let group):
            guard group < shared.count else { return .array([]) }
            return .array(shared[group].shuffled(using: &random).prefix(number(5)).map { .object($0) })
        }
    }
}
