import Foundation
import OneWaySyncSQLite

/// A user, as the database keeps it and as the server's own API sends it.
struct User: SyncObject {
    var id: Int
    var name: String
    var email: String?
    var role: String?
    var updatedAt: Date?
    var company: Company?

    static let declaration = SyncDeclaration<User>(.index(\.updatedAt))
}

/// The company that a user works for.
struct Company: SyncObject {
    var id: Int
    var name: String?

    static let declaration = SyncDeclaration<Company>(.identity(\.id))
}
