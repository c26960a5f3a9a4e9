/// An HTTP response: its head, and a body that arrives while it is read.
public struct HTTPResponse: Sendable {
    /// The status code, 100 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body, decompressed. It can be read only once.
    public var body: Body
    /// Whether the transport detects a truncated body.
    ///
    /// True by default, unless the header fields name a compression, because only the decompressor
    /// knows the end of the data. Use false for an HTTP/1 body that has neither a length nor
    /// chunks, and ends with its connection.
    public var isFramed: Bool

    /// Creates a response with a body that arrives over time.
    public init<Pieces: AsyncSequence & Sendable>(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: Pieces
    ) where Pieces.Element == [UInt8] {
        self.status = status
        self.headers = headers
        self.isFramed = headers.contentEncoding == nil
        self.body = Body(body)
    }

    /// Creates a response with a body in memory.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), bytes: [UInt8] = []) {
        let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
            if !bytes.isEmpty { continuation.yield(bytes) }
            continuation.finish()
        }
        self.init(status: status, headers: headers, body: body)
    }
}
