import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// How many calls run at a time.
@Suite(.endsInTime) struct ConcurrencyTests {
    @Test(arguments: [0, 1, 2, 7, 64])
    func itIsReachedAndNeverExceeded(concurrency: Int) async throws {
        let width = concurrency == 0 ? ProcessInfo.processInfo.activeProcessorCount : concurrency
        let gate = Gate()
        let processor = ScriptedProcessor(source: (0..<200).map { TestItem("\($0)") }) { call in
            if case .content = call { try await gate.pass() }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: concurrency))
        async let report = synchronizer.sync()
        try await gate.waitForArrivals(width)
        #expect(processor.current.inFlight == width)
        gate.open()
        #expect(try await report.inserted == 200)
        #expect(processor.current.maximumInFlight == width)
    }

    @Test func moreWorkersThanItemsIsFine() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")])
        let report = try await Synchronizer(processor: processor, options: SyncOptions(concurrency: 10_000)).sync()
        #expect(report.inserted == 2)
    }

    @Test func aSlowItemDoesNotHoldUpTheOthers() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: (0..<500).map { TestItem("\($0)") }) { call in
            if call == .content("0") { try await gate.pass() }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 2))
        async let report = synchronizer.sync()
        try await processor.log.wait { calls in calls.count { if case .content = $0 { true } else { false } } == 500 }
        gate.open()
        #expect(try await report.inserted == 500)
    }

    @Test func updateChecksRunOneByOneUnlessAskedFor() async throws {
        for concurrent in [false, true] {
            let items = (0..<40).map { TestItem("\($0)") }
            let gate = Gate(isOpen: !concurrent)
            let processor = ScriptedProcessor(
                source: items, local: Dictionary(uniqueKeysWithValues: items.map { ($0.owsPrimaryKey, 1) })
            ) { call in
                if case .shouldUpdate = call { try await gate.pass() }
            }
            let options = SyncOptions(concurrency: 5).with { $0.concurrentUpdateChecks = concurrent }
            let synchronizer = Synchronizer(processor: processor, options: options)
            async let report = synchronizer.sync()
            try await gate.waitForArrivals(concurrent ? 5 : 1)
            gate.open()
            #expect(try await report.unchanged == 40)
            #expect(processor.current.maximumInFlight == (concurrent ? 5 : 1))
        }
    }
}
