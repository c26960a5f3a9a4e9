import OneWaySynchronizer
import SyncBase
package import Foundation

/// A request of a client, from the wait for a connection to the last byte of the body.
///
/// Redirects are followed and limits are enforced. The body is fetched ahead of its reader, up to 1
/// MiB. The request ends when the last reference is released.
package final class HTTPFetch<Inspector: BodyInspector>: Sendable {
    private let headPromise = Promise<HTTPHead>()
    private let endPromise = Promise<Inspector.Facts?>()
    private let buffer = ByteBuffer(capacity: 1 << 20)
    private let beginning = Locked<[UInt8]>([])
    private let sent = Locked<Set<HTTPHeaders>>([])
    private let secretParameters: Set<String>
    private let task: Task<Void, Never>
    /// The requested address, before redirects.
    package let url: URL

    /// Creates a fetch and starts it.
    package init(_ order: HTTPOrder<Inspector>, by client: HTTPClient) {
        url = order.request.url
        secretParameters = client.secretParameters
        let work = FetchWork(
            order: order, client: client, head: headPromise, end: endPromise, buffer: buffer,
            beginning: beginning, sent: sent)
        task = Task { await work.run() }
    }

    deinit {
        task.cancel()
    }

    /// Waits for the head of a success, or of a 304 to a conditional request.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    package func head() async throws -> HTTPHead {
        try await headPromise.value()
    }

    /// Waits for the findings of the inspector; nil without one.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    package func facts() async throws -> Inspector.Facts? {
        try await endPromise.value()
    }

    /// The first line of the received part of the body, for messages.
    package var firstLine: String {
        PrintableText.firstLine(of: secrets.redacted(beginning.withLock { $0 }))
    }

    /// The credentials that have been sent.
    package var secrets: SentSecrets {
        SentSecrets(allOf: sent.withLock { $0 }, url: url, parameters: secretParameters)
    }

    /// Waits for the next bytes of the body; nil at its end.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    package func nextPiece() async throws -> [UInt8]? {
        try await buffer.take()
    }
}
