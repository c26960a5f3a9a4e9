#if os(Linux)
import COneWayCurl
import Foundation
import OneWaySynchronizer
import SyncBase

/// The transport over a network on Linux: libcurl, which decompresses bodies, speaks HTTP/2 over
/// TLS, and trusts the certificates that the system trusts.
///
/// A body that is not read stops arriving after about a megabyte, and a request that is cancelled
/// ends at once. Proxies are taken from the environment (`https_proxy`, `no_proxy`). Redirects are
/// handed on as they come; cookies are not used.
public final class CurlTransport: HTTPTransport {
    private let engine: CurlEngine

    /// Creates a transport with connections of its own; nil if the system has no libcurl 7.68 or
    /// newer.
    public init?() {
        guard owc_load() != 0, let engine = CurlEngine() else { return nil }
        self.engine = engine
    }

    deinit {
        engine.stop()
    }

    /// Sends a request; ``HTTPTransport/send(_:)`` documents the contract.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let transfer = CurlTransfer(request, engine: engine)
        let body = CurlBody(transfer: transfer)
        engine.add(transfer)
        let head = try await withTaskCancellationHandler {
            try await transfer.head.value()
        } onCancel: {
            transfer.cancel()
        }
        var response = HTTPResponse(status: head.status, headers: head.headers, body: body)
        response.isFramed = head.isFramed
        return response
    }
}

/// The pieces of a body as libcurl hands them over. The transfer ends with the last reference.
private final class CurlBody: AsyncSequence, Sendable {
    private let transfer: CurlTransfer

    init(transfer: CurlTransfer) {
        self.transfer = transfer
    }

    deinit {
        transfer.cancel()
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let body: CurlBody

        mutating func next() async throws -> [UInt8]? {
            try await body.transfer.next()
        }
    }
}
#endif
