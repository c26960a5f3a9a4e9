import Foundation
import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct ResultCodingTests {
    private func copy<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test func aResultWithEverythingSurvives() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1,"text":"a"}]}]"#)
        let result = try await world.sync(
            #"[{"id":1,"age":"x","new":1,"company_id":3},{"id":2},{"id":2,"name":"b"},5]"#)
        #expect(result.rejectedCount > 0 && !result.drift.isEmpty && result.keys?.inserted == [.identity(2)])
        #expect(try copy(result) == result)

        var remote = result
        remote.coverage = .changes
        remote.pageCount = 2
        remote.warnings = ["kept"]
        #expect(try copy(remote) == remote)
    }

    @Test(
        arguments: [
            .unknownKey, .wrongType(.int16), .outOfRange(.decimal), .notAllowed("", allowed: ["a", 1]),
            .unreadableDate, .missingMandatory,
            .refused(by: "upper", ""), .notAnObject, .noIdentity,
        ] as [MappingError.Problem.Reason])
    func everyProblemSurvives(reason: MappingError.Problem.Reason) throws {
        let problem = MappingError.Problem(entity: "User", attribute: "age", keyPath: "a.b", index: 3, reason: reason)
        #expect(try copy(problem) == problem)
    }

    @Test func passesAndProgressSurvive() async throws {
        let mapper = try RecordMapper(try UserModel.withEverything().adding([SyncEntity.pass]))
        let store = try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper, history: SyncHistory())
        try await store.sync(.bytes(Array(#"[{"id":1}]"#.utf8)), into: "User")
        let passes = try await store.store.passes()
        #expect(passes.count == 1)
        #expect(try copy(passes) == passes)

        var progress = StoreSyncOptions.Progress()
        progress.totalElementCount = 7
        #expect(try copy(progress) == progress)
    }
}
