package import Foundation
import SyncBase

/// The address of a content, without what a server changes from list to list.
package enum ContentAddress {
    /// Parameters that sign an address, by the parameter that has the signature. Without it, they
    /// can be anything.
    private static let signatures: [String: Set<String>] = [
        // CloudFront, and older signatures of S3, Google and Alibaba.
        "signature": [
            "signature", "expires", "policy", "key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid",
        ],
        // A shared access signature of Azure, to which GitHub adds a token.
        "sig": [
            "sig", "se", "sp", "spr", "sr", "st", "sv", "sip", "ss", "srt", "skoid", "sktid", "skt", "ske", "sks",
            "skv", "jwt",
        ],
    ]
    private static let signaturePrefixes = ["x-amz-", "x-goog-"]

    /// Returns a text that differs for addresses of different contents: a digest, because a query
    /// can have secrets.
    ///
    /// The user name, the fragment and the parameters of known signatures do not count.
    package static func mark(of url: URL) -> String {
        Hexadecimal.text(of: SHA256.digest(of: unsigned(url).utf8).prefix(16))
    }

    /// An address without its user name, its fragment and the parameters of known signatures.
    package static func unsigned(_ url: URL) -> String {
        guard var parts = URLComponents(url: url.withoutUser, resolvingAgainstBaseURL: true) else {
            return url.absoluteString
        }
        let parameters = (parts.percentEncodedQuery ?? "").split(separator: "&")
        parts.query = nil
        parts.fragment = nil
        let names = parameters.map { parameter in parameter.prefix { $0 != "=" }.lowercased() }
        let signing = Set(names).reduce(into: Set<String>()) { $0.formUnion(signatures[$1] ?? []) }
        let kept = zip(names, parameters).filter { name, _ in
            !signing.contains(name) && !signaturePrefixes.contains { name.hasPrefix($0) }
        }
        let query = kept.map { String($0.1) }.joined(separator: "&")
        let address = parts.string ?? url.absoluteString
        return query.isEmpty ? address : "\(address)?\(query)"
    }
}
