import Foundation
import JSONMapper
import OneWayStoreKinds
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Values that an enum of the model's types lacks are never stored, so that they break no read.
@Suite(.serialized, .endsInTime) struct UnknownCaseTests {
    enum Status: String, Codable, CaseIterable, Sendable { case open, closed }
    enum Level: Int, Codable, CaseIterable, Sendable { case low = -1, high = 2 }
    enum Small: UInt8, Codable, CaseIterable, Sendable { case one = 1, most = 255 }

    struct Address: Codable, Equatable, Sendable {
        var city: String
        var status: Status
    }

    struct Ticket: SyncObject, Equatable {
        var id: Int
        var status: Status?
        var level: Level?
        var small: Small?
        var tags: [Status]?
        var address: Address?

        static let declaration = SyncDeclaration<Ticket>(.index(\.status))
    }

    private static func drift(_ result: StoreSyncResult) -> [String] {
        result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)" }.sorted()
    }

    @Test(arguments: StoreKind.all) func theyBecomeNullAndAreReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Ticket.self)) { world in
            let result = try await world.sync(
                #"""
                [{"id":1,"status":"open","level":-1,"small":255,"tags":["open"],"address":{"city":"a","status":"open"}},
                 {"id":2,"status":"archived","level":3,"small":256,"tags":["open","archived"],
                  "address":{"city":"b","status":"archived"}},
                 {"id":3,"status":"OPEN","level":"2","small":-1,"tags":[]},
                 {"id":4,"status":1,"level":2.5,"small":2}]
                """#, into: "Ticket")
            #expect(
                Self.drift(result) == [
                    "notAllowed Ticket.address 1 1", "notAllowed Ticket.level 1 1",
                    "notAllowed Ticket.small 3 1", "notAllowed Ticket.status 3 1", "notAllowed Ticket.tags 1 1",
                    "unfitValue Ticket.level 1 3",
                ])
            #expect(result.toleratedCount == 10 && result.rejectedCount == 0)
            #expect(
                "\(result.drift)".contains(
                    "Ticket.status: value is not one that the property allows, 3 times, first in"))
            #expect(!"\(result)".contains("archived"))
            #expect(String(reflecting: result.drift).contains(#"element 1, string "archived""#))
            let store = world.store.store
            let first = Ticket(
                id: 1, status: .open, level: .low, small: .most, tags: [.open],
                address: Address(city: "a", status: .open))
            #expect(
                try await store.all(Ticket.self, orderedBy: \.id) == [
                    first, Ticket(id: 2), Ticket(id: 3, level: .high, tags: []), Ticket(id: 4),
                ])
            #expect(try await store.all(Ticket.self, where: \.status == .open) == [first])
            #expect(try await store.count(Ticket.self, where: \.status == nil) == 3)
            #expect(try await store.count(Ticket.self, where: .in(\.level, [.low, .high])) == 2)
        }
    }

    @Test(arguments: StoreKind.all) func theContractDecidesAboutStoredValues(kind: StoreKind) async throws {
        for (action, status) in [(ValueContract.Action.null, nil), (.ignore, Status.open), (.reject, .open)] {
            let contract = ValueContract(wrongType: action)
            try await RealJSONWorld.with(kind, try DataModel(Ticket.self), contract: contract) { world in
                try await world.sync(#"[{"id":1,"status":"open"},{"id":2,"status":"open"}]"#, into: "Ticket")
                let result = try await world.sync(
                    #"[{"id":1,"status":"archived","level":2},{"id":2,"status":"closed"}]"#, into: "Ticket")
                let tickets = try await world.store.store.all(Ticket.self, orderedBy: \.id)
                #expect(tickets.map(\.status) == [status, .closed])
                #expect(tickets[0].level == (action == .reject ? nil : .high))
                guard action == .reject else { return }
                let problem = try #require(result.rejected.first)
                #expect(problem.reason == .notAllowed(#""archived""#, allowed: ["open", "closed"]))
                #expect(
                    "\(problem)" == #"Ticket.status, element 0 at status: the value is not one of "open", "closed""#)
                #expect(String(reflecting: problem).hasSuffix(#""closed": "archived""#))
            }
        }
        let strict = ValueContract(wrongType: .fail)
        try await RealJSONWorld.with(kind, try DataModel(Ticket.self), contract: strict) { world in
            await #expect(throws: MappingError.self) {
                try await world.store.store.sync(Ticket.self, .text(#"[{"id":1,"status":"archived"}]"#))
            }
        }
    }

    // MARK: Mandatory values

    struct Job: SyncObject, Equatable {
        var id: Int
        var status: Status
        var level: Level
        var tags: [Status]

        static let declaration = SyncDeclaration<Job>(.attribute(\.level, default: 2))
    }

    @Test(arguments: StoreKind.all) func aMandatoryOneRejectsItsObject(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Job.self)) { world in
            try await world.sync(
                #"[{"id":1,"status":"open","tags":[]},{"id":9,"status":"open","tags":[]}]"#, into: "Job")
            let result = try await world.sync(
                #"""
                [{"id":1,"status":"archived","tags":[]},{"id":2,"status":"archived","tags":[]},
                 {"id":3,"status":"open","tags":["archived"]},{"id":4,"status":"closed","tags":["open"]}]
                """#, into: "Job")
            #expect(result.rejected.map(\.keyPath) == ["status", "status", "tags"])
            #expect(Self.drift(result) == ["notAllowed Job.status 2 0", "notAllowed Job.tags 1 2"])
            #expect(result.counts.deleted == 1)
            #expect(
                try await world.store.store.all(Job.self, orderedBy: \.id) == [
                    Job(id: 1, status: .open, level: .high, tags: []),
                    Job(id: 4, status: .closed, level: .high, tags: [.open]),
                ])
        }
    }

    @Test(arguments: StoreKind.all) func aMandatoryOneWithADefaultTakesIt(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Job.self)) { world in
            try await world.sync(
                #"[{"id":1,"status":"open","level":-1,"tags":[]},{"id":2,"status":"open","level":-1,"tags":[]}]"#,
                into: "Job")
            let result = try await world.sync(
                #"""
                [{"id":1,"level":7},{"id":2,"level":null},{"id":3,"status":"open","level":7,"tags":[]},
                 {"id":4,"status":"open","level":null,"tags":[]},{"id":5,"status":"open","tags":[]}]
                """#, into: "Job")
            #expect(Self.drift(result) == ["notAllowed Job.level 2 0"])
            #expect(result.rejectedCount == 0)
            let jobs = try await world.store.store.all(Job.self, orderedBy: \.id)
            #expect(jobs.map(\.level) == [.high, .high, .high, .high, .high])
        }
    }

    // MARK: Identities

    struct Setting: SyncObject, Equatable {
        var name: Status
        var text: String

        static let declaration = SyncDeclaration<Setting>(.identity(\.name), .toMany(\.rules, inverse: \.setting))
        var rules: Related<[Rule]>
    }

    struct Rule: SyncObject, Equatable {
        var id: Int
        var setting: Related<Setting?>
    }

    @Test(arguments: StoreKind.all) func anUnknownIdentityIsRejectedAndDeletesNothing(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try DataModel(Setting.self)) { world in
            try await world.sync(#"[{"name":"open","text":"a"},{"name":"closed","text":"b"}]"#, into: "Setting")
            let result = try await world.sync(
                #"[{"name":"open","text":"c"},{"name":"archived","text":"d"}]"#, into: "Setting")
            #expect(result.rejectedCount == 1 && result.counts.deleted == 0)
            #expect(Self.drift(result) == ["notAllowed Setting.name 1 1"])
            let store = world.store.store
            let texts = try await store.all(Setting.self, orderedBy: \.text).map(\.text)
            #expect(texts == ["b", "c"])
            let rules = try await world.sync(
                #"[{"id":1,"setting":"open"},{"id":2,"setting":"archived"}]"#, into: "Rule")
            #expect(rules.drift.count(of: .unfitIdentifier) == 1)
            let linked = try await store.all(Rule.self, orderedBy: \.id, including: \.setting)
            #expect(linked.map { $0.setting.value??.name } == [.open, nil])
        }
    }

    // MARK: Other ways in

    struct Lot: SyncObject, Equatable {
        var id: Int
        var status: Status?
        var level: Level?

        static let declaration = SyncDeclaration<Lot>(
            .attribute(\.status) { (text: String) in text == "1" ? "open" : "none" })
    }

    @Test func aTransformersResultIsChecked() async throws {
        let store = try MemoryStore(Lot.self)
        let result = try await store.sync(Lot.self, .text(#"[{"id":1,"status":"1"},{"id":2,"status":"open"}]"#))
        #expect(Self.drift(result) == ["notAllowed Lot.status 1 1"])
        #expect(try await store.all(Lot.self, orderedBy: \.id).map(\.status) == [.open, nil])
    }

    @Test func rowsAreChecked() async throws {
        let store = try MemoryStore(Lot.self)
        let rows = JSONSource.records(1...3) { number, lot in
            try lot.set("id", to: number)
            try lot.set("level", to: number == 1 ? -1 : number)
        }
        let result = try await store.sync(Lot.self, rows)
        #expect(Self.drift(result) == ["notAllowed Lot.level 1 2"])
        #expect(try await store.all(Lot.self, orderedBy: \.id).map(\.level) == [.low, .high, nil])
    }

    @Test(arguments: StoreKind.all) func aModelWithoutTypesStatesThem(kind: StoreKind) async throws {
        let model = try DataModel {
            SyncEntity("Item", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("size", .double, allowedValues: [.double(1), .double(2.5)])
                SyncAttribute("kind", .string, userInfo: ["sync.allowedValues": #"["a", "b"]"#])
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let result = try await world.sync(
                #"[{"id":1,"size":1,"kind":"a"},{"id":2,"size":2.50,"kind":"B"},{"id":3,"size":2,"kind":"b"}]"#,
                into: "Item")
            #expect(Self.drift(result) == ["notAllowed Item.kind 1 1", "notAllowed Item.size 1 2"])
            #expect(try await world.values("kind", of: "Item") == [.null, "a", "b"])
            let exported: [UInt8] = try await world.store.export(StoreQuery("Item"))
            let text = String(decoding: exported, as: UTF8.self)
            #expect(text.contains(#""kind":null"#) && !text.contains("B"))
        }
    }

    @Test(arguments: StoreKind.all) func aLiveQueryGoesOn(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try DataModel(Ticket.self))
        try await kind.use { makeStore in
            let store = try await makeStore(mapper.model)
            var states = store.values(of: Ticket.self, orderedBy: \.id).makeAsyncIterator()
            #expect(try await states.next() == [])
            try await store.sync(Ticket.self, .text(#"[{"id":1,"status":"open"}]"#))
            #expect(try await states.next() == [Ticket(id: 1, status: .open)])
            try await store.sync(Ticket.self, .text(#"[{"id":1,"status":"archived"},{"id":2,"status":"x"}]"#))
            #expect(try await states.next() == [Ticket(id: 1), Ticket(id: 2)])
            try await store.sync(Ticket.self, .text(#"[{"id":1,"status":"closed"}]"#))
            #expect(try await states.next() == [Ticket(id: 1, status: .closed)])
        }
    }

    // MARK: An enum that grows

    enum MoreStatus: String, Codable, CaseIterable, Sendable { case archived, closed, open }

    /// The ticket of a later version of the program.
    struct LaterTicket: SyncObject, Equatable {
        var id: Int
        var status: MoreStatus?
        var level: Level?
        var small: Small?
        var tags: [MoreStatus]?
        var address: Address?

        static let declaration = SyncDeclaration<LaterTicket>("Ticket", .index(\.status))
    }

    @Test func aListIsReadAgainAfterTheEnumHasGrown() async throws {
        let folder = try TemporaryDirectory()
        let file = SQLiteStore.Location.file(folder.url.appending(path: "store.sqlite").path)
        let source = Listing("a", .tagged, #"[{"id":1,"status":"archived","tags":["archived"]}]"#)
        let early = try await SQLiteStore(Ticket.self, at: file)
        try await early.sync(Ticket.self, from: source)
        #expect(try await early.sync(Ticket.self, from: source).coverage == .unchanged)
        #expect(try await early.all(Ticket.self) == [Ticket(id: 1)])
        let late = try await SQLiteStore(LaterTicket.self, at: file)
        let result = try await late.sync(LaterTicket.self, from: source)
        #expect(result.coverage == .everything && result.counts.updated == 1 && result.drift.isEmpty)
        #expect(try await late.all(LaterTicket.self) == [LaterTicket(id: 1, status: .archived, tags: [.archived])])
        #expect(try await late.sync(LaterTicket.self, from: source).coverage == .unchanged)
        // The earlier program still opens the file, and clears the value with its next sync.
        let again = try await SQLiteStore(Ticket.self, at: file)
        await #expect(throws: ObjectReadingError.self) { try await again.all(Ticket.self) }
        #expect(try await again.sync(Ticket.self, from: source).counts.updated == 1)
        #expect(try await again.all(Ticket.self) == [Ticket(id: 1)])
    }

    @Test func itemsAreFetchedAgainAfterTheEnumHasGrown() async throws {
        let folder = try TemporaryDirectory()
        let file = SQLiteStore.Location.file(folder.url.appending(path: "store.sqlite").path)
        let fetched = Locked(0)
        func sync(_ store: SQLiteStore) async throws -> Int {
            fetched.withLock { $0 = 0 }
            let processor = try StoreProcessor(store, "Ticket", revision: "level") {
                .text(#"[{"id":1,"level":2}]"#)
            } details: { _ in
                fetched.withLock { $0 += 1 }
                return .text(#"{"id":1,"level":2,"status":"archived"}"#)
            }
            _ = try await Synchronizer(processor: processor).sync()
            return fetched.withLock(\.self)
        }
        let early = try await SQLiteStore(Ticket.self, at: file)
        #expect(try await sync(early) == 1)
        #expect(try await sync(early) == 0)
        let late = try await SQLiteStore(LaterTicket.self, at: file)
        #expect(try await sync(late) == 1)
        #expect(try await sync(late) == 0)
        #expect(try await late.all(LaterTicket.self).map(\.status) == [.archived])
    }
}
