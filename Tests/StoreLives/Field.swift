import Foundation
import OneWayTestSupport
package import SyncModel

/// An attribute of a random model.
package struct Field: Sendable {
    package var name: String
    package var formerName: String?
    package var type: AttributeType

    static let types: [AttributeType] = [.int16, .int64, .string, .double, .bool, .uuid, .decimal]

    /// A random value, as JSON and as a store holds it.
    func value(_ random: inout SeededRandom) -> (json: String, value: AttributeValue) {
        let number = Int64.random(in: -3...3, using: &random)
        if Int.random(in: 0..<5, using: &random) == 0 { return ("null", .null) }
        switch type {
        case .int16, .int32, .int64: return ("\(number)", .int(number))
        case .double: return ("\(number).5", .double(Double(number) + (number < 0 ? -0.5 : 0.5)))
        case .bool: return (number > 0 ? "true" : "false", .bool(number > 0))
        case .decimal: return ("\(number)", .decimal(Decimal(number)))
        case .uuid:
            let text = "00000000-0000-4000-8000-00000000000\(abs(number))"
            return ("\"\(text)\"", UUID(uuidString: text).map { .uuid($0) } ?? .null)
        default:
            let text = ["", "a", "A", "ü", "007", "NULL", "x'y", "\u{1F600}"][Int(number + 3)]
            return ("\"\(text)\"", .string(text))
        }
    }
}
