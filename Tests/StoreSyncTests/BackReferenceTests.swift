import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// Objects that name, from within, objects around them, in batches of every size;
/// `RealJSONWorld.sync` checks that the second sync writes nothing.
@Suite(.endsInTime) struct BackReferenceTests {
    private static func mapper(isOrdered: Bool) throws -> RecordMapper {
        func toMany(_ name: String, _ destination: String, inverse: String) -> SyncRelationship {
            isOrdered
                ? SyncRelationship(name, toOrdered: destination, inverse: inverse)
                : SyncRelationship(name, toMany: destination, inverse: inverse)
        }
        return try RecordMapper(
            DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncAttribute("name", .string)
                    SyncRelationship("boss", toOne: "User", inverse: "reports")
                    toMany("reports", "User", inverse: "boss")
                    SyncRelationship("spouse", toOne: "User", inverse: "spouse")
                    SyncRelationship("best", toOne: "User")
                    SyncRelationship("friends", toMany: "User", inverse: "friendOf")
                    SyncRelationship("friendOf", toMany: "User", inverse: "friends")
                    toMany("notes", "Note", inverse: "user")
                    SyncRelationship("profile", toOne: "Profile", inverse: "user")
                    SyncRelationship("favs", toMany: "Tag")
                    SyncRelationship("tags", toMany: "Tag")
                }
                SyncEntity("Note", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                }
                SyncEntity("Profile", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("user", toOne: "User", inverse: "profile")
                }
                SyncEntity("Tag", identity: "id") {
                    SyncAttribute("id", .string, optional: false)
                    SyncAttribute("name", .string)
                    SyncRelationship("users", toMany: "User")
                }
            })
    }

    /// Syncs payloads one after the other, each with the boss of an object after it; nil for none.
    private func check(
        _ kind: StoreKind, isOrdered: Bool = false, _ payloads: [String], conflicts: Int,
        boss: (of: Int, is: Int?)? = nil
    ) async throws {
        try await RealJSONWorld.withBatches(kind, try Self.mapper(isOrdered: isOrdered)) { world, rowCount in
            for (index, payload) in payloads.enumerated() {
                let result = try await world.sync(payload, into: "User")
                let expected = index == payloads.count - 1 ? conflicts : 0
                #expect(
                    result.drift.count(of: .conflict) == expected,
                    "\(payload), batches of \(rowCount): \(result.drift.entries)")
            }
            guard let boss else { return }
            let isOfUser = RecordPredicate.related(
                PropertyPath("reports"), .any, PropertyPath("id") == Int64(boss.of))
            let stored = try await world.values("id", of: "User", where: isOfUser)
            #expect(stored == (boss.is.map { [.int(Int64($0))] } ?? []), "\(payloads), batches of \(rowCount)")
        }
    }

    /// An earlier identifier of an object that comes later counts, and agrees with that object.
    @Test(
        arguments: StoreKind.all,
        [
            #"[{"id":5,"boss_id":8},{"id":8},{"id":1,"friends":[{"id":8,"reports":[{"id":5}]}]}]"#,
            #"[{"id":5,"boss_id":8},{"id":1,"friends":[{"id":8,"reports":[{"id":5}]}]}]"#,
            #"[{"id":5,"boss_id":8},{"id":1},{"id":8,"reports":[{"id":5}]}]"#,
            #"[{"id":5,"boss_id":8,"favs":[{"id":"t","users":[{"id":8,"report_ids":[5]}]}]}]"#,
        ])
    func anIdentifierIsLinkedWhateverNamesTheOtherEnd(kind: StoreKind, payload: String) async throws {
        for isOrdered in [false, true] {
            try await check(kind, isOrdered: isOrdered, [payload], conflicts: 0, boss: (5, 8))
        }
    }

    /// The objects around an object agree with what it says of them.
    @Test(
        arguments: StoreKind.all,
        [
            [#"[{"id":8,"profile":{"id":5,"user_id":8}}]"#], [#"[{"id":8,"profile":{"id":5,"user":{"id":8}}}]"#],
            [#"[{"id":1}]"#, #"[{"id":1,"profile":{"id":1,"user_id":1}}]"#],
            [#"[{"id":6,"spouse":{"id":2,"spouse":{"id":6}}}]"#],
            [#"[{"id":2,"reports":[{"id":4,"boss_id":2}]},{"id":4}]"#],
            [
                #"[{"id":1,"notes":[{"id":1,"user_id":1}]}]"#,
                #"[{"id":1,"notes":[{"id":1,"user_id":1},{"id":2,"user_id":1}]}]"#,
            ],
            [
                #"[{"id":1,"notes":[{"id":1,"user_id":1}]}]"#,
                #"[{"id":1,"notes":[]},{"id":2,"notes":[{"id":1,"user_id":2}]}]"#,
            ],
            [#"[{"id":1,"best":{"id":5,"boss":{"id":6,"best":{"id":5,"boss":{"id":6}}}}}]"#],
            [#"[{"id":1,"best":{"id":5,"boss":{"id":6,"reports":[{"id":5}]}}}]"#],
        ])
    func anObjectThatNamesItsContainerContradictsNothing(kind: StoreKind, payloads: [String]) async throws {
        for isOrdered in [false, true] { try await check(kind, isOrdered: isOrdered, payloads, conflicts: 0) }
    }

    @Test(arguments: StoreKind.all)
    func anObjectThatNamesAnotherContainerIsReported(kind: StoreKind) async throws {
        try await check(kind, [#"[{"id":8},{"id":9,"profile":{"id":5,"user_id":8}}]"#], conflicts: 1)
    }

    /// Of a statement and another one within it about the same object, the outer one counts.
    @Test(
        arguments: StoreKind.all,
        [
            (#"[{"id":1,"best":{"id":5,"boss":{"id":6,"best":{"id":5,"boss":{"id":7}}}}}]"#, 5, 6),
            (#"[{"id":1,"best":{"id":5,"boss":{"id":6,"best":{"id":5,"boss":null}}}}]"#, 5, 6),
            (#"[{"id":1,"best":{"id":3,"reports":[{"id":3,"reports":[]}]}}]"#, 3, 3),
            (#"[{"id":2,"best":{"id":5,"boss":{"id":5,"boss_id":3}}}]"#, 5, 5),
        ])
    func ofNestedStatementsTheOuterOneWins(kind: StoreKind, row: (payload: String, user: Int, boss: Int)) async throws {
        try await check(kind, [row.payload], conflicts: 1, boss: (row.user, row.boss))
    }

    /// A summary of an object before the whole object contradicts nothing.
    @Test(
        arguments: StoreKind.all,
        [
            #"[{"id":1,"tags":[{"id":"r"}]},{"id":2,"tags":[{"id":"r","name":"x"}]}]"#,
            #"[{"id":2,"tags":[{"id":"r"}],"favs":[{"id":"r","name":"x"}]}]"#,
            #"[{"id":2,"favs":[{"id":"r"}],"tags":[{"id":"r","name":"x"}]}]"#,
        ])
    func aSummaryBeforeTheWholeObjectIsNoContradiction(kind: StoreKind, payload: String) async throws {
        try await check(kind, [payload], conflicts: 0)
    }
}
