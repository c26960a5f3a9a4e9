import Foundation
import JSONMapper
import ModelInference
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// A model that was inferred from one file takes over what later files have.
@Suite(.endsInTime) struct EvolutionTests {
    private func evolve(
        _ model: DataModel, with json: String, options: InferredModel.Options = InferredModel.Options()
    ) throws -> InferredModel.Evolution {
        let reader = JSONReader(bytes: Array(json.utf8), layout: .array(acceptsSingleObject: true))
        return try InferredModel.Evolution(model, with: reader, entity: "Thing", options: options)
    }

    /// Syncs a file into a database, and opens it with the model that another file has extended.
    private func withDatabase<Result>(
        of first: String, evolvedWith second: String, options: InferredModel.Options = InferredModel.Options(),
        firstOptions: InferredModel.Options? = nil, _ body: (InferredModel.Evolution, JSONStore) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "data.sqlite").path
        let inferred = try RoundTrip.infer(Array(first.utf8), options: firstOptions ?? options).model
        do {
            let mapper = try RecordMapper(inferred)
            let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
            _ = try await store.sync(.bytes(Array(first.utf8)), into: "Thing")
        }
        let evolved = try evolve(inferred, with: second, options: options)
        let mapper = try RecordMapper(evolved.model)
        return try await body(
            evolved, try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper))
    }

    /// Syncs a file into a database, then another one by the evolved model, and compares the
    /// export.
    @discardableResult
    private func check(
        _ first: String, then second: String, options: InferredModel.Options = InferredModel.Options(),
        firstOptions: InferredModel.Options? = nil
    ) async throws -> InferredModel.Evolution {
        try await withDatabase(of: first, evolvedWith: second, options: options, firstOptions: firstOptions) {
            evolved, store in
            let result = try await store.sync(.bytes(Array(second.utf8)), into: "Thing")
            #expect(result.drift.entries.map(\.description) == [])
            RoundTrip.expectEqual(try await store.export(StoreQuery("Thing")), Array(second.utf8))
            #expect(try await store.sync(.bytes(Array(second.utf8)), into: "Thing").isUnchanged)
            #expect(evolved.obstacles.map(\.description) == [])
            return evolved
        }
    }

    @Test func theSameFileChangesNothing() async throws {
        for file in RoundTripFileTests.files {
            let json = String(decoding: try RoundTripFileTests.json(file), as: UTF8.self)
            let model = try RoundTrip.infer(Array(json.utf8)).model
            let evolved = try evolve(model, with: json)
            #expect(evolved.changes.map(\.description) == [], "\(file)")
            #expect(evolved.obstacles.map(\.description) == [], "\(file)")
        }
    }

    @Test(arguments: [
        (#"[{"id":1,"a":1}]"#, #"[{"id":1,"a":1.5,"b":"x"},{"id":2,"b":null}]"#),
        (
            #"[{"id":1,"a":1,"b":"x","c":true,"d":2.5,"e":"2014-01-02","f":18446744073709551615}]"#,
            #"[{"id":1,"a":[1],"b":["x"],"c":"no","d":{"1":2},"e":"soon","f":"many"}]"#
        ),
        (#"[{"id":1,"a":[1],"at":"2014-01-02"}]"#, #"[{"id":1,"a":5,"at":"2014-01-02T10:00:00Z"},{"id":3}]"#),
        (#"[{"id":1,"x":null}]"#, #"[{"id":1,"x":{"y":1}},{"id":2,"x":null}]"#),
        (
            #"[{"id":1,"o":{"p":1},"l":[{"id":1,"q":1}]}]"#,
            #"[{"id":1,"o":{"p":2,"r":{"s":1}},"l":[{"id":1,"q":1,"t":[{"u":1}]}]},{"id":2,"o":null}]"#
        ),
        (#"[{"id":1,"gone":1,"o":{"p":1},"l":[{"id":1}]}]"#, #"[{"id":1},{"id":2}]"#),
        (#"[{"name":"a"}]"#, #"[{"name":"a","id":1},{"name":"a","id":1}]"#),
        (#"[{"id":1,"tags":[]}]"#, #"[{"id":1,"tags":[{"id":1}]},{"id":2,"tags":["x"]}]"#),
        (#"[{"id":1,"first_name":"x"}]"#, #"[{"id":1,"firstName":"y","FirstName":1}]"#),
        (#"[{"id":1,"ended_at":null}]"#, #"[{"id":1,"ended_at":1680893993},{"id":2,"ended_at":null}]"#),
        (#"[{"id":1,"ts":"x"}]"#, #"[{"id":1,"ts":1680893993}]"#),
        (#"[{"id":1,"on":"x"}]"#, #"[{"id":1,"on":"2014-01-02"}]"#),
        (
            #"[{"id":1,"company":{"id":5,"name":"x"}}]"#,
            #"[{"id":1,"company":{"id":5,"name":"x"}},{"id":2,"company_id":5}]"#
        ),
        (#"[{"id":1}]"#, #"[{"id":1,"company":{"id":5,"name":"x"}},{"id":2,"company_id":5}]"#),
    ])
    func aLaterFileComesBackAsItWas(first: String, second: String) async throws {
        try await check(first, then: second)
    }

    /// Objects that were nested in objects of their own kind differ from them in the later file.
    @Test(arguments: [
        (
            #"[{"id":1,"a":{"id":"k1","x":1,"y":1,"a":{"id":"k2","x":2,"y":1,"n":"s"}}}]"#,
            #"[{"id":1,"a":{"id":"k3","x":1,"y":5}},{"id":2,"a":{"id":"k4","x":3,"y":5,"a":{"id":"k5","n":"z"}}}]"#
        ),
        (
            #"[{"id":1,"a":{"id":"k1","x":1.5,"y":1,"a":{"id":"k2","x":2,"y":1}}}]"#,
            #"[{"id":1,"a":{"id":"k3","x":3,"y":5,"a":{"id":"k5","x":0.5,"m":1,"n":1,"o":1}}}]"#
        ),
        (
            #"[{"id":1,"a":{"id":"k1","x":1,"y":1,"a":{"id":"k2","x":2,"y":1}}}]"#,
            #"[{"id":1,"a":{"id":"k3","y":"5","z":1,"v":1,"a":{"id":"k5","x":"s","z":true,"w":null}}}]"#
        ),
        // The other way round: one kind in the later file, two in the earlier one.
        (
            #"[{"id":1,"a":{"x":1,"y":1,"a":{"n":1,"m":1}}}]"#,
            #"[{"id":1,"a":{"x":1,"y":1,"a":{"x":1,"y":1,"n":2}}},{"id":2,"a":{"x":1,"y":1,"a":{"x":1,"y":1}}}]"#
        ),
    ])
    func differentObjectsOfOneEntityComeBackAsTheyWere(first: String, second: String) async throws {
        try await check(first, then: second)
    }

    /// Stores have UUIDs in uppercase, and texts as JSON has them.
    @Test(arguments: ["0a1b2c3d-0000-11de-8000-00000000000", "0A1B2C3D-0000-11DE-8000-00000000000"])
    func uuidsThatBecomeTextsKeepTheirLetterCase(uuid: String) async throws {
        let objects = (0..<2).map { #"{"id":"\#(uuid)\#($0)","text":"\#(uuid)\#($0)","mixed":"\#(uuid)\#($0)"}"# }
        let other = #"{"id":"x","text":"y","mixed":[1]}"#
        try await withDatabase(
            of: "[\(objects.joined(separator: ","))]", evolvedWith: "[\(objects[0]),\(other)]"
        ) { evolved, store in
            #expect(
                evolved.changes.map(\.kind) == [
                    .widened(from: .uuid, to: .string), .widened(from: .uuid, to: .string),
                    .widened(from: .uuid, to: .json),
                ])
            let result = try await store.sync(
                .bytes(Array("[\(objects[0]),\(other)]".utf8)), into: "Thing",
                options: StoreSyncOptions(operations: [.insert, .update]))
            #expect(result.counts.inserted == 1 && result.counts.unchanged == 1, "\(result.counts)")
            RoundTrip.expectEqual(
                try await store.export(StoreQuery("Thing")), Array("[\(objects.joined(separator: ",")),\(other)]".utf8))
        }
    }

    // MARK: Limits

    @Test(arguments: [#"1"#, #"{"n":1}"#]) func theSameKeysInAnotherOrderChangeNothing(value: String) async throws {
        func json(_ keys: some Sequence<Int>) -> String {
            let objects = keys.enumerated().map { #"{"id":\#($0),"k\#($1)":\#(value)}"# }
            return "[\(objects.joined(separator: ","))]"
        }
        let evolved = try await check(
            json(0..<9), then: json((0..<9).reversed()),
            options: InferredModel.Options(maximumEntityCount: 3, maximumPropertyCount: 5))
        #expect(evolved.changes.map(\.description) == [])
    }

    @Test func theMostFrequentOfNewKeysBecomeProperties() async throws {
        let evolved = try await check(
            #"[{"id":1,"a":1,"gone":1}]"#, then: #"[{"id":1,"b":1,"a":1},{"id":2,"c":1},{"id":3,"c":1}]"#,
            options: InferredModel.Options(maximumPropertyCount: 4))
        #expect(evolved.changes.map(\.description) == ["Thing.c is new: int64"])
        #expect(
            evolved.findings.map(\.description) == [
                "other keys of Thing are kept as JSON: the model is large enough without it"
            ])
    }

    @Test func theModelHasNoMoreEntitiesThanItMay() async throws {
        let evolved = try await check(
            #"[{"id":1,"a":{"n":1},"b":{"n":1}}]"#,
            then: #"[{"id":1,"c":{"n":1},"d":{"n":1},"b":{"n":1,"e":{"n":1}}}]"#,
            options: InferredModel.Options(maximumEntityCount: 4))
        #expect(
            evolved.changes.map(\.description) == ["Thing.d is new: json", "Thing.c is new: C", "B.e is new: json"])
        #expect(
            evolved.findings.map(\.description) == [
                "Thing.d is kept as JSON: the model is large enough without it",
                "B.e is kept as JSON: the model is large enough without it",
            ])
    }

    @Test func changesAreReported() async throws {
        let evolved = try await check(
            #"[{"id":1,"a":1,"b":1}]"#, then: #"[{"id":1,"a":1.5,"b":[1],"c":{"d":1}}]"#)
        #expect(
            evolved.changes.map(\.description) == [
                "Thing.a is decimal now, no longer int64", "Thing.b is json now, no longer int64", "Thing.c is new: C",
            ])
    }

    @Test(arguments: [
        // An object that belongs to its parent, with one of its own; objects with an identity; a
        // list whose identities are unique in their parent.
        (
            #"[{"id":1,"o":{"p":1,"q":{"r":1}}},{"id":2,"o":{"p":2}}]"#,
            #"[{"id":1,"o":"text"},{"id":2,"o":{"p":[2]}},{"id":3,"o":[1]}]"#, "O", ["Thing"]
        ),
        (
            #"[{"id":1,"o":{"id":7,"p":1}},{"id":2,"o":{"id":8,"p":2}},{"id":3,"o":{"id":7,"p":1}}]"#,
            #"[{"id":1,"o":"text"},{"id":2,"o":{"id":8,"p":2}}]"#, "O", ["Thing", "O"]
        ),
        (
            #"[{"id":1,"o":[{"id":1,"p":1},{"id":2,"p":1}]},{"id":2,"o":[{"id":1,"p":2},{"id":2,"p":3}]}]"#,
            #"[{"id":1,"o":{"id":1,"p":1}},{"id":2,"o":null},{"id":3}]"#, "O", ["Thing"]
        ),
    ])
    func aRelationshipBecomesJSONOnRequest(
        first: String, second: String, destination: String, entities: [String]
    ) async throws {
        let evolved = try await check(
            first, then: second, options: InferredModel.Options(jsonKeyPaths: ["o"]),
            firstOptions: InferredModel.Options())
        let isRemoved = !entities.contains(destination)
        #expect(evolved.changes.first?.kind == .becameJSON(from: destination))
        #expect(evolved.changes.contains { $0.kind == .removedEntity && $0.entity == destination } == isRemoved)
        #expect(evolved.model.entities.filter { !$0.isBookkeeping }.map(\.name) == entities)
        #expect(evolved.model["Thing"]?.entity.attributes.first { $0.name == "o" }?.type == .json)
        // Objects again fit, too.
        let again = try evolve(evolved.model, with: first)
        #expect(again.obstacles.isEmpty && again.changes.isEmpty)
    }
}
