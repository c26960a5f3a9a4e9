import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// Objects that a payload states in several places, in batches of every size; `RealJSONWorld.sync`
/// checks that the second sync writes nothing.
@Suite(.endsInTime) struct StatedPlacesTests {
    private static let mapper = Result {
        try RecordMapper(
            DataModel {
                SyncEntity("Lot", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncAttribute("x", .string)
                    SyncRelationship("items", toMany: "Item", inverse: "lots", deleteRule: .cascade)
                    SyncRelationship("favs", toMany: "Item")
                    SyncRelationship("crates", toMany: "Crate", inverse: "lots", owns: true)
                    SyncRelationship("favChips", toMany: "Chip")
                    SyncRelationship("deltas", toMany: "Lot", inverse: "deltaOf", deleteRule: .cascade)
                    SyncRelationship("deltaOf", toOne: "Lot", inverse: "deltas")
                    SyncRelationship("parts", toMany: "Lot", inverse: "partOf")
                    SyncRelationship("partOf", toOne: "Lot", inverse: "parts")
                    SyncRelationship("alpha", toOne: "Ant", inverse: "alphaOfs")
                    SyncRelationship("betas", toMany: "Ant")
                    SyncRelationship("rows", toOrdered: "Lot", inverse: "rowOfs")
                    SyncRelationship("rowOfs", toMany: "Lot", inverse: "rows")
                }
                SyncEntity("Item", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("lots", toMany: "Lot", inverse: "items")
                    SyncRelationship("pieces", toMany: "Piece", inverse: "item", deleteRule: .cascade)
                }
                SyncEntity("Piece", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("item", toOne: "Item", inverse: "pieces")
                    SyncRelationship("lot", toOne: "Lot")
                }
                SyncEntity("Crate", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("lots", toMany: "Lot", inverse: "crates")
                    SyncRelationship("chips", toMany: "Chip", inverse: "crate", deleteRule: .cascade)
                }
                SyncEntity("Chip", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("crate", toOne: "Crate", inverse: "chips")
                }
                SyncEntity("Ant", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("alphaOfs", toMany: "Lot", inverse: "alpha")
                    SyncRelationship("cat", toOne: "Cat")
                }
                SyncEntity("Cat", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("bees", toMany: "Bee", inverse: "cat")
                }
                SyncEntity("Bee", identity: "id") {
                    SyncAttribute("id", .int64, optional: false)
                    SyncRelationship("cat", toOne: "Cat", inverse: "bees")
                }
            })
    }

    /// Syncs payloads one after the other, and checks the drift of the last one, and the identities
    /// of an entity after it.
    private func check(
        _ kind: StoreKind, _ payloads: [String], conflicts: Int = 0, _ entity: String, _ expected: [Int],
        where predicate: RecordPredicate = .constant(true)
    ) async throws {
        try await RealJSONWorld.withBatches(kind, try Self.mapper.get()) { world, rowCount in
            for (index, payload) in payloads.enumerated() {
                let result = try await world.sync(payload, into: "Lot")
                guard index == payloads.count - 1 else { continue }
                #expect(
                    result.drift.count(of: .conflict) == conflicts,
                    "\(payload), batches of \(rowCount): \(result.drift.entries)")
            }
            let stored = try await world.values("id", of: entity, where: predicate)
            #expect(stored == expected.map { .int(Int64($0)) }, "\(payloads), batches of \(rowCount)")
        }
    }

    // MARK: Cascades

    @Test(
        arguments: StoreKind.all,
        [
            (
                [
                    #"[{"id":1,"items":[{"id":7}]},{"id":2,"items":[{"id":7}]}]"#,
                    #"[{"id":2,"items":[{"id":7}]}]"#,
                ], "Item", [7]
            ),
            ([#"[{"id":1,"items":[{"id":7}]}]"#, #"[{"id":2,"favs":[{"id":7}]}]"#], "Item", [7]),
            ([#"[{"id":5,"deltas":[{"id":3}]},{"id":3}]"#, #"[{"id":3}]"#], "Lot", [3]),
            (
                [#"[{"id":5,"deltas":[{"id":4,"deltas":[{"id":3}]}]},{"id":3},{"id":4}]"#, #"[{"id":3}]"#], "Lot",
                [3]
            ),
            (
                [
                    #"[{"id":1,"items":[{"id":7,"pieces":[{"id":9},{"id":8}]}]}]"#,
                    #"[{"id":2,"items":[{"id":6,"pieces":[{"id":9}]}]}]"#,
                ], "Piece", [9]
            ),
            ([#"[{"id":1,"items":[{"id":7}]}]"#, #"[{"id":2}]"#], "Item", []),
        ] as [([String], String, [Int])])
    func whatThePayloadStatesOutlivesItsFormerOwner(
        kind: StoreKind, expected: (payloads: [String], entity: String, ids: [Int])
    ) async throws {
        try await check(kind, expected.payloads, expected.entity, expected.ids)
    }

    @Test(arguments: StoreKind.all) func whatAnotherOwnerKeepsKeepsItsOwn(kind: StoreKind) async throws {
        let payloads = [
            #"[{"id":1,"crates":[{"id":7,"chips":[{"id":9}]},{"id":6,"chips":[{"id":8}]}]},{"id":2,"crates":[{"id":7}]}]"#,
            #"[{"id":2,"favChips":[{"id":9},{"id":8}]}]"#,
        ]
        try await check(kind, payloads, "Chip", [8, 9])
        let isInCrate = RecordPredicate.related(PropertyPath("chips"), .any, PropertyPath("id") == 9)
        try await check(kind, payloads, "Crate", [7], where: isInCrate)
    }

    // MARK: Statements

    /// The list's own identifier counts, though a nested statement agrees with it that is beaten by
    /// another one.
    @Test(arguments: StoreKind.all) func aBeatenStatementTakesNothing(kind: StoreKind) async throws {
        let payload =
            #"[{"id":5,"betas":[{"id":2,"alphaOfs_ids":[1]}]},"#
            + #"{"id":1,"betas":[{"id":2,"alphaOfs":[{"id":1}]}],"alpha_id":2}]"#
        let isLinked = RecordPredicate.related(PropertyPath("alpha"), .any, PropertyPath("id") == 2)
        try await check(kind, [payload], "Lot", [1], where: isLinked)

        let cats =
            #"[{"id":1,"betas":[{"id":1,"cat":{"id":9,"bees":[{"id":1}]}},{"id":2,"cat":{"id":9,"bees":[{"id":2}]}}]},"#
            + #"{"id":2,"betas":[{"id":3,"cat":{"id":8,"bees":[{"id":2}]}}]}]"#
        let before = #"[{"id":1,"betas":[{"id":1,"cat":{"id":7,"bees":[{"id":2}]}}]}]"#
        let hasBee = RecordPredicate.related(PropertyPath("bees"), .any, PropertyPath("id") == 2)
        try await check(kind, [before, cats], conflicts: 1, "Cat", [8], where: hasBee)
    }

    /// An object that was nested before the list has it contradicts nothing, unless its values do.
    @Test(arguments: StoreKind.all) func aMentionBeforeTheWholeObjectIsNoContradiction(kind: StoreKind) async throws {
        try await check(kind, [#"[{"id":1,"parts":[{"id":9}]},{"id":2},{"id":9,"x":"q"}]"#], "Lot", [1, 2, 9])
        for _ in 0..<2 {
            let payload = #"[{"id":1,"parts":[{"id":9,"x":"p"}]},{"id":2},{"id":9,"x":"q"}]"#
            try await check(kind, [payload], conflicts: 1, "Lot", [9], where: PropertyPath("x") == "q")
        }
    }

    @Test(
        arguments: StoreKind.all,
        [
            [
                #"[{"id":2,"parts_ids":[3]},{"id":3,"partOf_id":2},{"id":4,"parts_ids":[]}]"#,
                #"[{"id":2,"parts_ids":[]},{"id":3,"partOf_id":4},{"id":4,"parts_ids":[3]}]"#,
            ],
            [
                #"[{"id":2,"parts":[{"id":3}]},{"id":3,"partOf_id":2},{"id":4}]"#,
                #"[{"id":4,"parts":[{"id":3}]},{"id":2,"parts":[]},{"id":3,"partOf_id":4}]"#,
            ],
        ])
    func aMoveThatBothEndsStateIsNoContradiction(kind: StoreKind, payloads: [String]) async throws {
        let isMoved = RecordPredicate.related(PropertyPath("parts"), .any, PropertyPath("id") == 3)
        try await check(kind, payloads, "Lot", [4], where: isMoved)
    }

    @Test(arguments: StoreKind.all) func anOrderIsKeptWhenTheOtherEndNamesALaterObject(kind: StoreKind) async throws {
        let payload = #"[{"id":4,"rowOfs_ids":[3]},{"id":1,"rowOfs":[{"id":3,"rows":[{"id":4},{"id":1}]}]},{"id":3}]"#
        try await RealJSONWorld.withBatches(kind, try Self.mapper.get()) { world, rowCount in
            let result = try await world.sync(payload, into: "Lot")
            #expect(result.drift.count(of: .conflict) == 0, "batches of \(rowCount): \(result.drift.entries)")
        }
    }
}
