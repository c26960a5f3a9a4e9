/// The names of keys that tell objects apart in common APIs.
package enum KeyNames {
    /// Names that identify on their own, the preferred ones first. A name of the entity may precede
    /// some of them.
    private static let groups: [Set<String>] = [
        ["id"],
        ["uuid", "guid", "remoteid", "objectid"],
        [
            "key", "code", "slug", "sku", "isbn", "isbn13", "isbn10", "issn", "ean", "upc", "gtin", "barcode", "symbol",
            "ticker", "isin", "cusip", "iata", "icao", "iso", "iso2", "iso3", "isocode", "cca3", "cca2", "ccn3",
            "alpha3code", "alpha2code", "alpha3", "alpha2", "numericcode", "asin", "vin", "doi", "imdbid", "tconst",
        ],
        [
            "login", "username", "screenname", "handle", "email", "permalink", "fullname", "htmlurl", "url", "uri",
            "href", "path", "sha", "hash", "number",
        ],
    ]

    private static let identifyingEndings = [
        "id", "code", "key", "symbol", "sku", "slug", "isin", "iso", "ticker", "number", "uuid",
    ]

    private static let orders: Set<String> = [
        "year", "date", "day", "month", "week", "quarter", "number", "no", "line", "lineno", "linenumber", "position",
        "index", "seq", "sequence", "rank", "version", "revision", "lang", "language", "locale", "season", "episode",
        "round", "page", "hour", "time", "timestamp",
    ]

    /// Returns the rank of a key as the identity of its objects, the best one first; nil if the
    /// name is no evidence.
    ///
    /// - Parameter entity: The name of the objects' entity.
    package static func rank(of key: String, entity: String) -> Int? {
        let name = plain(key)
        let entity = plain(entity)
        if name.hasPrefix(entity), !entity.isEmpty {
            let rest = String(name.dropFirst(entity.count))
            if ["id", "uuid", "guid", "code", "key", "number", "no", "slug"].contains(rest) { return 1 }
        }
        return groups.firstIndex { $0.contains(name) }.map { $0 == 0 ? 0 : $0 + 1 }
    }

    /// The highest rank of a key that identifies nested objects.
    package static let highestNestedRank = 3

    /// Returns whether a key may identify objects together with another key.
    package static func isPart(_ key: String) -> Bool {
        isIdentifying(key) || orders.contains(plain(key))
    }

    /// Returns whether a key names another object, or is a code.
    package static func isIdentifying(_ key: String) -> Bool {
        let name = plain(key)
        return identifyingEndings.contains { name.hasSuffix($0) }
    }

    /// The letters and digits of a key, in lowercase.
    private static func plain(_ key: String) -> String {
        String(key.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}
