import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct StoredRecordTests {
    private static let model = Result { () throws(ModelError) in
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity("Note") { SyncAttribute("text", .string) }
        }
    }

    @Test func valuesAreReadAndWrittenByName() throws {
        var stored = StoredRecord(object: 3, record: Record(of: try Self.model.get().layout(of: "User")))
        stored["name"] = "Ada"
        #expect(stored["name"] == "Ada" && stored.record["name"] == "Ada")
        #expect(stored["nothing"] == .null)
    }

    @Test func onlyAnObjectWithoutAnIdentityIsDescribedByItsNumber() throws {
        var user = StoredRecord(object: 3, record: Record(of: try Self.model.get().layout(of: "User")))
        #expect("\(user)" == "User object 3 id=null name=null")
        user["id"] = 7
        user["name"] = "Ada"
        #expect("\(user)" == #"User id=7 name="Ada""#)
        let note = StoredRecord(object: 3, record: Record(of: try Self.model.get().layout(of: "Note")))
        #expect("\(note)" == "Note object 3 text=null")
    }
}
