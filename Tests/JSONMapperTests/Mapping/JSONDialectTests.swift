import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct JSONDialectTests {
    @Test func aCustomDialectReadsItsOwnAnnotations() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string, userInfo: ["api.key": "profile.title", "sync.remoteKey": "other"])
            }
        }
        var dialect = JSONDialect.sync
        dialect.name = "mine"
        dialect.annotations.key.insert("api.key", at: 0)
        let json = Array(#"[{"id":1,"profile":{"title":"Ada"},"other":"no"}]"#.utf8)
        #expect(
            try RecordMapper(model, JSONMapping(dialect: dialect)).records(of: "User", bytes: json)[0]["name"] == "Ada")
        #expect(try RecordMapper(model).records(of: "User", bytes: json)[0]["name"] == "no")
        let record = try RecordMapper(model, JSONMapping(dialect: dialect)).records(of: "User", bytes: json)[0]
        let exporter = try RecordMapper.Exporter(model, dialect: dialect)
        #expect(
            String(decoding: try exporter.bytes(ofRecord: record), as: UTF8.self)
                == #"{"id":1,"profile":{"title":"Ada"}}"#)
    }

    @Test func withoutNamesOnlyAnnotatedPropertiesAreRead() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, userInfo: ["k": "id"])
                SyncAttribute("name", .string)
            }
        }
        var dialect = JSONDialect(name: "annotated")
        dialect.annotations.key = ["k"]
        dialect.infersFromNames = false
        dialect.contract = .strict
        let mapper = try RecordMapper(model, JSONMapping(dialect: dialect))
        #expect(try mapper.records(of: "User", bytes: Array(#"[{"id":1}]"#.utf8)).count == 1)
        #expect(throws: MappingError.self) {
            try mapper.records(of: "User", bytes: Array(#"[{"id":1,"name":"x"}]"#.utf8))
        }
    }

    @Test func outOfRangeDefaultsToTheActionForWrongTypes() {
        #expect(ValueContract().wrongType == .null && ValueContract().outOfRange == .ignore)
        #expect(ValueContract(wrongType: .reject).outOfRange == .reject)
        #expect(ValueContract(wrongType: .null).outOfRange == .null)
        #expect(ValueContract(wrongType: .null, outOfRange: .fail).outOfRange == .fail)
    }
}
