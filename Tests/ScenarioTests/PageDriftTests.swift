import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// What is reported of an object that a source states more than once.
@Suite(.endsInTime) struct PageDriftTests {
    @Test(arguments: StoreKind.all)
    func anObjectThatChangesBetweenPagesIsNoContradiction(kind: StoreKind) async throws {
        let mapper = try RecordMapper(
            DataModel {
                SyncEntity("Thing", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("n", .int64)
                }
            })
        try await kind.use { makeStore in
            let store = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            func drift(_ pages: String) async throws -> [DriftReport.Kind: Int] {
                let fields = JSONFields(
                    try JSONValue(parsing: #"{"snapshot":true,"passes":[\#(pages)]}"#), of: "source")
                let result = try await store.sync(from: try ScriptedSource(fields), into: "Thing")
                return Dictionary(grouping: result.drift.entries, by: \.kind)
                    .mapValues { $0.reduce(0) { $0 + $1.count } }
            }
            for _ in 1...2 {
                let moved = try await drift(#"[[{"id":1,"n":1},{"id":2}],[{"id":1,"n":2}]]"#)
                #expect(moved == [.changedBetweenPages: 1])
                let contradicting = try await drift(#"[[{"id":1,"n":1},{"id":2}],[{"id":3,"n":1},{"id":3,"n":2}]]"#)
                #expect(contradicting[.conflict] == 1 && contradicting[.changedBetweenPages] == nil)
                let broken = try await drift(
                    #"[[{"id":1,"n":3}],{"broken":"[{\"id\":2,\"n\":1},","then":[{"id":2,"n":2}]}]"#)
                #expect(broken[.conflict] == nil)
            }
        }
    }
}
