public import Foundation
public import SyncModel
import SyncStore
public import SyncStoreSQLite

/// A user as the benchmarks read it, without what it is related to.
public struct User: SyncObject {
    /// The identity.
    public var id: Int64
    /// The name.
    public var name: String
    /// The address for mail.
    public var email: String
    /// The age in years; nil if it is unknown.
    public var age: Int?
    /// A number with a fraction.
    public var score: Double
    /// A flag.
    public var active: Bool
    /// A point in time.
    public var created: Date
    /// The employer.
    public var company: Related<Company?>
    /// What the user has written.
    public var notes: Related<[Note]>

    /// What the properties do not state.
    public static let declaration = SyncDeclaration<User>(
        .identity(\.id), .toMany(\.notes, inverse: \.author), .index(\.name), .index(\.age))
}

/// The employer of users.
public struct Company: SyncObject {
    /// The identity.
    public var id: Int64
    /// The name.
    public var name: String
    /// The place.
    public var city: String

    /// What the properties do not state.
    public static let declaration = SyncDeclaration<Company>(.identity(\.id), .index(\.name))
}

/// A note of a user.
public struct Note: SyncObject {
    /// The identity.
    public var id: Int64
    /// The text.
    public var text: String
    /// The user who wrote it.
    public var author: Related<User?>

    /// What the properties do not state.
    public static let declaration = SyncDeclaration<Note>(.identity(\.id))
}

/// A user with the employer.
public struct Employee: SyncObject {
    /// The identity.
    public var id: Int64
    /// The name.
    public var name: String
    /// The address for mail.
    public var email: String
    /// The age in years; nil if it is unknown.
    public var age: Int?
    /// A number with a fraction.
    public var score: Double
    /// A flag.
    public var active: Bool
    /// A point in time.
    public var created: Date
    /// The employer.
    public var company: Company?

    /// What the properties do not state.
    public static let declaration = SyncDeclaration<Employee>("User", .identity(\.id))
}

/// A file with users, their companies and their notes.
public final class ReadFile: Sendable {
    /// The folder of the file, removed with this object.
    private let folder: URL
    /// The number of users; there is a company for a hundred of them, and two notes for each.
    public let count: Int

    /// The path of the database.
    public var path: String { folder.appending(path: "users.sqlite").path }

    /// Makes and fills the file.
    public init(count: Int) async throws {
        self.count = count
        folder = FileManager.default.temporaryDirectory.appending(path: "ReadFile-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = try await open()
        let companies = (1...max(count / 100, 1)).map {
            Company(id: Int64($0), name: "Company \($0 % 50)", city: "City \($0 % 9)")
        }
        try await store.transaction { transaction in
            try await transaction.insert(companies)
            var start = 0
            while start < count {
                let end = min(start + 5000, count)
                try await transaction.insert((start..<end).map { Self.user($0, companies) })
                start = end
            }
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// A new store of the file.
    public func open() async throws -> SQLiteStore {
        try await SQLiteStore(User.self, at: .file(path))
    }

    private static func user(_ index: Int, _ companies: [Company]) -> User {
        // A fixed order without a pattern.
        let mixed = (UInt64(index + 1) &* 0x9E37_79B9_7F4A_7C15) >> 20
        let company = index % 10 == 0 ? nil : companies[Int(mixed % UInt64(companies.count))]
        return User(
            id: Int64(index), name: "User \(mixed % 1_000_000)", email: "user\(index)@example.com",
            age: index % 7 == 0 ? nil : Int(mixed % 80), score: Double(mixed % 1000) / 10, active: mixed % 2 == 0,
            created: Date(timeIntervalSince1970: Double(1_500_000_000 + index)), company: .included(company),
            notes: .included(
                (0..<2).map { Note(id: Int64(index * 2 + $0), text: "Note \($0) of \(index)", author: .notIncluded) }))
    }
}

/// Something else than expected was read.
public struct WrongCount: Error {
    /// What was read.
    public let count: Int

    /// Makes the error.
    public init(_ count: Int) {
        self.count = count
    }
}
