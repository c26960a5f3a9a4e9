import Foundation
import OneWayPostgresTestSupport
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import SyncStorePostgres
import Testing

/// A place at which stores with different models are opened one after another.
struct ReopenedPlace: Sendable, CustomTestStringConvertible {
    typealias Open = @Sendable (DataModel, [AttributeConversion]) async throws -> any Store

    let testDescription: String
    let use: @Sendable (@Sendable (@escaping Open) async throws -> Void) async throws -> Void

    static let all = [sqlite] + postgres

    private static let sqlite = ReopenedPlace(testDescription: "SQLiteStore") { body in
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "store.sqlite").path
        try await body { model, conversions in
            var options = SQLiteStore.Options()
            options.conversions = conversions
            return try await SQLiteStore(exactly: model, at: .file(path), options: options)
        }
    }

    #if Postgres
    private static let postgres =
        SharedPostgres.isAvailable
        ? [
            ReopenedPlace(testDescription: "PostgresStore") { body in
                try await SharedPostgres.withDatabase { database in
                    let url = database.url
                    try await body { model, conversions in
                        var options = PostgresStore.Options.patient
                        options.conversions = conversions
                        return try await PostgresStore(exactly: model, at: url, options: options)
                    }
                }
            }
        ] : []
    #else
    private static let postgres: [ReopenedPlace] = []
    #endif
}

/// Attributes whose type changes although a type cannot hold every value of the other.
@Suite(.endsInTime) struct TypeChangeTests {
    private static func model(_ attributes: [SyncAttribute]) throws -> DataModel {
        var entity = SyncEntity("Thing", identity: "id") { SyncAttribute("id", .int64) }
        entity.attributes += attributes
        return try DataModel([entity])
    }

    private static func insert(_ values: [String: AttributeValue], into store: any Store) async throws {
        try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "Thing"))
            for (name, value) in values { record[name] = value }
            _ = try await transaction.insert(record)
        }
    }

    private static func values(_ name: String, of store: any Store) async throws -> [AttributeValue] {
        try await store.records(StoreQuery("Thing", orderedBy: [Ordering("id")])).map { $0.record[name] }
    }

    @Test(arguments: ReopenedPlace.all)
    func valuesThatFitMoveToEveryType(place: ReopenedPlace) async throws {
        for (number, change) in sampled(TypeChange.all).enumerated() {
            try await place.use { open in
                let types = AttributeType.allCases.filter { change.results[$0] != nil }
                func model(_ type: (AttributeType) -> AttributeType) throws -> DataModel {
                    try Self.model(types.map { SyncAttribute("to_\($0)", type($0)) })
                }
                var values: [String: AttributeValue] = ["id": .int(Int64(number))]
                for type in types { values["to_\(type)"] = change.value }
                try await Self.insert(values, into: open(model { _ in change.type }, []))
                let store = try await open(model { $0 }, [])
                let record = try #require(try await store.records(StoreQuery("Thing")).first?.record)
                for type in types {
                    #expect(record["to_\(type)"] == change.results[type], "\(change) as \(type)")
                }
            }
        }
    }

    @Test(arguments: ReopenedPlace.all)
    func aValueThatDoesNotFitIsRefused(place: ReopenedPlace) async throws {
        for change in sampled(TypeChange.all) {
            try await place.use { open in
                func model(_ type: AttributeType) throws -> DataModel { try Self.model([SyncAttribute("value", type)]) }
                try await Self.insert(["id": 1], into: open(model(change.type), []))
                try await Self.insert(["id": 2, "value": change.value], into: open(model(change.type), []))
                for type in AttributeType.allCases where type != change.type && change.results[type] == nil {
                    await #expect("\(change) as \(type)") {
                        _ = try await open(model(type), [])
                    } throws: {
                        $0 as? SQLSchemaError
                            == .unfitValue(
                                entity: "Thing", object: .identity(2), attribute: "value", type: type,
                                value: change.value)
                    }
                }
                let store = try await open(model(change.type), [])
                #expect(try await Self.values("value", of: store) == [.null, change.value])
            }
        }
    }

    @Test(arguments: ReopenedPlace.all)
    func anEmptyTableTakesEveryType(place: ReopenedPlace) async throws {
        try await place.use { open in
            let pairs = AttributeType.allCases.flatMap { from in AttributeType.allCases.map { (from, to: $0) } }
            for (from, to) in sampled(pairs) {
                func model(_ type: AttributeType) throws -> DataModel {
                    try Self.model([SyncAttribute("value", type)])
                }
                _ = try await open(model(from), [])
                let store = try await open(model(to), [])
                if to == .string {
                    #expect(try await store.count(StoreQuery("Thing", where: PropertyPath("value") == "x")) == 0)
                }
            }
        }
    }

    // MARK: Conversions of the program

    @Test(arguments: ReopenedPlace.all)
    func aConversionChangesEachValueOnce(place: ReopenedPlace) async throws {
        try await place.use { open in
            let old = try Self.model([SyncAttribute("cost", .string), SyncAttribute("note", .string)])
            try await Self.insert(["id": 1, "cost": "7.50 €", "note": "a"], into: open(old, []))
            try await Self.insert(["id": 2], into: open(old, []))
            let new = try Self.model([
                SyncAttribute("price", .decimal, formerName: "cost"),
                SyncAttribute("remark", .string, formerName: "note"),
            ])
            let conversions: [AttributeConversion] = [
                .attribute("Thing", "price") { old in
                    guard case .string(let text) = old else { return .decimal(0) }
                    return Decimal(string: String(text.dropLast(2))).map { .decimal($0) } ?? .null
                },
                .attribute("Thing", "remark") { old in
                    if case .string(let text) = old { .string(text + "!") } else { old }
                },
            ]
            for _ in 0..<2 {
                let store = try await open(new, conversions)
                #expect(try await Self.values("price", of: store) == [.decimal(7.5), .decimal(0)])
                #expect(try await Self.values("remark", of: store) == ["a!", .null])
            }
        }
    }

    @Test(arguments: ReopenedPlace.all)
    func aConversionThatFailsChangesNothing(place: ReopenedPlace) async throws {
        struct Unknown: Error {}
        try await place.use { open in
            let old = try Self.model([SyncAttribute("value", .string)])
            let new = try Self.model([SyncAttribute("value", .int16)])
            try await Self.insert(["id": 1, "value": "x"], into: open(old, []))
            await #expect(throws: Unknown.self) {
                try await open(new, [.attribute("Thing", "value") { _ in throw Unknown() }])
            }
            let unfit = SQLSchemaError.unfitValue(
                entity: "Thing", object: .identity(1), attribute: "value", type: .int16, value: "x")
            await #expect(throws: unfit) {
                try await open(new, [.attribute("Thing", "value") { _ in 70_000 }])
            }
            await #expect(throws: SQLSchemaError.unknownConversion(entity: "Thing", attribute: "gone")) {
                try await open(new, [.attribute("Thing", "gone") { $0 }])
            }
            #expect(try await Self.values("value", of: open(old, [])) == ["x"])
        }
    }

    @Test(arguments: ReopenedPlace.all)
    func anIdentityChangesItsType(place: ReopenedPlace) async throws {
        try await place.use { open in
            func model(_ type: AttributeType) throws -> DataModel {
                try DataModel {
                    SyncEntity("Thing", identity: "id") {
                        SyncAttribute("id", type)
                        SyncRelationship("next", toOne: "Thing")
                    }
                }
            }
            let first = try await open(model(.int64), [])
            try await Self.insert(["id": 7], into: first)
            let store = try await open(model(.string), [])
            #expect(try await Self.values("id", of: store) == ["7"])
            try await Self.insert(["id": "7"], into: store)
            #expect(try await store.count(StoreQuery("Thing")) == 1)
        }
    }

    // MARK: Mandatory attributes

    @Test(arguments: ReopenedPlace.all)
    func anAttributeThatBecomesMandatoryGetsItsDefault(place: ReopenedPlace) async throws {
        try await place.use { open in
            let old = try Self.model([SyncAttribute("level", .int16), SyncAttribute("name", .string)])
            try await Self.insert(["id": 1], into: open(old, []))
            try await Self.insert(["id": 2, "level": 5, "name": "a"], into: open(old, []))
            let new = try Self.model([
                SyncAttribute("level", .int16, optional: false, default: 3),
                // Without a default, an object without a value stays as it is.
                SyncAttribute("name", .string, optional: false),
            ])
            for _ in 0..<2 {
                let store = try await open(new, [])
                #expect(try await Self.values("level", of: store) == [3, 5])
                #expect(try await Self.values("name", of: store) == [.null, "a"])
            }
            // A program with the former model, still running during a deployment, changes nothing.
            #expect(try await Self.values("level", of: open(old, [])) == [3, 5])
        }
    }
}
