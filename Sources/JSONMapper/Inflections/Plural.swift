/// English singulars by word ending and a table of exceptions.
package enum Plural {
    private static let irregular = [
        "people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "geese": "goose",
        "feet": "foot", "teeth": "tooth", "criteria": "criterion", "indices": "index",
        "statuses": "status", "addresses": "address", "movies": "movie", "cookies": "cookie",
    ]

    /// Returns the singular of a name's last word; the name itself if it is not a plural.
    ///
    /// - Parameter name: A name in snake_case or camelCase.
    package static func singular(_ name: String) -> String {
        let small = name.lowercased()
        for (plural, singular) in irregular where small.hasSuffix(plural) {
            let start = name.index(name.endIndex, offsetBy: -plural.count)
            let isWord =
                start == name.startIndex || name[start].isUppercase || !name[name.index(before: start)].isLetter
            guard isWord else { continue }
            let first = name[start].isUppercase ? singular.prefix(1).uppercased() : String(singular.prefix(1))
            return String(name[..<start]) + first + String(singular.dropFirst())
        }
        if small.hasSuffix("series") || small.hasSuffix("species") { return name }
        if small.hasSuffix("ies"), small.count > 4 { return String(name.dropLast(3)) + "y" }
        if ["xes", "ches", "shes", "sses"].contains(where: small.hasSuffix) { return String(name.dropLast(2)) }
        if small.hasSuffix("s"), small.count > 1, !["ss", "us", "is"].contains(where: small.hasSuffix) {
            return String(name.dropLast())
        }
        return name
    }
}
