/// The declarations of a table's columns, exactly as in its `CREATE TABLE` statement.
///
/// For example, `CREATE TABLE t ("a" INTEGER, b TEXT COLLATE NOCASE, UNIQUE (a))` declares `a` as
/// `INTEGER` and `b` as `TEXT COLLATE NOCASE`. See https://www.sqlite.org/lang_createtable.html.
struct SQLiteDeclarations {
    private static let constraints = ["constraint", "primary", "unique", "check", "foreign"]

    /// The text after the column's name, by the name as SQLite compares it.
    private var declarations: [[UInt8]: String] = [:]

    /// Parses a statement.
    ///
    /// - Parameter creation: A statement that SQLite has accepted.
    init(_ creation: String) {
        var rest = Array(creation.utf8)[...]
        while let byte = rest.first, byte != UInt8(ascii: "(") { Self.skip(&rest) }
        rest = rest.dropFirst()
        while !rest.isEmpty {
            let part = Self.part(&rest)
            guard let (name, declaration) = Self.column(part) else { break }
            declarations[SQLiteDialect().folded(name)] = declaration
        }
    }

    subscript(column: String) -> String? { declarations[SQLiteDialect().folded(column)] }

    /// Takes the text before the next comma or the closing parenthesis.
    private static func part(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let whole = rest
        var depth = 0
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                guard depth >= 0 else {
                    defer { rest = [] }
                    return whole[..<rest.startIndex]
                }
            case UInt8(ascii: ",") where depth == 0:
                defer { rest = rest.dropFirst() }
                return whole[..<rest.startIndex]
            default: break
            }
            skip(&rest)
        }
        return whole
    }

    /// Skips a quoted name or text, a comment, or any other single byte.
    private static func skip(_ rest: inout ArraySlice<UInt8>) {
        guard let first = rest.first else { return }
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): drop(&rest, through: [first])
        case UInt8(ascii: "["): drop(&rest, through: Array("]".utf8))
        case UInt8(ascii: "-") where rest.starts(with: "--".utf8): drop(&rest, through: Array("\n".utf8))
        case UInt8(ascii: "/") where rest.starts(with: "/*".utf8):
            rest = rest.dropFirst()
            drop(&rest, through: Array("*/".utf8))
        default: rest = rest.dropFirst()
        }
    }

    /// Skips the first byte and everything up to the end of a mark. A doubled mark, which stands
    /// for the mark itself, ends one quoted part and begins the next.
    private static func drop(_ rest: inout ArraySlice<UInt8>, through mark: [UInt8]) {
        rest = rest.dropFirst()
        rest = rest.firstRange(of: mark).map { rest[$0.upperBound...] } ?? []
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (9...13).contains(byte)
    }

    /// Whether a byte can be part of a name without quotes; SQLite counts every byte beyond ASCII.
    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    /// The name and the declaration of a column; nil for a constraint of the table.
    private static func column(_ part: ArraySlice<UInt8>) -> (name: String, declaration: String)? {
        var rest = part
        while let first = rest.first,
            isSpace(first) || rest.starts(with: "--".utf8) || rest.starts(with: "/*".utf8)
        {
            skip(&rest)
        }
        let text = rest
        guard let first = rest.first else { return nil }
        let name: String
        if let end = ["'": "'", "\"": "\"", "`": "`", "[": "]"][String(UnicodeScalar(first))] {
            repeat { skip(&rest) } while rest.first == first && first != UInt8(ascii: "[")
            name = String(decoding: text[..<rest.startIndex].dropFirst().dropLast(), as: UTF8.self)
                .replacing(end + end, with: end)
        } else {
            rest = rest.drop(while: isNamePart)
            name = String(decoding: text[..<rest.startIndex], as: UTF8.self)
            guard !constraints.contains(name.lowercased()) else { return nil }
        }
        return (name, String(decoding: rest.drop(while: isSpace), as: UTF8.self))
    }

    // MARK: Checks

    /// The names in a check, as SQLite compares them.
    ///
    /// - Parameters:
    ///   - constraint: The name of the check or, if it has none, its expression.
    ///   - creation: The `CREATE TABLE` statement.
    static func names(inCheck constraint: String, of creation: String) -> Set<[UInt8]> {
        let dialect = SQLiteDialect()
        let words = words(creation)
        let place = words.indices.dropLast(2).first { index in
            words[index].lowercased() == "constraint"
                && dialect.folded(words[index + 1]) == dialect.folded(constraint)
                && words[index + 2].lowercased() == "check"
        }
        guard let place else { return Set(self.words(constraint).map(dialect.folded)) }
        var depth = 0
        let expression = words[(place + 3)...].prefix { word in
            if word == "(" { depth += 1 }
            if word == ")" { depth -= 1 }
            return depth > 0
        }
        return Set(expression.map(dialect.folded))
    }

    /// The names, keywords and other signs of a statement, without quotes, texts and comments.
    private static func words(_ text: String) -> [String] {
        var rest = Array(text.utf8)[...]
        var words: [String] = []
        while let first = rest.first {
            let start = rest
            if isNamePart(first) {
                rest = rest.drop(while: isNamePart)
                words.append(String(decoding: start[..<rest.startIndex], as: UTF8.self))
                continue
            }
            skip(&rest)
            let word = String(decoding: start[..<rest.startIndex], as: UTF8.self)
            switch first {
            case UInt8(ascii: "'"): continue
            case UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
                words.append(String(word.dropFirst().dropLast()))
            default: if word.utf8.count == 1, !isSpace(first) { words.append(word) }
            }
        }
        return words
    }
}
