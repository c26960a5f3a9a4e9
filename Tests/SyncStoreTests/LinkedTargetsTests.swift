import OneWayTestLimits
import SyncStore
import Testing

@Suite(.endsInTime) struct LinkedTargetsTests {
    @Test func targetsAreCollectedBySource() {
        let links = [(1, 4), (1, 2), (2, 5), (1, 3)].map { LinkBatch.Link(source: $0.0, target: $0.1) }
        var targets = LinkedTargets()
        targets.add(links)
        #expect(targets.take() == [1: [4, 2, 3], 2: [5]])
        #expect(targets.take().isEmpty)
    }
}
