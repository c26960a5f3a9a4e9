import SyncStoreTesting
import OneWayTestSupport
import Testing

/// The scenarios of the conformance files on every kind of store, each a test case of its own.
@Suite(.enabled(if: ConformanceFiles.folder != nil, Comment(rawValue: ConformanceFiles.isMissing)))
struct ConformanceTests {
    private static let scenarios = Result { try ConformanceFiles.folder.map { try StoreScenario.all(in: $0) } ?? [] }

    @Test func thereAreScenarios() throws {
        let scenarios = try Self.scenarios.get()
        #expect(!scenarios.isEmpty)
        #expect(Set(scenarios.map(\.testDescription)).count == scenarios.count)
    }

    @Test(arguments: (try? scenarios.get()) ?? [], StoreKind.all)
    func scenario(_ scenario: StoreScenario, on kind: StoreKind) async throws {
        try await kind.use { await scenario.check($0) }
    }
}
