import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

/// Objects that have no key of their entity, such as a report of an error in place of an object.
@Suite(.endsInTime) struct ElementMapperTests {
    private let mapper: RecordMapper

    init() throws {
        let model = try DataModel {
            SyncEntity("Keyed", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity("Bare", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Plain") {
                SyncAttribute("firstName", .string)
                SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "address.city"])
                SyncRelationship("friend", toOne: "Plain")
            }
            SyncEntity("Hashed") {
                SyncAttribute("hash", .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"])
                SyncAttribute("name", .string)
            }
            SyncEntity("Open") {
                SyncAttribute("name", .string)
                SyncAttribute("rest", .json, userInfo: [JSONDialect.otherKeysAnnotation: "expected"])
            }
        }
        mapper = try RecordMapper(model, JSONMapping(contract: ValueContract(wrongType: .reject)))
    }

    private func group(of entity: String, _ json: String, at keyPath: String = "") throws -> MappedBatch.Group {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(at: keyPath))
        let options = RecordMapper.Reader.Options(keepsRelationships: true, acceptsIdentifiers: true)
        let batch = try RecordMapper.Reader(mapper, entity: entity, reader: reader, options: options).next()
        return try #require(batch?.groups.first)
    }

    @Test(
        arguments: [
            ("Plain", #"[{"first_name":"a"},{"x":1},{},{"firstName":null},{"y":{"first_name":"a"}}]"#, [1, 2, 4]),
            ("Plain", #"[{"FirstName":"a"},{"friend":null},{"address":1},{"address":{}},{"x":0}]"#, [3]),
            // A rejected object has no row.
            ("Plain", #"[{"x":1},{"first_name":[]},{"x":3}]"#, [0, 1]),
            ("Hashed", #"[{"x":1},{"name":"a"}]"#, [0]),
            // Any key may be one of these objects.
            ("Open", #"[{"x":1},{"name":"a"}]"#, []),
            // The identity shows what is an object.
            ("Keyed", #"[{"x":1},{"name":"a"},{},5]"#, []),
        ] as [(String, String, [Int])])
    func objectsWithoutAKnownKeyAreNoted(entity: String, json: String, rows: [Int]) throws {
        #expect(try group(of: entity, json).keylessRows == rows)
    }

    /// The key of a member does not show that its value is an object of the entity.
    @Test(
        arguments: [
            ("Keyed", "{id}", #"{"1":{"x":1},"2":{"name":"a"},"3":{},"4":{"id":4}}"#, [0, 2, 3]),
            ("Keyed", "{id}", #"{"1":{"x":1},"2":7,"3":{"x":1}}"#, [0, 2]),
            ("Keyed", "{key}", #"{"a":{"id":1},"b":{"x":1},"c":{"name":"a"}}"#, [1]),
            // There is no other key.
            ("Bare", "{id}", #"{"1":{"x":1},"2":{}}"#, []),
        ] as [(String, String, String, [Int])])
    func theKeyOfAMemberIsNoKnownKey(entity: String, keyPath: String, json: String, rows: [Int]) throws {
        #expect(try group(of: entity, json, at: keyPath).keylessRows == rows)
    }

    @Test func nestedObjectsNeedNoKnownKey() throws {
        let group = try group(of: "Plain", #"[{"friend":{"x":1}}]"#)
        #expect(group.keylessRows == [])
        #expect(group.nested[0]?.objects?.groups.map(\.keylessRows) == [[]])
    }
}
