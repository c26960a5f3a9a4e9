import JSONMapper
import StoreSync

extension HTTPJSONSource {
    /// How a response with a successful status reports an error in its body.
    public struct ReplyCheck: Hashable, Sendable {
        /// The value that decides.
        let keyPath: String
        /// Whether the reply is an error if the value is set, or if it is false or absent.
        let failsIfSet: Bool
        /// The key path of a text for people.
        let message: String?

        /// A reply that has a value is an error, such as GraphQL's `errors`.
        ///
        /// - Parameters:
        ///   - keyPath: The key path of the value.
        ///   - message: The key path of a text for people; by default the value itself.
        public static func failing(ifSet keyPath: String, message: String? = nil) -> HTTPJSONSource.ReplyCheck {
            HTTPJSONSource.ReplyCheck(keyPath: keyPath, failsIfSet: true, message: message)
        }

        /// A reply whose value is false or absent is an error, such as Slack's `ok`.
        ///
        /// - Parameters:
        ///   - keyPath: The key path of the value.
        ///   - message: The key path of a text for people.
        public static func failing(ifUnset keyPath: String, message: String? = nil) -> HTTPJSONSource.ReplyCheck {
            HTTPJSONSource.ReplyCheck(keyPath: keyPath, failsIfSet: false, message: message)
        }

        var captures: [String] { [keyPath] + (message.map { [$0] } ?? []) }

        /// The text of the error that a reply reports; nil if it reports none.
        func failure(in captured: [String: JSONValue]) -> String? {
            let isSet = captured[keyPath]?.isSet ?? false
            guard isSet == failsIfSet else { return nil }
            return Self.text(message.flatMap { captured[$0] } ?? captured[keyPath]) ?? "no reason given"
        }

        private static func text(_ value: JSONValue?) -> String? {
            switch value {
            case .string(let text): text
            case .array(let elements): text(elements.first)
            case .object(let object): text(object["message"] ?? object["title"] ?? object["detail"] ?? object["error"])
            default: nil
            }
        }
    }
}
