/// How advice writes ways to the next page: in Swift, or as arguments of the command `Demo sync`.
struct PageNames: Sendable {
    let areArguments: Bool

    /// The `Link` field.
    var link: String { areArguments ? "--pages link" : ".link" }

    /// An address in the body.
    func linkField(_ keyPath: String) -> String {
        areArguments ? argument("link:\(keyPath)") : ".linkField(keyPath: \(swift(keyPath)))"
    }

    /// A list of links by relation.
    func links(_ keyPath: String, relation: String, address: String) -> String {
        guard relation != "rel" else {
            return areArguments ? argument("links:\(keyPath)") : ".links(keyPath: \"\(keyPath)\")"
        }
        // Of the command, only this API has other keys.
        return areArguments
            ? "--api fhir" : ".links(keyPath: \"\(keyPath)\", relation: \"\(relation)\", address: \"\(address)\")"
    }

    /// A number of a page, from a first one. The command counts from 1, or by the usual signs.
    func page(first: Int) -> String {
        if areArguments { return first == 1 ? "--pages page:page" : "--pages auto" }
        return first == 1 ? ".page(parameter: \"page\")" : ".page(parameter: \"page\", first: \(first))"
    }

    /// A cursor in the body.
    ///
    /// - Parameter parameter: The parameter that takes it; nil if it is unknown.
    func cursor(_ keyPath: String, parameter: String?) -> String {
        if areArguments { return argument("cursor:\(keyPath):\(parameter ?? "PARAM")") }
        return ".cursor(keyPath: \(swift(keyPath)), parameter: \(parameter.map { "\"\($0)\"" } ?? "…"))"
    }

    /// Advice to choose a way.
    func choosing(_ name: String) -> String { areArguments ? "choose \(name)" : "choose the pages \(name)" }

    /// Advice about a list of numbered pages.
    var numbered: String { "choose the pages, such as \(page(first: 1))" }

    /// Advice about a list with further pages of an unknown kind.
    var advice: String {
        "\(numbered) or \(areArguments ? "--pages offset:offset" : ".offset(parameter: \"offset\")")"
    }

    private func argument(_ value: String) -> String {
        value.contains("\\") ? "--pages '\(value)'" : "--pages \(value)"
    }

    private func swift(_ keyPath: String) -> String {
        // A key path with a backslash is written as a raw string.
        keyPath.contains("\\") ? "#\"\(keyPath)\"#" : "\"\(keyPath)\""
    }
}
