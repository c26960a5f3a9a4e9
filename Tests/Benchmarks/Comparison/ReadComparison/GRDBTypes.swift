import Foundation
import GRDB

/// A user as GRDB reads it.
struct GRDBUser: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = "User"
    static let company = belongsTo(GRDBCompany.self, key: "company", using: ForeignKey(["company"], to: ["_id"]))
    static let notes = hasMany(GRDBNote.self, key: "notes", using: ForeignKey(["author"], to: ["_id"]))

    var id: Int64
    var name: String
    var email: String
    var age: Int?
    var score: Double
    var active: Bool
    var created: Date
}

struct GRDBCompany: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = "Company"

    var id: Int64
    var name: String
    var city: String
}

struct GRDBNote: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = "Note"

    var id: Int64
    var text: String
}

/// A user with the employer.
struct GRDBEmployee: FetchableRecord {
    var user: GRDBUser
    var company: GRDBCompany?

    init(row: Row) throws {
        user = try GRDBUser(row: row)
        company = row["company"]
    }
}

/// A user with notes.
struct GRDBAuthor: FetchableRecord {
    var user: GRDBUser
    var notes: [GRDBNote]

    init(row: Row) throws {
        user = try GRDBUser(row: row)
        notes = row["notes"]
    }
}
