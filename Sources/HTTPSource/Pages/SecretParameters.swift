import Foundation
import HTTPTransfer

/// Keeps credentials in queries out of bookmarks.
///
/// A credential in the source's own address is replaced by a mark and restored later. A link with
/// any other credential is not stored.
enum SecretParameters {
    private static let mark = "%00"

    /// The address without credentials; nil if it contains one that cannot be restored.
    ///
    /// - Parameters:
    ///   - sent: The credentials that were sent. A server may lead to an address that contains one.
    ///   - cursor: A parameter that is a cursor although its name suggests a credential, unless the
    ///     source's own address has it; nil for none.
    static func removed(
        _ address: String, of source: URL, sent: SentSecrets, cursor: String? = nil
    ) -> String? {
        let bare = removed(address, of: source, cursor: cursor)
        return bare.flatMap { sent.isFound(in: $0) ? nil : $0 }
    }

    private static func removed(_ address: String, of source: URL, cursor: String?) -> String? {
        guard let (head, items, tail) = parts(address) else { return address }
        let known = parts(source.absoluteString)?.items ?? []
        var kept: [Substring] = []
        for item in items {
            if !isSecret(item) {
                kept.append(item)
            } else if known.contains(item) {
                kept.append(Substring(name(item) + "=" + mark))
            } else if name(item) == cursor, !known.contains(where: { name($0) == cursor }) {
                kept.append(item)
            } else {
                return nil
            }
        }
        return head + "?" + kept.joined(separator: "&") + tail
    }

    /// The address with the source's credentials restored.
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
        item.contains("=") && SecretName.isSecret(name(item))
    }
}
