import OneWaySynchronizer
import TestSupport
import Testing

/// The flow of a pass, without anything going wrong.
@Suite struct SynchronizerTests {
    @Test func callsComeInTheOrderOfTheFlow() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a"), TestItem("b", revision: 2), TestItem("c")], local: ["b": 1, "c": 1, "d": 1])
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 1, downloadPreview: true))

        let report = try await synchronizer.sync()

        #expect(
            processor.calls == [
                .begin, .list, .localKeys, .remove(["d"]), .shouldUpdate("b"), .shouldUpdate("c"),
                .prepare(["a", "b"]), .preview("a"), .preview("b"), .content("a"), .content("b"), .end,
            ])
        #expect(processor.local == ["a": 1, "b": 2, "c": 1])
        #expect(report.inserted == 1)
        #expect(report.updated == 1)
        #expect(report.unchanged == 1)
        #expect(report.removed == 1)
        #expect(await !synchronizer.isSyncing)
    }
}
