import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

@testable import StoreSync

/// What the options of a sync allow.
@Suite(.endsInTime) struct SyncRulesTests {
    private static let (inserting, updating, deleting):
        (
            StoreSyncOptions.Operations, StoreSyncOptions.Operations, StoreSyncOptions.Operations
        ) = (.insertRelationships, .updateRelationships, .deleteRelationships)

    private func rules(_ operations: StoreSyncOptions.Operations) -> SyncRules {
        SyncRules(StoreSyncOptions(operations: operations), isInferred: false)
    }

    @Test(
        arguments: [
            ([], .add, .retain), (inserting, .add, .add), (updating, .replace, .add), (deleting, .replace, .retain),
            ([.insertRelationships, .deleteRelationships], .replace, .replace),
            ([.updateRelationships, .deleteRelationships], .replace, .replace),
            ([.insertRelationships, .updateRelationships], .replace, .add), (.all, .replace, .replace),
        ] as [(StoreSyncOptions.Operations, LinkBatch.Mode, LinkBatch.Mode)])
    func operationsSayHowLinksChange(
        operations: StoreSyncOptions.Operations, toOne: LinkBatch.Mode, toMany: LinkBatch.Mode
    ) throws {
        let layout = try SyncWorld.model.get().layout(of: "User")
        let rules = rules(operations)
        #expect(rules.mode(of: try #require(layout.relationship("company"))) == toOne)
        #expect(rules.mode(of: try #require(layout.relationship("notes"))) == toMany)
        #expect(rules.relates == (operations != []))
        #expect(rules.unlinks == operations.contains(.deleteRelationships))
    }

    /// Notes belong to one user; tags and managers can have others. The list's own operations say
    /// nothing about it.
    @Test(arguments: [("notes", true), ("reports", true), ("tags", false), ("manager", false), ("address", true)])
    func whatIsUnlinkedIsDeletedIfItHasNoOtherPlace(name: String, isDeleted: Bool) throws {
        let model = try SyncWorld.model.get()
        let relationship = try #require(try model.layout(of: "User").relationship(name))
        #expect(rules(.all).deletesDetached(of: relationship, in: model) == isDeleted)
        #expect(rules(Self.deleting).deletesDetached(of: relationship, in: model) == isDeleted)
        #expect(!rules([.insertRelationships, .updateRelationships]).deletesDetached(of: relationship, in: model))
        #expect(!SyncRules(importing: .sync).deletesDetached(of: relationship, in: model))
    }

    @Test(arguments: [
        (StoreSyncOptions.AbsentKeys.automatic, false, false), (.automatic, true, true), (.keep, false, false),
        (.keep, true, false), (.clear, false, true), (.clear, true, true),
    ]) func onlyAnInferredEntityLosesWhatIsAbsent(keys: StoreSyncOptions.AbsentKeys, isInferred: Bool, clears: Bool) {
        var options = StoreSyncOptions()
        options.absentKeys = keys
        let rules = SyncRules(options, isInferred: isInferred)
        #expect(rules.clearsAbsent == clears && rules.readerOptions.clearsAbsent == clears && !rules.isImport)
    }

    @Test(
        arguments: [
            (.all, true, true), (.insert, true, false), (.insertRelationships, false, true),
            ([.update, .updateRelationships], false, false),
        ] as [(StoreSyncOptions.Operations, Bool, Bool)])
    func onlyNewObjectsAreGivenToAHook(operations: StoreSyncOptions.Operations, list: Bool, nested: Bool) {
        var options = StoreSyncOptions(operations: operations)
        #expect(!SyncRules(options, isInferred: false).isHooked)
        options.willInsert = { object, _ in object }
        let rules = SyncRules(options, isInferred: false)
        #expect(rules.isHooked == list && rules.isHookedWhereNested == nested)
        #expect(rules.readerOptions.keepsJSON == nested)
        #expect(rules.readerOptions.keepsRelationships == (operations != .insert))
    }

    /// Values without an order, or of two types, are all as new.
    @Test(
        arguments: [
            (1, 2, true), (2, 2, false), (3, 2, false), (.double(1), .double(1.5), true),
            (.double(2), .double(1), false),
            (.decimal(1), .decimal(2), true), (.decimal(2), .decimal(2), false), ("a", "b", true), ("B", "a", true),
            ("b", "a", false), ("e\u{301}", "\u{e9}", true),
            (.date(Timestamp(microseconds: 1)), .date(Timestamp(microseconds: 2)), true),
            (.date(Timestamp(microseconds: 2)), .date(Timestamp(microseconds: 2)), false),
            (1, .double(2), false),
            (.null, 1, false), (1, .null, false), (.bool(false), .bool(true), false),
        ] as [(AttributeValue, AttributeValue, Bool)])
    func anOlderVersionPrecedes(one: AttributeValue, other: AttributeValue, precedes: Bool) {
        #expect(one.precedes(other) == precedes)
    }
}
