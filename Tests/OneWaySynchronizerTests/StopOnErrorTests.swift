import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// What errors do to a pass.
@Suite(.endsInTime) struct StopOnErrorTests {
    private let items = (0..<6).map { TestItem("\($0)") }

    private func failure(of processor: ScriptedProcessor, options: SyncOptions) async throws -> SyncFailure {
        let failure = await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options).sync()
        }
        return try #require(failure)
    }

    @Test func theFirstErrorStartsNoFurtherItem() async throws {
        let processor = ScriptedProcessor(source: items) { if $0 == .content("2") { throw TestError("no") } }
        let failure = try await failure(of: processor, options: SyncOptions(concurrency: 1))
        #expect(processor.calls.suffix(4) == [.content("0"), .content("1"), .content("2"), .end])
        #expect(failure.errors.map(\.description) == ["content of \"2\": no"])
        #expect(failure.report.inserted == 2)
        #expect(failure.report.failed == 1)
        #expect(failure.report.remaining == 3)
        #expect(!failure.isCancelled)
    }

    @Test func runningItemsAreCancelledAndAwaited() async throws {
        let never = Gate()
        let cancelled = EventLog<String>()
        let processor = ScriptedProcessor(source: items) { call in
            guard case .content(let key) = call else { return }
            if key == "2" {
                try await never.waitForArrivals(2)
                throw TestError("no")
            }
            do {
                try await never.pass()
            } catch {
                cancelled.append(key)
                throw error
            }
        }
        let failure = try await failure(of: processor, options: SyncOptions(concurrency: 3))
        #expect(Set(cancelled.events) == ["0", "1"])
        #expect(
            failure.errors.map(\.description) == ["content of \"2\": no"], "an interrupted item is not a failed one")
        #expect(failure.report.remaining == 5)
        #expect(processor.current.inFlight == 0)
        #expect(processor.calls.last == .end)
    }

    @Test func withoutStopOnErrorEveryItemIsTriedAndEveryErrorReported() async throws {
        let processor = ScriptedProcessor(source: items) { call in
            if case .content(let key) = call, key != "3" { throw TestError("no \(key)") }
        }
        let failure = try await failure(of: processor, options: SyncOptions(concurrency: 1, stopOnError: false))
        #expect(failure.errors.map { $0.key as? String } == ["0", "1", "2", "4", "5"])
        #expect(failure.errors.allSatisfy { $0.stage == .content })
        #expect(failure.report.inserted == 1)
        #expect(failure.report.failed == 5)
        #expect(failure.report.remaining == 0)
        #expect(processor.local == ["3": 1])
    }

    @Test func aFailedPreviewEndsThePassOnlyUnderStopOnError() async throws {
        for stopOnError in [true, false] {
            let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")]) { call in
                if call == .preview("a") { throw TestError("no") }
            }
            let options = SyncOptions(concurrency: 1, downloadPreview: true, stopOnError: stopOnError)
            let failure = try await failure(of: processor, options: options)
            #expect(failure.errors.map(\.stage) == [.preview])
            #expect(processor.calls.contains(.content("a")) != stopOnError)
            #expect(failure.report.inserted == (stopOnError ? 0 : 2))
        }
    }

    static let endingCalls: [(call: ScriptedProcessor.Call, stage: SyncStage)] = [
        (.begin, .begin), (.list, .list), (.localKeys, .localKeys), (.remove(["x"]), .remove),
        (.shouldUpdate("0"), .shouldUpdate), (.prepare(["1", "2", "3", "4", "5"]), .prepare),
    ]

    @Test(arguments: endingCalls)
    func anErrorBeforeTheDownloadsAlwaysEndsThePass(call: ScriptedProcessor.Call, stage: SyncStage) async throws {
        let processor = ScriptedProcessor(source: items, local: ["x": 1, "0": 1]) {
            if $0 == call { throw TestError("no") }
        }
        let failure = try await failure(of: processor, options: SyncOptions(stopOnError: false))
        #expect(failure.errors.map(\.stage) == [stage])
        #expect(failure.errors.first?.underlying as? TestError == TestError("no"))
        #expect(processor.calls.suffix(2) == [call, .end])
    }

    @Test func anErrorOfTheEndIsAPassError() async throws {
        let processor = ScriptedProcessor(source: items) { call in
            if call == .end || call == .content("1") { throw TestError("no") }
        }
        let failure = try await failure(of: processor, options: SyncOptions(stopOnError: false))
        #expect(failure.errors.map(\.stage) == [.content, .end])
        #expect(processor.calls.count { $0 == .end } == 1)
    }

    /// Something that is listed and then gone when it is asked for.
    @Test func anItemThatVanishesDuringThePassFailsAlone() async throws {
        let processor = ScriptedProcessor(source: items, local: ["0": 1, "1": 1]) { call in
            if call == .content("4") { throw TestError("404") }
        }
        let failure = try await failure(of: processor, options: SyncOptions(stopOnError: false))
        #expect(failure.errors.map(\.description) == ["content of \"4\": 404"])
        #expect(processor.local.keys.sorted() == ["0", "1", "2", "3", "5"])
        processor.change { $0.source.items.removeAll { $0.owsPrimaryKey == "4" } }
        let report = try await Synchronizer(processor: processor).sync()
        #expect(report.unchanged == 5)
    }

    /// Makes the k-th call throw, for every k.
    @Test(arguments: [
        SyncOptions(concurrency: 1, downloadPreview: true), SyncOptions(concurrency: 3, stopOnError: false),
    ])
    func whicheverCallFailsThePassEndsAndTheNextConverges(options: SyncOptions) async throws {
        for point in 1... {
            let calls = Watched(0)
            let processor = ScriptedProcessor(
                source: (0..<5).map { TestItem("\($0)", revision: $0) }, local: ["0": 9, "1": 1, "x": 1]
            ) { _ in
                let isPoint = calls.update { calls in
                    calls += 1
                    return calls == point
                }
                if isPoint { throw TestError("call \(point)") }
            }
            let synchronizer = Synchronizer(processor: processor, options: options)
            let failure: SyncFailure?
            do throws(SyncFailure) {
                try await synchronizer.sync()
                failure = nil
            } catch {
                failure = error
            }
            let reached = calls.value >= point
            #expect((failure != nil) == reached, "call \(point)")
            if reached {
                #expect(failure?.errors.map { $0.underlying as? TestError } == [TestError("call \(point)")])
                #expect(failure?.isCancelled == false)
            }
            #expect(processor.calls.count { $0 == .begin } == 1)
            #expect(processor.calls.count { $0 == .end } == 1)
            #expect(processor.calls.last == .end)

            calls.update { $0 = .min }
            try await synchronizer.sync()
            #expect(processor.local == processor.sourceRevisions)
            guard reached else { break }
        }
    }
}
