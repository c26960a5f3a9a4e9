import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

/// The members of an object that its entity's properties cannot express.
@Suite(.endsInTime) struct OtherKeysTests {
    private let mapper: RecordMapper

    init() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("age", .int64)
                SyncAttribute("rest", .json, userInfo: [JSONDialect.otherKeysAnnotation: "expected"])
                SyncRelationship("notes", toMany: "Note")
                SyncRelationship("tags", toMany: "Note", userInfo: [JSONDialect.emptyAnnotation: "null"])
            }
            SyncEntity("Note", identity: "id") { SyncAttribute("id", .int64) }
        }
        mapper = try RecordMapper(model, JSONMapping(contract: ValueContract(wrongType: .reject)))
    }

    /// The `rest` of each object that is not rejected; nil for null.
    private func rests(_ json: String) throws -> [String?] {
        try mapper.reader(of: "User", bytes: Array(json.utf8)).readAll().records.map { CanonicalJSON($0["rest"])?.text }
    }

    @Test func thoseOfARejectedObjectAreNotThoseOfTheNext() throws {
        let json = #"[{"id":1,"x":1,"age":"old"},{"id":2,"age":5},{"id":3,"y":2,"age":5}]"#
        #expect(try rests(json) == [nil, #"{"y":2}"#])
    }

    /// An export writes `[]` for notes and null for tags.
    @Test(arguments: [
        (#""notes":[]"#, nil), (#""notes":[ ]"#, nil), (#""notes":null"#, #"{"notes":null}"#), (#""tags":null"#, nil),
        (#""tags":[]"#, #"{"tags":[]}"#), (#""tags":[ 5 ]"#, nil), (#""notes":[5]"#, nil),
    ])
    func anEmptyValueIsKeptIfAnExportWouldWriteAnother(member: String, kept: String?) throws {
        #expect(try rests(#"[{"id":1,\#(member)}]"#) == [kept])
    }
}
