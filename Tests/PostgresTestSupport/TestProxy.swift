#if Postgres
import Foundation
import SyncBase

/// A proxy on the loopback interface between a connection and a server, whose faults a test
/// controls.
///
/// It passes bytes on in both directions. In silence it stays connected, accepts new connections
/// and passes nothing on, as a network does that loses every packet. It can also pose as a pooler,
/// which numbers its clients itself.
package final class TestProxy: Sendable {
    private struct State {
        var target: String?
        var isClosed = false
        var isSilent = false
        /// What a client sends that silences its connection, and whether that still reaches the
        /// server.
        var silencing: (text: [UInt8], isPassedOn: Bool)?
        /// The sockets from which nothing is passed on.
        var silentSockets: Set<Int32> = []
        /// After how many more messages of clients a connection is cut, and whether the last one
        /// still reaches the server.
        var cutting: (count: Int, isPassedOn: Bool)?
        /// The sockets whose connection is cut when something is received from them.
        var cutSockets: Set<Int32> = []
        var posesAsPooler = false
        /// What each client sent first, by the socket to the server.
        var startups: [Int32: [UInt8]] = [:]
        /// How often the session behind a socket was replaced, and whether it is being replaced.
        var replacements: [Int32: Int] = [:]
        var isReplacing = false
        var sockets: Set<Int32> = []
        var acceptedCount = 0
        var answerCount = 0
    }

    /// Counts what a client waits for in the bytes of a server: the ends of answers, and requests
    /// for the data of a COPY.
    private struct AnswerCounter {
        /// The type and the length of the next message, as far as they have come.
        private var header: [UInt8] = []
        /// How much of the current message has not come yet.
        private var rest = 0

        mutating func count(_ bytes: ArraySlice<UInt8>) -> Int {
            var bytes = bytes
            var count = 0
            while !bytes.isEmpty {
                if rest > 0 {
                    let skipped = min(rest, bytes.count)
                    rest -= skipped
                    bytes = bytes.dropFirst(skipped)
                    continue
                }
                header.append(bytes.removeFirst())
                guard header.count == 5 else { continue }
                if [UInt8(ascii: "Z"), UInt8(ascii: "G")].contains(header[0]) { count += 1 }
                rest = header[1...].reduce(0) { $0 << 8 | Int($1) } - 4
                header = []
            }
            return count
        }
    }

    private let listener: Int32
    private let state = Locked(State())
    /// The port on 127.0.0.1.
    package let port: UInt16

    /// A port on 127.0.0.1 that nobody used a moment ago.
    package static func freePort() throws -> UInt16 {
        let proxy = try TestProxy(to: nil)
        defer { proxy.close() }
        return proxy.port
    }

    /// Starts a proxy.
    ///
    /// - Parameter target: The path of the server's socket; nil to refuse all connections.
    package init(to target: String?) throws {
        state.withLock { $0.target = target }
        listener = socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard listener >= 0, isListening else { throw PostgresServerError("no proxy: errno \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    deinit {
        close()
    }

    /// Starts a proxy to a test's server.
    package convenience init(to server: PostgresServer) throws {
        try self.init(to: Self.socketPath(of: server))
    }

    /// Runs a function with a server of its own and a proxy before it.
    package static func with(
        _ configuration: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresServer, TestProxy) async throws -> Void
    ) async throws {
        let server = try await PostgresServer(PostgresServer.Settings(configuration: configuration))
        let proxy = try TestProxy(to: server)
        do { try await body(server, proxy) } catch {
            proxy.close()
            await server.close()
            throw error
        }
        proxy.close()
        await server.close()
    }

    /// Leads to another server from the next connection on.
    package func turn(to server: PostgresServer) {
        state.withLock { $0.target = Self.socketPath(of: server) }
    }

    private static func socketPath(of server: PostgresServer) -> String {
        "\(server.folder)/.s.PGSQL.5432"
    }

    #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
    private static let stream = SOCK_STREAM
    #endif

    /// The address of a database behind the proxy.
    package func url(database: String = "postgres", user: String = "postgres") -> String {
        "postgres://\(user)@127.0.0.1:\(port)/\(database)?sslmode=disable"
    }

    /// Passes nothing on from now on, or again.
    package var isSilent: Bool {
        get { state.withLock(\.isSilent) }
        set { state.withLock { $0.isSilent = newValue } }
    }

    /// Silences the connection, and only it, on which a client sends a text next.
    ///
    /// - Parameter isPassedOn: Whether the text still reaches the server, so that only the answer
    ///   is lost.
    package func silence(at text: String, isPassedOn: Bool) {
        state.withLock { $0.silencing = (Array(text.utf8), isPassedOn) }
    }

    /// Cuts the connection, and only it, on which the last of so many messages of clients is sent.
    ///
    /// - Parameter isPassedOn: Whether the message still reaches the server, so that only the
    ///   answer is lost.
    package func cut(atMessage count: Int, isPassedOn: Bool) {
        state.withLock { $0.cutting = (count, isPassedOn) }
    }

    /// Whether the message at which a connection is cut has not been sent yet.
    package var isCutPending: Bool { state.withLock { $0.cutting != nil } }

    /// Shows clients another number of the server's process from now on.
    package func poseAsPooler() {
        state.withLock { $0.posesAsPooler = true }
    }

    /// Gives each client another session of the server, as a pooler that shares sessions does.
    ///
    /// No client may be waiting for an answer.
    package func replaceSessions() throws {
        let startups = state.withLock { state in
            state.isReplacing = true
            return state.startups
        }
        defer { state.withLock { $0.isReplacing = false } }
        for (descriptor, startup) in startups {
            guard let new = connectToServer() else { throw PostgresServerError("the server refuses a session") }
            _ = startup.withUnsafeBytes { send(new, $0.baseAddress, $0.count, 0) }
            // ReadyForQuery ends the answer: its type, its length, idle.
            var answer: [UInt8] = []
            var bytes = [UInt8](repeating: 0, count: 1 << 12)
            while !answer.suffix(6).elementsEqual([0x5A, 0, 0, 0, 5, 0x49]) {
                let count = recv(new, &bytes, bytes.count, 0)
                guard count > 0 else { throw PostgresServerError("the server ended a session") }
                answer += bytes[..<count]
            }
            // Wakes the thread that reads from the former session.
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
            _ = dup2(new, descriptor)
            _ = Self.closeOne(new)
            state.withLock { $0.replacements[descriptor, default: 0] += 1 }
        }
    }

    /// How many connections were made through the proxy.
    package var acceptedCount: Int { state.withLock(\.acceptedCount) }

    /// For how many answers clients have waited, each for a round trip.
    package var answerCount: Int { state.withLock(\.answerCount) }

    /// Cuts all connections.
    package func cut() {
        for descriptor in state.withLock(\.sockets) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// Cuts all connections and accepts no more.
    package func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        _ = shutdown(listener, Int32(SHUT_RDWR))
        cut()
    }

    private func accept() {
        while true {
            let client = Self.acceptOne(listener)
            guard client >= 0, !state.withLock(\.isClosed) else { break }
            state.withLock { $0.acceptedCount += 1 }
            guard let server = connectToServer() else {
                _ = Self.closeOne(client)
                continue
            }
            state.withLock { $0.sockets.formUnion([client, server]) }
            let pair = Pair(count: 2)
            for (source, destination, isClient) in [(client, server, true), (server, client, false)] {
                Thread.detachNewThread { [self] in
                    pass(from: source, to: destination, isClient: isClient)
                    _ = shutdown(destination, Int32(SHUT_RDWR))
                    guard pair.leave() else { return }
                    state.withLock { state in
                        state.sockets.subtract([client, server])
                        state.startups[server] = nil
                        state.silentSockets.subtract([client, server])
                        state.cutSockets.subtract([client, server])
                    }
                    _ = Self.closeOne(client)
                    _ = Self.closeOne(server)
                }
            }
        }
        _ = Self.closeOne(listener)
    }

    private func connectToServer() -> Int32? {
        guard let target = state.withLock(\.target) else { return nil }
        let descriptor = socket(AF_UNIX, Self.stream, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(target.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.prefix($0.count - 1)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else {
            _ = Self.closeOne(descriptor)
            return nil
        }
        return descriptor
    }

    /// Passes bytes on until one end closes. What comes during silence is lost.
    private func pass(from source: Int32, to destination: Int32, isClient: Bool) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var replacementCount = state.withLock { $0.replacements[source, default: 0] }
        var counter = AnswerCounter()
        while true {
            let count = recv(source, &bytes, bytes.count, 0)
            guard count > 0 else {
                while state.withLock(\.isReplacing) { sched_yield() }
                let newCount = state.withLock { $0.replacements[source, default: 0] }
                guard newCount != replacementCount else { return }
                replacementCount = newCount
                continue
            }
            if isClient {
                state.withLock { state in
                    if state.startups[destination] == nil { state.startups[destination] = Array(bytes[..<count]) }
                }
            } else {
                let answerCount = counter.count(bytes[..<count])
                state.withLock { $0.answerCount += answerCount }
            }
            if mustCut(from: source, to: destination, isClient: isClient) {
                _ = shutdown(source, Int32(SHUT_RDWR))
                return
            }
            let (isLost, posesAsPooler) = state.withLock { state in
                var isLost = state.isSilent || state.silentSockets.contains(source)
                if isClient, !isLost, let silencing = state.silencing, bytes[..<count].contains(silencing.text) {
                    state.silencing = nil
                    state.silentSockets.formUnion([source, destination])
                    isLost = !silencing.isPassedOn
                }
                return (isLost, state.posesAsPooler)
            }
            if isLost { continue }
            // BackendKeyData: its type, its length, the number, the key.
            if posesAsPooler, !isClient, let start = bytes[..<count].firstRange(of: [0x4B, 0, 0, 0, 12])?.upperBound {
                bytes[start] ^= 0x01
            }
            var sent = 0
            while sent < count {
                let sentNow = bytes[sent..<count].withUnsafeBytes { send(destination, $0.baseAddress, $0.count, 0) }
                guard sentNow > 0 else { return }
                sent += sentNow
            }
        }
    }

    /// Whether a connection is cut instead of passing on what was received.
    private func mustCut(from source: Int32, to destination: Int32, isClient: Bool) -> Bool {
        state.withLock { state in
            guard isClient, let cutting = state.cutting else { return state.cutSockets.contains(source) }
            guard cutting.count <= 1 else {
                state.cutting?.count -= 1
                return false
            }
            state.cutting = nil
            if cutting.isPassedOn { state.cutSockets.insert(destination) }
            return !cutting.isPassedOn
        }
    }

    private static func acceptOne(_ listener: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.accept(listener, nil, nil)
        #else
        Darwin.accept(listener, nil, nil)
        #endif
    }

    private static func closeOne(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.close(descriptor)
        #else
        Darwin.close(descriptor)
        #endif
    }

    /// Counts the directions of a connection that still pass bytes on.
    private final class Pair: Sendable {
        private let left: Locked<Int>

        init(count: Int) {
            left = Locked(count)
        }

        /// Whether the caller is the last one.
        func leave() -> Bool {
            left.withLock { left in
                left -= 1
                return left == 0
            }
        }
    }
}
#endif
