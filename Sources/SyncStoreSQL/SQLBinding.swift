package import Foundation

/// A value for a parameter of a statement, in one of the forms that a database keeps.
package enum SQLBinding: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    /// The value written out in a statement, for where parameters are too few; nil for one that has no such form.
    var literal: String? {
        switch self {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real: nil
        case .text(let text): text.utf8.contains(0) ? nil : SQLText.literal(text)
        case .blob(let data): "x'" + data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }
}

/// A statement's text and the values of its parameters, in order.
package struct SQLStatementText: Hashable, Sendable {
    package var text: String
    package var bindings: [SQLBinding]

    package init(_ text: String, _ bindings: [SQLBinding] = []) {
        self.text = text
        self.bindings = bindings
    }
}
