import Foundation

extension HTTPClient {
    /// Where the requests of a client may go.
    ///
    /// A client checks every request: the first one, redirects, and links to further pages or to
    /// changes. A request elsewhere is not sent; it is an error,
    /// ``HTTPError/Problem/forbiddenDestination(_:)``.
    ///
    ///     let client = HTTPClient(destinations: .sameOrigin.and(.publicAddresses))
    public struct Destinations: Sendable, Hashable {
        private var isSameOrigin = false
        private var hosts: Set<String>?
        /// Whether transports have to check the address to which they connect.
        private(set) var requiresPublicAddress = false

        /// Any address, also one within your network.
        public static let anywhere = Destinations()

        /// The scheme, host and port of the address that your code passes, and no others.
        public static let sameOrigin = Destinations(isSameOrigin: true)

        /// Addresses of the public Internet: not this machine, private networks, or metadata
        /// services of clouds.
        ///
        /// Use it for addresses that your users enter. On Linux with libcurl the address is checked
        /// to which the client connects, so neither a name that resolves to a private address nor
        /// an unusual spelling of one is accepted; proxies of the environment are not used.
        /// ``HTTPClient/URLSessionTransport`` resolves the name before each request, so a name that
        /// resolves to another address a moment later, or a proxy, can still lead to a private
        /// address.
        public static let publicAddresses = Destinations(requiresPublicAddress: true)

        /// The named hosts on any port.
        ///
        /// - Parameter names: Names or addresses of hosts, without port, in any case, such as
        ///   `api.example.com`. Subdomains are not included.
        public static func hosts(_ names: Set<String>) -> Destinations {
            Destinations(
                hosts: Set(
                    names.map { name in
                        let url = try? HTTPAddress.parse("http://\(name)")
                        return url?.plainHost ?? name.lowercased()
                    }))
        }

        /// Returns the destinations that both values allow.
        public func and(_ other: Destinations) -> Destinations {
            var both = self
            both.isSameOrigin = isSameOrigin || other.isSameOrigin
            both.requiresPublicAddress = requiresPublicAddress || other.requiresPublicAddress
            if let others = other.hosts { both.hosts = hosts?.intersection(others) ?? others }
            return both
        }

        /// Checks everything about an address except what its name resolves to.
        ///
        /// - Parameters:
        ///   - url: The address of a request.
        ///   - source: The address that the caller of the client passed.
        /// - Throws: ``HTTPError/Problem/forbiddenDestination(_:)``.
        func check(_ url: URL, source: URL) throws(HTTPError.Problem) {
            guard self != .anywhere else { return }
            let shown = PrintableText.line(url.origin, limit: 120)
            // Parsers that understand an address differently could make a forbidden host look like
            // an allowed one.
            guard let host = url.plainHost else {
                throw .forbiddenDestination("\(shown), whose host has an unusual spelling")
            }
            if isSameOrigin, !url.hasOrigin(of: source) {
                throw .forbiddenDestination("\(shown), which is another origin")
            }
            if let hosts, !hosts.contains(host) {
                throw .forbiddenDestination("\(shown), which is not one of the allowed hosts")
            }
            if requiresPublicAddress {
                // Resolvers know these names without a lookup (RFC 6761, section 6.3).
                let isLocal = host == "localhost" || host.hasSuffix(".localhost")
                guard !isLocal, IPAddress(host: host)?.isPublic ?? true else {
                    throw .forbiddenDestination("\(shown), which is not a public address")
                }
            }
        }
    }
}

extension URL {
    /// The host in lowercase without brackets and final dot, if every parser of addresses finds the
    /// same one; otherwise nil.
    fileprivate var plainHost: String? {
        let text = absoluteString.utf8
        guard let slashes = absoluteString.range(of: "://") else { return nil }
        let authority = text[slashes.upperBound...].prefix { !"/?#".utf8.contains($0) }
        let isBracketed = authority.first == UInt8(ascii: "[")
        let end =
            isBracketed
            ? authority.firstIndex(of: UInt8(ascii: "]")).map { text.index(after: $0) }
            : authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        guard let end else { return nil }
        let port = authority[end...]
        guard port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(Self.isDigit) else {
            return nil
        }
        let host = isBracketed ? authority[..<end].dropFirst().dropLast() : authority[..<end]
        let isPlain = host.allSatisfy { byte in
            Self.isDigit(byte) || Self.isLetter(byte) || (isBracketed ? ":." : "-._").utf8.contains(byte)
        }
        guard isPlain, let name = String(host.last == UInt8(ascii: ".") ? host.dropLast() : host), !name.isEmpty else {
            return nil
        }
        return name.lowercased()
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
