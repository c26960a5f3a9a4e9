import TestSupport
import Testing

/// The scenarios of the corpus on every kind of store, each a test case of its own.
@Suite(.enabled(if: Corpus.present != nil, Comment(rawValue: ConformanceFiles.isMissing)))
struct ConformanceTests {
    private static let scenarios = (try? Corpus.scenarios.get()) ?? []

    @Test func theCorpusIsRead() throws {
        let scenarios = try Corpus.scenarios.get()
        #expect(!scenarios.isEmpty)
        #expect(Set(scenarios.map(\.testDescription)).count == scenarios.count)
        for step in scenarios.flatMap(\.steps) {
            #expect(throws: Never.self) { try Step(step) }
        }
    }

    @Test(arguments: scenarios, StoreKind.all)
    func scenario(_ scenario: Scenario, on kind: StoreKind) async throws {
        try await ScenarioRunner(scenario, of: try #require(Corpus.present), on: kind).run()
    }
}
