import OneWayStoreTestSupport
import OneWayTestLimits
import SyncBase
import SyncStore
import Testing

@testable import SyncStoreTesting

@Suite(.endsInTime) struct StoreConformanceTests {
    @Test(
        arguments: [
            (.insertionsAreUpdates, "an identity is one object, however often it is merged", "new identities"),
            (.insertionsAreUpdates, "two attributes together are an identity", "rows of a composite identity"),
            (
                .insertionsAreUpdates, "a parent entity finds the objects of its sub-entities",
                "rows of the parent entity"
            ),
            (
                .insertionsAreUpdates, "an object is inserted with its parent, and only then given it",
                "what became of the rows"
            ),
            (
                .insertionsAreUpdates,
                "objects are inserted with links of two relationships, and existing links are compared",
                "the first links of new objects"
            ),
            (.insertionsAreUpdates, "an identity is free once its object is gone", "the identity again"),
            (
                .insertionsAmongKnownObjectsAreUpdates, "what a transaction changed is told after its commit",
                "what was changed"
            ),
            (
                .objectsAreSorted, "an identity is one object, however often it is merged",
                "the objects of the same again"
            ),
            (
                .namelessObjectsAreOne, "objects without an identity are as many as were inserted",
                "an entity without identity"
            ),
            (.forbiddenWritesAreUpdates, "a policy is kept", "neither"),
            (.countsAfterLinksAreReversed, "counts that a merge announces are those of the moment", "after a link"),
            (.entitiesStay, "an object with another entity loses what only the former one has", "the employees"),
            (
                .entitiesStay, "a change of entity that is not possible changes nothing",
                "an identity that an employee has"
            ),
            (.entitiesStay, "a change of entity is told as a deletion and an insertion", "what was changed"),
            (
                .sameEntityDeletes, "a change of entity that is not possible changes nothing",
                "the company, whose entity stays"
            ),
            (.listsAreSorted, "an object with another entity keeps what both entities have", "the first tag"),
            (.listsAreSorted, "objects are inserted in the order of their parent's list", "the order then"),
            (.listsAreSorted, "an ordered relationship keeps its order", "the order"),
            (.listsAreSorted, "links are added and retained", "links added"),
            (.listsAreSorted, "what does not exist, or is named twice, is passed over", "targets"),
            (.linksAreReadOnce, "a to-one relationship and its to-many inverse are kept in step", "the inverse then"),
            (.linksAreReadOnce, "links are read as they are between merges of the objects that have them", "linked"),
            (.linksHaveOneSource, "related objects are told by their keys", "companies"),
            (.badgesAreOwned, "a one-to-one relationship has one object at either end", "what was had before"),
            (
                .newSourcesAreNotReported, "new objects are linked that have no link yet",
                "the new objects of notes, with new targets that changed"
            ),
            (
                .cascadesAreNotCounted, "what depends on an object goes with it, what does not is let go",
                "what was deleted"
            ),
            (.cascadesAreNotCounted, "what was deleted is named on request", "how many were deleted"),
            (
                .lastPhotosAreNotCounted, "what several objects own goes with the last of them",
                "what was deleted with 3"
            ),
            (.eventsStay, "a store is emptied", "objects of Event"),
            (.eventsStay, "the number of a deleted object is no key of an updated one", "what was replaced"),
            (.denialsAreIgnored, "a denied deletion deletes nothing", "a company with people"),
            (.denialsAreIgnored, "a store is emptied of what denies one another's deletion", "a shelf with books"),
            (.predicatesAreIgnored, "predicates select as they do in memory", "age > 20"),
            (.predicatesAreIgnored, "predicates have many parts and levels", "many equalities"),
            (
                .predicatesAreIgnored, "what does not fit the model is refused",
                "a property that does not exist was accepted"
            ),
            (.exceptionsAreIgnored, "what is not in a set is deleted, within a scope", "what is absent"),
            (.batchesAreSmall, "batches are as large as they were asked for", "the sizes of batches"),
            (.countsHaveNoLimit, "objects are ordered, limited and skipped", "the count of a part"),
            (
                .countsHaveNoLimit, "limits and offsets can have any value",
                "the count of limit \(Int.min), offset \(Int.min)"
            ),
            (.offsetsOverflow, "limits and offsets can have any value", "limit 3, offset \(Int.max - 1)"),
            (.failuresLeaveLinks, "what fails leaves nothing behind", "tags of the one"),
            (.cancellationsLeaveMerges, "a cancelled transaction leaves nothing behind", "objects after the next one"),
        ] as [(Defect, String, String)])
    func aDefectIsFoundOut(defect: Defect, name: String, complaint: String) async throws {
        let found = StoreConformance.checks.first { $0.0 == name }?.1
        let check = try #require(found)
        let store = DefectiveStore(MemoryStore(exactly: try ConformanceModel.model()), defect)
        let error = await #expect(throws: ConformanceCheckFailed.self) { try await check(store) }
        let description = error?.description ?? ""
        #expect(description == complaint || description.hasPrefix("\(complaint): "))
    }

    private struct Closed: Error {}

    /// Has each call fail with an error.
    private struct Fails: StoreHook {
        let error: any Error

        func willMake(_ call: StoreCall) throws { throw error }
    }

    /// The other checks still run.
    @Test(arguments: [true, false]) func aCheckThatFailsIsAnIssueWithItsName(isBroken: Bool) async throws {
        let error: any Error = isBroken ? ConformanceCheckFailed(description: "closed") : Closed()
        let (issues, storeCount) = (Locked<[String]>([]), Locked(0))
        try await withKnownIssue {
            try await StoreConformance.check { model in
                let number = storeCount.withLock { count in
                    count += 1
                    return count
                }
                let store: any Store = MemoryStore(exactly: model)
                return number == 1 ? HookedStore(store, Fails(error: error)) : store
            }
        } matching: { issue in
            issues.withLock { $0 += issue.comments.map(\.rawValue) }
            return true
        }
        let name = StoreConformance.checks[0].0
        #expect(issues.withLock(\.self) == [isBroken ? "\(name): closed" : name])
        #expect(storeCount.withLock(\.self) == StoreConformance.checks.count)
    }
}
