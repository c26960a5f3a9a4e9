import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import Testing

@Suite(.endsInTime) struct WebhookVerifierTests {
    /// A request of a sender.
    struct Webhook: Sendable, CustomTestStringConvertible {
        let name: String
        var scheme: WebhookVerifier.Scheme
        var secret: String
        var body: [UInt8]
        var fields: [String: String]
        /// When it was sent; nil if no time is signed.
        var time: Double?

        var testDescription: String { name }

        func verifier(secrets: [String]? = nil, after delay: Double = 0) -> WebhookVerifier {
            let date = Date(timeIntervalSince1970: (time ?? 0) + delay)
            return WebhookVerifier(scheme, secrets: secrets ?? [secret], date: { date })
        }

        func receive(by verifier: WebhookVerifier, handle: () async throws -> Void = {}) async throws -> Bool {
            try await verifier.receive(body, header: { fields[$0] }, handle: handle) != nil
        }
    }

    /// The examples in the documentation of GitHub and Slack. Stripe publishes none: this code is
    /// that of Python's hmac.
    static let webhooks = [
        Webhook(
            name: "GitHub", scheme: .github, secret: "It's a Secret to Everybody", body: Array("Hello, World!".utf8),
            fields: [
                "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
            ]),
        Webhook(
            name: "Slack", scheme: .slack, secret: "8f742231b10e8888abcd99yyyzzz85a5",
            body: Array(
                ("token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
                    + "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
                    + "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
                    + "%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
                    + "803a0bc887a14d10d2c447fce8b6703c").utf8),
            fields: [
                "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
                "x-slack-request-timestamp": "1531420618",
            ], time: 1_531_420_618),
        Webhook(
            name: "Stripe", scheme: .stripe, secret: "whsec_test",
            body: Array(#"{"id":"evt_1","object":"event"}"#.utf8),
            fields: [
                "stripe-signature":
                    "t=1492774577,v1=da4a28bb1e8ecf97feff14bd141aa183c9cbe6a13dcfb1a2ace8dc472e62593b,v0=00"
            ], time: 1_492_774_577),
    ]

    @Test(arguments: webhooks) func thePublishedExampleIsAcceptedOnce(webhook: Webhook) async throws {
        let verifier = webhook.verifier()
        #expect(try await webhook.receive(by: verifier))
        #expect(try await webhook.receive(by: verifier) == false)
    }

    @Test(arguments: webhooks) func anyOtherBodySecretOrCodeIsRefused(webhook: Webhook) async throws {
        func refusal(_ change: (inout Webhook) -> Void, secrets: [String]? = nil) async -> WebhookVerifier.Refusal? {
            var changed = webhook
            change(&changed)
            return await #expect(throws: WebhookVerifier.Refusal.self) {
                _ = try await changed.receive(by: webhook.verifier(secrets: secrets)) { Issue.record("handled") }
            }
        }
        #expect(await refusal { $0.body.append(0x20) } == .invalidSignature)
        #expect(await refusal { $0.body = [] } == .invalidSignature)
        #expect(await refusal({ _ in }, secrets: ["other"]) == .invalidSignature)
        #expect(await refusal({ _ in }, secrets: []) == .invalidSignature)
        #expect(await refusal { $0.fields = [:] } == .unsigned)
        for (name, value) in webhook.fields {
            #expect(await refusal { $0.fields[name] = nil } == .unsigned)
            #expect(await refusal { $0.fields[name] = "" } == .unsigned)
            #expect(await refusal { $0.fields[name] = String(repeating: ",", count: 1_000) } == .unsigned)
            #expect(await refusal { $0.fields[name] = value.replacing("1", with: "2") } != nil)
        }
    }

    /// The code of an empty secret is known to everybody.
    @Test(arguments: [WebhookVerifier.Scheme.github]) func anEmptySecretSignsNothing(scheme: WebhookVerifier.Scheme)
        async throws
    {
        var code = HMACSHA256(key: "".utf8)
        code.update("body".utf8)
        let header = "sha256=" + Hexadecimal.text(of: code.code())
        let verifier = WebhookVerifier(scheme, secrets: [""])
        await #expect(throws: WebhookVerifier.Refusal.invalidSignature) {
            try await verifier.receive(Array("body".utf8), header: { _ in header }) {}
        }
    }

    @Test(arguments: webhooks.filter { $0.time != nil }, [-301.0, -300, 0, 300, 301, 1e9])
    func onlyARecentWebhookIsAccepted(webhook: Webhook, delay: Double) async throws {
        let verifier = webhook.verifier(after: delay)
        if abs(delay) <= 300 {
            #expect(try await webhook.receive(by: verifier))
        } else {
            await #expect(throws: WebhookVerifier.Refusal.outsideTimeWindow(difference: .seconds(abs(delay)))) {
                _ = try await webhook.receive(by: verifier)
            }
        }
    }

    @Test func aTimeThatWasChangedIsNotSigned() async throws {
        var webhook = Self.webhooks[1]
        webhook.fields["x-slack-request-timestamp"] = "1531420619"
        let verifier = webhook.verifier()
        await #expect(throws: WebhookVerifier.Refusal.invalidSignature) { _ = try await webhook.receive(by: verifier) }
        for time in ["-1531420618", "99999999999999999999", "1e9", "0x5B4791CA", " 1531420618", ""] {
            webhook.fields["x-slack-request-timestamp"] = time
            await #expect(throws: WebhookVerifier.Refusal.unsigned) { _ = try await webhook.receive(by: verifier) }
        }
    }

    /// Neither another spelling of the code nor a code of another secret makes a copy a new
    /// request.
    @Test func aCopyWithAnotherHeaderIsNotHandledAgain() async throws {
        var webhook = Self.webhooks[2]
        let verifier = webhook.verifier(secrets: ["whsec_old", "whsec_test"])
        #expect(try await webhook.receive(by: verifier))
        for field in [
            "t=1492774577, v1=da4a28bb1e8ecf97feff14bd141aa183c9cbe6a13dcfb1a2ace8dc472e62593b",
            "v1=00,v1=DA4A28BB1E8ECF97FEFF14BD141AA183C9CBE6A13DCFB1A2ACE8DC472E62593B,t=1492774577",
            "t=1492774577,v1=1d95cf3dccbc6b325136d01298e6f894dc35559d1958c99dd5d6998ae6f1d2df",
        ] {
            webhook.fields = ["stripe-signature": field]
            #expect(try await webhook.receive(by: verifier) == false)
        }
        webhook.fields = [
            "stripe-signature": "t=1492774577,t=1,v1=da4a28bb1e8ecf97feff14bd141aa183c9cbe6a13dcfb1a2ace8dc472e62593b"
        ]
        await #expect(throws: WebhookVerifier.Refusal.unsigned) { _ = try await webhook.receive(by: verifier) }
    }

    @Test func aWebhookThatFailedIsHandledAgain() async throws {
        let webhook = Self.webhooks[0]
        let verifier = webhook.verifier()
        await #expect(throws: TestError.self) {
            _ = try await webhook.receive(by: verifier) { throw TestError("full") }
        }
        #expect(try await webhook.receive(by: verifier))
        #expect(try await webhook.receive(by: verifier) == false)
    }

    @Test func aCopyOfAWebhookThatIsBeingHandledIsRefusedForNow() async throws {
        let webhook = Self.webhooks[0]
        let verifier = webhook.verifier()
        let isHandled = try await webhook.receive(by: verifier) {
            let refusal = await #expect(throws: WebhookVerifier.Refusal.underWay) {
                _ = try await webhook.receive(by: verifier)
            }
            #expect(refusal?.isRetryable == true)
        }
        #expect(isHandled)
        #expect(!WebhookVerifier.Refusal.unsigned.isRetryable)
    }

    @Test func theMemoryIsBounded() async throws {
        let verifier = WebhookVerifier(.github, secrets: ["secret"])
        func receive(_ number: Int) async throws -> Bool {
            let body = Array("\(number)".utf8)
            var code = HMACSHA256(key: "secret".utf8)
            code.update(body)
            let header = "sha256=" + Hexadecimal.text(of: code.code())
            return try await verifier.receive(body, header: { _ in header }) {} != nil
        }
        for number in 0...10_000 { #expect(try await receive(number)) }
        #expect(try await receive(1) == false)
        // The oldest one is forgotten.
        #expect(try await receive(0))
    }

    @Test(arguments: [
        (WebhookVerifier.Refusal.unsigned, "the webhook has no signature of the expected form"),
        (.invalidSignature, "the signature of the webhook is not valid"),
        (
            .outsideTimeWindow(difference: .seconds(3_661)),
            "the time of the webhook differs from the time here by 1:01:01"
        ),
        (.underWay, "the same webhook is being handled"),
    ])
    func aRefusalIsASentence(refusal: WebhookVerifier.Refusal, sentence: String) {
        #expect(refusal.description == sentence)
        #expect(refusal.localizedDescription == sentence)
    }

    // MARK: Answers

    private func answer(
        _ webhook: Webhook, by verifier: WebhookVerifier, rejectedStatus: Int = 422, rejectedCount: Int = 0,
        error: (any Error)? = nil
    ) async -> WebhookVerifier.Answer {
        await verifier.answer(webhook.body, header: { webhook.fields[$0] }, rejectedStatus: rejectedStatus) {
            if let error { throw error }
            var result = StoreSyncResult()
            result.rejectedCount = rejectedCount
            return result
        }
    }

    @Test(arguments: [199, 200, 299, 300, 422]) func whatIsRejectedIsAnsweredAsTheCallerChooses(status: Int)
        async throws
    {
        let webhook = Self.webhooks[0]
        let problem = MappingError.Problem(
            entity: "User", attribute: "age", keyPath: "age", index: 0, reason: .missingMandatory)
        let errors: [(any Error)?] = [
            nil, StoreSyncError.unsuitableKey(entity: "User"), LiveSync.Refusal.unknownEntity("User"),
            LiveSync.Refusal.rejected(count: 1, first: nil),
            StoreSyncError.payloadDiffers(DriftReport(), rejectedCount: 1),
            StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: 1),
            StoreSyncError.unsuitableRelationship(entity: "User", relationship: "notes", index: 0),
            StoreSyncError.unsuitableTombstones(entity: "User", keyPath: "gone"),
            StoreSyncError.unrequestedDetails(entity: "User", count: 1),
            MappingError.unfit(problem), #expect(throws: JSONError.self) { try JSONValue(parsing: "{") },
        ]
        for error in errors {
            let verifier = webhook.verifier()
            let first = await answer(
                webhook, by: verifier, rejectedStatus: status, rejectedCount: error == nil ? 1 : 0, error: error)
            #expect(first.status == status && first.error != nil)
            #expect(first.result?.rejectedCount == (error == nil ? 1 : nil))
            // A request that was answered with success is remembered, another one is not.
            let second = await answer(webhook, by: verifier, rejectedStatus: status)
            #expect(second.status == 200 && second.error == nil)
            #expect((second.result == nil) == (200...299).contains(status))
        }
    }

    /// What a corrected program could apply is sent again.
    @Test(
        arguments: [
            StoreSyncError.unknownVersion(entity: "User", attribute: "at"), StoreSyncError.differentModels,
            StoreSyncError.removalLimitExceeded(
                entity: "User", removals: 2, localCount: 2, limit: RemovalLimit(count: 1)),
            StoreSyncError.noParent(entity: "User"), StoreSyncError.noJSON(entity: "User"),
            StoreSyncError.noRelationship(entity: "User", destination: "Note"),
            StoreSyncError.repeatedPages(entity: "User", count: 30),
            MappingError.unknownTransformer(entity: "User", attribute: nil, name: "Cents"),
            MappingError.unknownEntity("User"), MappingError.unrelatedEntity(entity: "User", answer: "Note"),
            MappingError.irreversible(entity: "User", attribute: "age", by: "Cents", ""),
            MappingError.inexpressible(entity: "User", key: nil, attribute: "age"),
            MappingError.nestedTooDeep(entity: "User", maximumDepth: 9), LiveSync.Refusal.tooManyWaiting(limit: 9),
            JSONError.unreadableFile(path: "/users.json", code: 2),
        ] as [any Error])
    func anErrorOfTheProgramIsNoContent(error: any Error) async throws {
        let webhook = Self.webhooks[0]
        let verifier = webhook.verifier()
        #expect(await answer(webhook, by: verifier, rejectedStatus: 200, error: error).status == 503)
        #expect(await answer(webhook, by: verifier, rejectedStatus: 200).result != nil)
    }

    @Test func everyOutcomeHasItsStatus() async throws {
        var webhook = Self.webhooks[0]
        let verifier = webhook.verifier()
        #expect(await answer(webhook, by: verifier, error: TestError("full")).status == 503)
        #expect(await answer(webhook, by: verifier, error: LiveSync.Refusal.notActive).status == 503)
        #expect(await answer(webhook, by: verifier).status == 200)
        #expect(await answer(webhook, by: verifier).result == nil)
        webhook.body = []
        let refused = await answer(webhook, by: verifier)
        #expect(refused.status == 401 && refused.error as? WebhookVerifier.Refusal == .invalidSignature)
    }
}
