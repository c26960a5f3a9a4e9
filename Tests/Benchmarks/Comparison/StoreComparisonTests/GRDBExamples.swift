import Foundation
import GRDB
import Testing

/// The everyday programs with GRDB, as the guide `Comparison` has them.
@Suite struct GRDBExamples {
    struct City: Codable, Identifiable, FetchableRecord, PersistableRecord {
        var id: Int
        var name: String
        var population: Int?
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "GRDBExamples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func createCities(_ database: any DatabaseWriter) throws {
        try database.write { db in
            try db.create(table: "city") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("population", .integer)
            }
        }
    }

    @Test func anArrayInADatabase() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "data.sqlite")
            let cities = folder.appending(path: "cities.json")
            try Data(#"[{"id": 1, "name": "Bern", "population": 134000}, {"id": 2, "name": "Ulm"}]"#.utf8).write(
                to: cities)

            let database = try DatabaseQueue(path: file.path)
            try await database.write { db in
                try db.create(table: "city", ifNotExists: true) { table in
                    table.primaryKey("id", .integer)
                    table.column("name", .text).notNull()
                    table.column("population", .integer)
                }
            }
            let list = try JSONDecoder().decode([City].self, from: Data(contentsOf: cities))
            let large = try await database.write { db in
                for city in list { try city.upsert(db) }
                try City.filter(!list.map(\.id).contains(Column("id"))).deleteAll(db)
                return try City.filter(Column("population") > 100_000).order(Column("name")).fetchAll(db)
            }
            #expect(large.map(\.name) == ["Bern"])
        }
    }

    struct Author: Codable, FetchableRecord, PersistableRecord {
        static let books = hasMany(Book.self)
        var id: Int
    }

    struct Book: Codable, FetchableRecord, PersistableRecord {
        var id: Int
        var title: String
        var authorId: Int
    }

    @Test func nestedChildrenGoWithTheirParent() async throws {
        let database = try DatabaseQueue()
        let json = Data(
            #"[{"id": 1, "books": [{"id": 7, "title": "Notes"}, {"id": 8, "title": "Letters"}]}]"#.utf8)

        struct AuthorPayload: Decodable {
            struct Book: Decodable {
                var id: Int
                var title: String
            }
            var id: Int
            var books: [Book]
        }
        let authors = try JSONDecoder().decode([AuthorPayload].self, from: json)
        try await database.write { db in
            try db.create(table: "author") { $0.primaryKey("id", .integer) }
            try db.create(table: "book") { table in
                table.primaryKey("id", .integer)
                table.column("title", .text).notNull()
                table.belongsTo("author", onDelete: .cascade).notNull()
            }
            for author in authors {
                try Author(id: author.id).upsert(db)
                for book in author.books { try Book(id: book.id, title: book.title, authorId: author.id).upsert(db) }
                let ids = author.books.map(\.id)
                try Book.filter(Column("authorId") == author.id && !ids.contains(Column("id"))).deleteAll(db)
            }
            try Author.filter(!authors.map(\.id).contains(Column("id"))).deleteAll(db)  // and their books
        }
        #expect(try await database.read { try Book.fetchCount($0) } == 2)
        _ = try await database.write { try Author.deleteAll($0) }
        #expect(try await database.read { try Book.fetchCount($0) } == 0)
    }

    struct Event: Codable, FetchableRecord, PersistableRecord {
        var id: Int
        var title: String
        var bookedOn: Date?
    }

    @Test func keysAndDatesOfOnesOwn() throws {
        let json = Data(#"[{"event_no": 4, "details": {"title": "Fair"}, "booked_on": "03.04.2026"}]"#.utf8)

        struct EventPayload: Decodable {
            struct Details: Decodable {
                var title: String
            }
            enum CodingKeys: String, CodingKey { case id = "event_no", details, bookedOn = "booked_on" }
            var id: Int
            var details: Details
            var bookedOn: Date?
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "dd.MM.yyyy"
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .formatted(formatter)
        let events = try decoder.decode([EventPayload].self, from: json)
            .map { Event(id: $0.id, title: $0.details.title, bookedOn: $0.bookedOn) }
        #expect(events.first?.title == "Fair" && events.first?.bookedOn == Date(timeIntervalSince1970: 1_775_174_400))
    }

    @Test func aGuardAgainstMassDeletion() async throws {
        struct TooManyRemovals: Error {}
        let database = try DatabaseQueue()
        try createCities(database)
        try await database.write { db in
            for id in 1...100 { try City(id: id, name: "\(id)").insert(db) }
        }
        let list: [City] = []

        await #expect(throws: TooManyRemovals.self) {
            try await database.write { db in
                for city in list { try city.upsert(db) }
                let absent = City.filter(!list.map(\.id).contains(Column("id")))
                let (removals, count) = (try absent.fetchCount(db), try City.fetchCount(db))
                guard removals <= max(10, count / 5) else { throw TooManyRemovals() }  // rolls back
                try absent.deleteAll(db)
            }
        }
        #expect(try await database.read { try City.fetchCount($0) } == 100)
    }

    @Test func aLiveQueryInATerminal() async throws {
        let database = try DatabaseQueue()
        try createCities(database)
        try await database.write { try City(id: 1, name: "Bern").insert($0) }
        async let deletion = database.write { try City.deleteAll($0) }

        let observation = ValueObservation.tracking { try City.order(Column("name")).fetchAll($0) }
        for try await cities in observation.values(in: database) {
            print(cities.map(\.name).joined(separator: ", "))
            if cities.isEmpty { break }
        }
        #expect(try await deletion == 1)
    }

    @Test func anExport() async throws {
        try await withFolder { folder in
            let output = folder.appending(path: "cities.json")
            let database = try DatabaseQueue()
            try createCities(database)
            try await database.write { try City(id: 1, name: "Bern").insert($0) }

            let cities = try await database.read { db in
                try City.filter(Column("name") != "Ulm").order(Column("name")).fetchAll(db)
            }
            try JSONEncoder().encode(cities).write(to: output)
            #expect(try String(contentsOf: output, encoding: .utf8).contains(#""name":"Bern""#))
        }
    }

    struct Person: Codable, FetchableRecord, PersistableRecord {
        var id: Int
        var fullName: String?
    }

    @Test func aRenamedProperty() async throws {
        let database = try DatabaseQueue()

        var migrator = DatabaseMigrator()
        migrator.registerMigration("people") { db in
            try db.create(table: "person") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text)
            }
        }
        try migrator.migrate(database)
        try await database.write { try $0.execute(sql: "INSERT INTO person VALUES (1, 'Ada')") }
        migrator.registerMigration("full names") { db in
            try db.alter(table: "person") { $0.rename(column: "name", to: "fullName") }
        }
        try migrator.migrate(database)
        let people = try await database.read { try Person.order(Column("id")).fetchAll($0) }
        #expect(people.map(\.fullName) == ["Ada"])
    }
}
