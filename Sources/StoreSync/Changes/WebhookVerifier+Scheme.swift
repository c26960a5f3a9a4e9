import SyncBase

extension WebhookVerifier {
    /// How a sender signs its webhooks: always with HMAC-SHA-256.
    public struct Scheme: Sendable {
        /// The parts of a signature.
        struct Signature {
            /// What precedes the body in the signed bytes.
            var prefix = ""
            /// The time in seconds since 1970; nil if no time is signed.
            var time: UInt32?
            /// The codes, one of which has to be valid.
            var codes: [[UInt8]]
        }

        /// Reads the signature from the header fields; nil if there is none, or not exactly one.
        let signature: @Sendable (_ header: (String) -> String?) -> Signature?

        /// GitHub's: `X-Hub-Signature-256` over the body, without a time.
        ///
        /// Source: GitHub Docs, "Validating webhook deliveries".
        public static let github = Scheme { header in
            code(in: header("x-hub-signature-256"), after: "sha256=").map { Signature(codes: [$0]) }
        }

        /// Slack's: `X-Slack-Signature` over `X-Slack-Request-Timestamp` and the body.
        ///
        /// Source: Slack API, "Verifying requests from Slack".
        public static let slack = Scheme { header in
            guard let code = code(in: header("x-slack-signature"), after: "v0="),
                let text = header("x-slack-request-timestamp"), let time = UInt32(text)
            else { return nil }
            return Signature(prefix: "v0:\(text):", time: time, codes: [code])
        }

        /// Stripe's: `Stripe-Signature` with a time and codes over the time and the body.
        ///
        /// Source: Stripe Docs, "Resolve webhook signature verification errors".
        public static let stripe = Scheme { header in
            let fields = (header("stripe-signature") ?? "").split(separator: ",").map { field in
                field.drop { $0 == " " }
            }
            let times = fields.filter { $0.hasPrefix("t=") }.map { String($0.dropFirst(2)) }
            let codes = fields.compactMap { code(in: String($0), after: "v1=") }
            guard times.count == 1, let text = times.first, let time = UInt32(text), !codes.isEmpty else {
                return nil
            }
            return Signature(prefix: "\(text).", time: time, codes: codes)
        }

        private static func code(in text: String?, after mark: String) -> [UInt8]? {
            guard let text, text.hasPrefix(mark) else { return nil }
            return Hexadecimal.bytes(of: text.dropFirst(mark.count))
        }
    }
}
