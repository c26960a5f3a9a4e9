import HTTPTransfer
import SyncBase

extension StoreLocation: CustomStringConvertible {
    /// The location as on the command line, without a password.
    ///
    /// If this is the whole text of the location, it creates an equal one.
    var description: String {
        switch self {
        case .memory: "memory:"
        case .sqlite(let path): "sqlite:\(PrintableText.line(path, limit: 200))"
        case .postgres(let address): PrintableText.line(Self.withoutSecrets(address), limit: 200)
        }
    }

    /// Whether the description is the whole text of the location.
    var isShownInFull: Bool { StoreLocation(description) == self }

    /// The parameters of a PostgreSQL address that contain no secret.
    private static let shownParameters: Set = ["dbname", "host", "port", "service", "sslmode", "user"]

    /// Returns a PostgreSQL address without its password, and with only the parameters that contain
    /// no secret.
    ///
    /// The parts are found as libpq finds them (PostgreSQL manual, "Connection URIs"): the user and
    /// the password end at the first `@` before the first `/`. With another `@` before the
    /// parameters, or a port that is no number, the rest is replaced by `…`, because it may
    /// contain a password.
    private static func withoutSecrets(_ address: String) -> String {
        let scheme = address.hasPrefix("postgres://") ? "postgres://" : "postgresql://"
        // Bytes, because an accent after a separator would hide it among characters.
        var rest = Array(address.utf8)[scheme.utf8.count...]
        var text = scheme
        if let end = rest.prefix(while: { $0 != UInt8(ascii: "/") }).firstIndex(of: UInt8(ascii: "@")) {
            let user = rest[..<end].prefix { $0 != UInt8(ascii: ":") }
            if !user.isEmpty { text += String(decoding: user, as: UTF8.self) + "@" }
            rest = rest[(end + 1)...]
        }
        let place = rest.prefix { $0 != UInt8(ascii: "?") }
        guard !place.contains(UInt8(ascii: "@")), hasPorts(place.prefix { $0 != UInt8(ascii: "/") }) else {
            return scheme + "…"
        }
        text += String(decoding: place, as: UTF8.self)
        let parameters = rest[place.endIndex...].dropFirst().split(separator: UInt8(ascii: "&")).filter {
            shownParameters.contains(String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
        }
        let shown = parameters.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "&")
        return shown.isEmpty ? text : "\(text)?\(shown)"
    }

    /// Whether the ports of hosts, which are separated by commas, are numbers or absent.
    private static func hasPorts(_ hosts: ArraySlice<UInt8>) -> Bool {
        hosts.split(separator: UInt8(ascii: ",")).allSatisfy { host in
            // The address of an IPv6 host, in brackets, contains colons.
            let name = host.first == UInt8(ascii: "[") ? host.drop { $0 != UInt8(ascii: "]") } : host
            let port = name.drop { $0 != UInt8(ascii: ":") }.dropFirst()
            return port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    }
}
