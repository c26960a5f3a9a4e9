import Foundation

/// A user as the API sends it.
struct UpstreamUser: Encodable, Sendable {
    struct Company: Encodable, Sendable {
        var id: Int
        var name: String
    }

    var id: Int
    var name: String
    var email: String
    var role: String
    var company: Company?
    var tags: [String]
    var updated: Moment
    /// True for a user that is gone; only among changes.
    var deleted: Bool?

    enum CodingKeys: String, CodingKey {
        case id, name, email, role, company, tags, deleted
        case updated = "updated_at"
    }
}

/// A date in whole milliseconds, which equals the date that its text describes.
struct Moment: Comparable, Encodable, Sendable {
    let milliseconds: Int64

    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    init(_ date: Date) {
        milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    /// Creates the moment of an ISO 8601 text; nil if it is none.
    init?(_ text: String) {
        guard let date = try? Date(text, strategy: Self.format) else { return nil }
        self.init(date)
    }

    static func < (first: Moment, second: Moment) -> Bool {
        first.milliseconds < second.milliseconds
    }

    func encode(to encoder: any Encoder) throws {
        // A quarter of a millisecond keeps the last digit, whichever way the format rounds.
        let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.25) / 1000)
        var container = encoder.singleValueContainer()
        try container.encode(date.formatted(Self.format))
    }
}

/// The users of the API, which change over time.
struct UpstreamUsers: Sendable {
    /// The users by id. Users that are gone stay, with `deleted` set.
    private(set) var users: [Int: UpstreamUser] = [:]
    /// The number of changes so far, for the entity tag.
    private(set) var version = 0
    private var generator: UpstreamGenerator
    private var nextID = 1

    private static let firstNames = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Ken", "Radia"]
    private static let lastNames = ["Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Allen", "Perlman"]
    private static let companies = ["Apple", "Analytical Engines", "Bletchley", "Compilers & Sons", "Spanning Trees"]

    /// Creates users that depend on the seed only, apart from their dates: the last one is of now,
    /// each of the others a minute older than the next.
    init(count: Int, seed: UInt64, now: Date) {
        generator = UpstreamGenerator(state: seed)
        for index in 0..<count { insert(now: now.addingTimeInterval(-60 * Double(count - 1 - index))) }
    }

    /// The users that exist, by id.
    var present: [UpstreamUser] {
        users.values.filter { $0.deleted != true }.sorted { $0.id < $1.id }
    }

    /// The users that have changed since a moment, those that are gone included, oldest change
    /// first.
    func changes(since moment: Moment) -> [UpstreamUser] {
        users.values.filter { $0.updated >= moment }.sorted { ($0.updated, $0.id) < ($1.updated, $1.id) }
    }

    /// Inserts, changes and removes a few users.
    mutating func change(count: Int, now: Date) {
        for _ in 0..<count {
            let ids = present.map(\.id)
            switch generator.next(below: 10) {
            case 0: insert(now: now)
            case 1:
                guard let id = ids.randomElement(using: &generator) else { continue }
                users[id]?.deleted = true
                users[id]?.updated = Moment(now)
            default:
                guard let id = ids.randomElement(using: &generator) else { continue }
                let (role, tags) = (role(), tags())
                users[id]?.role = role
                users[id]?.tags = tags
                users[id]?.updated = Moment(now)
            }
        }
        version += 1
    }

    private mutating func insert(now: Date) {
        let id = nextID
        nextID += 1
        let first = Self.firstNames[generator.next(below: Self.firstNames.count)]
        let last = Self.lastNames[generator.next(below: Self.lastNames.count)]
        let company = generator.next(below: Self.companies.count + 1)
        let role = role()
        let tags = tags()
        users[id] = UpstreamUser(
            id: id, name: "\(first) \(last)", email: "\(first).\(last).\(id)@example.com".lowercased(),
            role: role,
            company: company < Self.companies.count
                ? UpstreamUser.Company(id: company + 1, name: Self.companies[company]) : nil,
            tags: tags, updated: Moment(now))
    }

    private mutating func role() -> String {
        ["admin", "editor", "reader"][generator.next(below: 3)]
    }

    private mutating func tags() -> [String] {
        ["swift", "server", "ios", "vision"].filter { _ in generator.next(below: 2) == 0 }
    }
}

/// SplitMix64.
struct UpstreamGenerator: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func next(below bound: Int) -> Int {
        Int(next() % UInt64(bound))
    }
}
