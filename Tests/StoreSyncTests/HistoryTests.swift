import OneWayStoreKinds
import Foundation
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// The history of syncs, on every kind of store.
@Suite(.serialized, .endsInTime) struct HistoryTests {
    private struct Refusal: Error {}

    @Test(arguments: StoreKind.ofScenarios)
    func eachStoreKeepsTheLatestPassesOfEachName(kind: StoreKind) async throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                }
                SyncEntity("Note", identity: "id") { SyncAttribute("id", .int64) }
            }.adding([SyncEntity.pass]))
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            let json = try JSONStore(store, mapper: mapper, history: SyncHistory(limit: 3))
            func sync(_ text: String, _ entity: String = "User") async throws {
                try await json.sync(.bytes(Array(text.utf8)), into: entity)
            }
            try await sync(#"[{"id":9}]"#, "Note")
            try await sync(#"[{"id":1},{"id":2},{"id":3}]"#)
            try await sync(#"[{"id":1,"name":"a"},{"id":4},{"name":"no key"}]"#)
            try await sync(#"[{"id":1},{"id":4}]"#)
            await #expect(throws: JSONError.self) { try await sync(#"[{"id":1},"#) }
            let failing = AsyncThrowingStream<JSONSource, any Error> { throw CancellationError() }
            await #expect(throws: CancellationError.self) { try await json.sync(pages: failing, into: "User") }

            let passes = try await store.passes(of: "User")
            #expect(passes.map(\.number) == [6, 5, 4])
            #expect(passes.map(\.status) == [.cancelled, .failed, .unchanged])
            #expect(passes.map { $0.error != nil } == [false, true, false])
            #expect(passes.allSatisfy { $0.name == "User" && $0.finished >= $0.started && $0.pageCount == nil })
            #expect(passes[2].counts.unchanged == 2 && passes[2].rejectedCount == 0)
            #expect(try await store.passes(of: "Note").map(\.counts.inserted) == [1])
            #expect(try await store.passes().count == 4)
            #expect(try await store.passes(limit: 1).count == 1)
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    @Test(arguments: StoreKind.ofScenarios)
    func aPassIsRecordedWithItsCounts(kind: StoreKind) async throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                }
            }.adding([SyncEntity.pass]))
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            let json = try JSONStore(store, mapper: mapper, history: SyncHistory(recordsUnchanged: false))
            let first = Array(#"[{"id":1},{"id":2},{"id":3}]"#.utf8)
            let second = Array(#"[{"id":1,"name":"a"},{"id":2},{"id":4},{"name":"no key"}]"#.utf8)
            for payload in [first, first, second, second] { try await json.sync(.bytes(payload), into: "User") }
            let passes = try await store.passes()
            #expect(passes.map(\.number) == [2, 1])
            #expect(passes.allSatisfy { $0.status == .succeeded })
            #expect(passes.map(\.counts.inserted) == [1, 3])
            #expect(passes.map(\.counts.updated) == [1, 0])
            #expect(passes.map(\.counts.unchanged) == [1, 0])
            #expect(passes.map(\.counts.deleted) == [1, 0])
            #expect(passes.map(\.counts.kept) == [0, 0])
            #expect(passes.map(\.rejectedCount) == [1, 0])
        }
    }
}
