import Foundation
import SyncModel
import SyncStore
import Testing

/// Types with an index for every condition of the tests of query plans.
enum Planned {
    struct User: SyncObject {
        var id: Int
        var name: String
        var age: Int?
        var link: URL?
        var isOpen: Bool
        var company: Related<Company?>
        var notes: Related<[Note]>
        var tags: Related<[Tag]>
        static let declaration = SyncDeclaration<User>(
            .identity(\.id), .toMany(\.notes, inverse: \.author), .index(\.name), .index(\.age), .unique(\.link),
            .index(\.age, \.name, where: \.isOpen == true))
    }

    struct Company: SyncObject {
        var id: Int
        var name: String
        var city: Related<City?>
        static let declaration = SyncDeclaration<Company>(.identity(\.id), .index(\.name))
    }

    struct City: SyncObject {
        var name: String
        static let declaration = SyncDeclaration<City>(.identity(\.name))
    }

    struct Note: SyncObject {
        var id: Int
        var text: String?
        var author: Related<User?>
        static let declaration = SyncDeclaration<Note>(.identity(\.id), .index(\.text))
    }

    struct Tag: SyncObject {
        var name: String
        static let declaration = SyncDeclaration<Tag>(.identity(\.name))
    }

    static func model() throws -> DataModel { try DataModel(User.self) }

    /// A query and what its plan has in SQLite and in PostgreSQL.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let selection: @Sendable () throws -> StoreSelection
        let sqlite: [String]
        let postgres: [String]
        /// Whether the plan may sort the rows it has found.
        let sorts: Bool
        /// Whether the plan may read all rows of a table or of an index.
        let scans: Bool

        init(
            _ name: String, _ query: @autoclosure @escaping @Sendable () -> ObjectQuery<User>,
            after position: StoreSelection.Position? = nil, sorts: Bool = false, scans: Bool = false,
            sqlite: [String], postgres: [String]
        ) {
            testDescription = name
            selection = {
                var selection = StoreSelection(
                    try query().storeQuery(), columns: [.object, .value(PropertyPath("id"))])
                selection.after = position
                return selection
            }
            self.sqlite = sqlite
            self.postgres = postgres
            self.sorts = sorts
            self.scans = scans
        }
    }

    static let cases: [Case] = [
        Case(
            "equality", ObjectQuery(where: \.name == "x"), sqlite: ["SEARCH t USING INDEX User_by_name (name=?)"],
            postgres: ["User_by_name"]),
        Case(
            "range", ObjectQuery(where: \.age > 30 && \.age < 40), sorts: true,
            sqlite: ["SEARCH t USING INDEX User_by_age (age>? AND age<?)"], postgres: ["User_by_age"]),
        Case(
            "list", ObjectQuery(where: .in(\.name, ["a", "b"])), sorts: true,
            sqlite: ["SEARCH t USING INDEX User_by_name (name=?)"], postgres: ["User_by_name"]),
        Case(
            "beginning", ObjectQuery(where: .beginsWith(\.name, "User 1")), sorts: true,
            sqlite: ["SEARCH t USING INDEX User_by_name (name>? AND name<?)"], postgres: ["User_by_name"]),
        Case(
            "pattern", ObjectQuery(where: .like(\.name, "User\\_1%")), sorts: true,
            sqlite: ["SEARCH t USING INDEX User_by_name (name>? AND name<?)"], postgres: ["User_by_name"]),
        Case(
            "unique", ObjectQuery(where: \.link == URL(string: "https://a.b")),
            sqlite: ["SEARCH t USING INDEX User_by_link (link=?)"], postgres: ["User_by_link"]),
        Case(
            "partial", ObjectQuery(where: \.isOpen == true && \.age == 3 && \.name == "x"), sorts: true,
            sqlite: ["SEARCH t USING INDEX"], postgres: ["User_by_"]),
        Case(
            "identity", ObjectQuery(where: \.id == 7), sqlite: ["SEARCH t USING COVERING INDEX User_identity (id=?)"],
            postgres: ["User_identity"]),
        Case(
            "to-one", ObjectQuery(where: \.company.name == "Apple"), sorts: true,
            sqlite: [
                "SEARCH t USING INDEX User_company (company=?)",
                "SEARCH r1 USING COVERING INDEX Company_by_name (name=?)",
            ], postgres: ["User_company", "Company_by_name"]),
        Case(
            "to-one chain", ObjectQuery(where: \.company.city.name == "Berlin"), sorts: true, scans: true,
            sqlite: ["SEARCH t USING INDEX User_company (company=?)", "City_identity (name=?)"],
            postgres: ["User_company", "City_identity"]),
        Case(
            "to-one with a page",
            ObjectQuery(where: \.age > 30 && \.company.name == "Apple", orderedBy: \.name, limit: 50), sorts: true,
            sqlite: [
                "SEARCH t USING INDEX User_company (company=?)",
                "SEARCH r1 USING COVERING INDEX Company_by_name (name=?)",
            ], postgres: ["Company_by_name"]),
        Case(
            "no to-one", ObjectQuery(where: !(\.company.name == "Apple") && \.id == 7),
            sqlite: ["SEARCH t USING INDEX User_identity", "SEARCH r1 USING"], postgres: ["User_identity"]),
        Case(
            "any", ObjectQuery(where: .any(\.notes, where: \.text == "x")),
            sqlite: [
                "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH r1 USING INDEX Note_by_text (text=?)",
            ], postgres: ["Note_by_text"]),
        Case(
            "all", ObjectQuery(where: .all(\.notes, where: \.text == "x") && \.name == "x"), scans: true,
            sqlite: ["SEARCH t USING INDEX User_by_name (name=?)", "r1 USING INDEX Note_author"],
            postgres: ["User_by_name"]),
        Case(
            "any of many to many", ObjectQuery(where: .any(\.tags, where: \.name == "red")),
            sqlite: ["SEARCH t USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH r1 USING", "User_tags"],
            postgres: ["Tag_identity"]),
        Case(
            "count", ObjectQuery(where: \.notes.count == 2 && \.name == "x"), scans: true,
            sqlite: ["SEARCH t USING INDEX User_by_name (name=?)", "COVERING INDEX Note_author"],
            postgres: ["User_by_name"]),
        Case(
            "order", ObjectQuery(orderedBy: \.name, limit: 50), scans: true,
            sqlite: ["SCAN t USING INDEX User_by_name"], postgres: ["User_by_name"]),
        Case(
            "descending order", ObjectQuery(orderedBy: \.name.descending, limit: 50), scans: true,
            sqlite: ["SCAN t USING INDEX User_by_name"], postgres: []),
        Case(
            "descending order with null last", ObjectQuery(orderedBy: \.age.descending.nullsLast, limit: 50),
            scans: true, sqlite: ["SCAN t USING INDEX User_by_age"], postgres: ["User_by_age"]),
        Case(
            "order with null last", ObjectQuery(orderedBy: \.age.nullsLast, limit: 50), scans: true,
            sqlite: ["SCAN t USING INDEX User_by_age"], postgres: []),
        Case(
            "order by a related object", ObjectQuery(orderedBy: \.company.name, limit: 50), sorts: true, scans: true,
            sqlite: ["SEARCH r1 USING INTEGER PRIMARY KEY (rowid=?)"], postgres: []),
        Case(
            "next page", ObjectQuery(limit: 50), after: .init(values: [], object: 70),
            sqlite: ["SEARCH t USING INTEGER PRIMARY KEY (rowid>?)"], postgres: ["User_pkey"]),
        Case(
            "next page in order", ObjectQuery(orderedBy: \.name, limit: 50), after: .init(values: ["x"], object: 70),
            sqlite: ["SEARCH t USING INDEX User_by_name (name>?)"], postgres: ["User_by_name", "Index Cond"]),
        Case(
            "next page in descending order", ObjectQuery(orderedBy: \.name.descending, limit: 50),
            after: .init(values: ["x"], object: 70), sqlite: ["SEARCH t USING INDEX User_by_name (name<?)"],
            postgres: ["User_by_name", "Index Cond"]),
        Case(
            "next page with null last", ObjectQuery(orderedBy: \.age.descending.nullsLast, limit: 50),
            after: .init(values: [.null], object: 70), sqlite: ["SEARCH t USING INDEX User_by_age (age=?"],
            postgres: ["User_by_age", "Index Cond"]),
        Case(
            "objects by number",
            {
                var query = ObjectQuery<User>()
                query.predicate = .in(\.id, [1, 2, 3])
                return query
            }(), sorts: true, sqlite: ["SEARCH t USING COVERING INDEX User_identity (id=?)"],
            postgres: ["User_identity"]),
    ]
}
