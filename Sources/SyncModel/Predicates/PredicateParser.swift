import Foundation

extension PredicateTree where Path == PropertyPath {
    /// Creates a predicate from text, such as a command-line argument.
    ///
    ///     createdAt >= 2014-01-01 and (company.remoteID = 7 or not name beginswith 'A')
    ///
    /// - Comparisons: `=` or `==`, `!=` or `<>`, `<`, `<=`, `>`, `>=` between a path on the left
    ///   and a value on the right; `in` with values in parentheses or braces; `contains`,
    ///   `beginswith`, `endswith`, `like` with a quoted text; `= null` and `!= null`.
    /// - Combinations, from highest to lowest precedence: parentheses; `not` or `!`; `and` or `&&`;
    ///   `or` or `||`.
    /// - Values: numbers; texts in single or double quotes, in which a backslash escapes the next
    ///   character; `true`, `false`, `yes`, `no`; `null`, `nil`; ISO 8601 dates without quotes.
    ///
    /// Keywords are case-insensitive; paths are case-sensitive.
    ///
    /// - Throws: `RecordPredicateError.syntax` with the byte offset, for invalid text, for more
    ///   than 100 levels of nesting, 500 conditions, or 10,000 values in lists.
    public init(parsing text: String) throws(RecordPredicateError) {
        var parser = PredicateParser(text)
        self = try parser.parse()
    }
}

/// A recursive-descent parser with one method per level of precedence.
private struct PredicateParser {
    private static let maximumDepth = 100
    /// The maximum number of conditions. SQLite allows 1,000 levels in an expression, and a level
    /// is added by each condition.
    private static let maximumTermCount = 500
    /// The maximum number of values in all lists.
    private static let maximumValueCount = 10_000

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    private var termCount = 0
    private var valueCount = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func parse() throws(RecordPredicateError) -> RecordPredicate {
        let predicate = try parseAlternatives()
        skipSpace()
        guard index == bytes.count else { throw expected("'and', 'or' or the end") }
        return predicate
    }

    private mutating func parseAlternatives() throws(RecordPredicateError) -> RecordPredicate {
        let first = try parseConditions()
        var parts = [first]
        if case .or(let inner) = first { parts = inner }
        while takeWord("or") || take("||") { parts.append(try parseConditions()) }
        return parts.count == 1 ? first : .or(parts)
    }

    private mutating func parseConditions() throws(RecordPredicateError) -> RecordPredicate {
        let first = try parseCondition()
        var parts = [first]
        if case .and(let inner) = first { parts = inner }
        while takeWord("and") || take("&&") { parts.append(try parseCondition()) }
        return parts.count == 1 ? first : .and(parts)
    }

    private mutating func parseCondition() throws(RecordPredicateError) -> RecordPredicate {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw expected("no deeper nesting") }
        if takeWord("not") || take("!") {
            return .not(try parseCondition())
        }
        if take("(") {
            let predicate = try parseAlternatives()
            guard take(")") else { throw expected("')'") }
            return predicate
        }
        return try parseComparison()
    }

    private mutating func parseComparison() throws(RecordPredicateError) -> RecordPredicate {
        skipSpace()
        termCount += 1
        guard termCount <= Self.maximumTermCount else {
            throw expected("no more than \(Self.maximumTermCount) conditions")
        }
        let path = bytes[index...].prefix(while: Self.isKeyByte)
        guard !path.isEmpty else { throw expected("a key") }
        index += path.count
        let key = PropertyPath(String(decoding: path, as: UTF8.self))
        // Longer operators come before their prefixes.
        let signs: [(String, PropertyPath.Comparison)] = [
            ("==", .equal), ("=", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
            (">=", .greaterOrEqual), ("<", .less), (">", .greater),
        ]
        for (sign, comparison) in signs where take(sign) {
            let start = index
            let value = try parseValue()
            switch (comparison, value.isNull) {
            case (_, false): return .comparison(key, comparison, value)
            case (.equal, true): return .isNull(key)
            case (.notEqual, true): return .not(.isNull(key))
            default:
                index = start
                throw expected("a value that is not null")
            }
        }
        let matches: [(String, PropertyPath.TextMatch)] = [
            ("contains", .contains), ("beginswith", .beginsWith), ("endswith", .endsWith), ("like", .like),
        ]
        for (word, match) in matches where takeWord(word) {
            skipSpace()
            guard let text = try parseText() else { throw expected("a text in quotes") }
            return .text(key, match, text)
        }
        if takeWord("in") {
            return key.isIn(try parseValues())
        }
        throw expected("a comparison")
    }

    private mutating func parseValues() throws(RecordPredicateError) -> [AttributeValue] {
        let end: String
        if take("(") {
            end = ")"
        } else if take("{") {
            end = "}"
        } else {
            throw expected("'(' or '{'")
        }
        var values: [AttributeValue] = []
        if take(end) { return values }
        repeat {
            valueCount += 1
            guard valueCount <= Self.maximumValueCount else {
                throw expected("no more than \(Self.maximumValueCount) values in lists")
            }
            values.append(try parseValue())
        } while take(",")
        guard take(end) else { throw expected("',' or '\(end)'") }
        return values
    }

    private mutating func parseValue() throws(RecordPredicateError) -> AttributeValue {
        skipSpace()
        if let text = try parseText() { return .string(text) }
        let start = index
        let token = String(decoding: bytes[index...].prefix(while: Self.isValueByte), as: UTF8.self)
        index += token.utf8.count
        switch token.lowercased() {
        case "true", "yes": return true
        case "false", "no": return false
        case "null", "nil": return .null
        default: break
        }
        let digits = token.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        if let first = digits.first, first >= UInt8(ascii: "0"), first <= UInt8(ascii: "9") {
            if let number = Int64(token) { return .int(number) }
            if let number = Double(token) { return Self.number(token, nearest: number) }
            // Possibly a date; binding to an attribute verifies it.
            if token.utf8.dropFirst(4).first == UInt8(ascii: "-") { return .string(token) }
        }
        index = start
        throw expected("a value")
    }

    /// The value of a number that is not a 64-bit integer: a decimal if the nearest double has
    /// another value.
    private static func number(_ text: String, nearest double: Double) -> AttributeValue {
        var text = text
        guard let exact = text.withUTF8({ Decimal(exactly: $0) }), exact != Decimal(string: double.description) else {
            return .double(double)
        }
        return .decimal(exact)
    }

    /// Reads a text in quotes; nil if there is no quote.
    private mutating func parseText() throws(RecordPredicateError) -> String? {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\"") else {
            return nil
        }
        let quote = bytes[index]
        index += 1
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != quote {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count {
                index += 1
            }
            text.append(bytes[index])
            index += 1
        }
        guard index < bytes.count else { throw expected("a closing quote") }
        index += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) {
            index += 1
        }
    }

    private mutating func take(_ sign: String) -> Bool {
        skipSpace()
        guard bytes[index...].starts(with: sign.utf8) else { return false }
        index += sign.utf8.count
        return true
    }

    /// Takes a case-insensitive keyword, unless it is only the start of a longer word.
    private mutating func takeWord(_ word: String) -> Bool {
        skipSpace()
        let found = bytes[index...].prefix(while: Self.isKeyByte)
        guard String(decoding: found, as: UTF8.self).lowercased() == word else { return false }
        index += found.count
        return true
    }

    private func expected(_ what: String) -> RecordPredicateError {
        .syntax(byteOffset: index, expected: what)
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "@"), 0x80...:
            true
        default: false
        }
    }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        isKeyByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ":")
    }
}
