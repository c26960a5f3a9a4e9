/// The fields that a GraphQL query selects (GraphQL specification of October 2021, section 2).
///
/// Only the structure is read: anything that is not valid GraphQL has no fields.
struct GraphQLQuery {
    private struct Selection {
        var fields: [String: Selection] = [:]
        var fragments: Set<String> = []

        mutating func merge(_ other: Selection) {
            fields.merge(other.fields) { one, other in
                var merged = one
                merged.merge(other)
                return merged
            }
            fragments.formUnion(other.fragments)
        }
    }

    private static let depthLimit = 100

    /// The selections of all operations.
    private var operations = Selection()
    private var fragments: [String: Selection] = [:]

    init(_ text: String) {
        var tokens = Self.tokens(of: text)[...]
        while let token = tokens.popFirst() {
            if token == "fragment", let name = tokens.first {
                fragments[name] = Self.definition(&tokens)
            } else if token == "{" {
                operations.merge(Self.selection(&tokens, depth: 0))
            } else if ["query", "mutation", "subscription"].contains(token) {
                operations.merge(Self.definition(&tokens))
            }
        }
    }

    /// The names in the response of the fields that are selected at a path; nil if the path is not
    /// selected.
    func fields(at path: [String]) -> Set<String>? {
        var selection = resolved(operations)
        for name in path {
            guard let next = selection.fields[name] else { return nil }
            selection = resolved(next)
        }
        return Set(selection.fields.keys)
    }

    /// A selection with the fields of the fragments that it names.
    private func resolved(_ selection: Selection) -> Selection {
        var result = selection
        var names = Array(selection.fragments)
        var known = selection.fragments
        while let name = names.popLast() {
            guard let fragment = fragments[name] else { continue }
            result.merge(fragment)
            names += fragment.fragments.subtracting(known)
            known.formUnion(fragment.fragments)
        }
        return result
    }

    // MARK: Parsing

    /// The selection of a definition, behind its name, variables and directives.
    private static func definition(_ tokens: inout ArraySlice<String>) -> Selection {
        while let token = tokens.popFirst() {
            if token == "(" { skipArguments(&tokens) }
            if token == "{" { return selection(&tokens, depth: 0) }
        }
        return Selection()
    }

    /// The selection behind an opening brace.
    private static func selection(_ tokens: inout ArraySlice<String>, depth: Int) -> Selection {
        var found = Selection()
        var last: String?
        while let token = tokens.popFirst(), token != "}" {
            switch token {
            case "{":
                guard depth < depthLimit else { return found }
                let inner = selection(&tokens, depth: depth + 1)
                if let last { found.fields[last, default: Selection()].merge(inner) } else { found.merge(inner) }
            case "(": skipArguments(&tokens)
            case ":":
                // The name behind an alias.
                _ = tokens.popFirst()
            case "@": _ = tokens.popFirst()
            case "...":
                last = nil
                if tokens.first == "on" {
                    tokens = tokens.dropFirst(2)
                } else if let name = tokens.first, name != "{", name != "@" {
                    tokens.removeFirst()
                    found.fragments.insert(name)
                }
            default:
                last = token
                found.fields[token, default: Selection()].merge(Selection())
            }
        }
        return found
    }

    private static func skipArguments(_ tokens: inout ArraySlice<String>) {
        var depth = 1
        while depth > 0, let token = tokens.popFirst() {
            if token == "(" { depth += 1 }
            if token == ")" { depth -= 1 }
        }
    }

    /// The names and punctuators of a query, without comments, and with texts as empty texts.
    private static func tokens(of text: String) -> [String] {
        let block = String(repeating: "\"", count: 3)
        var tokens: [String] = []
        var rest = text[...]
        while let character = rest.first {
            if character == "#" {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix(block) {
                rest = rest.dropFirst(3)
                while !rest.isEmpty, !rest.hasPrefix(block) {
                    rest = rest.dropFirst(rest.hasPrefix("\\" + block) ? 4 : 1)
                }
                rest = rest.dropFirst(3)
                tokens.append("\"\"")
            } else if character == "\"" {
                rest = rest.dropFirst()
                while let next = rest.first, next != "\"", !next.isNewline {
                    rest = rest.dropFirst(next == "\\" ? 2 : 1)
                }
                rest = rest.dropFirst()
                tokens.append("\"\"")
            } else if rest.hasPrefix("...") {
                tokens.append("...")
                rest = rest.dropFirst(3)
            } else if character.isLetter || character.isNumber || character == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                tokens.append(String(name))
                rest = rest.dropFirst(name.count)
            } else {
                if !character.isWhitespace, character != "," { tokens.append(String(character)) }
                rest = rest.dropFirst()
            }
        }
        return tokens
    }
}
