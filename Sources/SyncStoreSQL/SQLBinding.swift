package import Foundation
package import SyncModel

/// A value for a parameter of a statement, in one of the forms that a database keeps.
package enum SQLBinding: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
    /// A value by its text, of a type that PostgreSQL names so.
    case typed(String, as: String)
    /// Object numbers, in any quantity.
    case objects([ObjectID])
    /// Blobs, however many; PostgreSQL's.
    case blobs([Data])

    /// The value written out in a statement, for where parameters are too few; nil for one that has no such form.
    func literal(in dialect: SQLDialect) -> String? {
        switch self {
        case .null: return "NULL"
        case .integer(let number): return String(number)
        case .real(let number): return dialect == .postgres ? "'\(number)'::double precision" : nil
        case .text(let text): return text.utf8.contains(0) ? nil : SQLText.literal(text)
        case .typed(let text, let type): return SQLText.literal(text) + "::\(type)"
        case .blob(let data):
            let digits = data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return dialect == .postgres ? "'\\x\(digits)'::bytea" : "x'\(digits)'"
        case .objects, .blobs: return nil
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

/// The values of a statement's parameters, gathered while its text is written.
struct SQLParameters {
    let dialect: SQLDialect
    private(set) var bindings: [SQLBinding] = []

    init(_ dialect: SQLDialect) {
        self.dialect = dialect
    }

    /// Adds a value.
    ///
    /// - Returns: What stands for it in the text.
    mutating func add(_ binding: SQLBinding) -> String {
        bindings.append(binding)
        return dialect.placeholder(bindings.count, for: binding)
    }
}
