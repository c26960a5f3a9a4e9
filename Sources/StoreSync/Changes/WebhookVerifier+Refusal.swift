public import Foundation
public import OneWaySynchronizer
package import SyncBase

extension WebhookVerifier {
    /// Why a ``WebhookVerifier`` does not accept a request.
    public enum Refusal: Error, Hashable, Sendable {
        /// The header fields of the signature are missing or malformed.
        case unsigned
        /// The signature is not that of the body, the time and a secret.
        case invalidSignature
        /// The time of the request differs by so much from the time of this system.
        case outsideTimeWindow(difference: Duration)
        /// The same request is being handled.
        case underWay
    }
}

extension WebhookVerifier.Refusal: CustomStringConvertible, LocalizedError {
    /// A readable sentence.
    public var description: String {
        switch self {
        case .unsigned: "the webhook has no signature of the expected form"
        case .invalidSignature: "the signature of the webhook is not valid"
        case .outsideTimeWindow(let difference):
            "the time of the webhook differs from the time here by \(difference.formatted())"
        case .underWay: "the same webhook is being handled"
        }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension WebhookVerifier.Refusal: RetryableError {
    /// Whether the sender should send the webhook again: only if it is being handled.
    public var isRetryable: Bool { self == .underWay }
}

extension WebhookVerifier.Refusal: AreaError {
    package var errorArea: ErrorArea { .server }
}
