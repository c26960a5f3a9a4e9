import OneWayStoreKinds
import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// A synchronizer that keeps an entity equal to a list, on every kind of store.
@Suite(.serialized, .endsInTime) struct ProcessorTests {
    /// A key of two attributes, a revision, and nested objects.
    private static let model = Result {
        try DataModel {
            SyncEntity("Part", identity: "maker", "number") {
                SyncAttribute("maker", .string)
                SyncAttribute("number", .int64)
                SyncAttribute("version", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("screws", toMany: "Screw", inverse: "part", deleteRule: .cascade)
            }
            SyncEntity("Screw", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("part", toOne: "Part", inverse: "screws")
            }
        }
    }

    @Test(arguments: StoreKind.ofScenarios, [1, 2, 100])
    func onlyWhatIsNewOrChangedIsDownloaded(kind: StoreKind, batchCount: Int) async throws {
        let mapper = try RecordMapper(try Self.model.get())
        let list = Locked("[]")
        let asked = Locked<[Record.Key]>([])
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            let processor = try StoreProcessor(
                store, "Part", revision: "version", batchCount: batchCount
            ) {
                .bytes(Array(list.withLock(\.self).utf8))
            } details: { key in
                asked.withLock { $0.append(key) }
                guard case .identity(let values) = key, case .string(let maker)? = values.first,
                    case .int(let number)? = values.last
                else { return .bytes([]) }
                let json = """
                    {"maker":"\(maker)","number":\(number),"version":\(list.withLock(\.count)),"name":"\(maker)\(number)",
                     "screws":[{"id":\(number)}]}
                    """
                return .bytes(Array(json.utf8))
            }
            let synchronizer = Synchronizer(processor: processor)

            list.withLock { $0 = #"[{"maker":"a","number":1},{"maker":"a","number":2},{"maker":"b","number":1}]"# }
            let first = try await synchronizer.sync()
            #expect(first.inserted == 3)
            #expect(processor.counts.inserted == 3)
            #expect(Set(asked.withLock(\.self)) == [.identity(["a", 1]), .identity(["a", 2]), .identity(["b", 1])])
            #expect(try await store.count(StoreQuery("Part", where: PropertyPath("name") == "b1")) == 1)

            // One is gone, one has another version, one is the same, one is new.
            let version = list.withLock(\.count)
            asked.withLock { $0 = [] }
            list.withLock {
                $0 = """
                    [{"maker":"a","number":1,"version":\(version)},{"maker":"a","number":2,"version":\(version + 1)},
                     {"maker":"c","number":3,"version":1}]
                    """
            }
            let second = try await synchronizer.sync()
            #expect(second.deleted == 1)
            #expect(Set(asked.withLock(\.self)) == [.identity(["a", 2]), .identity(["c", 3])])
            #expect(processor.counts.inserted == 1 && processor.counts.updated == 1)
            #expect(try await store.count(StoreQuery("Part")) == 3)
            #expect(try await store.count(StoreQuery("Part", where: PropertyPath("maker") == "b")) == 0)
        }
    }

    /// The revisions of the list are those of the stored objects.
    @Test func objectsAreFetchedAgainAfterTheModelHasGainedAProperty() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "parts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        let asked = Locked(0)
        func pass(
            _ attributes: [SyncAttribute], _ relationships: [SyncRelationship] = [],
            list: String = #"[{"id":1,"version":1},{"id":2,"version":1}]"#, options: SyncOptions = SyncOptions()
        ) async throws -> StoreSyncResult.Counts {
            let mapper = try RecordMapper(
                try DataModel([
                    SyncEntity("Part", identity: ["id"], attributes: attributes, relationships: relationships)
                ]))
            let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
            let processor = try StoreProcessor(store.store, "Part", revision: "version") {
                .bytes(Array(list.utf8))
            } details: { key in
                asked.withLock { $0 += 1 }
                guard case .identity(let values) = key, case .int(let id)? = values.first else { return .bytes([]) }
                return .bytes(Array(#"{"id":\#(id),"version":1,"name":"n","size":\#(id),"whole":{"id":1}}"#.utf8))
            }
            let synchronizer = Synchronizer(processor: processor, options: options)
            _ = try await synchronizer.sync()
            return processor.counts
        }
        let old = [SyncAttribute("id", .int64), SyncAttribute("version", .int64), SyncAttribute("name", .string)]
        #expect(try await pass(old).inserted == 2)
        _ = try await pass(old)
        #expect(asked.withLock(\.self) == 2)
        let new = old + [SyncAttribute("size", .int64)]
        // Passes that leave objects out: all, one that the list may lack, and one that was kept.
        _ = try await pass(new, options: SyncOptions(downloadContent: false))
        #expect(asked.withLock(\.self) == 2)
        #expect(try await pass(new, list: #"[{"id":1,"version":1},{"id":null}]"#).updated == 1)
        let keeping = SyncOptions(removalLimit: RemovalLimit(count: 0, action: .keep))
        #expect(try await pass(new, list: #"[{"id":1,"version":1}]"#, options: keeping).unchanged == 1)
        #expect(asked.withLock(\.self) == 4)
        #expect(try await pass(new).updated == 1)
        #expect(asked.withLock(\.self) == 6)
        _ = try await pass(new)
        #expect(asked.withLock(\.self) == 6)
        let whole = [SyncRelationship("whole", toOne: "Part")]
        #expect(try await pass(new, whole).updated == 2)
        #expect(asked.withLock(\.self) == 8)
        _ = try await pass(new, whole)
        #expect(asked.withLock(\.self) == 8)
    }

    @Test(arguments: StoreKind.ofScenarios)
    func objectsOutsideOfTheScopeStay(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try Self.model.get())
        try await kind.use { makeStore in
            let json = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            let all = (1...5).map { #"{"maker":"m","number":\#($0),"version":\#($0)}"# }.joined(separator: ",")
            try await json.sync(.bytes(Array("[\(all)]".utf8)), into: "Part")
            let processor = try StoreProcessor(json.store, "Part", scope: PropertyPath("number") > 2) {
                .bytes(Array(#"[{"maker":"m","number":4,"name":"four"}]"#.utf8))
            }
            _ = try await Synchronizer(processor: processor).sync()
            let parts = try await json.store.records(StoreQuery("Part", orderedBy: [Ordering("number")]))
            #expect(parts.map { $0.record["number"] } == [1, 2, 4])
            #expect(parts.map { $0.record["name"] } == [.null, .null, "four"])
        }
    }

    @Test(arguments: StoreKind.ofScenarios)
    func anEntryThatCannotBeWrittenFailsAloneAndAnEntryWithoutAKeyKeepsTheRest(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try Self.model.get())
        try await kind.use { makeStore in
            let json = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            try await json.sync(.bytes(Array(#"[{"maker":"old","number":9}]"#.utf8)), into: "Part")
            let processor = try StoreProcessor(json.store, "Part", batchCount: 10) {
                .bytes(
                    Array(
                        #"[{"maker":"m","number":1},{"maker":"m"},{"maker":"m","number":2},{"maker":"m","number":3}]"#
                            .utf8))
            } details: { key in
                key == .identity(["m", 2]) ? .bytes(Array("{".utf8)) : .bytes(Array(#"{"maker":"m","number":3}"#.utf8))
            }
            await #expect(throws: (any Error).self) { try await Synchronizer(processor: processor).sync() }
            #expect(processor.counts.inserted == 1)
            let found = try await json.store.records(StoreQuery("Part", orderedBy: [Ordering("number")]))
            #expect(found.map { $0.record["number"] } == [3, 9])
        }
    }

    private struct Member: SyncObject {
        var id: Int
        var version: Int
        var name: String
        var friends: Related<[Member]>
    }

    /// Details of object 1 that are not stored, and why.
    struct UnsuitableDetails: Sendable, CustomTestStringConvertible {
        let json: String
        let reason: String

        var testDescription: String { json }

        static let all = [
            Self(json: #"{"id":1,"version":1}"#, reason: ProcessorTests.missingName),
            Self(json: #"{"id":1,"version":1,"name":null}"#, reason: ProcessorTests.missingName),
            Self(json: "[]", reason: "the details of the requested Member are empty"),
            Self(
                json: #"{"id":3,"version":1,"name":"c"}"#,
                reason: "the details of the requested Member are those of another one"),
            Self(
                json: #"[{"id":1,"version":1,"name":"a"},{"id":3,"version":1,"name":"c"}]"#,
                reason: "the details of the requested Member are 2 objects"),
        ]
    }

    private static let missingName = "Member.name, element 0 at name: a mandatory value is missing"

    @Test(arguments: StoreKind.ofScenarios, UnsuitableDetails.all)
    func detailsThatAreNotTheRequestedObjectAreAnError(kind: StoreKind, details: UnsuitableDetails) async throws {
        let mapper = try RecordMapper(try DataModel(Member.self))
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            let processor = try StoreProcessor(store, Member.self, revision: \.version) {
                .text(#"[{"id":1,"version":1},{"id":2,"version":1}]"#)
            } details: { key in
                .text(key == .identity(1) ? details.json : #"{"id":2,"version":1,"name":"b"}"#)
            }
            for insertedCount in [1, 0] {
                let failure = await #expect(throws: SyncFailure.self) {
                    try await Synchronizer(processor: processor).sync()
                }
                let error = failure?.errors.first?.underlying as? SyncError
                let key = error?.key as? Record.Key
                #expect(key == Record.Key.identity(1))
                #expect(error?.description.contains(" of 1: ") == true)
                #expect(error.map { "\($0.underlying)" } == details.reason)
                #expect(processor.counts.inserted == insertedCount)
                let names = try await store.all(Member.self).map(\.name)
                #expect(names == ["b"])
            }
        }
    }

    /// An object that is nested in the requested one may be rejected.
    @Test(arguments: StoreKind.ofScenarios)
    func aRejectedUpdateIsAnError(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try DataModel(Member.self))
        let (version, name) = (Locked(1), Locked(#""a""#))
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            let processor = try StoreProcessor(store, Member.self, revision: \.version) {
                .text(#"[{"id":1,"version":\#(version.withLock(\.self))}]"#)
            } details: { _ in
                let number = version.withLock(\.self)
                return .text(
                    #"{"id":1,"version":\#(number),"name":\#(name.withLock(\.self)),"friends":[{"id":5}]}"#)
            }
            let synchronizer = Synchronizer(processor: processor)
            _ = try await synchronizer.sync()
            version.withLock { $0 = 2 }
            name.withLock { $0 = "null" }
            for _ in 1...2 {
                let failure = await #expect(throws: SyncFailure.self) { try await synchronizer.sync() }
                let error = failure?.errors.first?.underlying as? SyncError
                #expect(error.map { "\($0.underlying)" } == Self.missingName)
            }
            let members = try await store.all(Member.self)
            #expect(members.map(\.name) == ["a"] && members.map(\.version) == [1])
        }
    }
}
