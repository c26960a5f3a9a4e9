import OneWayStoreKinds
import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The scenarios of this repository on every kind of store, each a test case of its own.
///
/// One case at a time: a thousand at once would keep other tests waiting for minutes on a busy
/// machine.
@Suite(.serialized, .endsInTime) struct ScenarioTests {
    private static let folder = Bundle.module.resourceURL.map { $0.appending(path: "Fixtures") }
    private static let scenarios = Result { try folder.map { try StoreScenario.all(in: $0) } ?? [] }

    @Test func everyAreaHasScenarios() throws {
        let scenarios = try Self.scenarios.get()
        #expect(Set(scenarios.map(\.testDescription)).count == scenarios.count)
        let counts = Dictionary(grouping: scenarios, by: \.file).mapValues(\.count)
        #expect(Set(counts.keys).isSuperset(of: Self.files))
        #expect(counts.filter { $0.value < 3 }.isEmpty)
    }

    private static let files: Set<String> = [
        "groot-export.json", "groot-import.json", "groot-transformers.json", "mapper-dates.json", "mapper-export.json",
        "mapper-fill.json", "mapper-inflections.json", "mapper-keys.json", "mapper-primary-key.json",
        "mapper-transformers.json", "sync-data-filter.json", "sync-dates.json", "sync-delegate.json",
        "sync-ids-simplified.json", "sync-inheritance.json", "sync-many-to-many.json", "sync-mapping.json",
        "sync-null-handling.json", "sync-one-to-many.json", "sync-one-to-one.json", "sync-operations.json",
        "sync-ordered.json", "sync-parent.json", "sync-predicate.json", "sync-primary-key.json", "sync-recursive.json",
        "sync-reserved-and-custom-keys.json", "sync-single-object.json", "sync-results.json", "sync-remote.json",
    ]

    @Test(arguments: sampled((try? scenarios.get()) ?? [], every: 3), StoreKind.ofScenarios)
    func scenario(_ scenario: StoreScenario, on kind: StoreKind) async throws {
        try await kind.use { await scenario.check($0) }
    }
}

/// The scenarios of the conformance files, which lie outside of this repository, likewise.
@Suite(
    .enabled(if: ConformanceFiles.folder != nil, Comment(rawValue: ConformanceFiles.isMissing)), .serialized,
    .endsInTime)
struct ConformanceTests {
    private static let scenarios = Result { try ConformanceFiles.folder.map { try StoreScenario.all(in: $0) } ?? [] }

    @Test func thereAreScenarios() throws {
        let scenarios = try Self.scenarios.get()
        #expect(!scenarios.isEmpty)
        #expect(Set(scenarios.map(\.testDescription)).count == scenarios.count)
    }

    @Test(arguments: sampled((try? scenarios.get()) ?? []), StoreKind.ofScenarios)
    func scenario(_ scenario: StoreScenario, on kind: StoreKind) async throws {
        try await kind.use { await scenario.check($0) }
    }
}
