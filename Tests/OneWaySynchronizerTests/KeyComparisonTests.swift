import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import OneWaySynchronizer

/// Every comparison is checked against plain set algebra.
@Suite(.endsInTime) struct KeyComparisonTests {
    /// A key whose hash says as little as it is told to: all keys of equal `hash` collide.
    private struct CollidingKey: Hashable, CustomTestStringConvertible {
        var value: Int
        var hash: Int

        static func == (left: Self, right: Self) -> Bool { left.value == right.value }
        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
        var testDescription: String { "\(value)" }
    }

    private func check<Key: Hashable & Sendable>(
        _ keys: [Key], _ localKeys: Set<Key>, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let comparison = try? KeyComparison(keys, with: localKeys) else {
            Issue.record("the keys collide too often", sourceLocation: sourceLocation)
            return
        }
        var seen: Set<Key> = []
        let repeats = keys.filter { !seen.insert($0).inserted }
        #expect(
            comparison.isStored == keys.map { localKeys.contains($0) },
            sourceLocation: sourceLocation)
        #expect(comparison.absentKeys == localKeys.subtracting(keys), sourceLocation: sourceLocation)
        #expect(comparison.repeatedCount == repeats.count, sourceLocation: sourceLocation)
        #expect(comparison.repeatedKeys == Array(repeats.prefix(10)), sourceLocation: sourceLocation)
        let membership = KeyComparison.membership(of: keys, in: localKeys)
        #expect(
            membership == (localKeys.isEmpty ? [] : keys.map(localKeys.contains)), sourceLocation: sourceLocation)
    }

    @Test func emptySidesCompare() {
        check([String](), [])
        check(["a", "b"], [])
        check([String](), ["a", "b"])
        check(["a"], ["a"])
    }

    @Test(arguments: 0..<100) func agreesWithSetAlgebra(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        // Sizes around those where the number of groups changes, and keys dense enough to meet and
        // to repeat.
        let count = [3, 40, 2_047, 2_048, 5_000].randomElement(using: &random) ?? 0
        let range = 0..<(count * Int.random(in: 1...4, using: &random))
        let keys = (0..<Int.random(in: 0...count, using: &random)).map { _ in Int.random(in: range, using: &random) }
        let local = (0..<Int.random(in: 0...count, using: &random)).map { _ in Int.random(in: range, using: &random) }
        check(keys, Set(local))
        check(keys.map { "key \($0)" }, Set(local.map { "key \($0)" }))
        check(keys.map { UInt16(truncatingIfNeeded: $0) }, Set(local.map { UInt16(truncatingIfNeeded: $0) }))
    }

    @Test(arguments: [1, 7]) func keysOfEqualHashesAreToldApart(hashCount: Int) {
        let keys = (0..<300).map { CollidingKey(value: $0 % 250, hash: $0 % 250 % hashCount) }
        let local = (200..<400).map { CollidingKey(value: $0, hash: $0 % hashCount) }
        check(keys, Set(local))
        check(Array(keys.prefix(250)), Set(keys))
    }

    @Test func tooManyKeysOfEqualHashesAreRefusedInsteadOfComparedForMinutes() {
        let keys = (0..<100_000).map { CollidingKey(value: $0, hash: 0) }
        let local: Set<CollidingKey> = [CollidingKey(value: -1, hash: 0)]
        #expect(throws: SyncError.Reason.collidingKeys(type: String(reflecting: CollidingKey.self))) {
            try KeyComparison(keys, with: local)
        }
        // Many stored keys against a few of the source.
        let few = Array(keys.prefix(900)) + [CollidingKey(value: -1, hash: 0)]
        #expect(throws: SyncError.Reason.collidingKeys(type: String(reflecting: CollidingKey.self))) {
            try KeyComparison(few, with: Set((100_000..<101_500).map { CollidingKey(value: $0, hash: 0) }))
        }
        check(Array(keys.prefix(1_000)), local)
    }

    /// A key whose `hashValue` is not mixed, as that of old code that implements only this.
    private struct OldKey: Hashable {
        var value: Int
        var hashValue: Int { value & 0xFFFF }
        func hash(into hasher: inout Hasher) { hasher.combine(hashValue) }
    }

    @Test func keysWithAHashValueOfTheirOwnAreCompared() {
        let keys = (0..<100_000).map(OldKey.init)
        check(keys, Set(keys.suffix(60_000) + [OldKey(value: -1)]))
    }

    @Test func oneKeyRepeatedOftenIsOneKey() {
        check([String](repeating: "again", count: 20_000), [])
        check([String](repeating: "again", count: 20_000) + ["other"], ["again", "gone"])
    }

    @Test func keysThatAreEqualInAnotherFormAreTheSame() {
        // Canonically equivalent strings are equal and hash alike.
        check(["caf\u{E9}", "b"], ["cafe\u{301}"])
        check(["caf\u{E9}", "cafe\u{301}"], [])
    }
}
