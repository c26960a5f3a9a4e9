import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

/// Several keys of one object that mean the same property.
@Suite(.endsInTime) struct SpellingTests {
    /// The members of an object, and what becomes of one of its attributes.
    struct Case: Sendable {
        let members: String
        let attribute: String
        let value: AttributeValue
        /// The drift, each entry as kind, key path and count.
        let drift: [String]

        init(_ members: String, _ attribute: String, _ value: AttributeValue, _ drift: [String]) {
            self.members = members
            self.attribute = attribute
            self.value = value
            self.drift = drift
        }
    }

    private let mapper: RecordMapper

    init() throws {
        mapper = try RecordMapper(try Self.model())
    }

    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("firstName", .string)
                SyncAttribute("teamID", .int64)
                SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "address.city"])
                SyncRelationship("company", toOne: "Company")
            }
            SyncEntity("Company", identity: "id") { SyncAttribute("id", .int64) }
        }
    }

    private func batch(_ json: String, of mapper: RecordMapper? = nil) throws -> MappedBatch {
        let reader = try (mapper ?? self.mapper).reader(
            of: "User", bytes: Array(json.utf8), options: .init(keepsRelationships: true))
        return try #require(try reader.next())
    }

    private func ids(_ batch: MappedBatch) throws -> [AttributeValue] {
        try #require(batch.groups.first).makeRecords().map { $0["id"] }
    }

    private func texts(_ drift: DriftReport) -> [String] {
        drift.entries.map { "\($0.kind) \($0.keyPath) \($0.count)" }
    }

    private func check(_ example: Case, _ mapper: RecordMapper? = nil) throws {
        let batch = try batch("[{\(example.members)}]", of: mapper)
        let record = try #require(batch.groups.first?.makeRecords().first)
        #expect(record[example.attribute] == example.value)
        #expect(Set(texts(batch.drift)) == Set(example.drift))
    }

    static let looseCases: [Case] = [
        Case(#""id":1,"_id":5"#, "id", 1, ["unknownKey _id 1"]),
        Case(#""_id":5,"id":1"#, "id", 1, ["unknownKey _id 1"]),
        Case(#""_id":5,"name":"a""#, "id", 5, []),
        Case(#""id":null,"_id":5"#, "id", .null, ["unknownKey _id 1"]),
        Case(#""_id":5,"id":null"#, "id", .null, ["unknownKey _id 1"]),
        Case(#""id":1,"NAME":"z","name":"Ada""#, "name", "Ada", ["unknownKey NAME 1"]),
        Case(#""first_name":"a","FirstName":"b""#, "firstName", "a", ["unknownKey FirstName 1"]),
        Case(#""teamId":3,"team_id":1"#, "teamID", 1, ["unknownKey teamId 1"]),
        Case(#""City":"b","address":{"city":"a"}"#, "city", "a", ["unknownKey City 1"]),
        Case(#""FirstName":"a","first-name":"b""#, "firstName", "a", ["unknownKey first-name 1"]),
        Case(#""FirstName":"a","Firs\u0074Name":"b""#, "firstName", "b", ["repeatedKey FirstName 1"]),
        Case(
            #""FirstName":[],"firstName":"b","FirstName":[]"#, "firstName", "b",
            ["repeatedKey FirstName 1", "unknownKey FirstName 1"]),
    ]

    @Test(arguments: looseCases)
    func anExactKeyCountsRatherThanASimilarOne(example: Case) throws {
        try check(example)
    }

    static let exactCases: [Case] = [
        Case(#""firstName":"a","first_name":"b""#, "firstName", "b", ["repeatedKey first_name 1"]),
        Case(#""first_name":"a","firstName":"b""#, "firstName", "b", ["repeatedKey firstName 1"]),
        Case(#""first_name":"a","firstName":null"#, "firstName", .null, ["repeatedKey firstName 1"]),
        Case(#""name":"a","name":"b""#, "name", "b", ["repeatedKey name 1"]),
        Case(#""id":1,"name":"a","first_name":"b","team_id":2"#, "name", "a", []),
    ]

    @Test(arguments: exactCases)
    func ofTwoExactKeysTheLastCounts(example: Case) throws {
        try check(example)
    }

    /// Whichever of the attributes comes first.
    @Test(arguments: [["userName", "user_name"], ["user_name", "userName"]])
    func aKeyBelongsToTheAttributeOfItsName(names: [String]) throws {
        let mapper = try RecordMapper(
            try DataModel { SyncEntity("User") { for name in names { SyncAttribute(name, .string) } } })
        for name in names {
            let record = try #require(
                try batch(#"[{"\#(name)":"x"}]"#, of: mapper).groups.first?.makeRecords().first)
            #expect(names.map { record[$0] == "x" } == names.map { $0 == name })
        }
    }

    /// A value that is ignored does not make room for that of a similar key.
    @Test func aValueThatDoesNotFitCountsAsOne() throws {
        let keeping = try RecordMapper(try Self.model(), JSONMapping(contract: .keeping))
        let drift = ["unfitValue team_id 1", "unknownKey teamId 1"]
        try check(Case(#""teamId":3,"team_id":[]"#, "teamID", .null, drift), keeping)
    }

    @Test func aSimilarKeyOfLaterObjectsIsStillFound() throws {
        let batch = try batch(#"[{"id":1,"_id":5},{"_id":6,"x":1},{"_id":7,"id":2}]"#)
        #expect(try ids(batch) == [1, 6, 2])
        #expect(Set(texts(batch.drift)) == ["unknownKey _id 2", "unknownKey x 1"])
    }

    @Test func theContractDecidesAboutASimilarKey() throws {
        let rejecting = try RecordMapper(try Self.model(), JSONMapping(contract: ValueContract(unknownKey: .reject)))
        let batch = try batch(#"[{"_id":5,"id":1},{"_id":6}]"#, of: rejecting)
        #expect(try ids(batch) == [6])
        #expect(
            batch.rejected == [MappingError.Problem(entity: "User", keyPath: "_id", index: 0, reason: .unknownKey)])
        #expect(batch.drift.isEmpty)
    }

    @Test func oneObjectFollowsTheSameRule() throws {
        var record = Record(of: try #require(mapper.model["User"]))
        #expect(try mapper.fill(&record, from: .object(["id": .integer(1), "_id": .integer(5)])))
        #expect(record["id"] == 1)
    }

    static let companies: [(String, [String])] = [
        (#""company_id":1,"companyId":3"#, ["repeatedKey companyId 1"]),
        (#""company_id":1,"company_id":3"#, ["repeatedKey company_id 1"]),
        (#""company":{"id":3},"company_id":1"#, []), (#""company_id":1,"company":{"id":3}"#, []),
    ]

    @Test(arguments: companies)
    func anObjectAndItsIdentifierAreNoRepetition(members: String, drift: [String]) throws {
        let batch = try batch(#"[{"id":1,\#(members)}]"#)
        let company = try #require(batch.groups.first?.nested[0]?.groups.first)
        #expect(company.records.value(row: 0, column: 0) == 3)
        #expect(texts(batch.drift) == drift)
    }

    @Test func nestedObjectsFollowTheSameRule() throws {
        let batch = try batch(#"[{"id":1,"company":{"_id":9,"id":3}}]"#)
        #expect(batch.groups.first?.nested[0]?.groups.first?.records.value(row: 0, column: 0) == 3)
        #expect(texts(batch.nestedDrift) == ["unknownKey _id 1"])
    }
}
