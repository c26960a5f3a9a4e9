public import Foundation
import SyncBase

/// Signs requests for Amazon S3, other services of AWS, and storages with the interface of S3.
///
/// ```swift
/// let signature = AWSSignature(accessKey: id, secretKey: secret, region: "eu-central-1")
/// let client = HTTPClient(sign: { signature.sign(&$0) })
/// ```
///
/// Source: AWS Signature Version 4, "Create a signed AWS API request".
public struct AWSSignature: Sendable, Hashable {
    private let accessKey: String
    private let secretKey: String
    private let sessionToken: String?
    private let region: String
    private let service: String

    /// Creates a signature.
    ///
    /// - Parameters:
    ///   - accessKey: The identifier of the key.
    ///   - secretKey: The key.
    ///   - sessionToken: The token of temporary credentials; nil, the default, for others.
    ///   - region: The region of the service, such as `eu-central-1`. Storages without regions
    ///     usually accept `us-east-1`.
    ///   - service: The service; `s3` by default.
    public init(
        accessKey: String, secretKey: String, sessionToken: String? = nil, region: String, service: String = "s3"
    ) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.region = region
        self.service = service
    }

    /// Signs a request: sets its fields `X-Amz-Date`, `X-Amz-Content-SHA256`, `Authorization` and,
    /// for temporary credentials, `X-Amz-Security-Token`.
    ///
    /// Every other field is part of the signature, except `Accept-Encoding` and `User-Agent`, which
    /// a proxy may change.
    ///
    /// - Parameters:
    ///   - request: The complete request.
    ///   - date: The current time.
    public func sign(_ request: inout HTTPRequest, at date: Date = Date()) {
        let time = Self.time(date)
        let day = String(time.prefix(8))
        let bodyDigest = Hexadecimal.text(of: SHA256.digest(of: request.body ?? []))
        request.headers["X-Amz-Date"] = time
        request.headers["X-Amz-Content-SHA256"] = bodyDigest
        request.headers["X-Amz-Security-Token"] = sessionToken
        request.headers["Authorization"] = nil

        var fields = request.headers.fields.filter { !["accept-encoding", "user-agent", "host"].contains($0.name) }
        fields.append(("host", Self.host(of: request.url)))
        fields.sort { $0.name < $1.name }
        let names = fields.map(\.name).joined(separator: ";")
        // Repeated blanks count as one.
        let lines = fields.map { "\($0.name):\($0.value.split(separator: " ").joined(separator: " "))\n" }
        let canonical = [
            request.method, canonicalPath(of: request.url), Self.canonicalQuery(of: request.url),
            lines.joined(), names, bodyDigest,
        ].joined(separator: "\n")

        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let text =
            "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n"
            + Hexadecimal.text(of: SHA256.digest(of: canonical.utf8))
        var key = Array("AWS4\(secretKey)".utf8)
        for part in [day, region, service, "aws4_request", text] { key = Self.code(of: part, with: key) }
        request.headers["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(Hexadecimal.text(of: key))"
    }

    private static func code(of text: String, with key: [UInt8]) -> [UInt8] {
        var code = HMACSHA256(key: key)
        code.update(text.utf8)
        return code.code()
    }

    /// The time as `20130524T000000Z`.
    private static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    private static func host(of url: URL) -> String {
        // As transports send it: an international name in ASCII, an IPv6 address in brackets.
        let host = URLComponents(string: url.absoluteString)?.encodedHost ?? ""
        let standard = url.scheme?.lowercased() == "https" ? 443 : 80
        return url.port.map { $0 == standard ? host : "\(host):\($0)" } ?? host
    }

    /// The path with every byte escaped that is not unreserved; S3 escapes it once, other services
    /// twice.
    private func canonicalPath(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        let once = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { Self.escaped(Self.unescaped($0)) }.joined(separator: "/")
        let escaped = service == "s3" ? once : once.replacing("%", with: "%25")
        return escaped.isEmpty ? "/" : escaped
    }

    private static func canonicalQuery(of url: URL) -> String {
        let items = (url.query(percentEncoded: true) ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (escaped(unescaped(parts[0])), parts.count > 1 ? escaped(unescaped(parts[1])) : "")
        }
        return items.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func unescaped(_ text: Substring) -> String {
        text.removingPercentEncoding ?? String(text)
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.unicodeScalars.append(UnicodeScalar(byte))
            default: escaped += "%" + Hexadecimal.text(of: [byte]).uppercased()
            }
        }
        return escaped
    }
}

extension AWSSignature: CustomStringConvertible, CustomDebugStringConvertible {
    /// The access key, region and service, without secrets.
    public var description: String { "\(accessKey)/\(region)/\(service)" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
