import OneWayStoreTestSupport
package import SyncModel
package import SyncStore

/// A state that a source is in, numbered: which users there are, what they are called and what
/// notes they have. In each next one some users are new, some gone and some renamed, and every user
/// has one note more and one less.
package struct Generation: Sendable {
    /// A user as it should be in a store.
    package struct User: Hashable, Sendable {
        package var name: String
        package var notes: Set<Int64>
    }

    private let number: Int
    private let ids: ClosedRange<Int>
    private let nameLength: Int
    /// How many users a part of the payload has.
    private static let partCount = 10

    /// - Parameter nameLength: How long names are, beside what tells them apart.
    package init(_ number: Int, of ids: ClosedRange<Int>, nameLength: Int = 200) {
        self.number = number
        self.ids = ids
        self.nameLength = nameLength
    }

    package static func model() throws -> DataModel { try UserModel.withNotes() }

    /// The users by their keys.
    package var users: [Int64: User] {
        var users: [Int64: User] = [:]
        for id in ids where (id + number) % 5 != 0 {
            let notes = (0..<2).map { Int64(id * 10 + (number + $0) % 4) }
            users[Int64(id)] = User(name: name(of: id), notes: Set(notes))
        }
        return users
    }

    private func name(of id: Int) -> String {
        "\(id) since \((number + id) / 3) " + String(repeating: "-", count: nameLength)
    }

    /// The payload in parts.
    func parts() -> [[UInt8]] {
        var parts: [[UInt8]] = [Array("[".utf8)]
        for (index, (id, user)) in users.sorted(by: { $0.key < $1.key }).enumerated() {
            if index % Self.partCount == 0 { parts.append([]) }
            let notes = user.notes.sorted().map { #"{"id":\#($0),"text":"\#($0) of \#(number)"}"# }
            let json = #"{"id":\#(id),"name":"\#(user.name)","notes":[\#(notes.joined(separator: ","))]}"#
            parts[parts.endIndex - 1] += Array("\(index == 0 ? "" : ",")\(json)".utf8)
        }
        return parts + [Array("]".utf8)]
    }

    /// The users that a store holds; `Note.text` is not looked at.
    package static func users(of store: some Store) async throws -> [Int64: User] {
        var users: [Int64: User] = [:]
        for stored in try await store.records(StoreQuery("User"), with: ["notes"]) {
            guard case .int(let id) = stored.record["id"], case .string(let name) = stored.record["name"] else {
                continue
            }
            let notes = (stored.record[related: "notes"]?.keys ?? []).compactMap { key -> Int64? in
                if case .identity(let values) = key, case .int(let id) = values[0] { id } else { nil }
            }
            users[id] = User(name: name, notes: Set(notes))
        }
        return users
    }
}
