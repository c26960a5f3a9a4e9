#if os(Linux)
import COneWayCurl
import Foundation
import OneWaySynchronizer
import SyncBase

extension HTTPClient {
    /// The network transport on Linux: libcurl, which supports HTTP/2 over TLS and trusts the
    /// system's certificates.
    ///
    /// zlib decompresses bodies (gzip and deflate). A truncated compressed body is an error, as is
    /// a body with another encoding. A body that is not read stops arriving after about a megabyte,
    /// and a cancelled request ends at once. Proxies are taken from the environment (`https_proxy`,
    /// `no_proxy`), except for requests that require a public address. Redirects are returned, not
    /// followed; cookies are not used.
    public final class CurlTransport: HTTPClient.Transport {
        private let engine: CurlEngine
        /// The engine of requests that require a public address; created for the first one.
        ///
        /// It has its own connections, so that none is reused that was opened without a check.
        private let checkedEngine = Locked<CurlEngine?>(nil)
        private let isPublic: @Sendable (IPAddress) -> Bool
        private let options: HTTPClient.ConnectionOptions

        /// Creates a transport with its own connections; nil if the system has no libcurl 7.68 or
        /// newer.
        ///
        /// - Parameter options: How the transport connects; by default as the system says.
        public convenience init?(_ options: HTTPClient.ConnectionOptions = HTTPClient.ConnectionOptions()) {
            self.init(options, isPublic: \.isPublic)
        }

        /// Creates a transport with its own idea of public addresses.
        package init?(
            _ options: HTTPClient.ConnectionOptions = HTTPClient.ConnectionOptions(),
            isPublic: @escaping @Sendable (IPAddress) -> Bool
        ) {
            guard owc_load() != 0, let engine = CurlEngine(options) else { return nil }
            self.engine = engine
            self.options = options
            self.isPublic = isPublic
        }

        deinit {
            engine.send(.stop)
            checkedEngine.withLock { $0?.send(.stop) }
        }

        /// Sends a request; ``HTTPClient/Transport/send(_:)`` documents the contract.
        public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            // libcurl sends lines as they are.
            try request.validate()
            let engine = try request.requiresPublicAddress ? startedCheckedEngine() : engine
            let transfer = CurlTransfer(
                request, engine: engine, allows: request.requiresPublicAddress ? isPublic : nil)
            let life = CurlBody.Life(transfer: transfer)
            engine.send(.add(transfer))
            let head = try await transfer.head()
            let body = CurlBody(life: life, encoding: head.headers.contentEncoding)
            var response = HTTPResponse(status: head.status, headers: head.headers, body: body)
            response.isFramed = head.isFramed
            return response
        }

        private func startedCheckedEngine() throws(HTTPError.Problem) -> CurlEngine {
            let engine = checkedEngine.withLock { engine in
                if engine == nil { engine = CurlEngine(options) }
                return engine
            }
            guard let engine else { throw .unreachable("libcurl has no memory", isLasting: false) }
            return engine
        }
    }
}

/// The decompressed pieces of a body.
private struct CurlBody: AsyncSequence, Sendable {
    /// Ends the transfer with the last reference.
    final class Life: Sendable {
        let transfer: CurlTransfer

        init(transfer: CurlTransfer) {
            self.transfer = transfer
        }

        deinit {
            transfer.cancel()
        }
    }

    let life: Life
    /// The encoding of the body; nil if it is not compressed.
    let encoding: String?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let body: CurlBody
        /// Created with the first byte, because a response without a body may name an encoding.
        private var decompressor: BodyDecompressor?

        fileprivate init(body: CurlBody) {
            self.body = body
        }

        mutating func next() async throws -> [UInt8]? {
            guard let encoding = body.encoding else { return try await body.life.transfer.next() }
            while true {
                if let piece = try decompressor?.next() { return piece }
                guard let bytes = try await body.life.transfer.next() else {
                    try decompressor?.finish()
                    return nil
                }
                if let decompressor {
                    decompressor.take(bytes)
                } else {
                    decompressor = try BodyDecompressor(encoding: encoding, beginning: bytes)
                }
            }
        }
    }
}
#endif
