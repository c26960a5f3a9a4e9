import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

/// The counts of keys that no property claims.
@Suite(.endsInTime) struct UnknownKeysTests {
    private func batch(_ json: String) throws -> MappedBatch {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "address.city"])
            }
        }
        let mapper = try RecordMapper(model, JSONMapping(contract: ValueContract(wrongType: .reject)))
        return try #require(try mapper.reader(of: "User", bytes: Array(json.utf8)).next())
    }

    private func texts(_ drift: DriftReport) -> Set<String> {
        Set(drift.entries.map { "\($0.kind) \($0.keyPath) \($0.count) \($0.firstIndex) \($0.found ?? "-")" })
    }

    /// More keys than have a place of their own, around an element that is rejected.
    @Test func eachOfManyKeysIsCounted() throws {
        let members = (0..<300).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        let batch = try batch("[{\(members),\"id\":[]},{\"id\":1,\(members)},{\(members),\"id\":2}]")
        #expect(batch.rejected.map(\.index) == [0])
        #expect(texts(batch.drift) == Set((0..<300).map { "unknownKey k\($0) 2 1 number" }))
        #expect(batch.drift.omittedCount == 0 && batch.toleratedCount == 0)
    }

    @Test(
        arguments: [
            // The first element that counts has the index and the kind.
            (#"[{"x":1,"id":[]},{"x":"a"},{"x":null}]"#, ["unknownKey x 2 1 string"]),
            (#"[{"id":1},{"x":true},{"x":1,"id":[]},{"x":1}]"#, ["unknownKey x 2 1 boolean"]),
            // A key is another one inside of an object.
            (
                #"[{"x":1,"address":{"x":[]}},{"address":{"x":1}}]"#,
                ["unknownKey x 1 0 number", "unknownKey address.x 2 0 array"]
            ),
            (#"[{"id":1},{"address":{"city":"a"}}]"#, []),
        ] as [(String, Set<String>)])
    func aKeyIsCountedAtItsPlace(json: String, expected: Set<String>) throws {
        let batch = try batch(json)
        #expect(texts(batch.drift) == expected)
        #expect(batch.toleratedCount == 0)
    }
}
