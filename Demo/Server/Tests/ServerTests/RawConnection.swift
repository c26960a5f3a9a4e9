import Foundation

/// A connection to a server on this computer that sends any bytes.
final class RawConnection: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw ServerProcess.Failure(description: "cannot connect: errno \(errno)") }
    }

    deinit {
        close(descriptor)
    }

    /// Sends bytes; returns whether the server may still receive them.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        #if canImport(Glibc)
        return Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        #else
        return Foundation.send(descriptor, bytes, bytes.count, 0) == bytes.count
        #endif
    }

    /// Waits for bytes, at most for a tenth of a second; empty at the end of the connection, nil if
    /// there are none.
    func receive() -> [UInt8]? {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 100) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(self.descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Waits until the server closes the connection, and returns what it has sent.
    func untilEnd(sending trickle: String? = nil) -> String {
        var received: [UInt8] = []
        while true {
            guard let bytes = receive() else {
                if let trickle { send(trickle) }
                continue
            }
            if bytes.isEmpty { return String(decoding: received, as: UTF8.self) }
            received += bytes
        }
    }
}
