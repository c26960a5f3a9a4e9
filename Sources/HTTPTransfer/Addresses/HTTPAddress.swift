package import Foundation

/// Parses and resolves addresses (RFC 3986).
///
/// Valid escapes are kept. Characters that an address cannot contain, such as a space, `[` or `ü`,
/// are escaped, and so is a `%` that does not begin an escape.
package enum HTTPAddress {
    /// Parses an address, or resolves a reference against one.
    ///
    /// - Parameters:
    ///   - text: An address or a reference.
    ///   - base: The address that a reference is relative to; nil if the text must be an address.
    /// - Throws: ``HTTPAddressError`` unless the result is an http or https address with a host.
    package static func parse(_ text: String, relativeTo base: URL? = nil) throws(HTTPAddressError) -> URL {
        let trimmed = isTrimmed(text) ? text : text.trimmingCharacters(in: .whitespacesAndNewlines)
        var parts = Parts(trimmed)
        if let base {
            parts = parts.resolved(against: Parts(base.absoluteURL.absoluteString))
        }
        guard let scheme = parts.scheme?.lowercased() else { throw HTTPAddressError(trimmed, .noScheme) }
        guard scheme == "http" || scheme == "https" else { throw HTTPAddressError(trimmed, .otherScheme) }
        guard let authority = parts.authority, !authority.isEmpty else { throw HTTPAddressError(trimmed, .noHost) }
        guard let host = Self.authority(authority) else { throw HTTPAddressError(trimmed, .badHost) }
        var written = "\(scheme)://\(host)" + escaped(parts.path, allowing: "/:@!$&'()*+,;=")
        if let query = parts.query { written += "?" + escaped(query, allowing: "/?:@!$&'()*+,;=") }
        if let fragment = parts.fragment { written += "#" + escaped(fragment, allowing: "/?:@!$&'()*+,;=") }
        guard let url = URL(string: written), url.isHTTP else { throw HTTPAddressError(trimmed, .badHost) }
        return url
    }

    /// The five components of a reference (RFC 3986, appendix B).
    private struct Parts {
        var scheme: String?
        var authority: String?
        var path: String
        var query: String?
        var fragment: String?

        init(_ text: String) {
            // Delimiters are bytes: a combining character may follow one.
            var rest = text.utf8[...]
            if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
                fragment = String(Substring(rest[rest.index(after: hash)...]))
                rest = rest[..<hash]
            }
            if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
                query = String(Substring(rest[rest.index(after: mark)...]))
                rest = rest[..<mark]
            }
            if let colon = rest.firstIndex(of: UInt8(ascii: ":")), let first = rest.first, isLetter(first),
                rest[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
            {
                scheme = String(Substring(rest[..<colon]))
                rest = rest[rest.index(after: colon)...]
            }
            if rest.starts(with: "//".utf8) {
                let start = rest.index(rest.startIndex, offsetBy: 2)
                let end = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
                authority = String(Substring(rest[start..<end]))
                rest = rest[end...]
            }
            path = String(Substring(rest))
        }

        /// Resolves the reference (RFC 3986, section 5.2.2).
        func resolved(against base: Parts) -> Parts {
            var target = self
            if scheme != nil || authority != nil {
                target.scheme = scheme ?? base.scheme
                target.path = Self.withoutDots(path)
                return target
            }
            target.scheme = base.scheme
            target.authority = base.authority
            if path.isEmpty {
                target.path = base.path
                target.query = query ?? base.query
            } else if path.utf8.first == UInt8(ascii: "/") {
                target.path = Self.withoutDots(path)
            } else {
                let folder = base.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { base.path[...$0] } ?? "/"
                target.path = Self.withoutDots(folder + path)
            }
            return target
        }

        /// Removes the segments `.` and `..` (RFC 3986, section 5.2.4).
        private static func withoutDots(_ path: String) -> String {
            // Most paths have no segment that begins with a dot.
            var last = UInt8(ascii: "/")
            let mayHaveDots = path.utf8.contains { byte in
                defer { last = byte }
                return byte == UInt8(ascii: ".") && last == UInt8(ascii: "/")
            }
            guard mayHaveDots else { return path }
            var kept: [String] = []
            let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            for (index, bytes) in segments.enumerated() {
                let segment = String(Substring(bytes))
                let isLast = index == segments.count - 1
                switch segment {
                case ".": if isLast { kept.append("") }
                case "..":
                    if kept.count > 1 { kept.removeLast() }
                    if isLast { kept.append("") }
                default: kept.append(segment)
                }
            }
            return kept.joined(separator: "/")
        }
    }

    /// An authority with an escaped user and an ASCII host; nil if the host or the port is not
    /// valid.
    private static func authority(_ text: String) -> String? {
        var user = ""
        var rest = text.unicodeScalars[...]
        if let at = rest.lastIndex(of: "@") {
            user = escaped(String(rest[..<at]), allowing: ":!$&'()*+,;=") + "@"
            rest = rest[rest.index(after: at)...]
        }
        var host = rest
        var port = ""
        if rest.first == "[" {
            guard let close = rest.firstIndex(of: "]") else { return nil }
            host = rest[...close]
            port = String(rest[rest.index(after: close)...])
            guard host.dropFirst().dropLast().allSatisfy({ $0.isASCII }) else { return nil }
        } else if let colon = rest.firstIndex(of: ":") {
            host = rest[..<colon]
            port = String(rest[colon...])
        }
        guard !host.isEmpty, port.isEmpty || port == ":" || isPort(port.dropFirst()),
            port.first.map({ $0 == ":" }) ?? true
        else { return nil }
        if host.first == "[" || host.allSatisfy({ $0.isASCII && isHostByte(UInt8(ascii: $0)) }) {
            return user + String(host) + (port == ":" ? "" : port)
        }
        // Foundation implements the rules of international names (RFC 5891).
        guard let ascii = URLComponents(string: "http://\(String(host))/")?.encodedHost, !ascii.isEmpty,
            ascii.utf8.allSatisfy(isHostByte)
        else { return nil }
        return user + ascii + (port == ":" ? "" : port)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy(isDigit) && UInt16(text) != nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || "!$&'()*+,;=%".utf8.contains(byte)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || "-._~".utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Whether a text begins and ends with visible ASCII characters.
    private static func isTrimmed(_ text: String) -> Bool {
        let visible: ClosedRange<UInt8> = 0x21...0x7E
        return text.utf8.first.map(visible.contains) ?? true && text.utf8.last.map(visible.contains) ?? true
    }

    /// Escapes every byte that is not allowed, except in valid escapes.
    ///
    /// - Parameter others: The characters that are allowed in addition to the unreserved ones.
    package static func escaped(_ text: String, allowing others: String, keepsEscapes: Bool = true) -> String {
        let others = others.utf8
        // Most texts have nothing to escape.
        if text.utf8.allSatisfy({ isUnreserved($0) || others.contains($0) }) { return text }
        let bytes = Array(text.utf8)
        var written: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                keepsEscapes && byte == UInt8(ascii: "%") && index + 2 < bytes.count && isHex(bytes[index + 1])
                && isHex(bytes[index + 2])
            if isEscape || isUnreserved(byte) || others.contains(byte) {
                written.append(byte)
            } else {
                let hex = Array(String(byte, radix: 16, uppercase: true).utf8)
                written += [UInt8(ascii: "%")] + (hex.count == 1 ? [UInt8(ascii: "0")] : []) + hex
            }
        }
        return String(decoding: written, as: UTF8.self)
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        Unicode.Scalar(byte).properties.isASCIIHexDigit
    }

    /// A reference for messages: without query, user name and password.
    package static func displayName(_ reference: String) -> String {
        let parts = Parts(reference)
        var name = parts.scheme.map { "\($0):" } ?? ""
        if let authority = parts.authority {
            let start = authority.unicodeScalars.lastIndex(of: "@").map(authority.unicodeScalars.index(after:))
            name += "//" + authority[(start ?? authority.startIndex)...]
        }
        name += parts.path
        let isCut = name.utf8.count < reference.utf8.count
        return PrintableText.line(name, limit: 120) + (isCut ? "?…" : "")
    }
}
