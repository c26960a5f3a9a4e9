import JSONMapper
import ModelInference
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

/// A model made of a sample maps that sample: every key is claimed, every value fits.
@Suite(.endsInTime) struct InferredMappingTests {
    private static let strict = ValueContract(unknownKey: .reject, wrongType: .reject, unreadableDate: .reject)

    /// Maps objects and all that is nested in them.
    private func expectFit(_ json: [UInt8], of entity: String, _ mapper: RecordMapper) throws {
        let reader = try mapper.reader(
            of: entity, bytes: json, options: RecordMapper.Reader.Options(keepsRelationships: true))
        while let batch = try reader.next() { expectFit(batch) }
    }

    private func expectFit(_ batch: MappedBatch) {
        #expect(batch.rejected == [])
        for elements in batch.groups.flatMap(\.nested).compactMap({ $0 }) {
            if let objects = elements.objects { expectFit(objects) }
        }
    }

    private func expectFit(_ json: String) throws {
        let model = try DataModel.inferred(from: json, entity: "Root")
        try expectFit(Array(json.utf8), of: "Root", RecordMapper(model, JSONMapping(contract: Self.strict)))
    }

    @Test(arguments: [
        #"[{"id": 1, "first_name": "a", "lastName": null, "address": {"city": "x", "zip": "0"}, "tags": ["a", "b"]}]"#,
        #"[{"id": "a", "notes": [{"id": 1, "user": {"id": "a"}}]}, {"id": "b", "notes": []}]"#,
        #"[{"ID": 1, "URL": "x", "Some Key": 1, "x.y": 2, "$ref": {"a-b": 1}, "@list": [{"_id": 4}]}]"#,
        #"[{"at": "2014-01-02"}, {"at": 5}, {"at": true}, {"at": [1]}, {"at": {"b": {}}}, {"at": "x"}]"#,
        #"[{"n": 18446744073709551615}, {"n": -1}, {"n": 1e400}, {"m": 1.5}, {"m": 3}, {"m": null}]"#,
        #"{"type": 1, "description": "d", "root_type": 2, "rootDescription": 3, "remote_id": 4, "id": 5}"#,
        #"[{"user": {"id": 1}}, {"user": 7}, {"user_id": 3}, {"users": [{"id": 2}]}]"#,
        #"[{"a": [{"b": [{"a": [{"b": []}]}]}]}, {"a": []}, {"a": null}]"#, #"[{"": 1, "a": {"": 2}}]"#,
    ])
    func theSampleFits(json: String) throws {
        try expectFit(json)
    }

    @Test(arguments: seeds(40, thorough: 150))
    func aRandomSampleFits(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let elements = (0..<6).map { _ in Self.object(depth: 3, using: &random) }
        var writer = JSONWriter()
        try writer.value(.array(elements))
        let json = String(decoding: writer.bytes, as: UTF8.self)
        do {
            try expectFit(json)
        } catch InferredModel.Failure.noKeys {
            return
        }
    }

    private static func object(depth: Int, using random: inout SeededRandom) -> JSONValue {
        let keys = [
            "id", "_id", "name", "firstName", "first_name", "first-name", "items", "children", "parent", "user",
            "user_id",
            "data", "URL", "root", "Root", "type",
        ]
        var object: JSONValue.Object = [:]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            object[keys.randomElement(using: &random) ?? ""] = value(depth: depth - 1, using: &random)
        }
        return .object(object)
    }

    private static func value(depth: Int, using random: inout SeededRandom) -> JSONValue {
        switch Int.random(in: depth > 0 ? 0..<11 : 0..<8, using: &random) {
        case 0: return .null
        case 1: return .bool(true)
        case 2, 3: return .integer(Int64.random(in: 0..<5, using: &random))
        case 4: return .double(1.5)
        case 5: return .string("text")
        case 6: return .string("2014-01-02T10:00:00Z")
        case 7: return .array([])
        case 8: return object(depth: depth, using: &random)
        default:
            return .array(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in object(depth: depth, using: &random) })
        }
    }
}
