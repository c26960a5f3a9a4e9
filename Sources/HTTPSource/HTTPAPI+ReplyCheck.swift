import JSONMapper
import StoreSync

extension HTTPAPI {
    /// How a response with a successful status reports an error in its body.
    ///
    /// The formats of lines and events have no values outside the objects. There, each object is
    /// checked.
    public struct ReplyCheck: Hashable, Sendable {
        /// The state of a value that indicates an error.
        private enum Sign: Hashable { case set, filled, unset, absent, text }

        private struct Rule: Hashable {
            let keyPath: String
            let sign: Sign
            /// The key path of a readable text.
            let message: String?
        }

        private var rules: [Rule]

        private init(_ sign: Sign, at keyPath: String, message: String? = nil) {
            rules = [Rule(keyPath: keyPath, sign: sign, message: message)]
        }

        /// A check that fails if the body has a value, such as GraphQL's `errors`.
        ///
        /// - Parameters:
        ///   - keyPath: The key path of the value.
        ///   - message: The key path of a readable text; by default the value itself.
        public static func failing(ifSet keyPath: String, message: String? = nil) -> HTTPAPI.ReplyCheck {
            HTTPAPI.ReplyCheck(.set, at: keyPath, message: message)
        }

        /// A check that fails if the body has a value that is not an empty array or object, such as
        /// JSON:API's `errors`.
        static func failing(ifFilled keyPath: String) -> HTTPAPI.ReplyCheck {
            HTTPAPI.ReplyCheck(.filled, at: keyPath)
        }

        /// A check that fails if a value is false or absent, such as Slack's `ok`.
        ///
        /// - Parameters:
        ///   - keyPath: The key path of the value.
        ///   - message: The key path of a readable text; nil by default.
        public static func failing(ifUnset keyPath: String, message: String? = nil) -> HTTPAPI.ReplyCheck {
            HTTPAPI.ReplyCheck(.unset, at: keyPath, message: message)
        }

        /// A check that fails if a value is null or absent, such as Stripe's `has_more`.
        public static func failing(ifAbsent keyPath: String) -> HTTPAPI.ReplyCheck {
            HTTPAPI.ReplyCheck(.absent, at: keyPath)
        }

        /// A check that fails if a value is a text, such as Firebase's `error`. Any other value is
        /// not an error.
        public static func failing(ifText keyPath: String) -> HTTPAPI.ReplyCheck {
            HTTPAPI.ReplyCheck(.text, at: keyPath)
        }

        /// Returns a check that fails if this one or another one fails.
        public func or(_ other: HTTPAPI.ReplyCheck) -> HTTPAPI.ReplyCheck {
            var check = self
            check.rules += other.rules
            return check
        }

        var captures: [String] {
            rules.flatMap { rule in [rule.keyPath] + (rule.message.map { [$0] } ?? []) }
        }

        /// The error that a response reports.
        struct Failure: Equatable {
            /// How it is reported, such as `ok is false`, without text of the response.
            let sign: String
            /// The response's own text; empty if there is none.
            let text: String
        }

        /// The error that a response reports; nil if it reports none.
        ///
        /// - Parameter isWhole: Whether all values were captured, so that an absent value is
        ///   significant.
        func failure(in captured: [String: JSONValue], isWhole: Bool) -> Failure? {
            for rule in rules where isWhole || captured[rule.keyPath] != nil {
                let value = captured[rule.keyPath] ?? .null
                let fails =
                    switch rule.sign {
                    case .set: value.isSet
                    case .filled: value.isFilled
                    case .unset: !value.isSet
                    case .absent: value == .null
                    case .text: if case .string = value { true } else { false }
                    }
                guard fails else { continue }
                let text = Self.text(rule.message.flatMap { captured[$0] } ?? value) ?? value.token
                return Failure(
                    sign: "\(rule.keyPath) is \(captured[rule.keyPath]?.kindName ?? "absent")", text: text ?? "")
            }
            return nil
        }

        private static func text(_ value: JSONValue?) -> String? {
            switch value {
            case .string(let text): text
            case .array(let elements): text(elements.first)
            case .object(let object): text(object["message"] ?? object["title"] ?? object["detail"] ?? object["error"])
            default: nil
            }
        }

        /// The error that an event of the type `error` reports.
        static func failure(ofData data: [UInt8]) -> Failure {
            let value = try? JSONValue(parsing: data)
            return Failure(
                sign: "an event of the type error", text: text(value) ?? String(decoding: data, as: UTF8.self))
        }
    }
}
