import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// What is one key and what are two, on every kind of store.
@Suite(.serialized, .endsInTime) struct KeyTests {
    /// A list of keys as JSON, and how many objects they make.
    struct Keys: Sendable, CustomTestStringConvertible {
        let type: AttributeType
        let json: [String]
        let count: Int
        var rejectedCount = 0

        init(_ type: AttributeType, _ json: String..., make count: Int, rejecting rejectedCount: Int = 0) {
            self.type = type
            self.json = json
            self.count = count
            self.rejectedCount = rejectedCount
        }

        var testDescription: String {
            "\(type): \(json.joined(separator: " ").prefix(80))"
        }
    }

    private static let long = "\"" + String(repeating: "k", count: 10_000)

    static let all = [
        Keys(.int64, "0", #""0""#, "-0", make: 1),
        Keys(.int64, "1", "1.0", #""1""#, make: 1),
        Keys(.int64, "9007199254740992", "9007199254740993", #""9007199254740993""#, make: 2),
        Keys(.int64, "9223372036854775807", "-9223372036854775808", make: 2),
        Keys(.int64, "null", #""""#, "[]", "{}", "7", make: 1, rejecting: 4),
        Keys(.string, #""""#, #""0""#, #""00""#, #"" 0""#, make: 4),
        Keys(.string, "\"\u{E9}\"", "\"e\u{301}\"", #""\u00e9""#, make: 2),
        Keys(.string, #""a""#, #""A""#, #""a ""#, make: 3),
        Keys(.string, long + "\"", long + "l\"", long + "\"", make: 2),
        Keys(.string, "null", #""null""#, make: 1, rejecting: 1),
        Keys(
            .uuid, #""6f9619ff-8b86-d011-b42d-00c04fc964ff""#, #""6F9619FF-8B86-D011-B42D-00C04FC964FF""#,
            #""6f9619ff-8b86-d011-b42d-00c04fc964fe""#, make: 2),
        Keys(
            .uuid, #""""#, #""6f9619ff""#, "null", "0", #""6f9619ff-8b86-d011-b42d-00c04fc964ff""#, make: 1,
            rejecting: 4),
        Keys(.double, "1", "1.0", "0.1", make: 2),
        Keys(.decimal, #""1.10""#, #""1.1""#, "1.1", #""1.11""#, make: 2),
        Keys(.date, #""2014-02-14T00:00:00Z""#, #""2014-02-14T02:00:00+02:00""#, "1392336000", make: 1),
    ]

    @Test(arguments: all, StoreKind.all)
    func equalKeysAreOneObject(keys: Keys, kind: StoreKind) async throws {
        let mapper = try RecordMapper(
            try DataModel { SyncEntity("Thing", identity: "id") { SyncAttribute("id", keys.type) } })
        try await kind.use { make in
            try await check(keys, in: try JSONStore(try await make(mapper.model), mapper: mapper))
        }
    }

    private func check(_ keys: Keys, in store: JSONStore) async throws {
        let json = Array("[\(keys.json.map { #"{"id":\#($0)}"# }.joined(separator: ",")),{}]".utf8)
        let result = try await store.sync(.bytes(json), into: "Thing")
        #expect(result.counts.inserted == keys.count)
        // The one that has no key at all is the last.
        #expect(result.rejectedCount == keys.rejectedCount + 1)
        #expect(try await store.store.count(StoreQuery("Thing")) == keys.count)
        let again = try await store.sync(.bytes(json), into: "Thing")
        #expect(again.isUnchanged)
        for stored in try await store.store.records(StoreQuery("Thing")) {
            #expect(try await store.store.record("Thing", key: stored.key) == stored)
        }
    }
}
