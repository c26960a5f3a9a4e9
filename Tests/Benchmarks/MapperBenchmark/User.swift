import Foundation

/// The record of the generator as a user of `JSONDecoder` would declare it.
struct User: Codable {
    struct Address: Codable {
        var city: String
        var zip: String
    }

    var id: Int64
    var name: String
    var email: String
    var created_at: Date
    var updated_at: Date
    var score: Double
    var active: Bool
    var tags: [String]
    var address: Address
}

/// The same with its dates left as text, so that only reading is measured.
struct UserOfText: Codable {
    var id: Int64
    var name: String
    var email: String
    var created_at: String
    var updated_at: String
    var score: Double
    var active: Bool
    var tags: [String]
    var address: User.Address
}
