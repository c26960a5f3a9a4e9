import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Imports insert and merge, delete nothing, and demand what the dialect demands.
@Suite(.endsInTime) struct ImportTests {
    private static func model() throws -> DataModel {
        func key(_ name: String) -> [String: String] { ["JSONKeyPath": name] }
        return try DataModel {
            SyncEntity("Book", userInfo: ["identityAttributes": "isbn"]) {
                SyncAttribute("isbn", .int64, optional: false, userInfo: key("isbn"))
                SyncAttribute("title", .string, optional: false, userInfo: key("info.title"))
                SyncAttribute("state", .string, optional: false, default: "new", userInfo: key("state"))
                SyncAttribute("hint", .string, userInfo: key("hint"))
                SyncRelationship("author", toOne: "Author", inverse: "books", userInfo: key("author"))
                SyncRelationship("pages", toMany: "Page", inverse: "book", deleteRule: .cascade, userInfo: key("pages"))
            }
            SyncEntity("Author", userInfo: ["identityAttributes": "name"]) {
                SyncAttribute("name", .string, optional: false, userInfo: key("name"))
                SyncRelationship("books", toMany: "Book", inverse: "author", userInfo: key("books"))
            }
            SyncEntity("Page") {
                SyncAttribute("text", .string, userInfo: key("text"))
                SyncRelationship("book", toOne: "Book", inverse: "pages")
            }
        }
    }

    private func store() throws -> JSONStore {
        let mapper = try RecordMapper(try Self.model(), JSONMapping(dialect: .groot))
        return try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
    }

    @discardableResult
    private func imported(
        _ text: String, into entity: String = "Book", keyPath: String = "", _ store: JSONStore
    ) async throws -> [Int] {
        let result = try await store.importObjects(.bytes(Array(text.utf8)), into: entity, keyPath: keyPath)
        #expect(result.keys == nil && result.drift.isEmpty && result.rejectedCount == 0)
        return result.counts.all
    }

    private func books(_ store: JSONStore) async throws -> [String] {
        let query = StoreQuery("Book", orderedBy: [Ordering("isbn")])
        return try await store.store.records(query, with: ["author", "pages"]).map { stored in
            var author = "-"
            if case .identity(let values)? = stored.record[related: "author"]?.keys.first { author = "\(values)" }
            return "\(stored.record.values) \(author) \(stored.record[related: "pages"]?.keys.count ?? -1)"
        }
    }

    @Test func objectsAreMergedAndNoneIsDeleted() async throws {
        let store = try store()
        let first = #"[{"isbn":1,"info":{"title":"a"},"author":{"name":"Ada"},"pages":[{"text":"x"},{"text":"y"}]}]"#
        #expect(try await imported(first, store) == [1, 0, 0, 0])
        let second = #"{"list":[{"isbn":1,"hint":"h"},{"isbn":2,"info":{"title":"b"},"author":"Bob"}]}"#
        #expect(try await imported(second, keyPath: "list", store) == [1, 1, 0, 0])
        #expect(
            try await books(store) == [
                #"[1, "a", "new", "h"] ["Ada"] 2"#, #"[2, "b", "new", null] ["Bob"] 0"#,
            ])
        // What a list names replaces what the relationship led to, which stays in the store.
        #expect(try await imported(#"[{"isbn":1,"author":null,"pages":[{"text":"z"}]}]"#, store) == [0, 1, 0, 0])
        #expect(try await books(store).first == #"[1, "a", "new", "h"] - 1"#)
        #expect(try await store.store.count(StoreQuery("Page")) == 3)
        #expect(try await store.store.count(StoreQuery("Author")) == 2)
    }

    @Test func identifiersStandForObjects() async throws {
        let store = try store()
        #expect(try await imported(#"["Ada",{"name":"Bob"}]"#, into: "Author", store) == [2, 0, 0, 0])
        #expect(try await imported(#"["Ada","Cyd"]"#, into: "Author", store) == [1, 0, 1, 0])
        // Objects that only an identifier names lack their mandatory attributes.
        #expect(try await imported(#"[{"name":"Ada","books":[7,8]}]"#, into: "Author", store) == [0, 1, 0, 0])
        #expect(
            try await books(store) == [
                #"[7, null, "new", null] ["Ada"] 0"#, #"[8, null, "new", null] ["Ada"] 0"#,
            ])
        // An object that is there may lack a value, but none may be taken from it.
        #expect(try await imported(#"[{"isbn":7,"hint":"h"}]"#, store) == [0, 1, 0, 0])
    }

    @Test func aMandatoryAttributeIsDemandedOfNewObjects() async throws {
        func missing(_ index: Int) -> MappingError {
            .unfit(
                MappingError.Problem(
                    entity: "Book", attribute: "title", keyPath: "info.title", index: index, reason: .missingMandatory))
        }
        let store = try store()
        for (text, index) in [
            (#"[{"isbn":1,"info":{"title":"a"}},{"isbn":2}]"#, 1),
            (#"[{"isbn":1,"info":{"title":null}}]"#, 0),
            (#"[{"isbn":1,"info":{"title":"a"}},{"isbn":3,"info":{"title":"c"}},{"isbn":4,"info":null}]"#, 2),
        ] {
            await #expect(throws: missing(index)) { try await imported(text, store) }
            #expect(try await store.store.count(StoreQuery("Book")) == 0)
        }
        await #expect(throws: missing(0)) {
            try await imported(#"[{"name":"Ada","books":[{"isbn":5}]}]"#, into: "Author", store)
        }
        try await imported(#"[{"isbn":1,"info":{"title":"a"}}]"#, store)
        #expect(try await imported(#"[{"isbn":1}]"#, store) == [0, 0, 1, 0])
        await #expect(throws: missing(0)) { try await imported(#"[{"isbn":1,"info":{"title":null}}]"#, store) }
        #expect(try await books(store) == [#"[1, "a", "new", null] - 0"#])
    }

    @Test func aValueThatDoesNotFitIsAnError() async throws {
        let store = try store()
        for text in [#"[{"isbn":1,"info":{"title":[3]}}]"#, #"[{"isbn":"x","info":{"title":"a"}}]"#] {
            await #expect(throws: MappingError.self) { try await imported(text, store) }
        }
        for (text, name, index) in [
            (#"[{"isbn":1,"info":{"title":"a"},"author":[{"name":"Ada"}]}]"#, "author", 0),
            (#"[{"isbn":1,"info":{"title":"a"}},{"isbn":2,"info":{"title":"b"},"pages":{"text":"x"}}]"#, "pages", 1),
        ] {
            await #expect(
                throws: StoreSyncError.unsuitableRelationship(entity: "Book", relationship: name, index: index)
            ) { try await imported(text, store) }
        }
        #expect(try await store.store.count(StoreQuery("Book")) == 0)
    }

    /// The object is in the list itself and in another object of the list.
    @Test(arguments: [1, 1000])
    func theLaterOfTwoStatementsCounts(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        for (text, name) in [
            (#"[{"id":1,"name":"a"},{"id":2},{"id":1,"name":"b"}]"#, "b"),
            (#"[{"id":2,"manager":{"id":1,"name":"c"}},{"id":1,"name":"d"}]"#, "d"),
            (#"[{"id":1,"name":"e"},{"id":2,"manager":{"id":1,"name":"f"}}]"#, "f"),
        ] {
            let result = try await world.json.importObjects(.bytes(Array(text.utf8)), into: "User")
            #expect(try await world.column("name", where: "id = 1") == [.string(name)])
            #expect(result.drift.entries.map(\.kind) == [.conflict])
        }
    }

    /// The lenient dialect demands nothing, and its identifiers insert objects as well.
    @Test func aLenientDialectImportsWhatItCan() async throws {
        let world = try SyncWorld()
        func imported(_ text: String) async throws -> StoreSyncResult {
            try await world.json.importObjects(.bytes(Array(text.utf8)), into: "User")
        }
        let text = #"[{"id":1,"company_id":7,"notes":[{"id":1}],"address":{"city":"Paris"}},{"id":2,"manager_id":3}]"#
        let first = try await imported(text)
        #expect(first.counts.all == [3, 0, 0, 0])
        #expect(first.countsByEntity.mapValues(\.inserted) == ["User": 3, "Company": 1, "Note": 1, "Address": 1])
        #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0)
        #expect(try await world.column("id", where: "company.id = 7") == [1])
        #expect(try await world.column("id", where: "manager.id = 3") == [2])
        // An object without an identity is new each time.
        let second = try await imported(text)
        #expect(second.countsByEntity["Address"]?.all == [1, 0, 0, 0])
        #expect(second.countsByEntity["Note"]?.all == [0, 0, 1, 0])
        #expect(try await world.store.count(StoreQuery("Address")) == 2)
        let third = try await imported(#"[{"id":1,"notes":[],"company":{"id":8}}]"#)
        #expect(third.counts.all == [0, 1, 0, 0])
        #expect(try await world.column("id", of: "Note", where: "user = null") == [1])
        #expect(try await world.column("id", of: "Company") == [7, 8])
    }
}
