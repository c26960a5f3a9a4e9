extension HTTPAPI {
    /// A setting that would change what a source reads: the property of the API, and its value.
    package enum Advice: Hashable, Sendable {
        /// The pages that a response shows.
        case pages(Scheme)
        /// Whether the stated number of all objects counts.
        case isTotalExact(Bool)
        /// How a response reports an error.
        case check

        /// A way to the next page, with the values that a response shows.
        package enum Scheme: Hashable, Sendable {
            /// The `Link` field.
            case link
            /// An address in the body.
            case linkField(keyPath: String)
            /// A list of links by relation.
            case links(keyPath: String, relation: String, address: String)
            /// A number of a page, from a first one.
            case page(parameter: String, first: Int)
            /// A number of objects to skip.
            case offset(parameter: String)
            /// A cursor in the body. The parameter is nil if the response does not show which one
            /// takes it.
            case cursor(keyPath: String, parameter: String?)
        }
    }
}

extension HTTPAPI.Advice: CustomStringConvertible {
    /// The setting as an argument in Swift, such as `pages: .link`.
    package var description: String {
        switch self {
        case .pages(let scheme): "pages: \(scheme)"
        case .isTotalExact(let isExact): "isTotalExact: \(isExact)"
        case .check: "check: .failing(…)"
        }
    }
}

extension HTTPAPI.Advice.Scheme: CustomStringConvertible {
    /// The scheme in Swift, such as `.link`.
    package var description: String {
        switch self {
        case .link: ".link"
        case .linkField(let keyPath): ".linkField(keyPath: \(Self.literal(keyPath)))"
        case .links(let keyPath, "rel", "href"): ".links(keyPath: \(Self.literal(keyPath)))"
        case .links(let keyPath, let relation, let address):
            ".links(keyPath: \(Self.literal(keyPath)), relation: \"\(relation)\", address: \"\(address)\")"
        case .page(let parameter, 1): ".page(parameter: \"\(parameter)\")"
        case .page(let parameter, let first): ".page(parameter: \"\(parameter)\", first: \(first))"
        case .offset(let parameter): ".offset(parameter: \"\(parameter)\")"
        case .cursor(let keyPath, let parameter):
            ".cursor(keyPath: \(Self.literal(keyPath)), parameter: \(parameter.map { "\"\($0)\"" } ?? "…"))"
        }
    }

    /// A key path as a literal; one with a backslash as a raw string.
    private static func literal(_ keyPath: String) -> String {
        keyPath.contains("\\") ? "#\"\(keyPath)\"#" : "\"\(keyPath)\""
    }
}
