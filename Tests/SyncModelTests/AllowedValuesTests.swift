import Foundation
import OneWayTestLimits
import SyncModel
import Testing

/// The allowed values of attributes: stated, and those of the enums in a Swift type.
@Suite(.endsInTime) struct AllowedValuesTests {
    enum Status: String, Codable, CaseIterable { case open, closed }
    enum Level: Int, Codable, CaseIterable { case low = -1, high = 300 }
    enum Small: UInt8, Codable, CaseIterable { case one = 1, most = 255 }
    enum Ratio: Double, Codable, CaseIterable { case half = 0.5 }
    enum Kind: String, Codable { case a, b }
    enum Plan: String, Codable, CaseIterable, AttributeRepresentable { case free, paid }

    /// An enum with a place for unknown values.
    enum Tolerant: String, Codable, CaseIterable {
        case known, other
        init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }

    /// An enum that is decoded from several spellings.
    enum Loose: String, Codable, CaseIterable {
        case on, off
        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let known = Self(rawValue: text.lowercased()) else {
                throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: text))
            }
            self = known
        }
    }

    struct Address: Codable {
        var status: Status?
        var levels: [Level]
    }

    struct Ticket: SyncObject {
        var id: Int
        var status: Status
        var former: Status?
        var level: Level
        var small: Small?
        var ratio: Ratio
        var kind: Kind
        var plan: Plan?
        var tolerant: Tolerant
        var loose: Loose
        var tags: [Status]
        var address: Address?
        var names: [String]
    }

    private static func attribute(_ name: String, of type: any SyncObject.Type = Ticket.self) throws -> SyncAttribute {
        let layout = try DataModel(type).layout(of: type.entityName)
        return layout.attributes[try #require(layout.column(of: name))]
    }

    @Test(
        arguments: [
            ("status", ["open", "closed"]), ("former", ["open", "closed"]), ("level", [-1, 300]), ("small", [1, 255]),
            ("ratio", [0.5]), ("kind", []), ("plan", ["free", "paid"]), ("tolerant", []), ("loose", ["on", "off"]),
            ("tags", []), ("address", []), ("names", []), ("id", []),
        ] as [(String, [AttributeValue])])
    func theCasesOfAnEnumAreItsAllowedValues(name: String, values: [AttributeValue]) throws {
        #expect(try Self.attribute(name).allowedValues == values)
    }

    @Test func theTypeDecidesAboutOtherValues() throws {
        let status = try #require(try Self.attribute("status").restriction)
        #expect(status.allows("open") && !status.allows("Open") && !status.allows("archived") && !status.allows(1))
        let loose = try #require(try Self.attribute("loose").restriction)
        #expect(loose.allows("on") && loose.allows("OFF") && !loose.allows("none"))
        for name in ["kind", "tolerant", "id"] {
            #expect(try Self.attribute(name).restriction == nil, "\(name)")
        }
        let tags = try #require(try Self.attribute("tags").restriction)
        #expect(tags.allows(try Self.json(#"["open","closed"]"#)))
        #expect(tags.allows(try Self.json("[]")))
        #expect(!tags.allows(try Self.json(#"["open","archived"]"#)))
        let address = try #require(try Self.attribute("address").restriction)
        #expect(address.allows(try Self.json(#"{"levels":[-1]}"#)))
        #expect(!address.allows(try Self.json(#"{"levels":[2]}"#)))
        #expect(!address.allows(try Self.json(#"{"levels":[],"status":"archived"}"#)))
    }

    struct Stamp: Codable {
        var at: Date
        var status: Status?
    }

    /// A type whose properties hold some of the values of their attributes.
    struct Narrow: SyncObject {
        var id: UInt
        var small: Int8?
        var octet: UInt8?
        var half: UInt16?
        var word: UInt32?
        var big: UInt64?
        var link: URL
        var names: [String]
        var counts: [String: Int]?
        var stamp: Stamp?
    }

    private static func json(_ text: String) throws -> AttributeValue { .json(try #require(CanonicalJSON(text))) }

    @Test(
        arguments: [
            ("id", 0, .max), ("small", -128, 127), ("octet", 0, 255), ("half", 0, 65_535), ("word", 0, 4_294_967_295),
            ("big", 0, .max),
        ] as [(String, Int64, Int64)])
    func aNarrowIntegerAllowsItsRange(name: String, least: Int64, greatest: Int64) throws {
        let attribute = try Self.attribute(name, of: Narrow.self)
        #expect(attribute.integerRange == least...greatest)
        #expect(attribute.userInfo.isEmpty)
        let restriction = try #require(attribute.restriction)
        #expect(restriction.isRange && restriction.allows(.int(least)) && restriction.allows(.int(greatest)))
        #expect(!restriction.allows(.int(least - 1)))
        if greatest < .max { #expect(!restriction.allows(.int(greatest + 1))) }
    }

    @Test(arguments: [
        "[]", #"["a"]"#, #"["a","b\"]","","\\"]"#, #"[""]"#, #"["a",1]"#, "[1]", "[null]", #"["a",null]"#, #"[["a"]]"#,
        "{}", #"{"a":"b"}"#, #""a""#, #""[]""#, "1", "null", #"["é\u0001","\u4e2d"]"#, #"["a",{}]"#,
    ])
    func listsOfStringsAreKnownAsADecoderKnowsThem(json: String) throws {
        let value = try #require(CanonicalJSON(json))
        let isDecoded = (try? JSONDecoder().decode([String].self, from: Data(value.text.utf8))) != nil
        #expect(value.isListOfStrings == isDecoded)
        let names = try #require(try Self.attribute("names", of: Narrow.self).restriction)
        #expect(names.allows(.json(value)) == isDecoded)
    }

    @Test func aTypeAllowsWhatItCanHold() throws {
        let link = try #require(try Self.attribute("link", of: Narrow.self).restriction)
        #expect(!link.isRange && link.allows(.uri("https://a/b")) && !link.allows(.uri("")))
        let names = try #require(try Self.attribute("names", of: Narrow.self).restriction)
        #expect(try names.allows(Self.json("[]")) && names.allows(Self.json(#"["a"]"#)))
        for text in ["[1]", #""a""#, "{}", #"["a",null]"#] { #expect(try !names.allows(Self.json(text)), "\(text)") }
        let counts = try #require(try Self.attribute("counts", of: Narrow.self).restriction)
        #expect(try counts.allows(Self.json(#"{"a":1}"#)) && !counts.allows(Self.json("[]")))
    }

    @Test func datesInJSONAreTextsOrTimestamps() throws {
        let stamp = try #require(try Self.attribute("stamp", of: Narrow.self).restriction)
        #expect(try stamp.allows(Self.json(#"{"at":"2024-01-02T03:04:05Z","status":"open"}"#)))
        #expect(try stamp.allows(Self.json(#"{"at":1700000000}"#)))
        #expect(try !stamp.allows(Self.json(#"{"at":"never"}"#)))
    }

    struct Wide: SyncObject {
        var id: Int
        var half: Int16
        var word: Int32
        var long: Int64
        var name: String
        var score: Double
        var ratio: Float
        var price: Decimal
        var isOpen: Bool
        var at: Date
        var photo: Data
        var token: UUID
        var meta: CanonicalJSON?
    }

    @Test func otherTypesHoldEveryValue() throws {
        for attribute in try DataModel(Wide.self).layout(of: "Wide").attributes {
            #expect(attribute.restriction == nil && attribute.knownLimits == [], "\(attribute.name)")
        }
    }

    struct Zipped: Codable { var zip: Int }
    struct MaybeZipped: Codable { var zip: Int? }
    struct TextZipped: Codable { var zip: String }

    struct Boxes: SyncObject {
        var id: Int
        var a: Zipped, b: MaybeZipped, c: TextZipped, d: [Int], e: [String], f: [[Int]], g: [String: Int]
        var h: UInt8, i: Int8
    }

    /// A source is read again if any of these changes.
    @Test func theLimitsNameThePartsOfAType() throws {
        let attributes = try DataModel(Boxes.self).layout(of: "Boxes").attributes.filter { $0.name != "id" }
        #expect(Set(attributes.map(\.knownLimits)).count == attributes.count)
        let zipped = try #require(attributes.first { $0.name == "a" })
        #expect(zipped.knownLimits.contains("zip Int"))
        #expect(zipped == SyncAttribute("a", .json, optional: false))
    }

    /// A type whose `init(from:)` has a place for unknown values.
    struct Careful: SyncObject {
        var id: Int
        var status: Status
        var former: Status?
        var link: URL?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int.self, forKey: .id)
            status = (try? container.decode(Status.self, forKey: .status)) ?? .closed
            former = try container.decodeIfPresent(Status.self, forKey: .former)
            link = try? container.decode(URL.self, forKey: .link)
        }
    }

    @Test func anObjectThatDoesWithoutTheValueAllowsAny() throws {
        #expect(try Self.attribute("status", of: Careful.self).restriction == nil)
        #expect(try Self.attribute("link", of: Careful.self).restriction == nil)
        #expect(try Self.attribute("former", of: Careful.self).allowedValues == ["open", "closed"])
    }

    struct Stated: SyncObject {
        var id: Int
        var name: String
        var open: Status
        var any: Status
        var text: Level

        static let declaration = SyncDeclaration<Stated>(
            .attribute(\.name, allowedValues: ["a", "b"]), .attribute(\.open, allowedValues: ["open"]),
            .attribute(\.any, allowedValues: []), .attribute(\.text, type: .string, remoteKey: "t"))
    }

    @Test func aDeclarationStatesThem() throws {
        #expect(try Self.attribute("name", of: Stated.self).allowedValues == ["a", "b"])
        let open = try #require(try Self.attribute("open", of: Stated.self).restriction)
        #expect(open.allows("open") && !open.allows("closed"))
        #expect(try Self.attribute("any", of: Stated.self).restriction == nil)
        // The raw values are of another type than the attribute, so that only the type decides.
        let text = try Self.attribute("text", of: Stated.self)
        #expect(text.allowedValues == [] && text.restriction?.allows("x") == false)
        #expect(text.userInfo == ["sync.remoteKey": "t"])
    }

    @Test func theyAreAnAnnotation() throws {
        var attribute = SyncAttribute("status", .string, allowedValues: ["open", "a/\"b"], userInfo: ["a": "b"])
        #expect(attribute.userInfo == ["a": "b", "sync.allowedValues": #"["open","a/\"b"]"#])
        #expect(attribute.allowedValues == ["open", "a/\"b"])
        attribute.allowedValues = []
        #expect(attribute == SyncAttribute("status", .string, userInfo: ["a": "b"]))
        attribute.userInfo["sync.allowedValues"] = "[ \"x\" ]"
        #expect(attribute.allowedValues == ["x"])
        let values: [AttributeValue] = [.double(0.5), .decimal(2), .date(Timestamp(microseconds: 1)), .bool(true)]
        attribute.allowedValues = values
        #expect(attribute.allowedValues == values)
    }

    @Test(arguments: [
        (
            SyncAttribute("a", .int64, allowedValues: ["x"]),
            ModelError.unsuitableAllowedValues(entity: "E", attribute: "a", type: .int64)
        ),
        (
            SyncAttribute("a", .int16, allowedValues: [40_000]),
            .unsuitableAllowedValues(entity: "E", attribute: "a", type: .int16)
        ),
        (
            SyncAttribute("a", .string, allowedValues: [.null]),
            .unsuitableAllowedValues(entity: "E", attribute: "a", type: .string)
        ),
        (
            SyncAttribute("a", .string, userInfo: ["sync.allowedValues": "x, y"]),
            .unsuitableAllowedValues(entity: "E", attribute: "a", type: .string)
        ),
        (
            SyncAttribute("a", .string, userInfo: ["sync.allowedValues": "[]"]),
            .unsuitableAllowedValues(entity: "E", attribute: "a", type: .string)
        ),
        (
            SyncAttribute("a", .string, default: "z", allowedValues: ["x"]),
            .defaultNotAllowed(entity: "E", attribute: "a")
        ),
    ])
    func unsuitableOnesAreErrors(attribute: SyncAttribute, error: ModelError) {
        #expect(throws: error) { try DataModel([SyncEntity("E", attributes: [attribute], relationships: [])]) }
    }

    struct Misled: SyncObject {
        var id: Int
        var status: Status
        static let declaration = SyncDeclaration<Misled>(.attribute(\.status, default: "archived"))
    }

    @Test func aDefaultThatTheEnumLacksIsAnError() throws {
        #expect(throws: ModelError.defaultNotAllowed(entity: "Misled", attribute: "status")) {
            try DataModel(Misled.self)
        }
    }

    struct Unlinked: SyncObject {
        var id: Int
        var link: URL
        static let declaration = SyncDeclaration<Unlinked>(.attribute(\.link, default: .uri("")))
    }

    @Test func aDefaultThatTheTypeCannotHoldIsAnError() throws {
        #expect(throws: ModelError.defaultNotAllowed(entity: "Unlinked", attribute: "link")) {
            try DataModel(Unlinked.self)
        }
    }
}
