import Foundation
import JSONMapper
import OneWayStoreKinds
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Values that the Swift type of a property cannot hold are never stored, so that they break no
/// read.
@Suite(.serialized, .endsInTime) struct UnfitTypeTests {
    struct Stamp: Codable, Equatable, Sendable { var at: Date }

    struct Account: SyncObject, Equatable {
        var id: UInt
        var avatar: URL?
        var octet: UInt8?
        var small: Int8?
        var word: UInt32?
        var tags: [String]?
        var counts: [String: Int]?
        var stamp: Stamp?
        var dates: [Date]?
    }

    private static func drift(_ result: StoreSyncResult) -> [String] {
        result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)" }.sorted()
    }

    @Test(arguments: StoreKind.all) func theyBecomeNullAndAreReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Account.self)) { world in
            let result = try await world.sync(
                #"""
                [{"id":1,"avatar":"https://a/b","octet":255,"small":-128,"word":4294967295,"tags":["a"],
                  "counts":{"a":1}},
                 {"id":2,"avatar":"","octet":300,"small":128,"word":-1,"tags":[1,2],"counts":[]},
                 {"id":3,"avatar":"http://a b","octet":-1,"small":"-129","word":4294967296,"tags":"a",
                  "counts":{"a":"b"}},
                 {"id":4,"octet":"7","word":true,"tags":{}}, {"id":5,"tags":["a",null]}]
                """#, into: "Account")
            #expect(
                Self.drift(result) == [
                    "notAllowed Account.avatar 2 1", "notAllowed Account.counts 2 1", "notAllowed Account.tags 4 1",
                    "unfitValue Account.octet 2 1", "unfitValue Account.small 2 1", "unfitValue Account.word 2 1",
                ])
            #expect(result.toleratedCount == 14 && result.rejectedCount == 0)
            #expect(
                try await world.store.store.all(Account.self, orderedBy: \.id) == [
                    Account(
                        id: 1, avatar: URL(string: "https://a/b"), octet: 255, small: -128, word: 4_294_967_295,
                        tags: ["a"], counts: ["a": 1]),
                    Account(id: 2), Account(id: 3), Account(id: 4, octet: 7, word: 1), Account(id: 5),
                ])
        }
    }

    @Test(arguments: StoreKind.all) func theContractDecidesAboutStoredValues(kind: StoreKind) async throws {
        let whole = Account(id: 1, avatar: URL(string: "https://a/b"), octet: 7, tags: ["a"])
        let kept: [(ValueContract, Account)] = [
            (ValueContract(), Account(id: 1, octet: 7)), (ValueContract(wrongType: .null), Account(id: 1)),
            (.keeping, whole), (ValueContract(wrongType: .reject), whole),
        ]
        for (contract, expected) in kept {
            try await RealJSONWorld.with(kind, try DataModel(Account.self), contract: contract) { world in
                try await world.sync(#"[{"id":1,"avatar":"https://a/b","octet":7,"tags":["a"]}]"#, into: "Account")
                try await world.sync(#"[{"id":1,"avatar":"","octet":300,"tags":[1]}]"#, into: "Account")
                #expect(try await world.store.store.all(Account.self) == [expected])
            }
        }
    }

    @Test(arguments: [
        (#""avatar":"""#, "Account.avatar, element 0 at avatar: the type of the property cannot hold the value"),
        (#""tags":[1]"#, "Account.tags, element 0 at tags: the type of the property cannot hold the value"),
        (#""octet":300"#, "Account.octet, element 0 at octet: the number is out of range for the int16 property"),
    ])
    func theErrorSaysWhatIsAtFault(member: String, text: String) async throws {
        let mapping = JSONMapping(contract: ValueContract(wrongType: .reject))
        let store = try MemoryStore(Account.self, mapping: mapping)
        let result = try await store.sync(Account.self, .text(#"[{"id":1,\#(member)}]"#))
        #expect(result.rejected.map { "\($0)" } == [text])
    }

    @Test(arguments: StoreKind.all) func anIdentityOutOfRangeIsRejectedAndDeletesNothing(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Account.self)) { world in
            try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Account")
            let result = try await world.sync(#"[{"id":1},{"id":-1}]"#, into: "Account")
            #expect(result.rejectedCount == 1 && result.counts.deleted == 0)
            #expect(try await world.store.store.all(Account.self, orderedBy: \.id) == [Account(id: 1), Account(id: 2)])
        }
    }

    struct Lot: SyncObject, Equatable {
        var id: Int
        var octet: UInt8?
        var link: URL?

        static let declaration = SyncDeclaration<Lot>(
            .attribute(\.link) { (text: String) in text == "none" ? "" : text })
    }

    @Test func aTransformersResultIsChecked() async throws {
        let store = try MemoryStore(Lot.self)
        let result = try await store.sync(Lot.self, .text(#"[{"id":1,"link":"https://a/"},{"id":2,"link":"none"}]"#))
        #expect(Self.drift(result) == ["notAllowed Lot.link 1 1"])
        let links = try await store.all(Lot.self, orderedBy: \.id).map(\.link)
        #expect(links == [URL(string: "https://a/"), nil])
    }

    @Test func rowsAreChecked() async throws {
        let store = try MemoryStore(Lot.self)
        let rows = JSONSource.records(1...2) { number, lot in
            try lot.set("id", to: number)
            try lot.set("octet", to: number * 200)
        }
        let result = try await store.sync(Lot.self, rows)
        #expect(Self.drift(result) == ["notAllowed Lot.octet 1 1"])
        #expect(try await store.all(Lot.self, orderedBy: \.id).map(\.octet) == [200, nil])
    }

    @Test(arguments: StoreKind.all) func datesInJSONAreTextsOrTimestamps(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Account.self)) { world in
            let result = try await world.sync(
                #"""
                [{"id":1,"dates":["2024-01-02T03:04:05Z"],"stamp":{"at":1700000000}},
                 {"id":2,"dates":["never"],"stamp":{"at":"2024-01-02T03:04:05Z"}}]
                """#, into: "Account")
            #expect(Self.drift(result) == ["notAllowed Account.dates 1 1"])
            let date = Date(timeIntervalSince1970: 1_704_164_645)
            #expect(
                try await world.store.store.all(Account.self, orderedBy: \.id) == [
                    Account(id: 1, stamp: Stamp(at: Date(timeIntervalSince1970: 1_700_000_000)), dates: [date]),
                    Account(id: 2, stamp: Stamp(at: date)),
                ])
        }
    }

    // MARK: A type that changes

    struct Box: SyncObject, Equatable {
        var id: Int
        var parts: [Int]?
    }

    /// The box of a later version of the program.
    struct LaterBox: SyncObject, Equatable {
        var id: Int
        var parts: [String]?

        static let declaration = SyncDeclaration<LaterBox>("Box")
    }

    @Test func aListIsReadAgainAfterTheTypeHasChanged() async throws {
        let folder = try TemporaryDirectory()
        let file = SQLiteStore.Location.file(folder.url.appending(path: "store.sqlite").path)
        let source = Listing("a", .tagged, #"[{"id":1,"parts":["lid"]}]"#)
        let early = try await SQLiteStore(Box.self, at: file)
        try await early.sync(Box.self, from: source)
        #expect(try await early.sync(Box.self, from: source).coverage == .unchanged)
        #expect(try await early.all(Box.self) == [Box(id: 1)])
        let late = try await SQLiteStore(LaterBox.self, at: file)
        #expect(try await late.sync(LaterBox.self, from: source).counts.updated == 1)
        #expect(try await late.all(LaterBox.self) == [LaterBox(id: 1, parts: ["lid"])])
        #expect(try await late.sync(LaterBox.self, from: source).coverage == .unchanged)
    }
}
