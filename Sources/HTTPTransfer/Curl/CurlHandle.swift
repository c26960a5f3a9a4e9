#if os(Linux)
import COneWayCurl
import Foundation

/// A handle of libcurl for transfers, one after another.
///
/// Unchecked, because only the engine's thread uses it.
final class CurlHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
    /// What libcurl says about an error of the transfer, in 256 bytes.
    let error: UnsafeMutablePointer<CChar>
    /// The fields of the current request, which libcurl reads.
    private var headers: UnsafeMutableRawPointer?

    /// Creates a handle; nil without memory.
    init?(_ options: HTTPClient.ConnectionOptions) {
        error = .allocate(capacity: 256)
        error.initialize(repeating: 0, count: 256)
        guard let pointer = owc_easy_new(error, takeHeader, takeBody) else {
            error.deallocate()
            return nil
        }
        self.pointer = pointer
        owc_easy_connect_by(
            pointer, options.authorities?.path, options.certificate?.path, options.privateKey?.path,
            options.privateKeyPassword, options.proxy?.absoluteString)
    }

    deinit {
        owc_easy_free(pointer)
        if let headers { owc_list_free(headers) }
        error.deallocate()
    }

    /// Sets the next request.
    ///
    /// - Parameter context: What the callbacks receive.
    func prepare(_ request: HTTPRequest, context: UnsafeMutableRawPointer) {
        var lines: UnsafeMutableRawPointer?
        for (name, value) in request.headers.fields {
            // libcurl expects a field without a value as a name with a semicolon.
            lines = owc_list_append(lines, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if request.headers["User-Agent"] == nil { lines = owc_list_append(lines, "User-Agent: OneWaySynchronizer") }
        if request.headers["Accept-Encoding"] == nil { lines = owc_list_append(lines, Self.acceptedEncodings) }
        if request.body != nil {
            // The fields that libcurl would add to a body.
            if request.headers["Expect"] == nil { lines = owc_list_append(lines, "Expect:") }
            if request.headers["Content-Type"] == nil { lines = owc_list_append(lines, "Content-Type:") }
        }
        func prepare(_ body: UnsafePointer<CChar>?, _ count: Int) {
            owc_easy_prepare(pointer, request.url.absoluteString, request.method, body, count, lines, context)
        }
        if let body = request.body {
            // An empty body is still a body.
            (body.isEmpty ? [0] : body).withUnsafeBytes { bytes in
                prepare(bytes.bindMemory(to: CChar.self).baseAddress, body.count)
            }
        } else {
            prepare(nil, 0)
        }
        error.pointee = 0
        if let headers { owc_list_free(headers) }
        headers = lines
    }

    /// Has the transfer ask before it connects to an address, and connect without a proxy.
    ///
    /// - Parameter context: What the callback receives.
    func checkAddresses(context: UnsafeMutableRawPointer) {
        owc_easy_check_addresses(pointer, openSocket, context)
    }

    /// Some servers require the field.
    private static let acceptedEncodings = "Accept-Encoding: \(BodyDecompressor.acceptedEncodings)"
}

/// Called by libcurl with a line of a head.
private func takeHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().receiveHeader(line) ? size * count : 0
}

/// Called by libcurl with bytes of a body.
private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count).assumingMemoryBound(to: UInt8.self)
    let isTaken = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().receiveBody(piece)
    return isTaken ? size * count : Int(OWC_PAUSE.rawValue)
}

/// Called by libcurl to open a socket.
private func openSocket(_ context: UnsafeMutableRawPointer?, _ purpose: Int32, _ address: UnsafeMutableRawPointer?)
    -> Int32
{
    guard let context, let address else { return OWC_NO_SOCKET }
    var count = 0
    let bytes = UnsafeBufferPointer(start: owc_address_bytes(address, &count), count: count)
    let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.mayConnect(to: IPAddress(bytes: bytes)) ? owc_address_socket(address) : OWC_NO_SOCKET
}
#endif
