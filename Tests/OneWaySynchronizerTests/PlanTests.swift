import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The dry run, and that a pass does what it said.
@Suite(.endsInTime) struct PlanTests {
    @Test func aPlanAsksAndChangesNothing() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a"), TestItem("b", revision: 2)], local: ["b": 1, "x": 1])
        let plan = try await Synchronizer(processor: processor).plan()
        #expect(processor.calls == [.list, .localKeys, .shouldUpdate("b")])
        #expect(processor.local == ["b": 1, "x": 1])
        #expect(plan.counts == [.insert: 1, .update: 1, .delete: 1])
        #expect(plan.localCount == 2)
    }

    @Test func anExceededLimitIsPartOfThePlan() async throws {
        let processor = ScriptedProcessor(local: ["a": 1])
        let options = SyncOptions(removalLimit: RemovalLimit(count: 0))
        let synchronizer = Synchronizer(processor: processor, options: options)
        let plan = try await synchronizer.plan()
        #expect(plan.counts == [.refuse: 1])
        let failure = await #expect(throws: SyncFailure.self) { try await synchronizer.sync() }
        #expect(failure?.errors.first?.description == plan.refusal?.description)
    }

    @Test func whatGoesWrongIsThrown() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("a")])
        let failure = await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).plan() }
        #expect(failure?.errors.map(\.stage) == [.compare])
    }

    @Test func aCancelledPlanSaysSo() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor { if $0 == .list { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor)
        let task = Task { try await synchronizer.plan() }
        try await gate.waitForArrivals(orEndOf: task)
        task.cancel()
        let failure = await #expect(throws: SyncFailure.self) { try await task.value }
        #expect(failure?.isCancelled == true)
    }

    /// What a pass must lead to, by set algebra; and what it must say that it did.
    private struct Reference {
        var local: [String: Int]
        var inserted: Set<String>
        var updated: Set<String>
        var removed: Set<String>
        var kept = 0
        var fails = false

        init(source: [TestItem], isPartial: Bool, local: [String: Int], options: SyncOptions, broken: Set<String>) {
            let keys = Set(source.map(\.owsPrimaryKey))
            let stored = Set(local.keys)
            let changed = source.filter { stored.contains($0.owsPrimaryKey) && local[$0.owsPrimaryKey] != $0.revision }
            inserted = keys.subtracting(stored)
            updated = Set(changed.map(\.owsPrimaryKey))
            removed = stored.subtracting(keys)
            self.local = local
            if isPartial {
                (kept, removed) = (removed.count, [])
            } else if let limit = options.removalLimit?.count, removed.count > limit {
                if options.removalLimit?.action == .abort {
                    (inserted, updated, removed, fails) = ([], [], [], true)
                    return
                }
                (kept, removed) = (removed.count, [])
            }
            fails = !inserted.union(updated).isDisjoint(with: broken)
            inserted.subtract(broken)
            updated.subtract(broken)
            if fails, options.removalOrder == .afterDownloads, !removed.isEmpty {
                (kept, removed) = (removed.count, [])
            }
            for item in source where inserted.union(updated).contains(item.owsPrimaryKey) {
                self.local[item.owsPrimaryKey] = item.revision
            }
            for key in removed { self.local[key] = nil }
        }
    }

    /// Random sources, local collections, options and failures; the plan first, then the pass, then
    /// the reference.
    @Test(arguments: sampled(0..<300 as Range<UInt64>))
    func aPassDoesWhatItsPlanSaidAndWhatSetAlgebraSays(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let universe = (0..<Int.random(in: 1...30, using: &random)).map { "k\($0)" }
        func someKeys(_ share: Double) -> [String] {
            universe.filter { _ in Double.random(in: 0..<1, using: &random) < share }
        }
        let source = someKeys(0.7).shuffled(using: &random).map {
            TestItem($0, order: Int.random(in: -2...2, using: &random), revision: Int.random(in: 1...3, using: &random))
        }
        let local = Dictionary(
            uniqueKeysWithValues: someKeys(0.6).map { ($0, Int.random(in: 1...3, using: &random)) })
        let isPartial = Int.random(in: 0..<5, using: &random) == 0
        let broken = Set(Bool.random(using: &random) ? someKeys(0.1) : [])
        var options = SyncOptions(
            concurrency: Int.random(in: 1...6, using: &random),
            downloadPreview: Bool.random(using: &random),
            stopOnError: false,
            removalLimit: Bool.random(using: &random)
                ? RemovalLimit(
                    count: Int.random(in: 0...6, using: &random),
                    action: Bool.random(using: &random) ? .abort : .keep)
                : nil)
        options.removalOrder = Bool.random(using: &random) ? .beforeDownloads : .afterDownloads
        options.concurrentUpdateChecks = Bool.random(using: &random)
        options.reportsKeys = true
        let answersInBatch = Bool.random(using: &random)
        let processor = ScriptedProcessor(source: source, local: local) { call in
            if case .content(let key) = call, broken.contains(key) { throw TestError("broken") }
        }
        processor.change { state in
            state.source.isPartial = isPartial
            state.answersUpdatesInBatch = answersInBatch
        }
        let synchronizer = Synchronizer(processor: processor, options: options)
        let expected = Reference(source: source, isPartial: isPartial, local: local, options: options, broken: broken)

        let plan = try await synchronizer.plan()
        #expect(processor.local == local)
        let report: SyncReport
        do throws(SyncFailure) {
            report = try await synchronizer.sync()
            #expect(!expected.fails)
        } catch {
            report = error.report
            #expect(expected.fails && !error.isCancelled)
        }

        #expect(processor.local == expected.local)
        #expect(Set(report.keys(.inserted, as: String.self)) == expected.inserted)
        #expect(Set(report.keys(.updated, as: String.self)) == expected.updated)
        #expect(Set(report.keys(.deleted, as: String.self)) == expected.removed)
        #expect(report.inserted == expected.inserted.count)
        #expect(report.updated == expected.updated.count)
        #expect(report.deleted == expected.removed.count)
        #expect(report.kept?.count ?? 0 == expected.kept)
        if plan.refusal == nil {
            let downloads = plan.downloads.map(\.owsPrimaryKey)
            #expect(Set(downloads) == expected.inserted.union(expected.updated).union(broken.intersection(downloads)))
            #expect(processor.calls.contains(.prepare(downloads)))
        }
        if !expected.fails, expected.kept == 0 {
            let again = try await synchronizer.plan()
            #expect(Set(again.counts.keys).isSubset(of: [.leave]), "a second pass would do nothing")
        }
    }
}
