import OneWaySynchronizer
import SyncBase
package import Foundation

/// A request of a client, from the wait for a connection to the last byte of the body.
///
/// Redirects are followed and limits are enforced. The body is fetched ahead of its reader, up to 1
/// MiB. The request ends when the last reference is released.
package final class HTTPFetch<Inspector: BodyInspector>: Sendable {
    private let work: FetchWork<Inspector>
    private let task: Task<Void, Never>
    /// The requested address, before redirects.
    package let url: URL

    /// Creates a fetch and starts it.
    package init(_ order: HTTPOrder<Inspector>, by client: HTTPClient) {
        url = order.request.url
        let work = FetchWork(order, by: client)
        self.work = work
        // The new task is not cancelled with this one, and could send before its reader waits.
        let isCancelled = Task.isCancelled
        task = Task.atOnce { await work.run(isCancelled: isCancelled) }
        work.watch.guardTask(task)
    }

    deinit {
        task.cancel()
    }

    /// Waits for the head of a success, or of a 304 to a conditional request.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    package func head() async throws -> HTTPHead {
        try await work.state.head()
    }

    /// Waits for the findings of the inspector; nil without one.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    package func facts() async throws -> Inspector.Facts? {
        try await work.state.waitForEnd()
        return work.facts.value
    }

    /// The first line of the received part of the body, for messages.
    package var firstLine: String {
        PrintableText.firstLine(of: secrets.redacted(work.state.beginning))
    }

    /// The credentials that have been sent.
    package var secrets: SentSecrets { work.secrets }

    /// Waits for the next bytes of the body; nil at its end.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    package func nextPiece() async throws -> [UInt8]? {
        try await work.state.take()
    }
}
