import Foundation
import OneWaySynchronizer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Fetches bodies over HTTP, each bounded in size, in waiting and in redirects; never returns a body that is not whole.
///
/// `URLSession` underneath, with a delegate for what its ready-made `data(from:)` does not do: a body is written to its
/// file as it arrives, a body that grows beyond the limit is stopped there, and a body shorter than promised is an error
/// on every platform.
///
/// On Linux a session reads as fast as the server sends, whatever its delegate does. A body without an end that comes
/// faster than it can be read, which takes a server on the same machine, keeps it from ever seeing that it was stopped.
final class HTTPClient: Sendable {
    /// What the client puts up with.
    struct Limits: Sendable {
        /// How long nothing at all may arrive. 30 s by default.
        var silence: Duration = .seconds(30)
        /// How many redirects are followed. 5 by default.
        var redirectCount = 5
        /// The longest list, in bytes; it is held in memory. 256 MiB by default.
        var listByteCount = 256 << 20
        /// The longest preview or content, in bytes; it is streamed to a file. 4 GiB by default.
        var fileByteCount = 4 << 30
    }

    let limits: Limits
    private let session: URLSession
    private let delegate: TransferDelegate
    /// Where requests are cancelled. `URLSessionTask.cancel` waits for the session's own queue, which on Linux can wait
    /// for the very task that is being cancelled: never from a cancellation handler, nor from a delegate.
    private let stopping = DispatchQueue(label: "HTTPClient.stopping")

    /// - Parameter limits: What the client puts up with.
    init(limits: Limits = Limits()) {
        let configuration = URLSessionConfiguration.ephemeral
        // How many requests run at a time is the caller's business, and one that nobody waits for any more may keep its
        // connection for a while.
        configuration.httpMaximumConnectionsPerHost = 4_096
        configuration.timeoutIntervalForRequest = limits.silence / .seconds(1)
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        // A body that is not compressed on its way is one whose length can be checked against what was promised.
        configuration.httpAdditionalHeaders = ["Accept-Encoding": "identity"]
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        self.limits = limits
        self.delegate = TransferDelegate()
        self.session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// Gives the connections back, once the last request has ended. The client cannot be used afterwards.
    func close() {
        session.finishTasksAndInvalidate()
    }

    /// Fetches a body into memory.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` as soon as the caller's task is cancelled.
    func list(from url: URL) async throws -> Data {
        try await run(
            Transfer(url: url, sink: .memory, limit: limits.listByteCount, redirectLimit: limits.redirectCount))
    }

    /// Fetches a body into a file, which must not exist yet; after an error the file may be there, half written.
    ///
    /// - Returns: The number of bytes.
    /// - Throws: ``HTTPError``, or `CancellationError` as soon as the caller's task is cancelled.
    func download(from url: URL, to file: URL) async throws -> Int {
        let transfer: Transfer
        do {
            try Data().write(to: file, options: .withoutOverwriting)
            transfer = Transfer(
                url: url, sink: .file(try FileHandle(forWritingTo: file)), limit: limits.fileByteCount,
                redirectLimit: limits.redirectCount)
        } catch {
            throw HTTPError(url: url, problem: .cannotWrite(error.localizedDescription))
        }
        _ = try await run(transfer)
        return transfer.receivedByteCount
    }

    private func run(_ transfer: Transfer) async throws -> Data {
        let task = session.dataTask(with: URLRequest(url: transfer.url))
        delegate.register(transfer, for: task)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isWanted = transfer.begin(continuation) { [stopping] in
                    stopping.async { task.cancel() }
                }
                if isWanted {
                    task.resume()
                } else {
                    // A task that was never sent would keep its session from ending.
                    stopping.async { task.cancel() }
                }
            }
        } onCancel: {
            transfer.finish(.failure(CancellationError()))
        }
    }
}

/// Hands a session's callbacks to the transfer they are about.
private final class TransferDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: Transfer]>([:])

    func register(_ transfer: Transfer, for task: URLSessionTask) {
        transfers.withLock { $0[task.taskIdentifier] = transfer }
    }

    func forget(_ task: URLSessionTask) {
        transfers.withLock { _ = $0.removeValue(forKey: task.taskIdentifier) }
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let isFollowed = transfer(of: task)?.redirect(to: request.url) ?? false
        completionHandler(isFollowed ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfer(of: task)?.complete(error)
        forget(task)
    }
}
