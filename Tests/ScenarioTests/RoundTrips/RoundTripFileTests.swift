import OneWayStoreKinds
import Foundation
import JSONMapper
import ModelInference
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Files shaped like those of public APIs are the same after a sync and an export.
@Suite(.endsInTime) struct RoundTripFileTests {
    static let folder = Bundle.module.url(forResource: "RoundTrips", withExtension: nil, subdirectory: "Fixtures")

    static let files: [String] = {
        let names = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }()

    static func json(_ name: String) throws -> [UInt8] {
        let folder = try #require(folder)
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    @Test func thereAreFiles() {
        #expect(Self.files.count >= 40)
    }

    @Test(arguments: sampled(files, every: 3), StoreKind.all)
    func aFileComesBackAsItWas(file: String, kind: StoreKind) async throws {
        try await RoundTrip.check(try Self.json(file), on: kind)
    }

    private func model(_ file: String) throws -> InferredModel {
        try RoundTrip.infer(try Self.json(file))
    }

    private func type(_ attribute: String, _ file: String, of entity: String = "Thing") throws -> AttributeType? {
        let layout = try model(file).model.layout(of: entity)
        return layout.column(of: attribute).map { layout.attributes[$0].type }
    }

    @Test func mapsAreNotEntities() throws {
        let countries = try model("countries.json").model
        #expect(countries.entities.map(\.name) == ["Thing", "Name"])
        #expect(try type("currencies", "countries.json") == .json)
        #expect(try type("languages", "countries.json") == .json)
        #expect(try type("nativeName", "countries.json", of: "Name") == .json)
        let catalogue = try model("catalogue.json").model
        #expect(
            catalogue.entities.map(\.name) == ["Thing", "Performance", "VenueNames", "Price", "SeatCategory", "Area"])
        #expect(try model("npm-package.json").model.entities.count < 6)
        #expect(try model("openapi.json").model.entities.count < 12)
    }

    @Test(arguments: [
        ("countries.json", ["cca3"]), ("films.json", []), ("github-issues.json", ["id"]),
        ("invoices.json", ["invoice_number"]),
        ("books.json", ["isbn"]), ("duplicate-ids.json", []), ("missing-ids.json", []), ("translations.json", ["slug"]),
        ("composite.json", ["country_code", "year"]), ("uuids.json", ["uuid"]), ("npm-package.json", ["_id"]),
    ])
    func theKeyIsFoundByEvidence(file: String, key: [String]) throws {
        let inferred = try model(file)
        #expect(inferred.key == key)
        #expect(inferred.findings.contains { $0.kind == .noKey } == key.isEmpty)
    }

    @Test func datesAreRecognised() throws {
        for name in [
            "createdAt", "updatedAt", "day", "local", "zoned", "milli", "micro", "mail", "http", "twitter", "slashed",
            "minutes", "trim",
        ] {
            #expect(try type(name, "dates.json") == .date, "\(name)")
        }
        for name in ["mixed", "offsets", "year", "slash", "nano", "wrong"] {
            #expect(try type(name, "dates.json") == .string, "\(name)")
        }
        #expect(try type("count", "dates.json") == .int64)
        #expect(try type("expires", "dates.json") == .int64)
        #expect(try type("start", "catalogue.json", of: "Performance") == .date)
    }

    @Test func sharedObjectsAreManyToMany() throws {
        let books = try model("books.json").model
        let author = try books.layout(of: "Author")
        #expect(author.hasIdentity)
        #expect(author.relationships.map(\.isToMany) == [true])
        let lines = try model("invoices.json").model.layout(of: "Line")
        #expect(!lines.hasIdentity)
        #expect(lines.identityScope != nil)
        // A user with other contents in each post is not one user.
        let posts = #"[{"id":1,"user":{"id":5,"likes":1}},{"id":2,"user":{"id":5,"likes":2}}]"#
        #expect(try RoundTrip.infer(Array(posts.utf8)).model.layout(of: "User").hasIdentity == false)
    }

    @Test func equalObjectsInSeveralPlacesAreOneEntity() throws {
        let issues = try model("github-issues.json").model
        #expect(issues.entities.map(\.name) == ["Thing", "User", "Label", "Milestone", "PullRequest", "Reactions"])
    }

    @Test func aTreeIsOneEntity() throws {
        let tree = try model("tree.json").model
        #expect(tree.entities.map(\.name) == ["Thing", "Child"])
    }

    @Test func limitsLeaveTheRestAsJSON() throws {
        let json = try Self.json("github-issues.json")
        let few = try RoundTrip.infer(json, options: InferredModel.Options(maximumEntityCount: 2))
        #expect(few.model.entities.count == 2)
        #expect(few.findings.contains { $0.kind == .json(.limit) && !$0.key.isEmpty })
        let narrow = try RoundTrip.infer(json, options: InferredModel.Options(maximumPropertyCount: 3))
        #expect(narrow.model.layouts.allSatisfy { $0.entity.attributes.count < 6 })
        #expect(narrow.findings.contains { $0.kind == .json(.limit) && $0.key.isEmpty })
    }

    @Test func aRequestedKeyIsUsedAndProven() throws {
        let json = Array(#"[{"title":"A","year":1},{"title":"A","year":2},{"title":"B","year":2,"x":1}]"#.utf8)
        let key = try RoundTrip.infer(json, options: InferredModel.Options(key: ["title", "year"]))
        #expect(key.model["Thing"]?.entity.identity == ["title", "year"])
        #expect(throws: InferredModel.Failure.repeatedKey(entity: "Thing", key: ["title"])) {
            try RoundTrip.infer(json, options: InferredModel.Options(key: ["title"]))
        }
        #expect(throws: InferredModel.Failure.incompleteKey(entity: "Thing", key: ["x"])) {
            try RoundTrip.infer(json, options: InferredModel.Options(key: ["x"]))
        }
        #expect(throws: InferredModel.Failure.incompleteKey(entity: "Thing", key: ["nothing"])) {
            try RoundTrip.infer(json, options: InferredModel.Options(key: ["nothing"]))
        }
    }

    @Test func aSampleCanBeSmallerThanTheFile() throws {
        let json = try Self.json("composite.json")
        let inferred = try RoundTrip.infer(json, options: InferredModel.Options(sampleCount: 2))
        #expect(inferred.elementCount == 2)
        #expect(inferred.isPartial)
        #expect(try RoundTrip.infer(json, options: InferredModel.Options(sampleCount: 4)).isPartial == false)
    }

    @Test(arguments: StoreKind.all)
    func aChangedObjectWithoutAKeyIsDeletedAndInserted(kind: StoreKind) async throws {
        let films = [#"{"title":"A","year":1,"cast":[{"name":"x"}]}"#, #"{"title":"B","year":2,"cast":[]}"#]
        let changed = #"{"title":"B","year":3,"cast":[{"name":"y"}]}"#
        let inferred = try RoundTrip.infer(Array("[\(films[0]),\(films[1])]".utf8))
        try await RoundTrip.withStore(kind, inferred.model) { store in
            _ = try await store.sync(.bytes(Array("[\(films[0]),\(films[1])]".utf8)), into: "Thing")
            let json = Array("[\(films[0]),\(changed)]".utf8)
            let result = try await store.sync(.bytes(json), into: "Thing")
            #expect(result.counts.inserted == 1)
            #expect(result.counts.updated == 0)
            #expect(result.counts.deleted == 1)
            RoundTrip.expectEqual(try await store.export(StoreQuery("Thing")), json)
            // White space, escapes and the order of keys do not matter.
            let same = Array(
                #"[ {"year": 3, "title": "\u0042", "cast":[ {"name":"y"}]}, {"cast":[{"name":"x"}],"title":"A","year":1} ]"#
                    .utf8)
            #expect(try await store.sync(.bytes(same), into: "Thing").isUnchanged)
        }
    }

    @Test(arguments: StoreKind.all)
    func aChangedFileComesBackAsItIsNow(kind: StoreKind) async throws {
        let first =
            #"[{"id":1,"a":1,"tags":[{"id":1,"n":"x"}],"o":{"p":1}},{"id":2,"a":null,"tags":[],"o":null},{"id":3}]"#
        let second =
            #"[{"id":1,"tags":[],"o":{"p":2}},{"id":2,"a":5,"tags":[{"id":2,"n":"z"},{"id":1,"n":"x"}]},{"id":4,"a":null}]"#
        let inferred = try RoundTrip.infer(Array(first.utf8))
        try await RoundTrip.withStore(kind, inferred.model) { store in
            for json in [first, second, first] {
                let result = try await store.sync(.bytes(Array(json.utf8)), into: "Thing")
                #expect(result.drift.isEmpty)
                let export = try await store.export(StoreQuery("Thing", orderedBy: [Ordering("id")]))
                RoundTrip.expectEqual(export, Array(json.utf8))
            }
        }
    }
}
