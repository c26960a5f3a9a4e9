import Foundation
import HTTPTransfer

/// Keeps credentials in addresses out of bookmarks: query items, and parameters of the path such as
/// `;jsessionid=…`.
///
/// A credential in the source's own address is replaced by a mark and restored later. A link with
/// any other credential, or with a user, is not stored. A fragment is never stored.
struct SecretParameters: Sendable {
    /// A part of an address.
    private struct Part {
        let text: Substring
        /// Whether the text is a parameter, such as `page=2`, and not a part between parameters.
        let isParameter: Bool
    }

    private static let mark = "%00"

    /// The parameters of the source's own address.
    private let own: [Substring]
    /// Names of parameters that are positions in the list although they suggest credentials.
    private let positions: Set<String>
    /// Names of parameters that are credentials although they do not suggest it.
    private let others: Set<String>

    init(of source: HTTPJSONSource) {
        own = Self.parts(source.url.absoluteString).filter(\.isParameter).map(\.text)
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
        guard let authority = Self.authority(of: address) else { return address }
        guard !authority.contains("@") else { return nil }
        var kept = ""
        for part in Self.parts(address) {
            if !part.isParameter || !isSecret(part.text) {
                kept += part.text
            } else if own.contains(part.text) {
                kept += Self.name(part.text) + "=" + Self.mark
            } else {
                return nil
            }
        }
        return kept
    }

    /// The address with the source's credentials restored.
    func restored(_ address: String) -> String {
        guard address.contains(Self.mark) else { return address }
        return Self.parts(address).map { part -> Substring in
            guard part.isParameter, part.text.hasSuffix("=" + Self.mark) else { return part.text }
            return own.first { Self.name($0) == Self.name(part.text) } ?? part.text
        }.joined()
    }

    /// The user, the host and the port of an address; nil for a cursor.
    private static func authority(of address: String) -> Substring? {
        address.firstRange(of: "://").map { address[$0.upperBound...].prefix { !"/?#".contains($0) } }
    }

    /// The parts of an address without its fragment, in order. A cursor is a single part.
    private static func parts(_ address: String) -> [Part] {
        guard let authority = authority(of: address) else { return [Part(text: address[...], isParameter: false)] }
        let head = address[..<authority.endIndex]
        let rest = address[authority.endIndex...].prefix { $0 != "#" }
        let path = rest.prefix { $0 != "?" }
        return [Part(text: head, isParameter: false)] + parts(of: path, beginning: ";", ending: "/;")
            + parts(of: rest[path.endIndex...], beginning: "?&", ending: "&")
    }

    /// The parts of a path or a query.
    ///
    /// - Parameters:
    ///   - beginning: The characters before a parameter.
    ///   - ending: The characters after a parameter.
    private static func parts(of text: Substring, beginning: String, ending: String) -> [Part] {
        var parts: [Part] = []
        var rest = text
        while let first = rest.first {
            // The delimiter, and what it begins.
            let isDelimiter = (beginning + ending).contains(first)
            let value = rest.dropFirst(isDelimiter ? 1 : 0).prefix { !ending.contains($0) }
            parts.append(Part(text: rest[..<value.startIndex], isParameter: false))
            parts.append(Part(text: value, isParameter: beginning.contains(first)))
            rest = rest[value.endIndex...]
        }
        return parts
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
