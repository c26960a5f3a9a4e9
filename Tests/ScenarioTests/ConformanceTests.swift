import TestSupport
import Testing

/// The scenarios of the corpus, each a test case of its own.
@Suite(.enabled(if: Corpus.present != nil, Comment(rawValue: ConformanceFiles.isMissing)))
struct ConformanceTests {
    private static let scenarios = (try? Corpus.scenarios.get()) ?? []

    private static func runner(_ scenario: Scenario) throws -> ScenarioRunner<GraphSubject> {
        try ScenarioRunner(scenario, of: try #require(Corpus.present))
    }

    /// Those that need no store; a scenario that cannot even be looked at is among them, and fails.
    private static let withoutStore = scenarios.filter { (try? runner($0).isRunnable) ?? true }
    private static let withStore = scenarios.filter { !((try? runner($0).isRunnable) ?? true) }

    @Test func theCorpusIsRead() throws {
        let scenarios = try Corpus.scenarios.get()
        #expect(!scenarios.isEmpty)
        #expect(Set(scenarios.map(\.testDescription)).count == scenarios.count)
        for step in scenarios.flatMap(\.steps) {
            #expect(throws: Never.self) { try Step(step) }
        }
    }

    @Test func whatMapsOneObjectNeedsNoStore() {
        #expect(Self.withStore.filter { $0.file.hasPrefix("mapper-") }.map(\.name) == [])
    }

    @Test(arguments: withoutStore)
    func scenario(_ scenario: Scenario) async throws {
        try await Self.runner(scenario).run()
    }

    @Test(.disabled("needs a store"), arguments: withStore)
    func scenarioOfAStore(_ scenario: Scenario) async throws {
        try await Self.runner(scenario).run()
    }
}
