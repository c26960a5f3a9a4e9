package import Foundation

extension URL {
    /// The address for messages, without user name, password and fragment.
    ///
    /// Query values are omitted, except numbers of at most nine digits that are not credentials. A
    /// query parameter without a value is omitted too, because it may be a key.
    package var displayName: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "an address" }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.queryItems = parts.queryItems?.map { item in
            guard let value = item.value else { return URLQueryItem(name: "…", value: nil) }
            let isHarmless = value.utf8.count < 10 && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return isHarmless && !SecretName.isSecret(item.name) ? item : URLQueryItem(name: item.name, value: "…")
        }
        return (parts.string ?? "an address").replacing("%E2%80%A6", with: "…")
    }

    /// The address without user name and password.
    package var withoutUser: URL {
        guard canHaveUser, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true),
            parts.user != nil || parts.password != nil
        else { return self }
        parts.user = nil
        parts.password = nil
        return parts.url ?? self
    }

    /// False if the address has neither a user name nor a password, as almost every one. It is not
    /// parsed for this.
    private var canHaveUser: Bool { absoluteString.utf8.contains(UInt8(ascii: "@")) }

    /// The user name and password as the field `Authorization` (RFC 7617); no field without them.
    package var authorization: HTTPHeaders {
        guard canHaveUser, user != nil || password != nil else { return HTTPHeaders() }
        let pair = (user(percentEncoded: false) ?? "") + ":" + (password(percentEncoded: false) ?? "")
        return ["Authorization": "Basic " + Data(pair.utf8).base64EncodedString()]
    }

    /// Whether the client can request the address.
    package var isHTTP: Bool {
        let scheme = scheme?.lowercased()
        return (scheme == "http" || scheme == "https") && !(host ?? "").isEmpty
    }

    /// The scheme, host and port that requests may share secrets within (RFC 6454, section 4).
    package var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }

    /// Whether an address has the same origin as another one.
    package func hasOrigin(of other: URL) -> Bool {
        self == other || origin == other.origin
    }

    /// Resolves a reference in a response from this address (RFC 3986, section 5).
    ///
    /// - Throws: ``HTTPError/Problem/forbiddenAddress(_:)`` if the result is not http or https, or
    ///   if it leaves https.
    package func following(_ reference: String) throws(HTTPError.Problem) -> URL {
        let target: URL
        do {
            target = try HTTPAddress.parse(reference, relativeTo: self)
        } catch {
            throw .forbiddenAddress("\(error.reason)", target: error.name)
        }
        if scheme?.lowercased() == "https", target.scheme != "https" {
            throw .forbiddenAddress("is less secure", target: PrintableText.line(target.displayName, limit: 120))
        }
        return target
    }
}
