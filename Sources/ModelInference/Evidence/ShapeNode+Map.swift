import JSONMapper

extension ShapeNode {
    /// Whether the keys of the objects are data, such as codes or numbers, and their values all
    /// have one shape.
    var isMap: Bool {
        let properties = all
        guard let keys = keyKind(properties), hasOneShape(properties) else { return false }
        switch keys {
        case .data: return true
        case .codes: return properties.count > 2 || properties.contains { $0.object != nil } || share < 0.9
        case .names:
            let areObjects = properties.allSatisfy { $0.object != nil }
            if areObjects, properties.count > 3 { return true }
            if objectCount > 1, properties.count > 2, share <= 0.5 { return true }
            return properties.count >= 40 && (objectCount == 1 || share < 0.9)
        }
    }

    /// Whether the only element is a map.
    var isRootMap: Bool {
        let properties = all
        guard objectCount == 1, let keys = keyKind(properties), hasOneShape(properties) else { return false }
        return keys != .names || properties.count > 64
            || (properties.count > 3 && properties.allSatisfy { $0.object != nil })
    }

    private enum KeyKind {
        /// Numbers, versions, dates, UUIDs, paths, addresses.
        case data
        /// Codes of countries, currencies or languages.
        case codes
        case names
    }

    /// The average share of all distinct keys that an object has.
    private var share: Double {
        Double(memberCount) / Double(max(propertyCount * objectCount, 1))
    }

    private func keyKind(_ properties: [ShapeProperty]) -> KeyKind? {
        guard !properties.isEmpty else { return nil }
        let dataCount = properties.count { Self.isData($0.name) }
        if dataCount * 10 >= properties.count * 9 { return .data }
        return properties.allSatisfy { Self.isData($0.name) || Self.isCode($0.name) } ? .codes : .names
    }

    private static func isData(_ key: String) -> Bool {
        guard let first = key.utf8.first else { return false }
        if UInt8(ascii: "0") <= first, first <= UInt8(ascii: "9") { return true }
        if key.contains(where: { $0 == "/" || $0 == "@" }) { return true }
        if key.utf8.count >= 20, key.allSatisfy({ $0.isHexDigit || $0 == "-" }) { return true }
        // Identifiers such as P31 or Q42.
        let digits = key.dropFirst()
        return "A"..."Z" ~= key.prefix(1) && !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Common ISO 639 language codes that are not English words.
    private static let languages: Set<String> = [
        "en", "fr", "de", "es", "pt", "ru", "ja", "zh", "ko", "ar", "nl", "sv", "pl", "tr", "cs", "da", "fi", "el",
        "hu",
        "ro", "uk", "vi", "th", "bg", "hr", "sk", "sl", "sr", "lt", "lv", "et", "fa", "hi", "bn", "ca", "gl", "eu",
        "eng",
        "fra", "deu", "spa", "ita", "por", "rus", "jpn", "zho", "kor", "ara", "nld", "swe", "pol", "tur", "ces", "cym",
        "est", "fin", "hrv", "hun", "per", "slk", "srp", "urd", "bre", "gsw", "roh", "bos",
    ]

    private static func isCode(_ key: String) -> Bool {
        if languages.contains(key) { return true }
        let parts = key.split(separator: "-", omittingEmptySubsequences: false)
        if parts.count == 2 {
            return parts[0].utf8.count == 2 && parts[0].allSatisfy(\.isLowercase) && parts[1].utf8.count == 2
                && parts[1].allSatisfy(\.isUppercase)
        }
        return (2...3).contains(key.utf8.count) && key.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    }

    /// Whether all values are scalars of one kind, arrays, or objects that resemble each other.
    private func hasOneShape(_ properties: [ShapeProperty]) -> Bool {
        let kinds = properties.reduce(into: ShapeKinds()) { $0.formUnion($1.kinds) }
        if kinds.isDisjoint(with: ShapeKinds.anyObjects.union(.unexamined)) {
            return !kinds.isEmpty && !kinds.subtracting(.otherArray).isMixed
        }
        guard kinds.isSubset(of: ShapeKinds.anyObjects) else { return false }
        let nodes = properties.compactMap { $0.object?.resolved }
        guard let widest = nodes.max(by: { $0.propertyCount < $1.propertyCount }) else { return true }
        return nodes.count { $0.resembles(widest) } * 10 >= nodes.count * 9
    }
}
