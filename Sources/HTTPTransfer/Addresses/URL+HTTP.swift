package import Foundation

extension URL {
    /// The address for messages, without user name, password and fragment. Query values are
    /// omitted, except short numbers that are not credentials.
    package var displayName: String {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "an address" }
        parts.user = nil
        parts.password = nil
        parts.fragment = nil
        parts.queryItems = parts.queryItems?.map { item in
            let isHarmless = item.value.map { $0.count < 10 && $0.allSatisfy(\.isNumber) } ?? true
            return isHarmless && !SecretName.isSecret(item.name) ? item : URLQueryItem(name: item.name, value: "…")
        }
        return (parts.string ?? "an address").replacing("%E2%80%A6", with: "…")
    }

    /// The address without user name and password.
    package var withoutUser: URL {
        guard user != nil || password != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.user = nil
        parts.password = nil
        return parts.url ?? self
    }

    /// The user name and password as the field `Authorization` (RFC 7617); no field without them.
    package var authorization: HTTPHeaders {
        guard user != nil || password != nil else { return HTTPHeaders() }
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

    /// Resolves a reference in a response from this address (RFC 3986, section 5).
    ///
    /// - Throws: ``HTTPError/Problem/forbiddenAddress(_:)`` if the result is not http or https, or
    ///   if it leaves https.
    package func following(_ reference: String) throws(HTTPError.Problem) -> URL {
        let target: URL
        do {
            target = try HTTPAddress.parse(reference, relativeTo: self)
        } catch {
            throw .forbiddenAddress("\(error)")
        }
        if scheme?.lowercased() == "https", target.scheme != "https" {
            throw .forbiddenAddress("\(PrintableText.line(target.displayName, limit: 120)), which is less secure")
        }
        return target
    }
}
