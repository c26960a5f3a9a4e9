import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreTesting
import OneWayTestSupport
import Testing

/// The runner on a folder of scenarios of its own.
@Suite(.endsInTime) struct StoreScenarioTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        let model = try DataModel {
            SyncEntity("Planet") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("moons", toMany: "Moon", inverse: "planet", deleteRule: .cascade)
            }
            SyncEntity("Moon") {
                SyncAttribute("id", .int64)
                SyncRelationship("planet", toOne: "Planet", inverse: "moons")
            }
        }
        try put("models/Planets.xml", String(decoding: model.coreDataXML(), as: UTF8.self))
        try put("json/planets.json", #"[{"id": 3, "name": "Earth", "moons": [{"id": 31}]}, {"id": 1}]"#)
        try put(
            "scenarios/planets.json",
            """
            {"scenarios": [
                {"name": "moons go with their planet", "area": "delete rules", "model": "Planets.xml", "steps": [
                    {"sync": {"entity": "Planet", "json": "planets.json"}},
                    {"expectCount": {"entity": "Moon", "count": 1}},
                    {"expectObject": {"entity": "Planet", "where": {"id": 3}, "values": {"name": "Earth", "moons.@count": 1}}},
                    {"sync": {"entity": "Planet", "json": [{"id": 1, "name": "Mercury"}]}},
                    {"expectCount": {"entity": "Moon", "count": 0}}
                ]},
                {"name": "words", "area": "inflections", "steps": [
                    {"expectInflection": {"function": "snakeCase", "input": "planetName", "equals": "planet_name"}}
                ]}
            ]}
            """)
    }

    @Test func aStoreThatIsRightPasses() async throws {
        let scenarios = try StoreScenario.all(in: folder.url)
        #expect(
            scenarios.map(\.testDescription) == ["planets.json: moons go with their planet", "planets.json: words"])
        try await checkScenarios { MemoryStore(exactly: $0) }
    }

    @Test func aStoreThatIsWrongIsFoundOut() async throws {
        try await withKnownIssue {
            // It holds something that nobody put there.
            try await checkScenarios { model in
                let store = MemoryStore(exactly: model)
                try await store.transaction { transaction in
                    let moon = Record(of: try model.layout(of: "Moon"))
                    return try await transaction.insert(moon)
                }
                return store
            }
        } matching: { issue in
            issue.comments.first?.rawValue
                == "planets.json: moons go with their planet: step 2: the number of Moon where []: found 2, expected 1"
        }
    }

    @Test(arguments: [
        (#"{"expectPeace": {}}"#, "a step: with the keys"), (#"{"sync": {"entity": "Planet"}}"#, "sync: lacks json"),
        (#"{"expectCount": {"entity": "Star", "count": 0}}"#, "Star"),
        (#"{"sync": {"entity": "Planet", "json": "stars.json"}}"#, "stars.json"),
    ])
    func aStepThatMakesNoSenseFails(step: String, words: String) async throws {
        try put(
            "scenarios/planets.json",
            #"{"scenarios": [{"name": "n", "area": "a", "model": "Planets.xml", "steps": [\#(step)]}]}"#)
        try await withKnownIssue {
            try await checkScenarios { MemoryStore(exactly: $0) }
        } matching: { issue in
            (issue.comments.map(\.rawValue) + [issue.error.map { "\($0)" } ?? ""]).contains { $0.contains(words) }
        }
    }

    private func checkScenarios(_ makeStore: @escaping StoreConformance.MakeStore) async throws {
        for scenario in try StoreScenario.all(in: folder.url) { await scenario.check(makeStore) }
    }

    private func put(_ path: String, _ text: String) throws {
        let url = folder.url.appending(path: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}
