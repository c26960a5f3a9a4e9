import JSONMapper
import OneWaySynchronizer

extension WebhookVerifier {
    /// The answer to a webhook.
    public struct Answer: Sendable {
        /// The status of the HTTP response.
        public var status: Int
        /// What the webhook changed; nil if it was not handled now.
        public var result: StoreSyncResult?
        /// Why it was not handled, or only in part; nil if it was handled now or before.
        public var error: (any Error)?
    }

    /// Verifies a webhook, applies its changes unless it was handled before, and answers it.
    ///
    ///     let answer = await verifier.answer(body, header: { request.headers[$0] }) {
    ///         try await live.apply([.objects(.bytes(body), keyPath: "data.object")])
    ///     }
    ///
    /// The status of the answer is:
    ///
    /// - 200 if the changes were applied, now or before.
    /// - `rejectedStatus` if they never can be: objects were rejected, or the body is not the
    ///   expected JSON. Unless this status means success, the same request is accepted again.
    /// - 401 if the request is not a valid one of the sender.
    /// - 503 after any other error, so that the webhook is sent again.
    ///
    /// - Parameters:
    ///   - body: The body as it arrived. JSON that was parsed and written again differs.
    ///   - header: Returns the value of a header field, whose name is in lowercase; nil if the
    ///     request does not have it.
    ///   - rejectedStatus: The status for changes that cannot be applied; 422 by default. Some
    ///     senders send a webhook again until its status means success: 200 stops them.
    ///   - handle: Applies the changes.
    public func answer(
        _ body: [UInt8], header: (_ name: String) -> String?, rejectedStatus: Int = 422,
        handle: () async throws -> StoreSyncResult
    ) async -> Answer {
        let isSuccess = (200..<300).contains(rejectedStatus)
        do {
            let answer = try await receive(body, header: header) {
                let answer = try await self.answer(rejectedStatus: rejectedStatus, handle: handle)
                // The verifier forgets a request whose handling throws.
                if answer.error != nil, !isSuccess { throw Rejection(answer: answer) }
                return answer
            }
            return answer ?? Answer(status: 200)
        } catch let rejection as Rejection {
            return rejection.answer
        } catch let refusal as Refusal where !refusal.isRetryable {
            return Answer(status: 401, error: refusal)
        } catch {
            return Answer(status: 503, error: error)
        }
    }

    /// Carries the answer to a request that is not remembered.
    private struct Rejection: Error {
        let answer: Answer
    }

    private func answer(
        rejectedStatus: Int, handle: () async throws -> StoreSyncResult
    ) async throws -> Answer {
        do {
            let result = try await handle()
            guard result.rejectedCount > 0 else { return Answer(status: 200, result: result) }
            let error = LiveSync.Refusal.rejected(count: result.rejectedCount, first: result.rejected.first)
            return Answer(status: rejectedStatus, result: result, error: error)
        } catch let error where error.isOfContent {
            return Answer(status: rejectedStatus, error: error)
        }
    }
}

extension Error {
    /// Whether the content of a change causes the error each time. What a corrected program could
    /// apply is not such a change.
    fileprivate var isOfContent: Bool {
        switch self {
        case let refusal as LiveSync.Refusal: !refusal.isRetryable
        case let error as JSONError: error.reason != nil
        case let error as MappingError: error.isOfContent
        case let error as StoreSyncError: error.isOfContent
        default: false
        }
    }
}

extension MappingError {
    fileprivate var isOfContent: Bool {
        switch self {
        case .unfit: true
        case .unknownEntity, .unknownTransformer, .unrelatedEntity, .irreversible, .inexpressible, .nestedTooDeep: false
        }
    }
}

extension StoreSyncError {
    fileprivate var isOfContent: Bool {
        switch self {
        case .payloadDiffers, .unidentifiedObjects, .unsuitableRelationship, .unsuitableKey, .unsuitableTombstones,
            .unrequestedDetails:
            true
        case .differentModels, .removalLimitExceeded, .noParent, .noRelationship, .repeatedPages, .noJSON,
            .unknownVersion:
            false
        }
    }
}
