import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A TCP client that sends what it is told, and shows what comes back. Its calls block: the server
/// has threads of its own.
final class RawClient {
    private let socket: Int32

    /// - Returns: nil when the connection is refused.
    init?(port: Int) {
        #if canImport(Glibc)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #elseif canImport(Musl)
        socket = Musl.socket(AF_INET, SOCK_STREAM, 0)
        #else
        socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return nil }
    }

    deinit {
        close(socket)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(socket, bytes, bytes.count)
    }

    /// Everything until the server closes.
    func readToEnd() -> String {
        var all: [UInt8] = []
        while let bytes = read(atMost: 65_536) { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// What comes, until it ends in a text.
    func read(until end: String) -> String {
        var text = ""
        while !text.hasSuffix(end), let bytes = read(atMost: 1) { text += String(decoding: bytes, as: UTF8.self) }
        return text
    }

    private func read(atMost count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        #if canImport(Glibc)
        let got = Glibc.read(socket, &buffer, count)
        #elseif canImport(Musl)
        let got = Musl.read(socket, &buffer, count)
        #else
        let got = Darwin.read(socket, &buffer, count)
        #endif
        return got > 0 ? Array(buffer.prefix(got)) : nil
    }
}
