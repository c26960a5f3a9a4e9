import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

/// Keys as they come, and which of them are the same.
@Suite(.endsInTime) struct IdentityValuesTests {
    private func keys(_ type: AttributeType, _ values: String...) throws -> [Record.Key?] {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("A") {
                    SyncAttribute("id", type)
                    SyncAttribute("text", .string)
                }
            })
        let json = "[" + values.map { $0.isEmpty ? "{}" : "{\"id\":\($0)}" }.joined(separator: ",") + "]"
        return try mapper.records(of: "A", bytes: Array(json.utf8)).map(\.key)
    }

    @Test func nullAndAMissingKeyAreNoKey() throws {
        #expect(try keys(.int64, "null", "") == [nil, nil])
        #expect(try keys(.string, "null", "") == [nil, nil])
    }

    @Test func theEmptyTextAndZeroAreKeys() throws {
        #expect(try keys(.string, "\"\"", "\"0\"", "0") == [.identity([""]), .identity(["0"]), .identity(["0"])])
        #expect(try keys(.int64, "0", "\"0\"", "-0", "\"\"") == [.identity([0]), .identity([0]), .identity([0]), nil])
    }

    @Test func oneIsOneHoweverItIsWritten() throws {
        for type in [AttributeType.int64, .string, .double, .decimal] {
            let keys = try keys(type, "1", "1.0", "1e0", "\"1\"")
            #expect(Set(keys).count == 1, "\(type)")
        }
    }

    @Test func wholeNumbersBeyondADoubleStayApart() throws {
        #expect(
            try keys(.int64, "9007199254740992", "9007199254740993") == [
                .identity([9_007_199_254_740_992]), .identity([9_007_199_254_740_993]),
            ])
        #expect(
            try keys(.string, "9007199254740993", "18446744073709551615", "18446744073709551617") == [
                .identity(["9007199254740993"]), .identity(["18446744073709551615"]),
                .identity(["18446744073709551617"]),
            ])
    }

    @Test func uuidIdentitiesIgnoreCaseAndTextIdentitiesDoNot() throws {
        let upper = "\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\""
        #expect(Set(try keys(.uuid, upper, upper.lowercased())).count == 1)
        #expect(Set(try keys(.string, upper, upper.lowercased())).count == 2)
    }

    @Test func normalisationFormsAreTwoKeys() throws {
        #expect(Set(try keys(.string, "\"\\u00e9\"", "\"e\\u0301\"")).count == 2)
        #expect(Set(try keys(.string, "\"\\u00e9\"", "\"é\"")).count == 1)
    }

    @Test func aKeyOfTenThousandBytesIsAKey() throws {
        let long = String(repeating: "k", count: 10_000)
        #expect(try keys(.string, "\"\(long)\"") == [.identity([.string(long)])])
    }

    @Test func aJSONKeyOfTenThousandBytesIsUnknownLikeAnyOther() throws {
        let mapper = try RecordMapper(try DataModel { SyncEntity("A") { SyncAttribute("id", .int64) } })
        let long = String(repeating: "i", count: 10_000)
        #expect(try mapper.records(of: "A", bytes: Array("[{\"\(long)\":1,\"id\":2}]".utf8)).map { $0["id"] } == [2])
    }

    @Test func unicodeKeysAreComparedByTheirBytes() throws {
        let mapper = try RecordMapper(
            try DataModel { SyncEntity("A") { SyncAttribute("a", .int64, userInfo: ["sync.remoteKey": "caf\u{E9}"]) } })
        let json = "[{\"caf\u{E9}\":1},{\"cafe\u{301}\":2}]"
        #expect(try mapper.records(of: "A", bytes: Array(json.utf8)).map { $0["a"] } == [1, .null])
    }
}
