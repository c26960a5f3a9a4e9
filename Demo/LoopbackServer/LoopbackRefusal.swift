/// A port on 127.0.0.1 that refuses every connection while the instance exists.
///
/// The port of a stopped server is not suitable for this, because another process can take it.
package final class LoopbackRefusal: Sendable {
    /// The port, 1…65535.
    package let port: Int

    private let socket: Descriptor

    /// Creates a refusal by binding a port without listening on it.
    ///
    /// - Throws: ``LoopbackError`` if the system cannot provide a socket or port.
    package init() throws(LoopbackError) {
        socket = try Descriptor.boundToLoopback()
        port = try socket.boundPort()
    }

    /// The address without a trailing slash, such as `http://127.0.0.1:49152`.
    package var baseURL: String { "http://127.0.0.1:\(port)" }
}
