#if os(Linux)
import COneWayZlib

/// Decompresses a body as it arrives, and detects whether it is complete (RFC 1950 to 1952).
///
/// The body may consist of several gzip members. Neither libcurl nor a session reports whether the
/// end was reached; libcurl also rejects a second member.
final class BodyDecompressor {
    /// The values of `Accept-Encoding` that can be decompressed; `identity` without zlib.
    static var acceptedEncodings: String { owz_load() != 0 ? "gzip, deflate" : "identity" }

    /// The maximum size of a decompressed piece. Decompression can enlarge a body a thousand times.
    private static let pieceByteCount = 1 << 16

    private let stream: UnsafeMutableRawPointer
    /// The input that is not decompressed yet, from the offset.
    private var input: [UInt8] = []
    private var offset = 0
    private var receivedByteCount = 0
    /// Whether the last piece was full, in which case more output may follow without more input.
    private var isFull = false
    private var isAtEnd = false

    /// Whether a body in an encoding can be decompressed.
    static func supports(_ encoding: String) -> Bool {
        ["gzip", "x-gzip", "deflate"].contains(encoding.lowercased()) && owz_load() != 0
    }

    /// Creates a decompressor of a body.
    ///
    /// - Parameters:
    ///   - encoding: The value of `Content-Encoding`.
    ///   - beginning: At least one byte of the body.
    /// - Throws: ``HTTPError/Problem`` if the encoding is not supported.
    init(encoding: String, beginning: [UInt8]) throws(HTTPError.Problem) {
        guard Self.supports(encoding) else {
            throw .malformed("the body is compressed (\(PrintableText.line(encoding))), which cannot be read")
        }
        // Some servers omit zlib's header, whose first byte ends with 8.
        let isRaw = encoding.lowercased() == "deflate" && beginning[0] != 0x1F && beginning[0] & 15 != 8
        guard let stream = owz_new(isRaw ? OWZ_WITHOUT_HEADER : OWZ_WITH_HEADER) else {
            throw .malformed("no memory to decompress the body")
        }
        self.stream = stream
        take(beginning)
    }

    deinit {
        owz_free(stream)
    }

    /// Adds more of the body.
    func take(_ bytes: [UInt8]) {
        receivedByteCount += bytes.count
        input = bytes
        offset = 0
    }

    /// Decompresses the added bytes.
    ///
    /// - Returns: The next piece, not empty; nil if more of the body is needed, or none is left.
    func next() throws(HTTPError.Problem) -> [UInt8]? {
        while offset < input.count || isFull {
            if isAtEnd, offset < input.count {
                // Only another gzip member can follow.
                guard input[offset] == 0x1F else { throw .malformed("bytes follow the end of the compressed body") }
                owz_reset(stream)
                isAtEnd = false
            }
            var code = OWZ_OK
            let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceByteCount) { output, count in
                input.withUnsafeBufferPointer { input in
                    var unread = UInt32(input.count - offset)
                    var room = UInt32(output.count)
                    code = owz_inflate(
                        stream, input.baseAddress.map { $0 + offset }, &unread, output.baseAddress, &room)
                    offset = input.count - Int(unread)
                    count = output.count - Int(room)
                    isFull = room == 0 && code != OWZ_STREAM_END
                }
            }
            switch code {
            case OWZ_OK: break
            case OWZ_STREAM_END: isAtEnd = true
            case OWZ_MEMORY_ERROR: throw .malformed("no memory to decompress the body")
            case OWZ_BUFFER_ERROR where piece.isEmpty: return nil
            default: throw .malformed("the body is not compressed as its head says")
            }
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// Verifies that the compressed data ends where the body ends.
    func finish() throws(HTTPError.Problem) {
        guard isAtEnd else { throw .cutShort(received: receivedByteCount, expected: nil) }
    }
}
#endif
