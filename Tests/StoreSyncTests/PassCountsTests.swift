import JSONMapper
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

@testable import StoreSync

/// What a pass counts.
@Suite(.endsInTime) struct PassCountsTests {
    private let model: DataModel
    private let user: EntityLayout

    init() throws {
        model = try SyncWorld.model.get()
        user = try model.layout(of: "User")
    }

    private func count(
        _ counts: inout PassCounts, _ change: MergeRequest.Result.Change, _ objects: ObjectID...
    ) -> [DriftReport.Kind] {
        let rows = objects.map { MergeRequest.Result.Row($0, change) }
        return counts.count(MergeRequest.Result([nil] + rows), of: user).map(\.kind)
    }

    private func numbers(_ counts: PassCounts) -> [Int] { counts.result(for: user).counts.all }

    @Test func anObjectCountsOnce() {
        var counts = PassCounts(model)
        #expect(!counts.hasInserted)
        #expect(count(&counts, .inserted, 1) == [] && counts.hasInserted)
        #expect(count(&counts, .unchanged, 2, 3) == [])
        #expect(numbers(counts) == [1, 0, 2, 0])
        // What was new or unchanged is changed by a later statement.
        #expect(count(&counts, .updated, 1, 2, 2, 4) == [.conflict, .conflict, .conflict])
        #expect(count(&counts, .unchanged, 1, 2, 3, 4) == [])
        #expect(numbers(counts) == [1, 2, 1, 0])
        #expect(counts.seen(user).objects == [1, 2, 3, 4] && counts.updated(user).objects == [2, 4])
        #expect(counts.isSeen(4, of: user) && !counts.isSeen(5, of: user))
        counts.countChanged([3, 9], of: user)
        #expect(numbers(counts) == [1, 4, 0, 0])
        counts.countChanged([], of: user)
        counts.countKept(7, of: user)
        #expect(counts.result(for: user).counts.kept == 7)
    }

    /// A change after the merge, such as a late link, may be counted for the entity above.
    @Test func aKnownObjectIsCountedForItsOwnEntity() throws {
        let model = try DataModel {
            SyncEntity("Employee", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Manager", parent: "Employee") {}
        }
        let (employee, manager) = (try model.layout(of: "Employee"), try model.layout(of: "Manager"))
        var counts = PassCounts(model)
        _ = counts.count(MergeRequest.Result([1, 2, 3].map { .init($0, .unchanged) }), of: manager)
        counts.countChanged([1, 9], of: employee)
        #expect(
            counts.result(for: employee).countsByEntity.mapValues(\.all) == [
                "Manager": [0, 1, 2, 0], "Employee": [0, 1, 0, 0],
            ])
        counts.move([2], from: manager, to: employee)
        counts.countChanged([2], of: manager)
        #expect(
            counts.result(for: employee).countsByEntity.mapValues(\.all) == [
                "Manager": [0, 1, 1, 0], "Employee": [0, 2, 0, 0],
            ])
    }

    /// Within a page, two statements contradict each other. Between pages, the source may have
    /// changed.
    @Test func aChangeBetweenPagesIsNoConflict() {
        var counts = PassCounts(model)
        #expect(counts.kindOfConflict(1, of: user) == .conflict)
        counts.beginPage()
        #expect(count(&counts, .updated, 1) == [] && count(&counts, .updated, 1) == [.conflict])
        #expect(counts.kindOfConflict(1, of: user) == .conflict)
        counts.beginPage()
        #expect(counts.kindOfConflict(1, of: user) == .changedBetweenPages)
        #expect(count(&counts, .updated, 1, 1) == [.changedBetweenPages, .conflict])
    }

    @Test func whatAnAbandonedPageHadIsNotSeen() {
        var counts = PassCounts(model)
        counts.beginPage()
        _ = count(&counts, .inserted, 1)
        counts.beginPage()
        _ = count(&counts, .unchanged, 1)
        _ = count(&counts, .inserted, 2)
        counts.abandonPage()
        #expect(counts.seen(user).objects == [1] && counts.isSeen(1, of: user) && !counts.isSeen(2, of: user))
        counts.beginPage()
        _ = count(&counts, .unchanged, 2)
        #expect(counts.seen(user).objects == [1, 2] && numbers(counts) == [2, 0, 0, 0])
        // A page that had it again may be abandoned, too.
        counts.abandonPage()
        #expect(counts.seen(user).objects == [1])
    }

    @Test func anotherReadingSeesObjectsAnew() {
        var counts = PassCounts(model)
        _ = count(&counts, .unchanged, 1, 2)
        counts.beginAnew()
        #expect(counts.seen(user).isEmpty && !counts.isSeen(1, of: user))
        #expect(count(&counts, .updated, 2) == [.conflict])
        #expect(counts.seen(user).objects == [2] && numbers(counts) == [0, 1, 1, 0])
        let absent = StoreQuery("User", objects: .except(counts.seen(user)))
        #expect(!counts.mayHaveInserted(absent))
        _ = count(&counts, .inserted, 3)
        counts.beginAnew()
        #expect(counts.mayHaveInserted(absent))
    }

    /// An object that the pass inserted and deleted never was.
    @Test func whatWasInsertedAndDeletedIsNotCounted() {
        var counts = PassCounts(model)
        _ = count(&counts, .inserted, 1, 2)
        #expect(counts.deletesNothing)
        counts.countDeleted(RemovalResult(counts: ["User": 0, "Nobody": 3]))
        #expect(counts.deletesNothing)
        let keys = [1, 5].map { StoredRecord.Key(object: $0, key: .identity([.int($0)])) }
        counts.countDeleted(RemovalResult(counts: ["User": 4], keys: ["User": keys]))
        #expect(!counts.deletesNothing && numbers(counts) == [1, 0, 0, 3])
        #expect(counts.deletedKeys(user) == [.identity(5)] && counts.inserted(user).objects == [2])
    }
}
