import OneWayTestLimits
import Testing

@testable import OneWaySynchronizer

/// The passes that a task belongs to.
@Suite(.endsInTime) struct PassMarkerTests {
    private final class Party: Sendable {}

    /// A wait for the own pass would never end.
    @Test func onlyARunningPassKeepsItsTasksFromWaitingForIt() async {
        let (party, other) = (Party(), Party())
        let marker = PassMarker(of: party)
        let waits = await marker.mark {
            let wait = PassWait(for: other)
            wait?.end()
            return (PassWait(for: party) != nil, wait != nil)
        }
        #expect(waits == (false, true))
        // A task that outlives the pass.
        let isAllowed = PassMarker.$surrounding.withValue([marker]) {
            let wait = PassWait(for: party)
            wait?.end()
            return wait != nil
        }
        #expect(isAllowed)
    }

    @Test func twoPassesDoNotWaitForEachOther() async {
        let (party, other) = (Party(), Party())
        let (marker, otherMarker) = (PassMarker(of: party), PassMarker(of: other))
        await marker.mark {
            let wait = PassWait(for: other)
            #expect(wait != nil)
            let isAllowed = await PassMarker.$surrounding.withValue([]) {
                await otherMarker.mark { PassWait(for: party) != nil }
            }
            #expect(!isAllowed)
            wait?.end()
            let isAllowedLater = await PassMarker.$surrounding.withValue([]) {
                await otherMarker.mark {
                    let wait = PassWait(for: party)
                    wait?.end()
                    return wait != nil
                }
            }
            #expect(isAllowedLater)
        }
    }

    @Test func theInnermostPassIsTheScope() async {
        let (marker, inner) = (PassMarker(of: Party()), PassMarker(of: Party()))
        #expect(PassScope.id == nil)
        await marker.mark {
            #expect(PassScope.id == ObjectIdentifier(marker))
            await inner.mark { #expect(PassScope.id == ObjectIdentifier(inner)) }
            #expect(PassScope.id == ObjectIdentifier(marker))
        }
        #expect(PassScope.id == nil)
    }
}
