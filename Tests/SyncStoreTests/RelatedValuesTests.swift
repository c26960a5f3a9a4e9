import OneWayTestLimits
import Testing

@testable import SyncStore

/// The values of properties with related objects.
@Suite(.endsInTime) struct RelatedValuesTests {
    private final class Probe {}

    @Test func valuesAreReleasedTogether() {
        weak var found: Probe?
        weak var empty: Probe?
        do {
            let probes = (Probe(), Probe())
            (found, empty) = probes
            let values = RelatedValues(ObjectValues([probes.0], of: [7]), empty: probes.1)
            #expect(values.index(of: 7) == 0 && values.index(of: nil) == 1 && values.index(of: 8) == 1)
        }
        #expect(found == nil && empty == nil)
    }

    @Test func aValueThatIsNeverEmptyIsFoundOrNot() {
        let values = RelatedValues(ObjectValues(["a", "b"], of: [3, 5]), empty: nil)
        #expect(values.index(of: 3) == 0 && values.index(of: 5) == 1)
        #expect(values.index(of: nil) == nil && values.index(of: 4) == nil)
    }

    @Test func anObjectHasOneValue() {
        var values = ObjectValues<String>()
        let indices = [(4, "a"), (4, "b"), (2, "c"), (4, "d"), (2, "e"), (9, "f")].map { object, value in
            values.index(of: object, adding: value)
        }
        #expect(indices == [0, 0, 1, 0, 1, 2] && values.values == ["a", "c", "f"])
        #expect(values.index(of: 9) == 2 && values.index(of: 1) == nil)
        let others = values.compactMap { $0 == "c" ? nil : $0 + "!" }
        #expect(others.index(of: 2) == nil && Set(others.values) == ["a!", "f!"])
        #expect(others.index(of: 4).map { others[$0] } == "a!")
    }
}
