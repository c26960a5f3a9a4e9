#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// An error of a system call that the server needs.
package enum LoopbackError: Error, CustomStringConvertible {
    /// A system call failed; `code` is its `errno`.
    case system(call: String, code: Int32)

    package var description: String {
        switch self {
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code))) (\(code))"
        }
    }
}

/// The owner of a nonblocking file descriptor, which child processes do not inherit; closes it on
/// deinitialization.
final class Descriptor: Sendable {
    enum Reading {
        case bytes([UInt8])
        /// The peer has closed the connection.
        case end
        /// No data is available yet.
        case nothing
        case failed
    }

    let raw: Int32

    init(owning raw: Int32) {
        self.raw = raw
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        _ = fcntl(raw, F_SETFL, fcntl(raw, F_GETFL) | O_NONBLOCK)
    }

    deinit {
        close(raw)
    }

    static func pipe() throws(LoopbackError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
        let made = Darwin.pipe(&ends)
        #elseif canImport(Musl)
        let made = Musl.pipe(&ends)
        #else
        let made = Glibc.pipe(&ends)
        #endif
        guard made == 0 else { throw .system(call: "pipe", code: errno) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// Returns a TCP socket on 127.0.0.1 with a system-chosen port; it refuses connections until it
    /// listens.
    static func boundToLoopback() throws(LoopbackError) -> Descriptor {
        #if canImport(Glibc)
        let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let raw = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard raw >= 0 else { throw .system(call: "socket", code: errno) }
        let socket = Descriptor(owning: raw)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0 else { throw .system(call: "bind", code: errno) }
        return socket
    }

    /// Starts listening for connections.
    func startListening() throws(LoopbackError) {
        guard listen(raw, 512) == 0 else { throw .system(call: "listen", code: errno) }
    }

    /// Returns the port of a bound socket.
    func boundPort() throws(LoopbackError) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(raw, $0, &length) }
        }
        guard named == 0 else { throw .system(call: "getsockname", code: errno) }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Accepts the next connection; nil if none is available.
    func accept() -> Descriptor? {
        #if canImport(Darwin)
        let raw = Darwin.accept(self.raw, nil, nil)
        #elseif canImport(Musl)
        let raw = Musl.accept(self.raw, nil, nil)
        #else
        let raw = Glibc.accept(self.raw, nil, nil)
        #endif
        guard raw >= 0 else { return nil }
        let socket = Descriptor(owning: raw)
        var on: Int32 = 1
        // Pieces are sent as they are written, without buffering.
        setsockopt(raw, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
        // A disconnected client causes an error instead of a signal; Linux has a flag for each
        // send.
        setsockopt(raw, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return socket
    }

    /// Reads available data without waiting.
    func readNow(atMost count: Int) -> Reading {
        var failed = false
        var isEmpty = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let got = read(raw, buffer.baseAddress, count)
            initialized = max(got, 0)
            if got < 0 { (failed, isEmpty) = Self.meaning(of: errno) }
        }
        if failed { return .failed }
        if isEmpty { return .nothing }
        return bytes.isEmpty ? .end : .bytes(bytes)
    }

    /// Returns whether the peer has closed the connection and all of its data was read.
    func peerHasClosed() -> Bool {
        var byte: UInt8 = 0
        return recv(raw, &byte, 1, Int32(MSG_PEEK)) == 0
    }

    /// Sends to a socket as many bytes as the system accepts without waiting.
    ///
    /// - Returns: The number of accepted bytes, possibly 0; nil if the connection is broken.
    func sendNow(_ bytes: ArraySlice<UInt8>) -> Int? {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        return sent(bytes.withUnsafeBytes { send(raw, $0.baseAddress, $0.count, flags) })
    }

    /// Writes to a pipe as many bytes as the system accepts without waiting.
    ///
    /// - Returns: The number of accepted bytes, possibly 0; nil if the pipe is broken.
    func writeNow(_ bytes: ArraySlice<UInt8>) -> Int? {
        sent(bytes.withUnsafeBytes { write(raw, $0.baseAddress, $0.count) })
    }

    private func sent(_ count: Int) -> Int? {
        guard count < 0 else { return count }
        return Self.meaning(of: errno).failed ? nil : 0
    }

    private static func meaning(of code: Int32) -> (failed: Bool, isEmpty: Bool) {
        let mayTryAgain = code == EAGAIN || code == EWOULDBLOCK || code == EINTR
        return (!mayTryAgain, mayTryAgain)
    }
}
