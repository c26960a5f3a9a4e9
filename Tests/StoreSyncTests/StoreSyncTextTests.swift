import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import Testing

/// What the errors, the events and the results of syncs say.
@Suite(.endsInTime) struct StoreSyncTextTests {
    private static let limit = RemovalLimit(count: 1)
    private static let problem = MappingError.Problem(
        entity: "User", attribute: "id", keyPath: "id", index: 3, reason: .missingMandatory)

    private static let errors: [(StoreSyncError, ErrorArea, String)] = [
        (
            .differentModels, .program,
            "the store was not opened for JSON: open it with types or a model, or give a store of your own "
                + "the model of a RecordMapper"
        ),
        (
            .removalLimitExceeded(entity: "User", removals: 4, localCount: 9, limit: limit), .data,
            "4 of 9 User would be deleted; the limit is \(limit)"
        ),
        (
            .payloadDiffers(DriftReport(), rejectedCount: 0), .data, "the payload differs from the model: "
        ),
        (
            .payloadDiffers(DriftReport(), rejectedCount: 1), .data,
            "the payload differs from the model: 1 object left out"
        ),
        (
            .payloadDiffers(DriftReport(), rejectedCount: 2), .data,
            "the payload differs from the model: 2 objects left out"
        ),
        (.noParent(entity: "User"), .data, "there is no such User, or more than one"),
        (
            .noRelationship(entity: "User", destination: "Note"), .program,
            "User has no relationship to Note, or has several and none was named"
        ),
        (
            .unidentifiedObjects(entity: "User", key: "id", count: 1), .data,
            "the only object has no usable id, so the JSON is not a list of User; "
                + #"if the list is inside, give its key path, as in StoreSyncOptions(keyPath: "data.items")"#
        ),
        (
            .unidentifiedObjects(entity: "User", key: "", count: 2), .data,
            "none of the 2 elements has a key of User, so the JSON is not a list of User; "
                + #"if the list is inside, give its key path, as in StoreSyncOptions(keyPath: "data.items")"#
        ),
        (
            .unsuitableRelationship(entity: "User", relationship: "notes", index: 5), .data,
            "User.notes, element 5: the value does not identify an object"
        ),
        (.unsuitableKey(entity: "User"), .program, "the key does not fit the identity of User"),
        (
            .unsuitableTombstones(entity: "User", keyPath: "gone"), .data,
            "the value at gone is not a list of deleted User objects"
        ),
        (
            .repeatedPages(entity: "User", count: 3), .server,
            "3 pages in a row had the same User objects as pages before them; "
                + "the source seems to ignore the number of the requested page"
        ),
        (
            .noJSON(entity: "User"), .program,
            "the source supplies User objects without JSON, which hooks, tombstones in fields, and items need"
        ),
        (.unrequestedDetails(entity: "User", count: 0), .data, "the details of the requested User are empty"),
        (
            .unrequestedDetails(entity: "User", count: 1), .data,
            "the details of the requested User are those of another one"
        ),
        (.unrequestedDetails(entity: "User", count: 2), .data, "the details of the requested User are 2 objects"),
        (.unknownVersion(entity: "User", attribute: "at"), .program, "User has no attribute at"),
    ]

    @Test(arguments: errors) func anErrorIsOneSentence(error: StoreSyncError, area: ErrorArea, text: String) {
        #expect(error.description == text && error.errorDescription == text && error.errorArea == area)
    }

    @Test(
        arguments: [
            (.notActive, .lease, true, "the sync does not run here, or stands by"),
            (.tooManyWaiting(limit: 5), .server, true, "more than 5 changes wait for their turn"),
            (.rejected(count: 1, first: nil), .data, false, "an object of the changes was rejected"),
            (.rejected(count: 2, first: nil), .data, false, "2 objects of the changes were rejected"),
            (.rejected(count: 1, first: problem), .data, false, "an object of the changes was rejected: \(problem)"),
            (.unknownEntity("User"), .data, false, "the sync has no list of User"),
        ] as [(LiveSync.Refusal, ErrorArea, Bool, String)])
    func aRefusalOfChangesIsOneSentence(
        refusal: LiveSync.Refusal, area: ErrorArea, isRetryable: Bool, text: String
    ) {
        #expect(refusal.description == text && refusal.errorDescription == text)
        #expect(refusal.errorArea == area && refusal.isRetryable == isRetryable)
    }

    private static let failed = TestError("away")

    private static let events: [(LiveSync.Event, EventRetention, String)] = [
        (.connected(isContinuous: false), .droppable, "connected"),
        (.connected(isContinuous: true), .droppable, "connected again"),
        (.interrupted(nil), .droppable, "interrupted"),
        (.interrupted(failed), .droppable, "interrupted: \(ErrorText.describing(failed))"), (.gap(nil), .kept, "gap"),
        (.gap(failed), .kept, "gap: \(ErrorText.describing(failed))"), (.ended, .kept, "ended"),
        (.applied(StoreSyncResult(), changeCount: 1), .droppable, "applied 1 change: The source reports no changes."),
        (.applied(StoreSyncResult(), changeCount: 0), .droppable, "applied 0 changes: The source reports no changes."),
        (.failed(failed, changeCount: 2), .kept, "2 changes failed: \(ErrorText.describing(failed))"),
    ]

    @Test(arguments: events) func anEventIsShort(event: LiveSync.Event, retention: EventRetention, text: String) {
        #expect(event.description == text && event.retention == retention)
    }

    // MARK: Results

    private func counts(_ numbers: Int...) -> StoreSyncResult.Counts {
        var counts = StoreSyncResult.Counts()
        (counts.inserted, counts.updated, counts.unchanged) = (numbers[0], numbers[1], numbers[2])
        (counts.deleted, counts.kept) = (numbers[3], numbers[4])
        return counts
    }

    @Test func countsAreTheNumbersAboveZero() {
        #expect(counts(0, 0, 0, 0, 0).description == "nothing")
        #expect(
            counts(1, 2, 3, 4, 5).description == "1 inserted, 2 updated, 3 unchanged, 4 deleted, 5 kept")
        #expect(counts(0, 0, 3, 0, 5).isUnchanged && counts(0, 0, 3, 0, 0).description == "3 unchanged")
        for changed in [counts(1, 0, 0, 0, 0), counts(0, 1, 0, 0, 0), counts(0, 0, 0, 1, 0)] {
            #expect(!changed.isUnchanged)
            var result = StoreSyncResult()
            result.countsByEntity = ["A": counts(0, 0, 9, 0, 9), "B": changed]
            #expect(!result.isUnchanged)
        }
    }

    @Test func aResultIsALineForEachMatter() {
        var result = StoreSyncResult()
        result.warnings = ["one thing", "Another one."]
        #expect(result.description == "The source reports no changes.\nOne thing.\nAnother one.")
        result.counts = counts(1, 0, 0, 0, 0)
        #expect(result.description == "1 inserted.\nOne thing.\nAnother one.")
        result.coverage = .everything
        (result.warnings, result.countsByEntity) = ([], ["User": counts(1, 0, 0, 0, 1)])
        #expect(result.description == "User: 1 inserted, 1 kept.\nKept although absent: 1 object of User.")
        result.countsByEntity["Note"] = counts(0, 0, 0, 0, 2)
        (result.pageCount, result.byteCount) = (1, 1)
        #expect(
            result.description == """
                Note: 2 kept; User: 1 inserted, 1 kept (1 page, 1 byte).
                Kept although absent: 2 objects of Note.
                Kept although absent: 1 object of User.
                """)
        (result.countsByEntity, result.coverage) = ([:], .changes)
        (result.pageCount, result.byteCount) = (2, 0)
        (result.rejectedCount, result.toleratedCount) = (1, 1)
        #expect(
            result.description == """
                1 inserted (2 pages, 0 bytes, changes only).
                Left out: 1 object.
                Ignored because they do not fit: 1 value.
                """)
        (result.rejectedCount, result.toleratedCount, result.rejected) = (2, 3, [Self.problem])
        #expect(
            result.description == """
                1 inserted (2 pages, 0 bytes, changes only).
                Left out: 2 objects, first: \(Self.problem).
                Ignored because they do not fit: 3 values.
                """)
        (result.rejectedCount, result.toleratedCount, result.excludedRelationshipCount) = (0, 0, 1)
        #expect(
            result.description == """
                1 inserted (2 pages, 0 bytes, changes only).
                Ignored because the operations include none for relationships: 1 value.
                """)
    }
}
