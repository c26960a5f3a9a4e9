import Foundation

/// Keeps credentials in queries out of bookmarks.
///
/// A credential that the source's own address has is replaced by a mark and put back later. A link
/// with any other credential cannot be kept.
enum SecretParameters {
    private static let names: Set<String> = [
        "access_token", "accesstoken", "api_key", "apikey", "api-key", "auth", "auth_token", "authorization",
        "client_secret", "key", "password", "secret", "sig", "signature", "token", "x-amz-signature",
        "x-amz-security-token", "x-amz-credential",
    ]
    private static let mark = "%00"

    /// The address without credentials; nil if it has one that cannot be put back.
    static func removed(_ address: String, of source: URL) -> String? {
        guard let (head, items, tail) = parts(address) else { return address }
        let known = parts(source.absoluteString)?.items ?? []
        var kept: [Substring] = []
        for item in items {
            if !isSecret(item) {
                kept.append(item)
            } else if known.contains(item) {
                kept.append(Substring(name(item) + "=" + mark))
            } else {
                return nil
            }
        }
        return head + "?" + kept.joined(separator: "&") + tail
    }

    /// The address with the credentials of the source put back.
    static func restored(_ address: String, from source: URL) -> String {
        guard let (head, items, tail) = parts(address), address.contains(mark) else { return address }
        let known = parts(source.absoluteString)?.items ?? []
        let whole = items.map { item in
            item.hasSuffix("=" + mark) ? known.first { name($0) == name(item) } ?? item : item
        }
        return head + "?" + whole.joined(separator: "&") + tail
    }

    private static func parts(_ address: String) -> (head: String, items: [Substring], tail: String)? {
        guard let question = address.firstIndex(of: "?"), address.contains("://") else { return nil }
        let query = address[address.index(after: question)...]
        let end = query.firstIndex(of: "#") ?? query.endIndex
        return (String(address[..<question]), query[..<end].split(separator: "&"), String(query[end...]))
    }

    private static func name(_ item: Substring) -> String {
        String(item.prefix { $0 != "=" })
    }

    private static func isSecret(_ item: Substring) -> Bool {
        item.contains("=") && names.contains(name(item).lowercased())
    }
}
