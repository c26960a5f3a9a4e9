/// The names of keys that identify objects in common APIs.
package enum KeyNames {
    /// Names that identify objects on their own, the preferred ones first.
    private static let names = [
        "id", "uuid", "guid", "remoteid", "objectid", "key", "code", "slug", "sku", "isbn", "isbn13", "isbn10", "issn",
        "ean", "upc", "gtin", "barcode", "symbol", "ticker", "isin", "cusip", "icao", "iata", "cca3", "ccn3", "cca2",
        "iso3", "iso2", "isocode", "iso", "alpha3code", "alpha3", "alpha2code", "alpha2", "numericcode", "asin", "vin",
        "doi", "imdbid", "tconst",
    ]

    /// Names that identify elements, but that nested objects may share.
    private static let weakNames = [
        "login", "username", "screenname", "handle", "email", "permalink", "fullname", "htmlurl", "url", "uri", "href",
        "path", "sha", "hash", "number",
    ]

    /// Endings of names that identify elements if they come first, such as `invoice_number`.
    private static let endings = ["number", "code", "key", "uuid", "sku", "slug", "no", "ref", "reference", "isbn"]

    private static let identifyingEndings = [
        "id", "code", "key", "symbol", "sku", "slug", "isin", "iso", "ticker", "number", "uuid",
    ]

    private static let orders: Set<String> = [
        "year", "date", "day", "month", "week", "quarter", "number", "no", "line", "lineno", "linenumber", "position",
        "index", "seq", "sequence", "rank", "version", "revision", "lang", "language", "locale", "season", "episode",
        "round", "page", "hour", "time", "timestamp",
    ]

    /// Returns the rank of a key as the identity of its objects; nil if its name suggests none.
    ///
    /// The lowest rank is the best.
    ///
    /// - Parameters:
    ///   - entity: The name of the objects' entity.
    ///   - isFirst: Whether the key comes first in the objects.
    package static func rank(of key: String, entity: String, isFirst: Bool) -> Int? {
        let name = plain(key)
        let entity = plain(entity)
        if name.hasPrefix(entity), !entity.isEmpty {
            let rest = String(name.dropFirst(entity.count))
            if ["id", "uuid", "guid", "code", "key", "number", "no", "slug"].contains(rest) { return 1 }
        }
        if let index = names.firstIndex(of: name) { return index == 0 ? 0 : 1 + index }
        if let index = weakNames.firstIndex(of: name) { return 1000 + index }
        return isFirst && endings.contains { name.hasSuffix($0) } ? 2000 : nil
    }

    /// The highest rank of a key that identifies nested objects.
    package static let highestNestedRank = 999

    /// Returns whether a key can identify objects together with another key.
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
