import Foundation
import HTTPTransfer

/// Keeps credentials in queries out of bookmarks.
///
/// A credential in the source's own address is replaced by a mark and restored later. A link with
/// any other credential is not stored.
struct SecretParameters: Sendable {
    private static let mark = "%00"

    /// The parameters of the source's own address.
    private let own: [Substring]
    /// Names of parameters that are positions in the list although they suggest credentials.
    private let positions: Set<String>
    /// Names of parameters that are credentials although they do not suggest it.
    private let others: Set<String>

    init(of source: HTTPJSONSource) {
        own = Self.parts(source.url.absoluteString)?.items ?? []
        var positions = source.api.positionParameters
        if case .address = source.api.delta?.cursor { positions.insert("token") }
        self.positions = positions
        others = source.client.secretParameters
    }

    /// The address without credentials; nil if it contains one that cannot be restored.
    ///
    /// - Parameter sent: The credentials that were sent. A server may lead to an address that
    ///   contains one.
    func removed(from address: String, sent: SentSecrets) -> String? {
        let bare = removed(from: address)
        return bare.flatMap { sent.isFound(in: $0) ? nil : $0 }
    }

    private func removed(from address: String) -> String? {
        guard let (head, items, tail) = Self.parts(address) else { return address }
        var kept: [Substring] = []
        for item in items {
            if !isSecret(item) {
                kept.append(item)
            } else if own.contains(item) {
                kept.append(Substring(Self.name(item) + "=" + Self.mark))
            } else {
                return nil
            }
        }
        return head + "?" + kept.joined(separator: "&") + tail
    }

    /// The address with the source's credentials restored.
    func restored(_ address: String) -> String {
        guard let (head, items, tail) = Self.parts(address), address.contains(Self.mark) else { return address }
        let whole = items.map { item in
            item.hasSuffix("=" + Self.mark) ? own.first { Self.name($0) == Self.name(item) } ?? item : item
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

    private func isSecret(_ item: Substring) -> Bool {
        let name = Self.name(item)
        guard item.contains("="), SecretName.isSecret(name, or: others) else { return false }
        // What the user declares a credential is one.
        return others.contains(name) || !positions.contains(name) || own.contains { Self.name($0) == name }
    }
}
