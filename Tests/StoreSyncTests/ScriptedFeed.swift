import OneWayTestSupport
import StoreSync

/// A feed of a test: hands over its events one by one.
final class ScriptedFeed: RemoteFeed {
    private let stream: AsyncStream<RemoteChange.Event>
    private let continuation: AsyncStream<RemoteChange.Event>.Continuation
    private let failure: (any Error)?
    /// How many events have been received in full, and how often the feed was begun.
    let receivedCount = Watched(0)
    let runCount = Watched(0)

    /// - Parameter failure: Ends every run but the first one at once.
    init(failing failure: (any Error)? = nil) {
        (stream, continuation) = AsyncStream.makeStream()
        self.failure = failure
    }

    func send(_ event: RemoteChange.Event) { continuation.yield(event) }

    /// Ends the feed for good.
    func finish() { continuation.finish() }

    func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws {
        let count = runCount.update { count in
            count += 1
            return count
        }
        if let failure, count > 1 { throw failure }
        for await event in stream {
            try await receive(event)
            receivedCount.update { $0 += 1 }
            if let failure { throw failure }
        }
        try Task.checkCancellation()
    }
}
