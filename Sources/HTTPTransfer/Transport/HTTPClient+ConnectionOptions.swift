public import Foundation

extension HTTPClient {
    /// How a network transport connects: whom it trusts, who it is, and through which proxy.
    ///
    /// ```swift
    /// let proxy = URL(string: "http://proxy:3128")
    /// let options = HTTPClient.ConnectionOptions(authorities: caFile, proxy: proxy)
    /// let client = HTTPClient(transport: HTTPClient.systemTransport(options))
    /// ```
    ///
    /// `HTTPClient.CurlTransport` on Linux has all of them. ``HTTPClient/URLSessionTransport`` has
    /// none: there, each request ends with ``HTTPError/Problem/unsuitableSettings(_:)``, and a
    /// `URLSessionConfiguration` can have a proxy.
    public struct ConnectionOptions: Sendable, Hashable {
        /// A PEM file with the only certificate authorities that are trusted, of servers and of an
        /// `https` proxy; nil, the default, for the system's.
        public var authorities: URL?

        /// A PEM file with the client's own certificate and, unless ``privateKey`` is set, its key;
        /// nil, the default, for none.
        public var certificate: URL?

        /// A PEM file with the key of ``certificate``; nil, the default, if the certificate's file
        /// has it.
        public var privateKey: URL?

        /// The password of the key; nil, the default, for none.
        public var privateKeyPassword: String?

        /// The address of a proxy (`http`, `https`, `socks5` or `socks5h`), with its user and
        /// password if needed, for all requests; nil, the default, for the one of the environment
        /// (`https_proxy`, `no_proxy`), if any.
        public var proxy: URL?

        /// Creates options.
        public init(
            authorities: URL? = nil, certificate: URL? = nil, privateKey: URL? = nil, privateKeyPassword: String? = nil,
            proxy: URL? = nil
        ) {
            self.authorities = authorities
            self.certificate = certificate
            self.privateKey = privateKey
            self.privateKeyPassword = privateKeyPassword
            self.proxy = proxy
        }
    }
}

extension HTTPClient.ConnectionOptions: CustomStringConvertible, CustomDebugStringConvertible {
    /// The names of the options that are set, without secrets.
    public var description: String {
        let names = [
            authorities.map { _ in "authorities" }, certificate.map { _ in "certificate" },
            privateKey.map { _ in "private key" }, privateKeyPassword.map { _ in "password" },
            proxy.map { _ in "proxy" },
        ]
        return names.compactMap(\.self).joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
