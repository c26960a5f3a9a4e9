import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct RecordTests {
    private let model: DataModel

    init() throws {
        model = try ModelTests.office.get()
    }

    private struct Person: Codable, Equatable {
        var email: String
        var age: Int?
        var joinedAt: Date?
        var company: Int?
        var notes: [Int]?
        var nickname: String?
    }

    @Test func aNewRecordHoldsTheDefaults() throws {
        let record = Record(of: try model.layout(of: "Person"))
        #expect(record.values == [.null, 18, .null])
        #expect(record.targets == [nil, nil])
        #expect(record.entityName == "Person")
        #expect(record.key == nil)
    }

    @Test func aRecordIsDescribedByItsEntityAndValues() throws {
        var record = Record(of: try model.layout(of: "Person"))
        #expect("\(record)" == "Person email=null age=18 joinedAt=null")
        record["email"] = "a\n\"b\""
        record[related: "company"] = .one(.identity(7))
        record[related: "notes"] = .many([.identity(["x", 2]), .object(3)])
        #expect(
            "\(record)"
                == #"Person email="a\n\"b\"" age=18 joinedAt=null company=7 notes=[("x", 2), object 3]"#)
        record[related: "notes"] = .many((1...20).map { .identity($0) })
        record["email"] = .string(String(repeating: "é", count: 100))
        let cut = String(repeating: "é", count: 79)
        #expect(
            "\(record)"
                == "Person email=\"\(cut)… age=18 joinedAt=null company=7 notes=[1, 2, 3, 4, 5, 6, 7, 8, … 20 in all]")
    }

    @Test func propertiesAreReadAndWrittenByName() throws {
        var record = Record(of: try model.layout(of: "Person"))
        record["email"] = "a@b"
        record["age"] = .null
        record["nothing"] = 1
        record[related: "company"] = .one(.identity(7))
        record[related: "nothing"] = .one(nil)
        #expect(record["email"] == "a@b")
        #expect(record[column: 0] == "a@b")
        #expect(record["age"] == .null)
        #expect(record["nothing"] == .null)
        #expect(record[related: "company"]?.keys == [.identity([7])])
        #expect(record[relationship: 0] == .one(.identity([7])))
        #expect(record[related: "notes"] == nil)
        #expect(record.key == .identity(["a@b"]))
    }

    @Test func aRecordIsMadeOfABatchesRow() throws {
        let layout = try model.layout(of: "Postcard")
        var batch = RecordBatch(of: layout)
        batch.beginRecord()
        batch.setInt(5, at: 0)
        batch.setInt(6, at: 2)
        batch.endRecord()
        let record = Record(row: 0, of: batch, layout: layout)
        #expect(record.values == [5, .null, 6, .null])
        #expect(record.key == .identity([5, 6]))
        var same = Record(of: layout)
        same["id"] = 5
        #expect(same != record)
        same["size"] = 6
        #expect(same == record)
        #expect(same.hashValue == record.hashValue)
    }

    @Test func recordsDifferInEntityValuesAndTargets() throws {
        let person = Record(of: try model.layout(of: "Person"))
        var (named, hired, idle) = (person, person, person)
        named["email"] = "a@b"
        hired[related: "company"] = .one(.identity(7))
        idle[related: "company"] = .one(nil)
        let records = [
            person, named, hired, idle, Record(of: try model.layout(of: "Note")),
            Record(of: try model.layout(of: "Company")),
        ]
        #expect(Set(records).count == records.count)
        #expect(Set(records.map(\.hashValue)).count == records.count)
        #expect(records == records)
    }

    @Test func aKeyHasAllValuesOfAnIdentity() {
        #expect(Record.Key([]) == nil && Record.Key([.null]) == nil && Record.Key([1, .null]) == nil)
        #expect(Record.Key([1, "a"]) == .identity([1, "a"]))
        #expect(Record.Targets.one(nil).keys == [] && Record.Targets.many([]).keys == [])
        #expect(Record.Targets.one(.identity(1)).keys == [.identity([1])])
    }

    /// Errors about an object name its key, and so does what a synchronizer says of an item.
    @Test func aKeyIsDescribedByItsValues() {
        let keys: [Record.Key] = [.identity(7), .identity("a"), .identity([7, "en"]), .object(3)]
        #expect(keys.map { "\($0)" } == ["7", #""a""#, #"(7, "en")"#, "object 3"])
        #expect(keys.map { String(reflecting: $0) } == keys.map(\.description))
    }

    /// A queue of work tells items apart by the text of their keys.
    @Test func keysThatDifferHaveDifferentTexts() {
        let moments = [1_000_000, 1_000_001, 1_250_000, .max - 1, .max] as [Int64]
        let dates = moments.map { Record.Key.identity([.date(Timestamp(microseconds: $0))]) }
        #expect(
            dates.map(\.description) == [
                "1970-01-01T00:00:01Z", "1970-01-01T00:00:01.000001Z", "1970-01-01T00:00:01.250Z",
                "9223372036854775806", "9223372036854775807",
            ])
        let bytes = [[1, 2], [1, 3]].map { Record.Key.identity([7, .binary(Data($0))]) }
        #expect(bytes.map(\.description) == ["(7, AQI=)", "(7, AQM=)"])
    }

    @Test func aCodableTypeGoesIntoARecordAndBack() throws {
        var record = Record(of: try model.layout(of: "Person"))
        let person = Person(
            email: "a@b", age: 30, joinedAt: Date(timeIntervalSince1970: 1.25), company: 7, notes: [1, 2])
        try record.encode(person)
        #expect(record.values == ["a@b", 30, .date(Timestamp(microseconds: 1_250_000))])
        #expect(record[related: "company"] == .one(.identity(7)))
        #expect(record[related: "notes"] == .many([.identity(1), .identity(2)]))
        #expect(try record.decode(Person.self) == person)
    }

    @Test func whatIsMissingIsNil() throws {
        var record = Record(of: try model.layout(of: "Person"))
        record["email"] = "a@b"
        record["age"] = .null
        record[related: "company"] = .one(nil)
        let expected = Person(email: "a@b", age: nil, joinedAt: nil, company: nil, notes: nil, nickname: nil)
        #expect(try record.decode(Person.self) == expected)
    }

    private struct Everything: Codable, Equatable {
        enum Colour: String, Codable { case red, blue }
        var flag: Bool
        var small: Int8
        var large: UInt64
        var ratio: Float
        var price: Decimal
        var colour: Colour
        var bytes: Data
        var id: UUID
        var link: URL
        var moment: Timestamp?

        enum CodingKeys: String, CodingKey {
            case flag, small, large, ratio, price, colour, bytes, id, link
        }
    }

    @Test func everyKindOfValueIsCoded() throws {
        let model = try DataModel {
            SyncEntity("E") {
                SyncAttribute("flag", .bool)
                SyncAttribute("small", .int16)
                SyncAttribute("large", .decimal)
                SyncAttribute("ratio", .float)
                SyncAttribute("price", .decimal)
                SyncAttribute("colour", .string)
                SyncAttribute("bytes", .binary)
                SyncAttribute("id", .uuid)
                SyncAttribute("link", .uri)
            }
        }
        var record = Record(of: try model.layout(of: "E"))
        let everything = Everything(
            flag: true, small: -3, large: 12, ratio: 0.1, price: Decimal(string: "12.50") ?? 0, colour: .blue,
            bytes: Data([1, 2]), id: UUID(), link: try #require(URL(string: "https://a.b/c")))
        try record.encode(everything)
        #expect(record["large"] == .decimal(12))
        #expect(record["ratio"] == .double(Double(Float(0.1))))
        #expect(try record.decode(Everything.self) == everything)
    }

    @Test func errorsNameTheProperty() throws {
        struct NoAge: Codable { var email: String; var height: Int }
        struct WrongAge: Codable { var age: Bool }
        struct LargeAge: Codable { var age: Int }
        struct Nested: Codable { var email: [String: Int] }
        var record = Record(of: try model.layout(of: "Person"))
        #expect(throws: Record.CodingError.missingValue(entity: "Person", property: "email")) {
            try record.decode(Person.self)
        }
        record["email"] = "a@b"
        let before = record
        #expect(throws: Record.CodingError.unknownProperty(entity: "Person", property: "height")) {
            try record.decode(NoAge.self)
        }
        #expect(throws: Record.CodingError.wrongType(entity: "Person", property: "age", type: "Bool")) {
            try record.decode(WrongAge.self)
        }
        #expect(throws: Record.CodingError.unsupportedShape(entity: "Person", property: "email")) {
            try record.decode(Nested.self)
        }
        #expect(throws: Record.CodingError.unsupportedShape(entity: "Person", property: nil)) {
            try record.decode([String].self)
        }
        #expect(throws: Record.CodingError.unknownProperty(entity: "Person", property: "height")) {
            try record.encode(NoAge(email: "new", height: 1))
        }
        #expect(throws: Record.CodingError.wrongType(entity: "Person", property: "age", type: "int16")) {
            try record.encode(LargeAge(age: 70_000))
        }
        #expect(throws: Record.CodingError.wrongType(entity: "Person", property: "age", type: "int16")) {
            try record.encode(WrongAge(age: true))
        }
        #expect(throws: Record.CodingError.unsupportedShape(entity: "Person", property: "email")) {
            try record.encode(Nested(email: ["a": 1]))
        }
        #expect(throws: Record.CodingError.unsupportedShape(entity: "Person", property: nil)) {
            try record.encode(["a"])
        }
        #expect(record == before)
        #expect(Record.CodingError.missingValue(entity: "E", property: "p").description == "E.p has no value")
    }
}
