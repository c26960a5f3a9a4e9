/// A port on 127.0.0.1 at which every connection is refused, for as long as this lives.
///
/// A server that has stopped is no such thing: its port may be another's at once.
package final class LoopbackRefusal: Sendable {
    /// The port, 1…65535.
    package let port: Int

    private let socket: Descriptor

    /// Takes a port and does not listen on it.
    ///
    /// - Throws: ``LoopbackError`` when the system gives no socket or port.
    package init() throws(LoopbackError) {
        socket = try Descriptor.boundToLoopback()
        port = try socket.boundPort()
    }

    /// Its address without a trailing slash, such as `http://127.0.0.1:49152`.
    package var baseURL: String { "http://127.0.0.1:\(port)" }
}
