@testable import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The comparison alone.
@Suite(.endsInTime) struct SyncPlanTests {
    private func plan(
        _ keys: [String], local: Set<String>, isPartial: Bool = false, limit: RemovalLimit? = nil
    ) throws -> SyncPlan<TestItem> {
        try SyncPlan(
            source: SourceList(keys.map { TestItem($0) }, isPartial: isPartial), localKeys: local, removalLimit: limit)
    }

    @Test func everyKeyHasOneStep() throws {
        var plan = try plan(["a", "b", "c"], local: ["b", "c", "d"])
        plan.update([2])
        let steps = plan.steps.map { "\($0.key) \($0.action)" }
        #expect(
            steps == [
                "a insert: not stored yet", "b leave: stored and unchanged", "c update: the processor says it changed",
                "d delete: absent from the source",
            ])
        #expect(plan.counts == [.insert: 1, .leave: 1, .update: 1, .delete: 1])
        #expect(plan.downloads.map(\.owsPrimaryKey) == ["a", "c"])
    }

    @Test func aPlanIsDescribedByItsCounts() throws {
        var plan = try plan(["a", "b", "c"], local: ["b", "c", "d"])
        plan.update([2])
        #expect("\(plan)" == "3 listed: 1 to insert, 1 to update, 1 to leave, 1 to delete")
        let kept = try self.plan(["a"], local: ["b", "c"], isPartial: true)
        #expect("\(kept)" == "1 listed: 1 to insert, 0 to update, 0 to leave, 0 to delete, 2 absent items kept")
        let refused = try self.plan(["a"], local: ["b", "c"], limit: RemovalLimit(fraction: 0.5))
        #expect("\(refused)" == "1 listed: 1 to insert, 0 to update, 0 to leave, 0 to delete, 2 absent items refused")
    }

    @Test func appliedToItsOwnResultItChangesNothing() throws {
        let first = try plan(["a", "b"], local: ["b", "c"])
        let after = Set(["b", "c"]).subtracting(first.absentKeys).union(first.downloads.map(\.owsPrimaryKey))
        let second = try plan(["a", "b"], local: after)
        #expect(second.counts == [.leave: 2])
    }

    @Test func repeatedKeysAreNamed() throws {
        let error = #expect(throws: SyncError.Reason.self) { try plan(["a", "b", "a", "a"], local: []) }
        #expect(error == .duplicateKeys(keys: ["\"a\"", "\"a\""], count: 2))
    }

    @Test func aKeyInTwoUnicodeFormsIsExplained() throws {
        let error = #expect(throws: SyncError.Reason.self) { try plan(["e\u{301}", "a", "\u{e9}", "a"], local: []) }
        guard case .duplicateKeys(let named, 2) = error else {
            throw TestError("\(String(describing: error))")
        }
        #expect(named == ["\"\u{e9}\" in another Unicode form, which a SyncKey distinguishes", "\"a\""])
    }

    @Test func keysThatAreComparedByteByteAreTwo() throws {
        struct File: SyncItem {
            var owsPrimaryKey: SyncKey
        }
        let files = [File(owsPrimaryKey: "e\u{301}"), File(owsPrimaryKey: "\u{e9}")]
        let plan = try SyncPlan(source: SourceList(files), localKeys: ["\u{e9}"])
        #expect(plan.counts == [.insert: 1, .leave: 1])
        #expect(SyncKey("e\u{301}") < "\u{e9}" && SyncKey("\u{e9}").hashValue != SyncKey("e\u{301}").hashValue)
    }

    @Test func ofManyRepeatedKeysTenAreNamed() throws {
        let keys = (0..<50).map { "k\($0)" }
        let error = #expect(throws: SyncError.Reason.self) { try plan(keys + keys, local: []) }
        guard case .duplicateKeys(let named, 50) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(named.count == 10)
    }

    @Test func downloadsAreInTheirOrderAndTiesInTheSources() throws {
        let items = [
            TestItem("a", order: 2), TestItem("b", order: -1), TestItem("c", order: 2), TestItem("d"), TestItem("e"),
        ]
        let plan = try SyncPlan(source: SourceList(items), localKeys: [])
        #expect(plan.downloads.map(\.owsPrimaryKey) == ["b", "d", "e", "a", "c"])
    }

    @Test func whatAPartialListLacksIsKept() throws {
        let plan = try plan(["a"], local: ["b"], isPartial: true, limit: RemovalLimit(count: 0))
        #expect(plan.counts == [.insert: 1, .keep(.partialList): 1])
        #expect(plan.refusal == nil)
    }

    static let limits: [(limit: RemovalLimit, isAllowed: Bool)] = [
        (RemovalLimit(), true), (RemovalLimit(count: 2), true), (RemovalLimit(count: 1), false),
        (RemovalLimit(count: 0), false), (RemovalLimit(fraction: 0.5), true), (RemovalLimit(fraction: 0.49), false),
        (RemovalLimit(fraction: 0), false), (RemovalLimit(fraction: 1), true),
        (RemovalLimit(count: 2, fraction: 0.1), false), (RemovalLimit(count: 1, fraction: 1), false),
        (RemovalLimit(fraction: 0.1, atLeast: 2), true), (RemovalLimit(fraction: 0.1, atLeast: 1), false),
        (RemovalLimit(count: 1, fraction: 0.1, atLeast: 2), false),
    ]

    @Test(arguments: limits)
    func removalsBeyondALimitAreRefusedOrLeftOut(limit: RemovalLimit, isAllowed: Bool) throws {
        var limit = limit
        let refused = try plan(["a", "b"], local: ["a", "b", "c", "d"], limit: limit)
        limit.action = .keep
        let kept = try plan(["a", "b"], local: ["a", "b", "c", "d"], limit: limit)
        if isAllowed {
            #expect(refused.counts[.delete] == 2)
            #expect(kept.counts[.delete] == 2)
        } else {
            #expect(refused.counts[.refuse] == 2)
            #expect(refused.refusal?.stage == .remove)
            #expect(kept.counts[.keep(.removalLimit)] == 2)
        }
    }

    @Test func noRemovalIsWithinAnyLimit() throws {
        let plan = try plan(["a"], local: ["a"], limit: RemovalLimit(count: 0, fraction: 0))
        #expect(plan.counts == [.leave: 1])
        #expect(plan.refusal == nil)
    }

    /// Random sides against set algebra.
    @Test(arguments: sampled(0..<200 as Range<UInt64>))
    func agreesWithSetAlgebra(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let universe = Int.random(in: 1...60, using: &random)
        let source = (0..<universe).filter { _ in Bool.random(using: &random) }.shuffled(using: &random).map {
            "k\($0)"
        }
        let local = Set((0..<universe).filter { _ in Bool.random(using: &random) }.map { "k\($0)" })
        let plan = try plan(source, local: local)
        #expect(plan.absentKeys == local.subtracting(source))
        #expect(Set(plan.downloads.map(\.owsPrimaryKey)) == Set(source).subtracting(local))
        #expect(plan.keptIndices.map { source[$0] } == source.filter(local.contains))
        #expect(plan.steps.map(\.key).sorted() == Set(source).union(local).sorted())
    }
}
