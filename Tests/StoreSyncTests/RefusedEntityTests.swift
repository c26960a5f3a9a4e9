import JSONMapper
import OneWayStoreKinds
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Objects that may not get the entity which the payload states for them.
@Suite(.endsInTime) struct RefusedEntityTests {
    /// Refuses every change of entity.
    private struct Refusing: StoreHook {
        let batchRowCount: Int?
        let linksInitially = false

        func willMake(_ call: StoreCall) throws {
            if call == .changeEntity { throw StoreError.refused(StoreError.Refusal(entity: "Vehicle", reason: .check)) }
        }
    }

    private static let cars = #"""
        [{"id":1,"kind":"Car","name":"a","doors":4,"wheels":[{"id":1},{"id":2}],"owner":{"id":5}},
         {"id":2,"kind":"Car","name":"b","wheels":[{"id":3}],"owner":{"id":5}},
         {"id":3,"kind":"Car","name":"c","wheels":[{"id":4}]}]
        """#

    @discardableResult
    private static func sync(
        _ json: String, into entity: String = "Vehicle", _ store: any Store, setsAside: Bool = true
    ) async throws -> StoreSyncResult {
        var options = StoreSyncOptions()
        options.setsRefusedAside = setsAside
        let json = JSONSource.bytes(Array(json.utf8))
        return try await JSONStore(store, mapper: StatedEntityTests.mapper()).sync(json, into: entity, options: options)
    }

    private static func contents(_ store: any Store) async throws -> [String] {
        try await RealJSONWorld(store, mapper: StatedEntityTests.mapper()).contents()
    }

    /// The list, nested objects, and nested objects of the list's entity.
    @Test(
        arguments: StoreKind.all,
        [
            (
                "Vehicle",
                #"[{"id":1,"kind":"Vehicle","name":"x","owner":{"id":6}},{"id":2,"kind":"Taxi","wheels":[]},{"id":3}]"#,
                2
            ),
            (
                "Owner",
                #"[{"id":5,"vehicles":[{"id":1,"kind":"Vehicle","name":"x"},{"id":2,"kind":"Taxi","wheels":[]}]}]"#, 2
            ),
            (
                "Vehicle",
                #"[{"id":3,"next":{"id":1,"kind":"Vehicle","name":"x","owner":{"id":6}}},{"id":1},{"id":2}]"#, 1
            ),
        ])
    func nothingOfARefusedObjectChanges(
        kind: StoreKind, row: (entity: String, payload: String, refusedCount: Int)
    ) async throws {
        for rowCount in [1, 2, 1000] {
            try await kind.use { makeStore in
                let store = try await makeStore(try StatedEntityTests.mapper().model)
                try await Self.sync(Self.cars, store)
                let refusing = HookedStore(store, Refusing(batchRowCount: rowCount))
                func lines() async throws -> [String] {
                    try await Self.contents(store).filter { line in
                        ["Vehicle", "Car", "Wheel"].contains { line.hasPrefix($0) } && !line.contains(" 3 [")
                    }
                }
                let before = try await lines()
                for _ in 1...2 {
                    let result = try await Self.sync(row.payload, into: row.entity, refusing)
                    #expect(result.rejectedCount == row.refusedCount, "\(result)")
                    let after = try await lines()
                    #expect(after == before)
                }
                await #expect(throws: StoreError.self) {
                    try await Self.sync(row.payload, into: row.entity, refusing, setsAside: false)
                }
            }
        }
    }

    /// The database refuses the change of one object, whose children stay.
    @Test(arguments: UniqueDatabase.sql, [1, 2, 3])
    func othersBesideARefusedObjectChange(kind: UniqueDatabase.Kind, refused: Int) async throws {
        for rowCount in [1, 2, 1000] {
            try await kind.use { database in
                let base = try await database.open(try StatedEntityTests.mapper().model)
                try await Self.sync(Self.cars, base)
                try await database.run(
                    database.isSQLite
                        ? """
                        CREATE TRIGGER guard BEFORE UPDATE ON "Vehicle"
                        WHEN new._entity = 'Vehicle' AND old.id = \(refused) BEGIN SELECT RAISE(ABORT, 'no'); END
                        """
                        : #"ALTER TABLE "Vehicle" ADD CHECK (id <> \#(refused) OR _entity <> 'Vehicle')"#)
                let store = HookedStore(base, SmallBatches(rowCount))
                let elements = (1...3).map { #"{"id":\#($0),"kind":"Vehicle","name":"x"}"# }
                let payload = "[\(elements.joined(separator: ","))]"
                let before = try await Self.contents(base)
                let error = await #expect(throws: StoreError.self) {
                    try await Self.sync(payload, store, setsAside: false)
                }
                if case .refused(let refusal)? = error {
                    #expect(rowCount > 1 || refusal.index == refused - 1)
                } else {
                    Issue.record("\(String(describing: error))")
                }
                #expect(try await Self.contents(base) == before)
                for _ in 1...2 {
                    let result = try await Self.sync(payload, store)
                    #expect(result.rejectedCount == 1 && result.rejected.first?.index == refused - 1, "\(result)")
                    let after = try await Self.contents(base)
                    #expect(after.count { $0.hasPrefix("Car") } == 1, "\(after)")
                    let kept = before.filter { line in
                        line.hasPrefix("Car \(refused) ")
                            || line.hasPrefix("Wheel") && line.contains(#"\"\#(refused)\""#)
                    }
                    #expect(kept.count == (refused == 1 ? 3 : 2) && Set(kept).isSubset(of: after), "\(after)")
                }
            }
        }
    }
}
