import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Objects without a value that their type demands are refused when they come.
@Suite(.endsInTime) struct MandatoryValueTests {
    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        var age: Int?
        var company: Related<Company?>
        var notes: Related<[Note]>

        static let declaration = SyncDeclaration<User>(
            .identity(\.id), .toMany(\.notes, inverse: \.author, deleteRule: .cascade))
    }

    struct Company: SyncObject, Equatable {
        var id: Int
        var name: String
    }

    struct Note: SyncObject, Equatable {
        var id: Int
        var text: String
        var author: Related<User?>
    }

    private static func world(_ contract: ValueContract? = nil) throws -> SyncWorld {
        try SyncWorld(model: DataModel(User.self, Company.self, Note.self), contract: contract)
    }

    private static func problem(
        _ attribute: String, of entity: String = "User", _ index: Int
    ) -> MappingError.Problem {
        MappingError.Problem(
            entity: entity, attribute: attribute, keyPath: attribute, index: index, reason: .missingMandatory)
    }

    @Test(arguments: [#"{"id":2}"#, #"{"id":2,"name":null}"#, #"{"id":2,"name":[1]}"#])
    func aNewObjectWithoutTheValueIsRejected(element: String) async throws {
        let world = try Self.world()
        let result = try await world.sync(#"[{"id":1,"name":"Ada"},\#(element)]"#)
        #expect(result.rejected == [Self.problem("name", 1)])
        #expect(result.counts.all == [1, 0, 0, 0])
        #expect(try await world.store.all(User.self).map(\.name) == ["Ada"])
    }

    @Test func anAbsentKeyKeepsTheStoredValue() async throws {
        let world = try Self.world()
        try await world.sync(#"[{"id":1,"name":"Ada"},{"id":2,"name":"Bob"}]"#)
        let result = try await world.sync(#"[{"id":1,"age":36}]"#)
        #expect(result.rejected.isEmpty)
        #expect(result.counts.all == [0, 1, 0, 1])
        let users = try await world.store.all(User.self)
        #expect(users.map(\.name) == ["Ada"])
        #expect(users.map(\.age) == [36])
    }

    /// The object is there, and so are the objects that it owns; what it states is not believed.
    @Test func nullLeavesAStoredObjectUnchanged() async throws {
        let world = try Self.world()
        try await world.sync(
            #"[{"id":1,"name":"Ada","age":1,"notes":[{"id":7,"text":"a"}]},{"id":2,"name":"Bob"},{"id":3,"name":"Cyd"}]"#
        )
        let result = try await world.sync(
            #"[{"id":1,"name":null,"age":2,"notes":[]},{"id":2,"name":"Bea"}]"#)
        #expect(result.rejected == [Self.problem("name", 0)])
        #expect(result.counts.all == [0, 1, 1, 1])
        let users = try await world.store.all(User.self, orderedBy: \.id, including: \.notes)
        #expect(users.map(\.name) == ["Ada", "Bea"])
        #expect(users.map(\.age) == [1, nil])
        #expect(users.map { $0.notes.value?.map(\.id) } == [[7], []])
    }

    @Test func laterElementsMaySupplyTheValue() async throws {
        let world = try Self.world()
        let result = try await world.sync(#"[{"id":1,"age":5},{"id":1,"name":"Ada"}]"#)
        #expect(result.rejected.isEmpty)
        #expect(try await world.store.all(User.self).map(\.age) == [5])
    }

    /// A nested object that is refused still names its object, as an identifier does.
    @Test(arguments: [#"{"id":5}"#, #"{"id":5,"name":null}"#, "5"])
    func aRefusedNestedObjectIsLinkedWhenItComes(company: String) async throws {
        let world = try Self.world()
        let result = try await world.sync(#"[{"id":1,"name":"Ada","company":\#(company)}]"#)
        #expect(result.rejected == (company == "5" ? [] : [Self.problem("name", of: "Company", 0)]))
        #expect(result.drift.count(of: .unknownIdentifier) == 1)
        #expect(try await world.store.count(StoreQuery("Company")) == 0)
        try await world.sync(#"[{"id":5,"name":"Acme"}]"#, into: "Company")
        let users = try await world.store.all(User.self, including: \.company)
        #expect(users.map { $0.company.value??.name } == ["Acme"])
        // A summary of a stored object is no reason to doubt it.
        let again = try await world.sync(#"[{"id":1,"name":"Ada","company":\#(company)}]"#)
        #expect(again.rejected.count == (company.contains("null") ? 1 : 0))
        let same = try await world.store.all(User.self, including: \.company)
        #expect(same.map { $0.company.value??.name } == ["Acme"])
    }

    /// Beside an object whose earlier statement counts.
    @Test(arguments: [1, 2, 1000])
    func aRefusedObjectOfALaterPlaceIsLinkedWhenItComes(rowCount: Int) async throws {
        let model = try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("customer", toOne: "Customer")
            }
            SyncEntity("Customer", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("places", toMany: "Place", inverse: "customers")
            }
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string, optional: false)
                SyncRelationship("customers", toMany: "Customer", inverse: "places")
            }
        }
        let world = try SyncWorld(model: model) { HookedStore($0, SmallBatches(rowCount)) }
        let result = try await world.sync(
            #"""
            [{"id":1,"customer":{"id":1,"places":[{"id":1,"name":"a"}]}},{"id":2},
             {"id":3,"customer":{"id":1,"places":[{"id":6}]}},
             {"id":4,"customer":{"id":2,"places":[{"id":1},{"id":5}]}}]
            """#, into: "Order")
        #expect(result.drift.count(of: .unknownIdentifier) == 1)
        try await world.sync(#"[{"id":1,"name":"a"},{"id":5,"name":"b"},{"id":6,"name":"c"}]"#, into: "Place")
        let customers = try await world.store.records(
            StoreQuery("Customer", orderedBy: [Ordering("id")]), with: ["places"])
        let places = customers.map { ($0.record[related: "places"]?.keys ?? []).map { "\($0)" }.sorted() }
        let expected: [[Int64]] = [[1], [1, 5]]
        #expect(places == expected.map { $0.map { "\(Record.Key.identity([.int($0)]))" } })
    }

    @Test func aDefaultTakesThePlaceOfNullButIdentifiesNoObject() async throws {
        let world = try SyncWorld(
            model: DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64, optional: false, default: 0)
                    SyncAttribute("name", .string, optional: false, default: "nobody")
                }
            })
        try await world.sync(#"[{"id":1,"name":"Ada"}]"#)
        let result = try await world.sync(
            #"[{"id":1,"name":null},{"id":2,"name":[1]},{"id":3},{"id":null,"name":"a"},{"id":"x","name":"b"}]"#)
        #expect(result.rejectedCount == 2)
        #expect(try await world.column("id") == [1, 2, 3])
        #expect(try await world.column("name") == ["nobody", "nobody", "nobody"])
    }

    @Test func theContractDecides() async throws {
        let json = #"[{"id":1,"name":"Ada"},{"id":2}]"#
        let lenient = try Self.world(ValueContract(missingMandatory: .ignore))
        #expect(try await lenient.sync(json).counts.all == [2, 0, 0, 0])
        let strict = try Self.world(ValueContract(missingMandatory: .fail))
        await #expect(throws: MappingError.unfit(Self.problem("name", 1))) { try await strict.sync(json) }
        try await strict.sync(#"[{"id":1,"name":"Ada"}]"#)
        #expect(try await strict.sync(#"[{"id":1,"age":3}]"#).counts.all == [0, 1, 0, 0])
    }
}
