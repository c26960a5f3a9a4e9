import Foundation

/// A connection to a server on this computer that sends any bytes.
final class RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects to a server.
    ///
    /// - Parameter window: The number of bytes that this side receives before they are read; nil
    ///   for what the system prefers.
    init(port: Int, window: Int32? = nil) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if var window { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &window, socklen_t(MemoryLayout<Int32>.size)) }
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
    func receive(atMost byteCount: Int = 65_536) -> [UInt8]? {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 100) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let count = recv(self.descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Waits until the server closes the connection, and returns what it has sent.
    ///
    /// - Parameters:
    ///   - trickle: What to send after each tenth of a second without bytes.
    ///   - pause: Milliseconds before each read.
    func untilEnd(sending trickle: String? = nil, pause: Int32 = 0) async -> String {
        await onItsOwnThread { [self] in
            var received: [UInt8] = []
            while true {
                wait(pause)
                guard let bytes = receive() else {
                    if let trickle { send(trickle) }
                    continue
                }
                if bytes.isEmpty { return String(decoding: received, as: UTF8.self) }
                received += bytes
            }
        }
    }

    /// Ten times a second, reads at most a number of bytes and sends one more, until the server has
    /// closed the connection.
    func untilRefused(reading byteCount: Int) async {
        await onItsOwnThread { [self] in
            while send("a") {
                if byteCount > 0 { _ = receive(atMost: byteCount) }
                wait(100)
            }
        }
    }

    /// Runs calls that block for seconds, without keeping a thread of other tests.
    private func onItsOwnThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    /// Waits for some milliseconds, or until the connection has failed.
    private func wait(_ milliseconds: Int32) {
        var descriptor = pollfd(fd: descriptor, events: 0, revents: 0)
        poll(&descriptor, 1, milliseconds)
    }
}
