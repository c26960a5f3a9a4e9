import Foundation

/// Why a text is not an address that can be requested.
package struct HTTPAddressError: Error, Hashable, Sendable {
    /// The reasons.
    package enum Reason: Hashable, Sendable {
        case noScheme
        case otherScheme
        case noHost
        case badHost
    }

    /// The address for messages, without secrets.
    package let name: String
    package let reason: Reason

    package init(_ text: String, _ reason: Reason) {
        name = HTTPAddress.displayName(text)
        self.reason = reason
    }
}

extension HTTPAddressError: CustomStringConvertible, LocalizedError {
    /// The reason as a readable sentence.
    package var description: String {
        "\"\(name)\" \(reason)"
    }

    package var errorDescription: String? { description }
}

extension HTTPAddressError.Reason: CustomStringConvertible {
    /// The reason as the end of a sentence, without a part of the address.
    package var description: String {
        switch self {
        case .noScheme: "does not begin with http:// or https://"
        case .otherScheme: "has another scheme than http and https"
        case .noHost: "has no host; an address begins with http://HOST or https://HOST"
        case .badHost: "has a host or a port that is not valid"
        }
    }
}
